"""Columns of numbers: what each value of a domain counts for in a sum, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import QueryError
from discreet.ground.arrays import Floats, Ints
from discreet.ground.shown import shown

if TYPE_CHECKING:
    from discreet.schema.schema import Schema

LARGEST = 1 << 38  # so many as there may be rows stay whole numbers of a machine together
MOST_VALUES = 1 << 22


@dataclass(frozen=True, kw_only=True)
class Numeric:
    """A column's numbers by code, as whole numbers of a unit: 1 / `per`. A missing cell counts for nothing."""

    units: Ints = field(repr=False)
    per: int

    @property
    def largest(self) -> int:
        """Of its units, whatever their sign."""
        return int(np.abs(self.units).max())

    @property
    def numbers(self) -> Floats:
        return np.asarray(self.units / self.per)

    def exactly(self, units: int) -> Fraction:
        """So many units."""
        return Fraction(units, self.per)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the largest number."""
        return self.exactly(int(self.units.min())), self.exactly(int(self.units.max()))


def numeric(schema: Schema, column: str) -> Numeric:
    """The numbers of a column; raises QueryError where it has none."""
    domain = schema.domains[column]
    if domain.type == "text":
        raise QueryError(f"{shown(column)} holds text, so it has no sum, mean or quantile; count by it instead")
    encoding = domain.encoding
    if len(encoding) > MOST_VALUES:
        raise QueryError(
            f"{shown(column)} has {len(encoding):,} numbers in its domain, at most {MOST_VALUES:,} are summed"
        )
    units = np.array([*encoding.values, *[0] * encoding.missing], dtype=np.int64)
    if int(np.abs(units).max()) >= LARGEST:
        raise QueryError(f"{shown(column)} has numbers in its domain that are too large to be summed up")
    return Numeric(units=units, per=10**encoding.scale)

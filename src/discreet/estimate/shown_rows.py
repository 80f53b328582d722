"""Rows as a release shows them, in the order in which they stand: what whoever looks for a person can compare with.

A family that shows rows of people answers with `shown_rows` and `evidence`, one that shows noisy counts alone with
`believed`. What the promise allows to be believed of a value after that is `allows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Floats, Ints

Cells = Mapping[str, NDArray[np.integer[Any]]]  # by column, positions in its domain


@dataclass(frozen=True, kw_only=True)
class ShownRows:
    """The rows of one file, from its first to its last. They must stand in the order of `group`, then of the columns.

    `group` is a number without meaning that some rows share, such as that of a bucket. Coins gave the numbers out, all
    ways equally likely; where there are windows, to the groups of each `window` apart. `people`: a row is about a
    person, and not about a group.
    """

    file: str
    codes: Cells = field(repr=False)
    group: Ints | None = field(default=None, repr=False)
    window: Ints | None = field(default=None, repr=False)
    people: bool = True


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What some rows of people say of the sensitive value: each entry speaks for a value of one with some weight.

    `row` counts among the rows that were asked for.
    """

    row: Ints = field(repr=False)
    value: Ints = field(repr=False)
    weight: Floats = field(repr=False)


@runtime_checkable
class ShowsRows(Protocol):
    """A release with rows of people: of the files, the one that whoever looks for a person reads stands first."""

    @property
    def shown_rows(self) -> tuple[ShownRows, ...]:
        """The files of rows."""

    def evidence(self, rows: Ints) -> Evidence:
        """What these rows of the first file say of the sensitive value."""

    def allows(self, value: int) -> Fraction | None:
        """What one who finds a person may believe of a value at most; None where the promise bounds something else."""


@runtime_checkable
class Believes(Protocol):
    """A release without rows of people, that says how probable each sensitive value is for people of some kind."""

    def believed(self, known: Cells) -> Floats | None:
        """For each record of which these columns are known, how much speaks for each value of the sensitive column.

        None where it cannot be told from these columns alone.
        """

"""Questions about values of columns, as conditions that a release answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.duck.sql import identifier, text
from discreet.ground.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from discreet.estimate.release import Release
    from discreet.schema.schema import Schema

_AT_ONCE = 2_000
Chosen = Mapping[str, int]  # of some columns, the position of a value in the domain


def condition(schema: Schema, chosen: Chosen) -> str:
    """That each of these columns has its value."""
    return " AND ".join(_has(schema, column, code) for column, code in chosen.items())


def _has(schema: Schema, column: str, code: int) -> str:
    value = schema.domains[column].encoding[code]
    if value is None:
        return f"{identifier(column)} IS NULL"
    shown = text(value) if isinstance(value, str) else f"{value:f}" if isinstance(value, Decimal) else str(value)
    return f"{identifier(column)} = {shown}"


def matching(codes: Mapping[str, Ints], chosen: Chosen) -> Bools:
    """Which records meet it."""
    found = np.ones(len(next(iter(codes.values()))), dtype=np.bool_)
    for column, code in chosen.items():
        found &= codes[column] == code
    return found


def answers(release: Release, wheres: Iterable[str]) -> Floats:
    """The counts that the release says, in their order; 0 where it cannot tell."""
    asked = list(wheres)
    found = [
        each.value or 0.0
        for start in range(0, len(asked), _AT_ONCE)
        for each in release.count_many(asked[start : start + _AT_ONCE])
    ]
    return np.array(found, dtype=np.float64)

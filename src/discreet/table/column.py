"""A column of a table that has no policy yet: what it looks like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_VALUES = 1_000  # values that a draft lists


@dataclass(frozen=True, kw_only=True)
class Column:
    """What a column looks like. `kind` is whole, fraction, date, text or other; `counts` is None beyond MOST_VALUES.

    `distinct` counts the values of cells that are not empty: an estimate unless `exact`. `low` and `high` are the
    limits of whole numbers, `since` and `until` those of dates, where every cell is one. `ambiguous`: another column's
    name differs in upper and lower case only. `marks` are its texts that mean a missing cell; they
    count as empty. `same` are texts that count as another value, which they look like; those `apart` do not, all the
    same.
    """

    name: str
    type: str
    kind: str
    rows: int
    filled: int
    distinct: int
    exact: bool = False
    low: int | None = None
    high: int | None = None
    since: str | None = None
    until: str | None = None
    length: float = 0
    spaced: bool = False
    counts: Mapping[int | str, int] | None = None
    ambiguous: bool = False
    marks: tuple[str, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[tuple[str, ...], ...] = ()
    position: int = 0  # in the table

    @property
    def missing(self) -> int:
        return self.rows - self.filled

    @property
    def values(self) -> int:
        """How many values it has; an empty cell is one of them."""
        return self.distinct + (self.missing > 0)

    @property
    def unique(self) -> bool:
        """Different in every row, and empty in none; a fraction never counts, for -0.0 is 0.0."""
        return self.exact and self.distinct == self.rows and self.kind not in ("fraction", "date")

    @property
    def histogram(self) -> dict[object, int]:
        """How often each value occurs; None is the empty cell."""
        found: dict[object, int] = dict((self.counts or {}).items())
        return found | {None: self.missing} if self.missing else found

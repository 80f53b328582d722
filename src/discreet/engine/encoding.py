"""Encodings: the values that a column may hold, in order; the code of a value is its position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

Cell = int | str | Decimal | None
WIDTH = 18  # digits of a decimal, those after the point included
DATES = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}  # how a date is written, by what it is cut to


@dataclass(frozen=True)
class Grouping:
    """What the cells of a source are before they are put into groups: the group of each value, by its code."""

    given: Encoding
    groups: tuple[int, ...]


@dataclass(frozen=True)
class Encoding:
    """Whole numbers from-to, or listed values; where cells may be missing, that is one more value, the last.

    With a `scale`, the whole numbers stand for decimals with so many digits after the point. Text that is a `date` is
    one cut to a day, month or year, whatever else the cell says. With a `grouping`, cells hold other values, and these
    are their groups.
    """

    values: range | tuple[int, ...] | tuple[str, ...]
    missing: bool = False
    scale: int = 0
    date: str = ""
    grouping: Grouping | None = None

    def __len__(self) -> int:
        return len(self.values) + self.missing

    def __iter__(self) -> Iterator[Cell]:
        yield from map(self._shown, self.values) if self.scale else self.values
        if self.missing:
            yield None

    def __getitem__(self, code: int) -> Cell:
        """The value that has a code."""
        if code == len(self.values) and self.missing:
            return None
        return self._shown(self.values[code])

    @property
    def kind(self) -> str:
        """'range', 'integers' or 'text'."""
        if isinstance(self.values, range):
            return "range"
        return "integers" if self.values and isinstance(self.values[0], int) else "text"

    @property
    def as_given(self) -> bool:
        """Whether the cells of a source are written as these values are."""
        return not (self.scale or self.date or self.grouping)

    def only(self, codes: Sequence[int]) -> Encoding:
        """The values with these codes, in their order; a missing cell is last."""
        kept = tuple(self.values[code] for code in codes if code < len(self.values))
        return Encoding(kept, len(kept) < len(codes), self.scale)  # type: ignore[arg-type]

    def _shown(self, value: int | str) -> int | str | Decimal:
        return Decimal(value).scaleb(-self.scale) if self.scale else value

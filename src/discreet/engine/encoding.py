"""Encodings: the values that a column may hold, in order; the code of a value is its position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Encoding:
    """Whole numbers from-to, or listed values; where cells may be missing, that is one more value, the last."""

    values: range | tuple[int, ...] | tuple[str, ...]
    missing: bool = False

    def __len__(self) -> int:
        return len(self.values) + self.missing

    def __iter__(self) -> Iterator[int | str | None]:
        yield from self.values
        if self.missing:
            yield None

    @property
    def kind(self) -> str:
        """'range', 'integers' or 'text'."""
        if isinstance(self.values, range):
            return "range"
        return "integers" if self.values and isinstance(self.values[0], int) else "text"

"""The cells of a page and their least and greatest, by the physical type of their column."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import ReleaseError

INT32, INT64, DOUBLE, BYTES, FIXED = 1, 2, 5, 6, 7  # physical types of Parquet's
_NUMBERS = {INT32: ("<i4", "<i"), INT64: ("<i8", "<q"), DOUBLE: ("<f8", "<d")}
_LENGTH = struct.Struct("<I")


@dataclass(frozen=True)
class Type:
    """A physical type; fixed ones of `width` bytes are whole numbers, the highest byte first."""

    number: int
    width: int = 0

    def read(self, data: bytes, count: int) -> Any:
        """Exactly `count` cells, one after the other: an array of numbers, or a list of bytes."""
        if self.numeric:
            kind = np.dtype(_NUMBERS[self.number][0])
            if len(data) != count * kind.itemsize:
                raise ReleaseError("it does not hold exactly the cells that it states")
            return np.frombuffer(data, dtype=kind)
        if self.number == FIXED:
            if len(data) != count * self.width:
                raise ReleaseError("it does not hold exactly the cells that it states")
            return [data[at : at + self.width] for at in range(0, len(data), self.width)]
        return _texts(data, count)

    @property
    def numeric(self) -> bool:
        """Whether cells are an array, and not a list of bytes."""
        return self.number in _NUMBERS

    def limits(self, cells: Any) -> tuple[Any, Any] | None:
        """The least and the greatest of some cells, if there is one."""
        if self.number == DOUBLE:
            cells = cells[~np.isnan(cells)]
        if not len(cells):
            return None
        if self.numeric:
            return cells.min(), cells.max()
        key = None if self.number == BYTES else _signed
        return min(cells, key=key), max(cells, key=key)

    def written(self, cell: Any) -> frozenset[bytes]:
        """How statistics may write a cell: zero with either sign."""
        if not self.numeric:
            return frozenset([cell])
        signs = (cell, -cell) if self.number == DOUBLE and not cell else (cell,)
        return frozenset(struct.pack(_NUMBERS[self.number][1], each) for each in signs)

    def distinct(self, cells: Any) -> bool:
        """Whether no two cells have the same bytes."""
        if self.numeric:
            ordered = np.sort(cells.view(f"<i{cells.itemsize}"))  # by their bits: 0.0 is not -0.0
            return not bool((ordered[1:] == ordered[:-1]).any())
        return len(set(cells)) == len(cells)


def _signed(cell: bytes) -> int:
    return int.from_bytes(cell, "big", signed=True)


def _texts(data: bytes, count: int) -> list[bytes]:
    found, at, end = [], 0, len(data)
    if count > end // 4:
        raise ReleaseError("it does not hold exactly the cells that it states")
    for _ in range(count):
        if at + 4 > end:
            break
        (length,) = _LENGTH.unpack_from(data, at)
        at += 4 + length
        if at > end:
            break
        found.append(data[at - length : at])
    if at != end or len(found) != count:
        raise ReleaseError("it does not hold exactly the cells that it states")
    return found

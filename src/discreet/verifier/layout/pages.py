"""One page: unpacked, its levels and cells read, and nothing left of it that neither of them is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.verifier.layout.cells import BYTES, DOUBLE, Type
from discreet.verifier.layout.runs import Runs, read_runs

PLAIN, OLD_DICTIONARY, RLE, DICTIONARY = 0, 2, 3, 8  # encodings of Parquet's
_LENGTH = 4  # bytes of a text's length


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a data page holds: places in a dictionary, or plain cells, and of its `rows` how many have one."""

    rows: int
    present: int
    encoding: int
    size: int  # unpacked
    width: int = 0  # bits of a place
    places: Runs | None = None
    cells: Any = None

    def of(self, dictionary: Any) -> Any:
        """The different cells of the page; where it has a dictionary, each once."""
        if self.places is None:
            return self.cells
        used = np.unique(self.places.values)
        return [dictionary[place] for place in used.tolist()] if isinstance(dictionary, list) else dictionary[used]

    def sums(self, dictionary: Any, kind: Type) -> tuple[int, int]:
        """Bytes of all its text, and how many of its cells are no number."""
        cells = self.cells if self.places is None else dictionary
        if kind.number == BYTES:
            each = np.fromiter(map(len, cells), dtype=np.int64, count=len(cells))
        elif kind.number == DOUBLE:
            each = np.isnan(cells).astype(np.int64)
        else:
            return 0, 0
        total = int(each.sum() if self.places is None else (each[self.places.values] * self.places.counts).sum())
        return (total, 0) if kind.number == BYTES else (0, total)

    @property
    def filled(self) -> int:
        """About the bytes after which Arrow begins a new page: at most what runs could take, or what cells do."""
        return self.size if self.places is None else self.present * (1 + self.width) // 8


def read_page(header: Mapping[str, Any], data: bytes, kind: Type, *, optional: bool, arrow: bool) -> Page:
    """A data page of the first version, whose columns are not nested."""
    rows, encoding = header["values"], header["encoding"]
    if rows < 0 or header["definition"] != RLE or header["repetition"] != RLE:
        raise ReleaseError("it is not laid out as a page is")
    present, at = _present(data, rows, arrow=arrow) if optional else (rows, 0)
    if encoding == PLAIN:
        cells = kind.read(data[at:], present)
        return Page(rows=rows, present=present, encoding=encoding, size=len(data), cells=cells)
    if encoding not in (OLD_DICTIONARY, DICTIONARY):
        raise ReleaseError("its encoding is none that a writer uses")
    width, places = _places(data[at:], present, arrow=arrow)
    return Page(rows=rows, present=present, encoding=encoding, size=len(data), width=width, places=places)


def _present(data: bytes, rows: int, *, arrow: bool) -> tuple[int, int]:
    """How many rows have a cell, and where the cells begin."""
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    if end > len(data):
        raise ReleaseError("its levels are longer than the page")
    levels = read_runs(data[_LENGTH:end], 1, rows, arrow=arrow)
    return int((levels.values * levels.counts).sum()), end


def _places(data: bytes, present: int, *, arrow: bool) -> tuple[int, Runs]:
    if present or len(data) > 1:
        width = data[0] if data else 0
        return width, read_runs(data[1:], width, present, arrow=arrow)
    none: Ints = np.zeros(0, dtype=np.int64)
    return data[0] if data else 0, Runs(none, none, 0)

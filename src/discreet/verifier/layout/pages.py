"""One page: unpacked, its levels and cells read, and nothing left of it that neither of them is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import ReleaseError
from discreet.verifier.layout.cells import Type
from discreet.verifier.layout.runs import Runs, read_runs

PLAIN, OLD_DICTIONARY, RLE, DICTIONARY = 0, 2, 3, 8  # encodings of Parquet's
_LENGTH = 4  # bytes of the length of the levels


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

    def total(self, each: Any) -> int:
        """The sum of a number for each cell, or for each entry of the dictionary."""
        if self.places is None:
            return int(each.sum())
        return int((each[self.places.values] * self.places.counts).sum())

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
    width = data[0] if data else 0
    if not present and len(data) < 2:
        return width, Runs.none()
    return width, read_runs(data[1:], width, present, arrow=arrow)

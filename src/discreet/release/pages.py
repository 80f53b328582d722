"""How much memory a Parquet file takes once it is unpacked, from the headers of its pages: before anything is unpacked.

Its footer says so too, but whoever wrote the file wrote the footer, and what unpacks a page believes the page.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from discreet.errors import ReleaseError

MOST_BYTES = 128 * 2**20  # of all pages of a table of noisy counts, unpacked: a full release has some 30 MiB
MOST_PAGES = 200_000  # of a file: a writer makes one for some thousand rows of a column
_DEEPEST = 8  # structures within structures; a page's header has three
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_WHOLE = (4, 5, 6)
_UNPACKED, _PACKED, _DATA, _DATA_2 = 2, 3, 5, 8  # fields of a page's header
_ROWS = 1  # the field of both kinds of data


class Chunk(NamedTuple):
    """One column of one group of rows: its bytes in the file, and those that its pages say they unpack to."""

    packed: int
    unpacked: int


def check_pages(path: Path, footer: pq.FileMetaData) -> None:
    """Raise ReleaseError where a table of noisy counts would unpack to more than any has."""
    if sum(each.unpacked for each in chunks_of(path, footer)) > MOST_BYTES:
        raise ReleaseError(f"{path.name} must have pages of at most {MOST_BYTES // 2**20} MiB together, unpacked")


def chunks_of(path: Path, footer: pq.FileMetaData) -> Iterator[Chunk]:
    """The chunks of a file that has any rows; raises ReleaseError where their pages cannot be told, or are too many."""
    if not footer.num_rows:
        return
    pages = 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for number in range(footer.num_row_groups):
            group = footer.row_group(number)
            for place in range(footer.num_columns if group.num_rows else 0):  # else no page is looked at
                found = group.column(place)
                try:
                    sizes = _sizes(content, found, group.num_rows)
                except (IndexError, OverflowError):
                    raise ReleaseError(f"{path.name} must have pages that can be read") from None
                if (pages := pages + len(sizes)) > MOST_PAGES:
                    raise ReleaseError(f"{path.name} must have at most {MOST_PAGES:,} pages")
                yield Chunk(found.total_compressed_size, sum(sizes))


def _sizes(content: mmap.mmap, chunk: pq.ColumnChunkMetaData, rows: int) -> list[int]:
    """What the pages of a chunk unpack to. They hold all of its rows: readers go on behind its end for more."""
    start, first = chunk.data_page_offset, chunk.dictionary_page_offset
    at = start if first is None else first
    end = at + chunk.total_compressed_size
    found: list[int] = []
    if not 0 < at <= start:
        raise IndexError
    while at < end and len(found) <= MOST_PAGES:
        page = _Header(content, at)
        found.append(page.unpacked)
        rows -= page.rows
        at = page.end + page.packed
    if rows > 0 or at > end:
        raise IndexError
    return found


class _Header:
    """The header of a page, in Thrift's compact protocol: the page's bytes, unpacked and packed, and its rows."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self._content, self._at = content, at
        found = {_ROWS: 0}
        for field, kind in self._fields():
            if field in (_UNPACKED, _PACKED) and kind in _WHOLE:
                found[field] = self._zigzag()
            elif field in (_DATA, _DATA_2) and kind == _STRUCT:
                found[_ROWS] += self._rows()
            else:
                self._skip(kind, 0)
        if len(found) < 3 or min(found.values()) < 0:
            raise IndexError
        self.unpacked, self.packed, self.rows, self.end = found[_UNPACKED], found[_PACKED], found[_ROWS], self._at

    def _rows(self) -> int:
        """How many rows a page of data says that it has."""
        rows = 0
        for field, kind in self._fields():
            if field == _ROWS and kind in _WHOLE:
                rows = self._zigzag()
            else:
                self._skip(kind, 1)
        return rows

    def _fields(self) -> Iterator[tuple[int, int]]:
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._zigzag()
            yield field, head & 15

    def _skip(self, kind: int, depth: int) -> None:
        if depth > _DEEPEST:
            raise IndexError
        if kind in _WHOLE:
            self._varint()
        elif kind in (_BYTE, _DOUBLE):
            self._at += 1 if kind == _BYTE else 8
        elif kind == _BINARY:
            size = self._varint()
            self._at += size
        elif kind in (_LIST, _SET):
            head = self._byte()
            for _ in range(self._varint() if head >> 4 == 15 else head >> 4):
                self._skip(_BYTE if head & 15 in (_TRUE, _FALSE) else head & 15, depth + 1)
        elif kind == _STRUCT:
            for _, own in self._fields():
                self._skip(own, depth + 1)
        elif kind not in (_TRUE, _FALSE):
            raise IndexError

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _varint(self) -> int:
        found = shift = 0
        while True:
            byte = self._byte()
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise OverflowError

    def _zigzag(self) -> int:
        found = self._varint()
        return found >> 1 ^ -(found & 1)

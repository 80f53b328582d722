"""How much memory a Parquet file takes once it is unpacked, from the headers of its pages: before anything is unpacked.

Its footer says so too, but whoever wrote the file wrote the footer, and what unpacks a page believes the page.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from discreet.errors import ReleaseError

MOST_BYTES = 128 * 2**20  # of all pages of a file, unpacked: a full release has some 30 MiB
MOST_PAGES = 200_000  # of a file: a writer makes one for some thousand rows of a column
_DEEPEST = 8  # structures within structures; a page's header has three
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_WHOLE = (4, 5, 6)


def check_pages(path: Path, footer: pq.FileMetaData) -> None:
    """Raise ReleaseError where a file would unpack to more than it may, or its pages cannot be told."""
    whole = 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            for number, size in enumerate(_sizes(content, footer), start=1):
                whole += size
                if whole > MOST_BYTES or number > MOST_PAGES:
                    raise ReleaseError(
                        f"{path.name} must have at most {MOST_PAGES:,} pages of {MOST_BYTES // 2**20} MiB together, "
                        "unpacked"
                    )
        except (IndexError, OverflowError):
            raise ReleaseError(f"{path.name} must have pages that can be read") from None


def _sizes(content: mmap.mmap, footer: pq.FileMetaData) -> Iterator[int]:
    groups = [footer.row_group(each) for each in range(footer.num_row_groups)]
    for group in (each for each in groups if each.num_rows):  # of others no page is looked at
        for place in range(footer.num_columns):
            chunk = group.column(place)
            at = min(filter(None, (chunk.data_page_offset, chunk.dictionary_page_offset)), default=0)
            end = at + chunk.total_compressed_size
            while at < end:
                size, packed, at = _Header(content, at).sizes()
                yield size
                at += packed


class _Header:
    """The header of a page, a structure in Thrift's compact protocol."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self._content, self._at = content, at

    def sizes(self) -> tuple[int, int, int]:
        """The bytes of the page, unpacked and packed, and where its header ends."""
        found = {}
        for field, kind in self._fields():
            if field in (2, 3) and kind in _WHOLE:
                found[field] = self._zigzag()
            else:
                self._skip(kind, 0)
        if set(found) != {2, 3} or min(found.values()) < 0:
            raise IndexError
        return found[2], found[3], self._at

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

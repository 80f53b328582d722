"""A column chunk: its pages one after the other, its dictionary, and statistics that say what its rows say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.errors import ReleaseError
from discreet.verifier.layout.cells import BYTES, Type
from discreet.verifier.layout.filters import MOST as FILTER_MOST
from discreet.verifier.layout.filters import check_filter
from discreet.verifier.layout.footer import DUCKDB, PAGE, Writer
from discreet.verifier.layout.frames import MOST, unpacked
from discreet.verifier.layout.pages import DICTIONARY, PLAIN, RLE, Page, read_page
from discreet.verifier.layout.places import within
from discreet.verifier.layout.statistics import Found, check_statistics
from discreet.verifier.layout.thrift import Reader

_HEADER = 1 << 16  # bytes of a page's header at most
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_ZSTD = 6
_ARROW_ROWS, _ARROW_BATCH, _ARROW_BYTES = 20_000, 1 << 10, 1 << 20  # after which Arrow begins a new page
_DUCK_BYTES = 1 << 26  # of text, below which DuckDB begins no new page


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column as the footer and the manifest state it; `listed` is its domain, where that is a list of text."""

    kind: Type
    optional: bool
    name: bytes
    listed: tuple[bytes, ...] | None


@dataclass(kw_only=True)
class Chunk:
    """A column chunk that is walked: what stands in the footer of it, and what its pages hold."""

    handle: int
    writer: Writer
    column: Column
    stated: Mapping[str, Any]
    rows: int
    headers: int = 0  # bytes of the headers, and of what pages unpack to
    dictionary: Any = None
    pages: list[Page] = field(default_factory=list)
    page_statistics: list[Any] = field(default_factory=list)
    odd: bool = False  # whether a cell's first place is not the next of the dictionary
    seen: int = 0  # places of the dictionary, from the first on, that were used in turn

    def walk(self, at: int) -> int:
        """Go through the pages from where they must begin; where they end."""
        stated = self.stated
        end = at + stated["packed"]
        if stated["type"] != self.column.kind.number or stated["path"] != [self.column.name] or stated["codec"] != _ZSTD:
            raise ReleaseError("it is not the column that the schema states, packed by zstd")
        if stated["values"] != self.rows or stated["packed"] < 0:
            raise ReleaseError("it does not have the rows of its row group")
        first, data_at = at, 0
        while at < end:
            with within(f"page {len(self.pages) + (self.dictionary is not None) + 1}"):
                following, is_data = self._page(at, end)
            data_at = data_at or (at if is_data else 0)
            at = following
        if at != end or sum(page.rows for page in self.pages) != self.rows:
            raise ReleaseError("its pages do not hold the rows and bytes that it states")
        if stated["data_at"] != data_at or stated.get("dictionary_at") != (None if self.dictionary is None else first):
            raise ReleaseError("its pages are not where it states")
        if stated["unpacked"] != self.headers:
            raise ReleaseError("its pages do not unpack to the bytes that it states")
        self._check_encodings()
        self._check_split()
        self._check_dictionary()
        self._check_statistics()
        return end

    def _page(self, at: int, end: int) -> tuple[int, bool]:
        """One page: where the next begins, and whether it was one of data."""
        reader = Reader(os.pread(self.handle, min(_HEADER, end - at), at))
        header = reader.struct(PAGE)
        size, start = header["packed"], at + reader.at
        if not 0 <= size <= min(end - start, MOST + (MOST >> 7) + 64):
            raise ReleaseError("it is longer than its column, or than any")
        self.headers += reader.at + header["unpacked"]
        data = unpacked(os.pread(self.handle, size, start), header["unpacked"], self.writer.level)
        if header["type"] == _DICTIONARY_PAGE and header.keys() == {"type", "unpacked", "packed", "dictionary"}:
            self._read_dictionary(header["dictionary"], data)
            return start + size, False
        if header["type"] != _DATA_PAGE or header.keys() != {"type", "unpacked", "packed", "data"}:
            raise ReleaseError("it is neither a page of data nor a dictionary")
        self._read_data(header["data"], data)
        return start + size, True

    def _read_dictionary(self, header: Mapping[str, Any], data: bytes) -> None:
        if self.dictionary is not None or self.pages:
            raise ReleaseError("a dictionary may only be first")
        if header["encoding"] != PLAIN or header.get("sorted", False) or header["values"] < 0:
            raise ReleaseError("the dictionary is not written as one is")
        self.dictionary = self.column.kind.read(data, header["values"])

    def _read_data(self, header: Mapping[str, Any], data: bytes) -> None:
        page = read_page(header, data, self.column.kind, optional=self.column.optional, arrow=self._arrow)
        if page.places is not None:
            self._follow(page)
        if "statistics" in header:
            if not self._arrow:
                raise ReleaseError("its writer states no statistics of a page")
            check_statistics(header["statistics"], self.column.kind, self._found([page]))
        self.pages.append(page)
        self.page_statistics.append(frozenset(header.get("statistics", ())) | {f"present {page.present > 0}"})

    @property
    def _arrow(self) -> bool:
        return self.writer is not DUCKDB

    def _follow(self, page: Page) -> None:
        """Places lie in the dictionary, in as many bits as it takes, and each comes first after the one before it."""
        places = page.places.values if page.places is not None else np.zeros(0, dtype=np.int64)
        if self.dictionary is None or (len(places) and int(places.max()) >= len(self.dictionary)):
            raise ReleaseError("a cell is none of the dictionary")
        before = self.seen
        highest = np.maximum.accumulate(np.concatenate([[before - 1], places]))
        self.odd = self.odd or bool((np.diff(highest) > 1).any())
        self.seen = int(highest[-1]) + 1
        entries = len(self.dictionary)
        right = {_bits(entries)} | ({_bits(self.seen)} if self._arrow else {max(1, entries.bit_length())})
        if page.width not in right:
            raise ReleaseError("its places are of other bits than its dictionary takes")

    def _found(self, pages: Sequence[Page]) -> Found:
        return Found.of(pages, self.dictionary, self.column.kind)

    def _check_encodings(self) -> None:
        """What is listed is what was used."""
        used = [page.encoding for page in self.pages]
        if len({each for each in used if each != PLAIN}) > 1:
            raise ReleaseError("its pages name one encoding in two ways")
        listed, data = self.stated["encodings"], set(used)
        if self._arrow:
            right = (sorted({PLAIN, RLE} | data),)
            kinds = [*dict.fromkeys(used)] in ([], [DICTIONARY], [DICTIONARY, PLAIN])
            if self.dictionary is None or not kinds:
                raise ReleaseError("its pages are not in the order of their encodings")
        else:
            right = (sorted(data), sorted({PLAIN} | data))
            if len(data) > 1 or (data != {PLAIN}) is (self.dictionary is None):
                raise ReleaseError("its pages are not all with the dictionary, or all without")
        counted = {(_DATA_PAGE, each): used.count(each) for each in sorted(data)}
        if self.dictionary is not None:
            counted = {(_DICTIONARY_PAGE, PLAIN): 1, **counted}
        pages = self.stated.get("pages")
        told = None if pages is None else [((each["page"], each["encoding"]), each["count"]) for each in pages]
        if listed not in right or told not in (None, [*counted.items()]):
            raise ReleaseError("the encodings that it lists are not those that its pages have")

    def _check_split(self) -> None:
        """A page ends where its writer ends one."""
        for page, after in zip(self.pages, self.pages[1:], strict=False):
            if not self._arrow:
                right = page.sums(self.dictionary, self.column.kind)[0] >= _DUCK_BYTES
            elif page.rows % _ARROW_BATCH == 0 and page.rows:
                longest = max(map(len, page.cells), default=0) + 4 if isinstance(page.cells, list) else 8
                batch = _ARROW_BATCH * (longest if page.places is None else 1 + page.width)
                right = page.encoding != after.encoding or _ARROW_BYTES <= page.filled + batch <= _ARROW_BYTES + 3 * batch
            else:
                right = page.rows == _ARROW_ROWS
            if not right:
                raise ReleaseError("it is cut into pages as its writer cuts none")

    def _check_dictionary(self) -> None:
        """Each entry is used, once and in the order in which they come; or they are the domain of the column."""
        if self.dictionary is None:
            return
        kind, entries = self.column.kind, len(self.dictionary)
        if not self.odd and self.seen == entries and kind.distinct(self.dictionary):
            return
        listed = self.column.listed
        if listed is None or entries != len(listed):
            raise ReleaseError("its dictionary has entries that no cell uses, or not in the order of its cells")
        used = np.zeros(entries, dtype=np.bool_)
        for page in self.pages:
            if page.places is not None:
                used[page.places.values] = True
        for entry, own, needed in zip(self.dictionary, listed, used.tolist(), strict=True):
            if entry != own and (entry or needed or self._arrow):
                raise ReleaseError("its dictionary is neither that of its cells nor that of its domain")

    def _check_statistics(self) -> None:
        found = self._found(self.pages)
        if "statistics" in self.stated:
            whole = None if self._arrow or self.dictionary is None else self.dictionary
            check_statistics(self.stated["statistics"], self.column.kind, found, whole)
        if (sizes := self.stated.get("sizes")) is not None:
            definitions = [self.rows - found.present, found.present] if self.column.optional else []
            text = found.text if self.column.kind.number == BYTES else None
            if sizes != {"repetitions": [], "definitions": definitions} | ({} if text is None else {"text_bytes": text}):
                raise ReleaseError("its sizes are not those of its rows")

    @property
    def present(self) -> bool:
        """Whether any row has a cell."""
        return any(page.present for page in self.pages)

    def check_filter(self) -> tuple[int, int] | None:
        """Where its filter stands, which says what the dictionary says; nothing where it has none."""
        at, size = self.stated.get("filter_at"), self.stated.get("filter_bytes")
        if at is None and size is None:
            return None
        if at is None or size is None or self._arrow or self.dictionary is None:
            raise ReleaseError("it has a filter, or a part of one, that its writer does not make")
        if not 0 < size <= FILTER_MOST or at < 0:
            raise ReleaseError("its filter is longer than any")
        check_filter(os.pread(self.handle, size, at), self._entries(), len(self.dictionary))
        return at, at + size

    def _entries(self) -> Sequence[bytes]:
        if isinstance(self.dictionary, list):
            return self.dictionary
        raw, width = self.dictionary.tobytes(), self.dictionary.itemsize
        return [raw[at : at + width] for at in range(0, len(raw), width)]

    def shape(self) -> frozenset[str]:
        """Which optional parts it states: the same in every chunk of a column that is written in the same way."""
        stated = {*self.stated, *(f"statistics {each}" for each in self.stated.get("statistics", ()))}
        flags = {f"{key} {each}" for key, each in self.stated.get("statistics", {}).items() if isinstance(each, bool)}
        return frozenset(stated | flags | {f"data {sorted(each)}" for each in set(self.page_statistics)})


def _bits(entries: int) -> int:
    """Of a place in a dictionary with so many entries."""
    return max(1, (entries - 1).bit_length()) if entries else 0

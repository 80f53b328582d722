"""A column chunk: its pages one after the other, its dictionary, and statistics that say what its rows say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from discreet.errors import ReleaseError
from discreet.ground.arrays import Bools
from discreet.verifier.layout.cells import BYTES, Type
from discreet.verifier.layout.filters import MOST as FILTER_MOST
from discreet.verifier.layout.filters import check_filter
from discreet.verifier.layout.footer import ARROW, PAGE, Writer
from discreet.verifier.layout.frames import MOST, unpacked
from discreet.verifier.layout.pages import DICTIONARY, PLAIN, RLE, Page, read_page
from discreet.verifier.layout.runs import Small
from discreet.verifier.layout.statistics import Found, check_statistics, chosen, odd
from discreet.verifier.layout.thrift import Reader
from discreet.verifier.layout.where import within

_HEADER = 1 << 16  # bytes of a page's header at most
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_ZSTD = 6
_SOME = 1 << 12  # places that are gone through at once
_ARROW_ROWS, _ARROW_BATCH, _ARROW_BYTES = (
    20_000,
    1 << 10,
    1 << 20,
)  # after which Arrow begins a new page; DuckDB has one


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column as the footer and the manifest state it; `listed` is its domain, where that is a list of text."""

    kind: Type
    optional: bool
    name: bytes
    listed: tuple[bytes, ...] | None


class _Read(NamedTuple):
    """What stays of a page: how it is written, what it holds, whether it ends where one that is followed ends, or
    where a dictionary is left, and whether its limits may be those of its whole dictionary.
    """

    encoding: int
    found: Found
    ends: bool
    left: bool
    whole: bool
    states: frozenset[str]


@dataclass(kw_only=True)
class Chunk:
    """A column chunk that is walked: what stands in the footer of it, and what its pages hold."""

    handle: int
    writer: Writer
    column: Column
    stated: Mapping[str, Any]
    rows: int
    unpacked: int = 0  # bytes of headers, and of what pages unpack to
    dictionary: Any = None
    pages: list[_Read] = field(default_factory=list)
    full: bool = False  # whether the dictionary is one that Arrow does not go on with
    used: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # which entries have a cell
    named: list[bytes] | None = None  # where the dictionary is a domain: the values that stand in it
    seen: int = 0  # entries, from the first on, that cells came to in turn
    odd: bool = False  # whether cells came to one before its turn

    def walk(self, at: int) -> int:
        """Go through the pages from where they must begin; where they end."""
        stated = self.stated
        end: int = at + stated["packed"]
        if (
            stated["type"] != self.column.kind.number
            or stated["path"] != [self.column.name]
            or stated["codec"] != _ZSTD
        ):
            raise ReleaseError("it is not the column that the schema states, packed by zstd")
        if stated["values"] != self.rows or stated["packed"] < 0:
            raise ReleaseError("it does not have the rows of its row group")
        first, data_at = at, 0
        while at < end:
            with within(f"page {len(self.pages) + (self.dictionary is not None) + 1}"):
                following = self._page(at, end)
            data_at = data_at or (at if self.pages else 0)
            at = following
        if sum(page.found.rows for page in self.pages) != self.rows:
            raise ReleaseError("its pages do not hold the rows that it states")
        if stated["data_at"] != data_at or stated.get("dictionary_at") != (None if self.dictionary is None else first):
            raise ReleaseError("its pages are not where it states")
        if stated["unpacked"] != self.unpacked:
            raise ReleaseError("its pages do not unpack to the bytes that it states")
        self._check_encodings()
        self._check_dictionary()
        self._check_statistics()
        return end

    @property
    def likes(self) -> tuple[bool, bool, frozenset[str]]:
        """What others are like that must state the same parts: with a dictionary, with cells, with odd ones."""
        empty = {name for name, each in self.stated.get("statistics", {}).items() if each == b"" and "value" in name}
        odds = [each.found.odd for each in self.pages]
        odds += [odd(self.named, self.column.kind.limits(self.named))] if self.named and self._others else []
        return (
            self.dictionary is not None,
            any(each.found.present for each in self.pages),
            frozenset(empty).union(*odds),
        )

    def shapes_of_pages(self) -> Iterator[tuple[tuple[bool, frozenset[str]], frozenset[str]]]:
        """What each page is like, and which statistics it states."""
        return (((page.found.present > 0, page.found.odd), page.states) for page in self.pages)

    def shape(self) -> frozenset[str]:
        """Which optional parts it states: the same in every chunk of a column that is written in the same way."""
        statistics = self.stated.get("statistics", {})
        flags = {f"{key} is {each}" for key, each in statistics.items() if isinstance(each, bool)}
        return frozenset({*self.stated, *(f"its {each}" for each in statistics), *flags})

    @property
    def _others(self) -> list[list[bytes]]:
        """Entries whose limits a writer may state in place of those of the cells."""
        if self.named is None:
            return []
        if self._arrow:
            return [self.dictionary] if any(page.whole for page in self.pages) else []
        return [self.dictionary, self.named]  # DuckDB names the limits of all entries that are no gaps

    @property
    def _count(self) -> int:
        return 0 if self.dictionary is None else len(self.dictionary)

    @property
    def _arrow(self) -> bool:
        return self.writer is ARROW

    def _page(self, at: int, end: int) -> int:
        """Read one page; where the next begins."""
        reader = Reader(os.pread(self.handle, min(_HEADER, end - at), at))
        header = reader.struct(PAGE)
        size: int = header["packed"]
        start = at + reader.at
        if not 0 <= size <= min(end - start, MOST + (MOST >> 7) + 64):
            raise ReleaseError("it is longer than its column, or than any")
        self.unpacked += reader.at + header["unpacked"]
        if self.unpacked > self.stated["unpacked"]:
            raise ReleaseError("it unpacks to more than its column states")
        data = unpacked(os.pread(self.handle, size, start), header["unpacked"], self.writer.level)
        if header["type"] == _DICTIONARY_PAGE and header.keys() == {"type", "unpacked", "packed", "dictionary"}:
            self._read_dictionary(header["dictionary"], data)
        elif header["type"] == _DATA_PAGE and header.keys() == {"type", "unpacked", "packed", "data"}:
            self._read_data(header["data"], data)
        else:
            raise ReleaseError("it is neither a page of data nor a dictionary")
        return start + size

    def _read_dictionary(self, header: Mapping[str, Any], data: bytes) -> None:
        if self.dictionary is not None or self.pages:
            raise ReleaseError("a dictionary may only be first")
        most = max(self.rows, len(self.column.listed or ()))
        if header["encoding"] != PLAIN or header.get("sorted", False) or not 0 <= header["values"] <= most:
            raise ReleaseError("the dictionary is not written as one is")
        self.dictionary = self.column.kind.read(data, header["values"])
        self.full = len(data) >= _ARROW_BYTES
        self.used = np.zeros(len(self.dictionary), dtype=np.bool_)

    def _read_data(self, header: Mapping[str, Any], data: bytes) -> None:
        kind = self.column.kind
        if header["values"] > self.rows:
            raise ReleaseError("it states more rows than its row group")
        page = read_page(header, data, kind, optional=self.column.optional, arrow=self._arrow)
        used = self._follow(page, page.places.values) if page.places is not None else self.used
        found = Found.of(page, self.dictionary, used, kind, text=self._arrow)
        stated = header.get("statistics", {})
        if stated and not self._arrow:
            raise ReleaseError("its writer states no statistics of a page")
        whole = self._arrow and self._seems_whole(page, used)
        check_statistics(stated, kind, found, entries=self._count, others=[self.dictionary] if whole else [])
        if self.pages and not (self.pages[-1].ends or (self.pages[-1].left and page.encoding == PLAIN)):
            raise ReleaseError("the page before it ends where its writer ends none")
        ends = self._arrow and self._ends(page)
        left = self.full and page.encoding == DICTIONARY and page.rows % _ARROW_BATCH == 0
        self.pages.append(_Read(page.encoding, found, ends, left, whole, frozenset(stated)))

    def _seems_whole(self, page: Page, used: Bools) -> bool:
        """Whether Arrow takes the whole dictionary for what the page uses: it counts a missing cell as an entry."""
        if page.places is None or page.present == page.rows:
            return False
        return int(used.sum()) == self._count - 1

    def _follow(self, page: Page, places: Small) -> Bools:
        """Places lie in the dictionary, in as many bits as it takes; which entries they have."""
        if self.dictionary is None or (len(places) and int(places.max()) >= len(self.dictionary)):
            raise ReleaseError("a cell is none of the dictionary")
        self._turns(places)
        entries = len(self.dictionary)
        used = np.zeros(entries, dtype=np.bool_)
        used[places] = True
        self.used |= used
        right = {_bits(entries)} | ({_bits(self.seen)} if self._arrow else {max(1, entries.bit_length())})
        if page.width not in right:
            raise ReleaseError("its places are of other bits than its dictionary takes")
        return used

    def _turns(self, places: Small) -> None:
        """Whether the entries come in turn; looked at as long as there are some that have not come."""
        for start in range(0, len(places), _SOME):
            if self.odd or self.seen == len(self.dictionary):
                return
            before = np.int32(self.seen - 1)
            highest = np.maximum(np.maximum.accumulate(places[start : start + _SOME]), before)
            self.odd = bool((np.diff(highest, prepend=before) > 1).any())
            self.seen = int(highest[-1]) + 1

    def _ends(self, page: Page) -> bool:
        """Whether Arrow ends a page here: after so many rows, or with the batch of rows that fills it."""
        if page.rows == _ARROW_ROWS:
            return True
        longest = max(map(len, page.cells), default=0) + 4 if isinstance(page.cells, list) else 8
        batch = _ARROW_BATCH * (longest if page.places is None else 1 + page.width)
        full = _ARROW_BYTES <= page.filled + batch <= _ARROW_BYTES + 3 * batch
        return page.rows % _ARROW_BATCH == 0 and page.rows > 0 and full

    def _check_encodings(self) -> None:
        """What is listed is what was used."""
        used = [page.encoding for page in self.pages]
        listed, data = self.stated["encodings"], set(used)
        if self._arrow:
            right = [sorted({PLAIN, RLE} | data)]
            if self.dictionary is None or [*dict.fromkeys(used)] not in ([], [DICTIONARY], [DICTIONARY, PLAIN]):
                raise ReleaseError("its pages are not in the order of their encodings")
        else:
            right = [sorted(data), sorted({PLAIN} | data)]
            if len(data) > 1 or (data != {PLAIN}) is (self.dictionary is None):
                raise ReleaseError("its pages are not all with the dictionary, or all without")
        counted = [((_DATA_PAGE, each), used.count(each)) for each in sorted(data)]
        if self.dictionary is not None:
            counted = [((_DICTIONARY_PAGE, PLAIN), 1), *counted]
        pages = self.stated.get("pages")
        told = None if pages is None else [((each["page"], each["encoding"]), each["count"]) for each in pages]
        if listed not in right or told not in (None, counted):
            raise ReleaseError("the encodings that it lists are not those that its pages have")

    def _check_dictionary(self) -> None:
        """Each entry is used, once and in the order in which they come; or they are the domain of the column."""
        if self.dictionary is None:
            return
        kind, entries, listed = self.column.kind, len(self.dictionary), self.column.listed
        if not self.odd and self.seen == entries and kind.distinct(self.dictionary):
            return
        if listed is None or entries != len(listed):
            raise ReleaseError("its dictionary has entries that no cell uses, or not in the order of its cells")
        used = self.used.tolist()
        if any(
            entry != own and (entry or needed) for entry, own, needed in zip(self.dictionary, listed, used, strict=True)
        ):
            raise ReleaseError("its dictionary is neither that of its cells nor that of its domain")
        if self._arrow and self.dictionary != [*listed]:
            raise ReleaseError("its dictionary is not the whole domain")
        self.named = [entry for entry, needed in zip(self.dictionary, used, strict=True) if entry or needed]

    def values(self) -> list[bytes]:
        """The values of its domain that its cells have, where it has a dictionary of them."""
        if self.column.listed is None or self.dictionary is None:
            return []
        values: list[bytes] = chosen(self.dictionary, self.used)
        return values

    def _check_statistics(self) -> None:
        kind = self.column.kind
        found = Found.together([page.found for page in self.pages], kind)
        check_statistics(self.stated.get("statistics", {}), kind, found, entries=self._count, others=self._others)
        if (sizes := self.stated.get("sizes")) is not None:
            definitions = [self.rows - found.present, found.present] if self.column.optional else []
            text = {"text_bytes": found.text} if kind.number == BYTES else {}
            if not self._arrow or sizes != {"repetitions": [], "definitions": definitions, **text}:
                raise ReleaseError("its sizes are not those of its rows")

    def check_filter(self) -> tuple[int, int] | None:
        """From where to where its filter stands, which says what the dictionary says; nothing where it has none."""
        at, size = self.stated.get("filter_at"), self.stated.get("filter_bytes")
        if at is None and size is None:
            return None
        if at is None or size is None or self._arrow or self.dictionary is None:
            raise ReleaseError("it has a filter, or a part of one, that its writer does not make")
        if not 0 < size <= FILTER_MOST or at < 0:
            raise ReleaseError("its filter is longer than any")
        with within("its filter"):
            check_filter(os.pread(self.handle, size, at), self._entries(), len(self.dictionary))
        return at, at + size

    def _entries(self) -> Sequence[bytes]:
        if isinstance(self.dictionary, list):
            return self.dictionary
        raw, width = self.dictionary.tobytes(), self.dictionary.itemsize
        return [raw[at : at + width] for at in range(0, len(raw), width)]


def _bits(entries: int) -> int:
    """Of a place in a dictionary with so many entries."""
    return max(1, (entries - 1).bit_length()) if entries else 0

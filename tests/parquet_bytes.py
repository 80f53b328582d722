"""Parquet files taken apart and put together again, byte by byte: for files that say more than their rows.

Lenient where the walk of `verify` is strict, and without a line in common with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

BOOLS, BINARY, LIST, STRUCT = (1, 2), 8, 9, 12


@dataclass
class Field:
    """A field of a Thrift struct as it stands; `long` writes its number, or its value, in more bytes than it needs."""

    id: int
    type: int
    value: Any
    long: str = ""


class Fields(list[Field]):
    """The fields of a struct, in their order."""

    def __getitem__(self, number: Any) -> Any:
        return self.field(number).value

    def __setitem__(self, number: Any, value: Any) -> None:
        self.field(number).value = value

    def __contains__(self, number: object) -> bool:
        return any(each.id == number for each in self)

    def field(self, number: int) -> Field:
        return next(each for each in self if each.id == number)

    def add(self, number: int, kind: int, value: Any) -> None:
        """One more field, in its place."""
        self.append(Field(number, kind, value))
        self.sort(key=lambda each: each.id)


@dataclass
class Items:
    """A list: the type of its items, and they."""

    type: int
    items: list[Any]


class _Source:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def number(self) -> int:
        found = shift = 0
        while True:
            each = self.byte()
            found |= (each & 127) << shift
            shift += 7
            if each < 128:
                return found

    def signed(self) -> int:
        found = self.number()
        return found >> 1 ^ -(found & 1)

    def value(self, kind: int) -> Any:
        if kind in BOOLS:
            return kind == 1
        if kind == BINARY:
            length = self.number()
            self.at += length
            return self.data[self.at - length : self.at]
        if kind == LIST:
            head = self.byte()
            return Items(head & 15, [self.value(head & 15) for _ in range(self.number() if head > 239 else head >> 4)])
        return self.struct() if kind == STRUCT else self.signed()

    def struct(self) -> Fields:
        found, last = Fields(), 0
        while head := self.byte():
            last = last + (head >> 4) if head >> 4 else self.signed()
            found.append(Field(last, head & 15, self.value(head & 15)))
        return found


def number(value: int, *, long: bool = False) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + (bytes([value | 128, 0]) if long else bytes([value]))


def written(value: Any, kind: int, *, long: bool = False) -> bytes:
    """A value of Thrift's compact protocol."""
    if kind in BOOLS:
        return b""
    if kind == BINARY:
        return number(len(value)) + value
    if kind == LIST:
        head = len(value.items) << 4 | value.type if len(value.items) < 15 else 240 | value.type
        length = b"" if len(value.items) < 15 else number(len(value.items))
        return bytes([head]) + length + b"".join(written(each, value.type) for each in value.items)
    if kind != STRUCT:
        return number(value << 1 ^ value >> 63 & (1 << 64) - 1 if value < 0 else value << 1, long=long)
    out, last = b"", 0
    for each in value:
        kind = (1 if each.value else 2) if each.type in BOOLS else each.type
        step = each.id - last
        short = 0 < step < 16 and each.long != "head"
        out += bytes([step << 4 | kind]) if short else bytes([kind]) + number(each.id << 1)
        out += written(each.value, each.type, long=each.long == "value")
        last = each.id
    return out + b"\0"


def packed(data: bytes, level: int = 3) -> bytes:
    return pa.Codec("zstd", compression_level=level).compress(data, asbytes=True)


@dataclass
class Page:
    """A page: its header, and what it unpacks to; `frame` is what it is packed in, where that is another."""

    header: Fields
    data: bytes
    frame: bytes | None = None


@dataclass
class Chunk:
    """A column chunk: its part of the footer, its pages, and bytes before them."""

    stated: Fields
    pages: list[Page]
    before: bytes = b""

    @property
    def meta(self) -> Fields:
        return self.stated[3]


@dataclass
class File:
    """A file: row groups of chunks, the footer, and bytes at odd places; filters stand behind the pages."""

    groups: list[list[Chunk]]
    footer: Fields
    filters: list[tuple[Chunk, bytes]] = field(default_factory=list)
    after_pages: bytes = b""
    after_footer: bytes = b""
    after: bytes = b""
    sizes: bool = True  # whether what is stated of sizes and places is made right

    @classmethod
    def read(cls, path: Path) -> File:
        data = path.read_bytes()
        footer = _Source(data[-8 - int.from_bytes(data[-8:-4], "little") : -8]).struct()
        groups, filters = [], []
        for group in footer[4].items:
            chunks = []
            for stated in group[1].items:
                meta, source = stated[3], _Source(data)
                source.at = min([meta[9], meta[11]] if 11 in meta else [meta[9]])
                end, pages = source.at + meta[7], []
                while source.at < end:
                    header = source.struct()
                    frame = data[source.at : source.at + header[3]]
                    source.at += header[3]
                    raw = pa.Codec("zstd").decompress(frame, header[2], asbytes=True)
                    pages.append(Page(header, raw, frame))
                chunks.append(Chunk(stated, pages))
                if 14 in meta:
                    filters.append((chunks[-1], data[meta[14] : meta[14] + meta[15]]))
            groups.append(chunks)
        return cls(groups, footer, filters)

    def to(self, path: Path) -> None:
        """Write it, with the places and sizes that follow from what is written."""
        out = b"PAR1"
        for group, chunks in zip(self.footer[4].items, self.groups, strict=True):
            start = len(out)
            for chunk in chunks:
                out += chunk.before
                out += self._pages(chunk, len(out))
            if self.sizes:
                group[2] = sum(chunk.meta[6] for chunk in chunks)
                group[5], group[6] = start, len(out) - start
        for chunk, data in self.filters:
            chunk.meta[14], chunk.meta[15] = len(out), len(data)
            out += data
        out += self.after_pages
        footer = written(self.footer, STRUCT) + self.after_footer
        path.write_bytes(out + footer + len(footer).to_bytes(4, "little") + b"PAR1" + self.after)

    def _pages(self, chunk: Chunk, at: int) -> bytes:
        out, unpacked, places = b"", 0, {}
        for page in chunk.pages:
            frame = packed(page.data) if page.frame is None else page.frame
            if self.sizes:
                page.header[2] = len(page.data)
            page.header[3] = len(frame)
            head = written(page.header, STRUCT)
            places.setdefault(11 if page.header[1] == 2 else 9, at + len(out))
            unpacked += len(head) + len(page.data)
            out += head + frame
        if self.sizes:
            chunk.meta[6], chunk.meta[7] = unpacked, len(out)
            for place, start in places.items():
                chunk.meta[place] = start
        return out

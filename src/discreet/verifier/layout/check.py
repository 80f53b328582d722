"""The layout of a release's tables: every byte of a Parquet file is a cell of a row, or follows from the cells.

The walk is code of its own and comes before any library reads a table. A file is what a listed writer makes of its
rows: `PAR1`, pages without a gap, filters if there are any, the footer, its length, `PAR1`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.errors import ReleaseError
from discreet.verifier.files import Files
from discreet.verifier.layout.cells import Type
from discreet.verifier.layout.chunks import Chunk, Column
from discreet.verifier.layout.footer import ARROW, FOOTER, WRITERS, Writer, known
from discreet.verifier.layout.thrift import Reader
from discreet.verifier.layout.where import within

_MAGIC = b"PAR1"
_TAIL = 8  # bytes of the length of the footer and the magic number
_FOOTER, _SMALL = 1 << 23, 1 << 20  # bytes of a footer at most, and of one that is more than a quarter of its file
_UNPACKED, _RATIO = 1 << 30, 256  # bytes that pages may unpack to in any file, and for each byte of a larger one
_OLD = re.compile(rb"DuckDB( version v1\.[01]\..*)?")  # states the memory that a row group took,
_MEMORY = 64  # at most so many times its pages


def check_layout(files: Files) -> str | None:
    """Every byte of every table is accounted for."""
    domains = {name: domain.encoding for name, domain in files.schema.domains.items()}
    listed = {
        name.encode(): tuple(str(each).encode() for each in encoding.values)
        for name, encoding in domains.items()
        if encoding.kind == "text"
    }
    for each in files.manifest.resources:
        if each.path.endswith(".parquet"):
            with within(each.path):
                walk(files.path(each.path), listed)
    return None


def walk(path: Path, listed: Mapping[bytes, tuple[bytes, ...]]) -> None:
    """Go through one file from its first byte to its last; `listed` are the domains of columns of text."""
    handle = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(handle).st_size
        start, footer = _footer(handle, size)
        _Walk(handle=handle, size=size, footer=footer, listed=listed).to(start)
    finally:
        os.close(handle)


def _footer(handle: int, size: int) -> tuple[int, dict[str, Any]]:
    """Where the footer begins, and what it states."""
    tail = os.pread(handle, _TAIL, max(0, size - _TAIL))
    if size < _TAIL + len(_MAGIC) or os.pread(handle, len(_MAGIC), 0) != _MAGIC or tail[-len(_MAGIC) :] != _MAGIC:
        raise ReleaseError("it does not begin and end as a Parquet file does")
    length = int.from_bytes(tail[:4], "little")
    start = size - _TAIL - length
    if not 0 < length <= min(_FOOTER, max(_SMALL, size // 4)) or start < len(_MAGIC):
        raise ReleaseError("its footer is longer than it can be")
    with within("the footer"):
        reader = Reader(os.pread(handle, length, start))
        found = reader.struct(FOOTER)
        if reader.at != length:
            raise ReleaseError("something stands behind it")
    return start, found


@dataclass(kw_only=True)
class _Domain:
    """The values of a column's domain that dictionaries name, over all row groups: all of them in each, or such as some
    row group has. DuckDB 2 names in a row group what it has seen in others.
    """

    used: set[bytes] = field(default_factory=set)
    named: set[bytes] = field(default_factory=set)
    whole: bool = True

    def add(self, chunk: Chunk) -> None:
        self.used.update(chunk.values())
        if chunk.named is not None:
            self.named.update(chunk.named)
            self.whole = self.whole and chunk.dictionary == [*(chunk.column.listed or ())]

    def check(self) -> None:
        if not self.whole and not self.named <= self.used:
            raise ReleaseError("its dictionaries name values of the domain that no cell has")


@dataclass(kw_only=True)
class _Walk:
    """A file that is walked, and what has been seen of it."""

    handle: int
    size: int
    footer: Mapping[str, Any]
    listed: Mapping[bytes, tuple[bytes, ...]]
    filters: list[tuple[int, int]] = field(default_factory=list)
    shapes: dict[Any, Any] = field(default_factory=dict)
    domains: defaultdict[int, _Domain] = field(default_factory=lambda: defaultdict(_Domain))

    def to(self, end: int) -> None:
        """From behind the first four bytes to the footer."""
        with within("the footer"):
            writer = self._writer()
            columns = self._columns(writer)
            self._check_totals(writer, len(columns))
        at = len(_MAGIC)
        for number, group in enumerate(self.footer["groups"]):
            with within(f"row group {number + 1}"):
                at = self._group(group, columns, writer, number, at)
        for place, domain in self.domains.items():
            with within(f"column {place + 1}"):
                domain.check()
        for start, stop in self.filters:
            if start != at:
                raise ReleaseError("something stands between its filters")
            at = stop
        if at != end:
            raise ReleaseError("something stands between the last page and the footer")

    def _writer(self) -> Writer:
        called = self.footer["created_by"]
        for each in WRITERS:
            if each.called.fullmatch(called):
                return each
        raise ReleaseError("it was not written by a program that writes releases")

    def _columns(self, writer: Writer) -> list[Column]:
        root, *elements = self.footer["schema"] or [{}]
        if root != {"repetition": 0, "name": writer.root, "children": len(elements)}:
            raise ReleaseError("its schema is not one that its writer states")
        if not elements or not all(known(each, writer) for each in elements):
            raise ReleaseError("a column is of a type that no release has, or states it as its writer does not")
        return [
            Column(
                kind=Type(each["type"], each.get("type_length", 0)),
                optional=each["repetition"] == 1,
                name=each["name"],
                listed=self.listed.get(each["name"]),
            )
            for each in elements
        ]

    def _check_totals(self, writer: Writer, columns: int) -> None:
        """Rows add up, and are cut into row groups as the writer cuts them."""
        footer = self.footer
        rows = [each["rows"] for each in footer["groups"]]
        if footer["version"] != writer.version or sum(rows) != footer["rows"]:
            raise ReleaseError("its rows are not those of its row groups, or its version is not its writer's")
        least = 0 if writer is ARROW and len(rows) == 1 else 1
        if any(each != writer.rows for each in rows[:-1]) or any(
            not least <= each <= writer.rows for each in rows[-1:]
        ):
            raise ReleaseError("its rows are cut into row groups as its writer does not cut them")
        unpacked = sum(column["chunk"]["unpacked"] for group in footer["groups"] for column in group["columns"])
        if unpacked > max(_UNPACKED, _RATIO * self.size):
            raise ReleaseError("its pages unpack to more than such a file may hold")
        if "orders" in footer and len(footer["orders"]) != columns:
            raise ReleaseError("it does not state one order for each column")

    def _group(self, group: Mapping[str, Any], columns: list[Column], writer: Writer, number: int, at: int) -> int:
        start, unpacked = at, 0
        if len(group["columns"]) != len(columns):
            raise ReleaseError("it does not have the columns of the schema")
        for place, (column, stated) in enumerate(zip(columns, group["columns"], strict=True)):
            with within(f"column {place + 1}"):
                if stated["file_at"] != 0:
                    raise ReleaseError("it states another place than its pages")
                chunk = Chunk(
                    handle=self.handle, writer=writer, column=column, stated=stated["chunk"], rows=group["rows"]
                )
                at = chunk.walk(at)
                unpacked += chunk.unpacked
                if (own := chunk.check_filter()) is not None:
                    self.filters.append(own)
                self.domains[place].add(chunk)
                shapes: list[tuple[Any, Any]] = [((place, *chunk.likes), chunk.shape())]
                shapes += [((place, likes), states) for likes, states in chunk.shapes_of_pages()]
                if any(self.shapes.setdefault(likes, states) != states for likes, states in shapes):
                    raise ReleaseError("it states more or less than the same column of another row group")
        self._check_group(group, number, start, at, unpacked)
        return at

    def _check_group(self, group: Mapping[str, Any], number: int, start: int, end: int, unpacked: int) -> None:
        right = {"at": start, "packed": end - start, "ordinal": number}
        if any(group.get(key, each) != each for key, each in right.items()):
            raise ReleaseError("its place or size is not what it states")
        if self.shapes.setdefault("group", {*group}) != {*group}:
            raise ReleaseError("it states more or less than another row group")
        right_size = group["bytes"] == unpacked
        if _OLD.fullmatch(self.footer["created_by"]):
            right_size = 0 <= group["bytes"] <= _MEMORY * unpacked
        if not right_size:
            raise ReleaseError("its pages do not unpack to the bytes that it states")

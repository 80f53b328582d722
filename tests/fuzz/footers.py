"""Steps on a Parquet file: in what its footer says, the length kept right; in its bytes; and in the rows it holds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz import thrift

_MAGIC = b"PAR1"
_TAIL = 8  # bytes after the footer: its length, and the magic
_NUMBERS = (0, 1, -1, 2, 7, 8, 127, 255, 2**15, 2**31 - 1, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63))
_TEXTS = (b"", b"\0", b"\xff", b"age", b"BID", b"COUNT", b"disease", b"x" * 5_000, b"PAR1")


def step(content: bytes, coins: random.Random) -> bytes | None:
    """The file after a step; None where it has no footer to be found."""
    footer = _footer(content)
    drawn = coins.random()
    if drawn < 0.15:
        return _other_rows(content, coins)
    if footer is None:
        return None
    start, end = footer
    if drawn < 0.3:
        flipped = bytearray(content[start:end])
        for _ in range(coins.randint(1, 4)):
            flipped[coins.randrange(len(flipped))] ^= 1 << coins.randrange(8)
        return joined(content[:start], bytes(flipped))
    if drawn < 0.5:
        pages = bytearray(content[:start])
        at = coins.randrange(len(pages))
        pages[at : at + coins.choice((0, 1, 1, 4))] = coins.randbytes(coins.choice((0, 1, 1, 4)))
        return joined(bytes(pages), content[start:end])
    try:
        fields, _ = thrift.read_struct(content[start:end])
    except thrift.Malformed:
        return None
    for _ in range(coins.randint(1, 3)):
        _turn(fields, coins)
    return joined(content[:start], thrift.write_struct(fields))


def joined(pages: bytes, footer: bytes) -> bytes:
    """A file of these pages and this footer."""
    return pages + footer + len(footer).to_bytes(4, "little") + _MAGIC


def _footer(content: bytes) -> tuple[int, int] | None:
    """Where the footer begins and ends, if the file says so and has pages before it."""
    end = len(content) - _TAIL
    start = end - int.from_bytes(content[end : end + 4], "little")
    return (start, end) if 4 < start < end else None


def _structs(fields: list[Any]) -> Iterator[list[Any]]:
    """This struct and all in it."""
    yield fields
    for _, kind, value in fields:
        if kind == thrift.STRUCT:
            yield from _structs(value)
        elif kind == thrift.LIST and value[0] == thrift.STRUCT:
            for each in value[1]:
                yield from _structs(each)


def _turn(fields: list[Any], coins: random.Random) -> None:
    """One field of one struct: another value, away, twice, or another number or list."""
    struct = coins.choice([*_structs(fields)])
    if not struct:
        return
    at = coins.randrange(len(struct))
    number, kind, value = struct[at]
    how = coins.randrange(8)
    if how == 0:
        del struct[at]
    elif how == 1:
        struct[at] = (coins.randrange(-1, 20), kind, value)
    elif how == 2:
        struct.insert(at, struct[at])
    elif kind == thrift.LIST and value[1]:
        values = list(value[1])
        place = coins.randrange(len(values))
        values[place : place + 1] = [] if how == 3 else [values[place]] * coins.choice((2, 3, 200))
        struct[at] = (number, kind, (value[0], values))
    elif kind == thrift.BINARY:
        struct[at] = (number, kind, coins.choice((*_TEXTS, value[::-1], value + b" ", value[:-1])))
    elif kind in (thrift.TRUE, thrift.FALSE):
        struct[at] = (number, kind, not value)
    elif kind in (thrift.I16, thrift.I32, thrift.I64):
        struct[at] = (number, kind, coins.choice((*_NUMBERS, value + 1, value - 1, value * 2, -value)))


def _other_rows(content: bytes, coins: random.Random) -> bytes | None:
    """Other cells, columns or types, written by a writer that knows the format."""
    try:
        table = pq.read_table(BytesIO(content))
        at = coins.randrange(table.num_columns)
        how = coins.randrange(6)
        if how == 0:
            table = table.take(coins.choices(range(table.num_rows), k=coins.choice((0, 1, table.num_rows, 500))))
        elif how == 1:
            table = table.remove_column(at)
        elif how == 2:
            table = table.append_column(table.column_names[at].swapcase(), table.column(at))
        elif how == 3:
            kind = coins.choice((pa.string(), pa.int8(), pa.float64(), pa.binary(), pa.list_(pa.int64()), pa.null()))
            table = table.set_column(at, table.column_names[at], pa.nulls(table.num_rows, kind))
        elif how == 4:
            cells = table.column(at).to_pylist()
            cells[coins.randrange(len(cells))] = coins.choice((None, cells[0], coins.choice(cells)))
            table = table.set_column(at, table.column_names[at], pa.array(cells))
        else:
            text = "x" * coins.choice((1, 1_000, 100_000))
            table = table.set_column(at, table.column_names[at], pa.array([text] * table.num_rows))
        to = BytesIO()
        pq.write_table(table, to, store_schema=False, compression=coins.choice(("zstd", "none", "snappy", "gzip")))
    except (pa.ArrowException, OSError, IndexError, ValueError):
        return None
    return to.getvalue()

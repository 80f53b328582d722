"""Parquet's structs as far as listed writers fill them; a field that they never write is refused.

No key-value metadata, no page indexes, no checksums, no field ids, no sorting columns, no encryption.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.verifier.layout.cells import BYTES, DOUBLE, FIXED, INT32, INT64
from discreet.verifier.layout.thrift import BINARY, BOOL, I16, I32, I64, ListOf, Struct

COLUMNS = 1 << 14  # of a table at most
_PLACES = 8  # of a short list
_EMPTY = Struct({})
STATISTICS = Struct(
    {
        1: ("max", BINARY),
        2: ("min", BINARY),
        3: ("null_count", I64),
        4: ("distinct_count", I64),
        5: ("max_value", BINARY),
        6: ("min_value", BINARY),
        7: ("is_max_value_exact", BOOL),
        8: ("is_min_value_exact", BOOL),
        9: ("nan_count", I64),
    },
    frozenset(
        {
            *("max", "min", "max_value", "min_value", "is_max_value_exact", "is_min_value_exact"),
            *("distinct_count", "nan_count"),
        }
    ),
)
_DECIMAL = Struct({1: ("scale", I32), 2: ("precision", I32)})
_LOGICAL = Struct({1: ("text", _EMPTY), 5: ("decimal", _DECIMAL)}, frozenset({"text", "decimal"}))
ELEMENT = Struct(
    {
        1: ("type", I32),
        2: ("type_length", I32),
        3: ("repetition", I32),
        4: ("name", BINARY),
        5: ("children", I32),
        6: ("converted", I32),
        7: ("scale", I32),
        8: ("precision", I32),
        10: ("logical", _LOGICAL),
    },
    frozenset({"type", "type_length", "children", "converted", "scale", "precision", "logical"}),
)
_ENCODING = Struct({1: ("page", I32), 2: ("encoding", I32), 3: ("count", I32)})
_SIZES = Struct(
    {1: ("text_bytes", I64), 2: ("repetitions", ListOf(I64, _PLACES)), 3: ("definitions", ListOf(I64, _PLACES))},
    frozenset({"text_bytes"}),
)
_CHUNK = Struct(
    {
        1: ("type", I32),
        2: ("encodings", ListOf(I32, _PLACES)),
        3: ("path", ListOf(BINARY, _PLACES)),
        4: ("codec", I32),
        5: ("values", I64),
        6: ("unpacked", I64),
        7: ("packed", I64),
        9: ("data_at", I64),
        11: ("dictionary_at", I64),
        12: ("statistics", STATISTICS),
        13: ("pages", ListOf(_ENCODING, _PLACES)),
        14: ("filter_at", I64),
        15: ("filter_bytes", I32),
        16: ("sizes", _SIZES),
    },
    frozenset({"dictionary_at", "statistics", "pages", "filter_at", "filter_bytes", "sizes"}),
)
GROUP = Struct(
    {
        1: ("columns", ListOf(Struct({2: ("file_at", I64), 3: ("chunk", _CHUNK)}), COLUMNS)),
        2: ("bytes", I64),
        3: ("rows", I64),
        5: ("at", I64),
        6: ("packed", I64),
        7: ("ordinal", I16),
    },
    frozenset({"at", "packed", "ordinal"}),
)
FOOTER = Struct(
    {
        1: ("version", I32),
        2: ("schema", ListOf(ELEMENT, COLUMNS + 1)),
        3: ("rows", I64),
        4: ("groups", ListOf(GROUP)),
        6: ("created_by", BINARY),
        7: ("orders", ListOf(Struct({1: ("as_typed", _EMPTY)}), COLUMNS)),
    },
    frozenset({"orders"}),
)
_DATA = Struct(
    {
        1: ("values", I32),
        2: ("encoding", I32),
        3: ("definition", I32),
        4: ("repetition", I32),
        5: ("statistics", STATISTICS),
    },
    frozenset({"statistics"}),
)
_DICTIONARY = Struct({1: ("values", I32), 2: ("encoding", I32), 3: ("sorted", BOOL)}, frozenset({"sorted"}))
PAGE = Struct(
    {1: ("type", I32), 2: ("unpacked", I32), 3: ("packed", I32), 5: ("data", _DATA), 7: ("dictionary", _DICTIONARY)},
    frozenset({"data", "dictionary"}),
)
_ONE = Struct({1: ("it", _EMPTY)})
FILTER = Struct({1: ("bytes", I32), 2: ("algorithm", _ONE), 3: ("hash", _ONE), 4: ("compression", _ONE)})


@dataclass(frozen=True, kw_only=True)
class Writer:
    """A program whose files are known: what it calls itself, and how it lays out a table."""

    name: str
    called: re.Pattern[bytes]
    version: int
    root: bytes
    rows: int  # of every row group but the last
    level: int  # of zstd
    kinds: tuple[dict[str, object], ...]  # what a column's element may state beside its name


_VERSION = rb"(0|[1-9][0-9]?)(\.(0|[1-9][0-9]?)){2}"
_TEXT: dict[str, object] = {"type": BYTES, "converted": 0}
_PLAIN: tuple[dict[str, object], ...] = ({"type": BYTES}, {"type": DOUBLE})
DUCKDB = Writer(
    name="DuckDB",
    called=re.compile(rb"DuckDB( version v%s(-dev[0-9]{1,5})? \(build [0-9a-f]{10}\))?" % _VERSION),
    version=1,
    root=b"duckdb_schema",
    rows=122_880,
    level=3,
    kinds=(
        _TEXT,
        *_PLAIN,
        {"type": INT32, "converted": 17},
        {"type": INT64, "converted": 18},
    ),
)
ARROW = Writer(
    name="Arrow",
    called=re.compile(rb"parquet-cpp-arrow version %s(-SNAPSHOT)?" % _VERSION),
    version=2,
    root=b"schema",
    rows=1 << 20,
    level=1,
    kinds=({**_TEXT, "logical": {"text": {}}}, *_PLAIN, {"type": INT32}, {"type": INT64}),
)
WRITERS = (DUCKDB, ARROW)
_DIGITS = 18  # of a decimal
DECIMAL = {DUCKDB.name: {"type": INT64}, ARROW.name: {"type": FIXED, "type_length": 8}}


def known(element: dict[str, object], writer: Writer) -> bool:
    """Whether a column's element is one that the writer makes: of a type that a release has, and said in its way."""
    stated = {key: each for key, each in element.items() if key not in ("name", "repetition")}
    if element["repetition"] not in (0, 1) or "children" in stated:
        return False
    scale = stated.get("scale")
    if not isinstance(scale, int):
        return stated in writer.kinds
    decimal = {"converted": 5, "scale": scale, "precision": _DIGITS}
    logical = {"logical": {"decimal": {"scale": scale, "precision": _DIGITS}}}
    return 0 <= scale <= _DIGITS and stated == {**DECIMAL[writer.name], **decimal, **logical}

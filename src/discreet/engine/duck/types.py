"""Kinds of DuckDB's types: whole, fraction, date, text, and other, which no domain can hold."""

from __future__ import annotations

from discreet.engine.engine import ColumnType

_SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_KINDS = {
    "whole": (*_SIGNED, *(f"U{kind}" for kind in _SIGNED)),
    "fraction": ("FLOAT", "DOUBLE", "DECIMAL"),
    "date": ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIME", "INTERVAL"),
    "text": ("VARCHAR", "ENUM", "UUID", "BOOLEAN", "JSON"),
}
_AS_WHOLE = (*_KINDS["whole"], *_KINDS["fraction"], "VARCHAR", "ENUM", '"NULL"')
_NOT_TEXT = ("BLOB", "STRUCT", "MAP", "UNION", "BIT", "VARIANT")


def column_type(name: str) -> ColumnType:
    """What a column of a DuckDB type can hold."""
    base, several = name.partition("(")[0], name.endswith("]")
    kind = next((kind for kind, types in _KINDS.items() if base in types), "other")
    return ColumnType(
        name=name,
        kind="other" if several else kind,
        as_whole=base in _AS_WHOLE and not several,
        as_text=base not in _NOT_TEXT and not several,
    )

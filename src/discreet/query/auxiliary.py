"""Auxiliary tables: public tables that the caller hands in for IN (SELECT ... FROM name)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from discreet.engine.duck.database import Database
from discreet.engine.faults import Unfit
from discreet.errors import QueryError
from discreet.query.scope import Auxiliary

_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "DOUBLE", "FLOAT")


def register_auxiliary(tables: Mapping[str, Any] | None, engine: Database) -> dict[str, Auxiliary]:
    """Register the caller's public tables under names of our own."""
    known = {}
    for number, (name, table) in enumerate((tables or {}).items()):
        relation = f"auxiliary_{number}"
        try:
            engine.register(relation, pa.table(table) if isinstance(table, Mapping) else table)
            columns = engine.columns(relation)
        except (Unfit, pa.ArrowException, TypeError, ValueError, AttributeError):
            raise QueryError(
                f"aux ({name}) must be an Arrow or pandas table of plain columns, or a dict of lists of one length"
            ) from None
        types = {
            column: "text" if kind == "VARCHAR" else "integer"
            for column, kind in columns.items()
            if kind == "VARCHAR" or kind in _NUMBERS
        }
        known[name] = Auxiliary(relation=relation, types=types)
    return known

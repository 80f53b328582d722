"""Looking at a table's columns with DuckDB: one scan for all of them, each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import identifier, text
from discreet.engine.engine import ColumnType, Glance
from discreet.errors import OutOfMemory

if TYPE_CHECKING:
    from discreet.engine.duck.database import Database

_EACH = 6  # numbers that a glance takes of a column


def glance(database: Database, source: str, columns: Mapping[str, ColumnType]) -> tuple[int, dict[str, Glance]]:
    """Rows and, for each column, filled cells, distinct ones about, lowest, highest, whole ones, average length."""
    parts = [part for name, kind in columns.items() for part in _estimates(_cell(name, kind), kind.kind)]
    rows, *found = database.rows(f"SELECT {', '.join(['count(*)', *parts])} FROM {source}")[0]
    seen = {}
    for position, name in enumerate(columns):
        filled, distinct, low, high, whole, length = found[position * _EACH : position * _EACH + _EACH]
        seen[name] = Glance(filled=filled, distinct=distinct, low=low, high=high, whole=whole, length=length)
    return rows, seen


def _cell(name: str, kind: ColumnType) -> str:
    """A cell as it is looked at: numbers and dates as they are, everything else as text."""
    return f"CAST({identifier(name)} AS VARCHAR)" if kind.kind == "text" else identifier(name)


def _estimates(cell: str, kind: str) -> tuple[str, ...]:
    if kind == "other":
        return (f"count({cell})", "0", "NULL", "NULL", "NULL", "NULL")
    start = (f"count({cell})", f"approx_count_distinct({cell})")
    if kind == "date":
        return (*start, "NULL", "NULL", "NULL", "NULL")
    limits = (f"min({cell})", f"max({cell})")
    if kind == "text":
        return (*start, *limits, "NULL", f"avg(length({cell}))")
    whole = f"count_if({cell} = floor({cell}))" if kind == "fraction" else f"count({cell})"
    return (*start, *limits, whole, "NULL")


def tally(database: Database, source: str, columns: Mapping[str, bool]) -> dict[str, dict[str, int]]:
    """How often each value of each column occurs, as text; True: as whole numbers. Empty cells are left out."""
    counts: dict[str, dict[str, int]] = {name: {} for name in columns}
    if not columns:
        return counts
    names = list(columns)
    kinds = ["BIGINT" if whole else "VARCHAR" for whole in columns.values()]
    cells = ", ".join(f"CAST({identifier(name)} AS {kinds[i]}) AS k{i}" for i, name in enumerate(names))
    which = " ".join(f"WHEN grouping(k{i}) = 0 THEN {i}" for i in range(len(names)))
    value = ", ".join(f"CAST(k{i} AS VARCHAR)" for i in range(len(names)))
    sets = ", ".join(f"(k{i})" for i in range(len(names)))
    found = database.rows(
        f"SELECT CASE {which} END, coalesce({value}, NULL), count(*) FROM (SELECT {cells} FROM {source}) "
        f"GROUP BY GROUPING SETS ({sets})"
    )
    for position, cell, count in found:
        if cell is not None:
            counts[names[position]][cell] = count
    return counts


def closer(
    database: Database, source: str, columns: Mapping[str, tuple[ColumnType, bool]], in_parts: Callable[[str], int]
) -> dict[str, Glance]:
    """How many cells are distinct, exactly; True: how many texts are whole numbers, and the limits of those.

    `in_parts` counts one column's distinct cells, where all at once are too many for the memory.
    """
    if not columns:
        return {}
    distinct, rest = [], []
    for name, (kind, digits) in columns.items():
        cell = _cell(name, kind)
        whole = f"TRY_CAST({cell} AS BIGINT)" if digits else "CAST(NULL AS BIGINT)"
        distinct.append(f"CASE WHEN {cell} IS NOT NULL THEN hash({cell}) END")  # different hashes: different values
        rest += [
            f"count_if(CAST({whole} AS VARCHAR) = {cell})" if digits else "0",
            f"min({whole})",
            f"max({whole})",
            f"count({cell})",
        ]
    try:
        counts = [f"count(DISTINCT {each})" for each in distinct]
        found = database.rows(f"SELECT {', '.join([*counts, *rest])} FROM {source}")[0]
    except OutOfMemory:
        counted = [in_parts(each) for each in distinct]
        found = (*counted, *database.rows(f"SELECT {', '.join(rest)} FROM {source}")[0])
    each = len(rest) // len(columns)
    seen = {}
    for position, name in enumerate(columns):
        start = len(columns) + position * each
        whole, low, high, filled = found[start : start + each]
        seen[name] = Glance(filled=filled, distinct=found[position], low=low, high=high, whole=whole)
    return seen


def written_so(
    database: Database, source: str, columns: Collection[str], texts: Collection[str]
) -> dict[str, dict[str, int]]:
    """How often cells are one of some texts, spaces around them and letter case aside, by how they are written."""
    if not columns:
        return {}
    listed = ", ".join(map(text, texts))
    longest = max(map(len, texts))
    counts = ", ".join(
        f"histogram(CASE WHEN length({cell}) <= {longest} AND lower(trim({cell})) IN ({listed}) THEN {cell} END)"
        for cell in (f"CAST({identifier(name)} AS VARCHAR)" for name in columns)
    )
    found = database.rows(f"SELECT {counts} FROM {source}")[0]
    return {name: dict(each or {}) for name, each in zip(columns, found, strict=True)}


def dates(database: Database, source: str, columns: Sequence[str]) -> dict[str, tuple[int, str | None, str | None]]:
    """How many cells of each column are dates, and the first and the last of them, such as 2020-03-31."""
    if not columns:
        return {}
    days = [f"TRY_CAST(CAST({identifier(name)} AS VARCHAR) AS DATE)" for name in columns]
    parts = [f"count({day}), strftime(min({day}), '%Y-%m-%d'), strftime(max({day}), '%Y-%m-%d')" for day in days]
    found = database.rows(f"SELECT {', '.join(parts)} FROM {source}")[0]
    return {name: found[3 * place : 3 * place + 3] for place, name in enumerate(columns)}


def sample(
    database: Database, source: str, columns: Sequence[str], most: int, blank: Mapping[str, Sequence[str]]
) -> dict[str, NDArray[np.uint32]]:
    """Columns of some rows as numbers: equal cells have equal ones, and an empty cell or a blank text has 0.

    The numbers are hashes, so two cells in 4 billion may share one: enough for shares, not for a count.
    """
    cells = []
    for number, name in enumerate(columns):
        cell = identifier(name)
        empty = f"{cell} IS NULL"
        if texts := blank.get(name):
            empty += f" OR CAST({cell} AS VARCHAR) IN ({', '.join(map(text, texts))})"
        cells.append(f"CASE WHEN {empty} THEN 0 ELSE 1 + hash({cell}) % 4294967295 END::UINTEGER AS c{number}")
    listed = ", ".join(map(identifier, columns))
    chosen = f"SELECT {listed} FROM {source} USING SAMPLE reservoir({most} ROWS) REPEATABLE (1)"
    found = database.arrow(f"SELECT {', '.join(cells)} FROM ({chosen})")
    return {name: numbers(found.column(number)) for number, name in enumerate(columns)}

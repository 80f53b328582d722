"""Looking at a table's columns with DuckDB: one scan for all of them, each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import identifier, text
from discreet.engine.engine import ColumnType, Glance
from discreet.errors import OutOfMemory

if TYPE_CHECKING:
    from discreet.engine.duck.database import Database
    from discreet.engine.duck.sources import Looked

_EACH = 6  # numbers that a glance takes of a column
_TOGETHER = 250  # columns that one statement looks at: what it takes to plan one grows with their square
_SAMPLE = "source_sample"
_HASHES = np.uint64(2**32 - 1)  # numbers of what is not empty
_TALLIED = 24  # the same, where each has a table of its values
_FEW = 1 << 14  # rows of which cells are counted in one table of values: a table for each costs more than that


def _parts(columns: Iterable[str], most: int) -> Iterator[list[str]]:
    """The columns, so many at a time."""
    names = list(columns)
    for start in range(0, len(names), most):
        yield names[start : start + most]


def glance(database: Database, source: Looked, columns: Mapping[str, ColumnType]) -> tuple[int, dict[str, Glance]]:
    """Rows and, for each column, filled cells, distinct ones about, lowest, highest, whole ones, average length."""
    rows, seen = 0, {}
    for names in _parts(columns, _TOGETHER) if columns else [[]]:
        parts = [part for name in names for part in _estimates(_cell(name, columns[name]), columns[name].kind)]
        relation = source.of(names) if names else source.relation
        rows, *found = database.rows(f"SELECT {', '.join(['count(*)', *parts])} FROM {relation}")[0]
        for position, name in enumerate(names):
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


def tally(database: Database, source: Looked, columns: Mapping[str, bool], rows: int) -> dict[str, dict[str, int]]:
    """How often each value of each column occurs, as text; True: as whole numbers. Empty cells are left out."""
    counts: dict[str, dict[str, int]] = {name: {} for name in columns}
    few = rows <= _FEW
    for names in _parts(columns, _TOGETHER if few else _TALLIED):
        cells = [f"CAST({identifier(name)} AS {'BIGINT' if columns[name] else 'VARCHAR'})" for name in names]
        query = _tallied_together if few else _tallied_apart
        for position, cell, count in database.rows(query(cells, source.of(names))):
            if cell is not None:
                counts[names[position]][cell] = count
    return counts


def _tallied_together(cells: Sequence[str], relation: str) -> str:
    """The query of the cells' positions, their values, and how often each occurs."""
    values = ", ".join(f"CAST({cell} AS VARCHAR)" for cell in cells)
    listed = f"SELECT unnest(range({len(cells)})) AS k, unnest([{values}]) AS v FROM {relation}"
    return f"SELECT k, v, count(*) FROM ({listed}) GROUP BY ALL"


def _tallied_apart(cells: Sequence[str], relation: str) -> str:
    """The same, a table of values for each."""
    keys = [f"k{i}" for i in range(len(cells))]
    which = " ".join(f"WHEN grouping({key}) = 0 THEN {i}" for i, key in enumerate(keys))
    listed = ", ".join(f"{cell} AS {key}" for key, cell in zip(keys, cells, strict=True))
    value = ", ".join(f"CAST({key} AS VARCHAR)" for key in keys)
    return (
        f"SELECT CASE {which} END, coalesce({value}, NULL), count(*) FROM (SELECT {listed} FROM {relation}) "
        f"GROUP BY GROUPING SETS ({', '.join(f'({key})' for key in keys)})"
    )


def closer(
    database: Database,
    source: Looked,
    columns: Mapping[str, tuple[ColumnType, bool]],
    in_parts: Callable[[str, str], int],
) -> dict[str, Glance]:
    """How many cells are distinct, exactly; True: how many texts are whole numbers, and the limits of those.

    `in_parts` counts one column's distinct cells, where all at once are too many for the memory.
    """
    seen = {}
    for names in _parts(columns, _TOGETHER):
        distinct, rest = {}, []
        for name in names:
            kind, digits = columns[name]
            cell = _cell(name, kind)
            whole = f"TRY_CAST({cell} AS BIGINT)" if digits else "CAST(NULL AS BIGINT)"
            distinct[name] = f"CASE WHEN {cell} IS NOT NULL THEN hash({cell}) END"  # other hashes: other values
            limits = (f"min({whole})", f"max({whole})", f"count({cell})")
            rest += [f"count_if(CAST({whole} AS VARCHAR) = {cell})" if digits else "0", *limits]
        relation = source.of(names)
        try:
            counts = [f"count(DISTINCT {each})" for each in distinct.values()]
            found = database.rows(f"SELECT {', '.join([*counts, *rest])} FROM {relation}")[0]
        except OutOfMemory:
            counted = [in_parts(each, name) for name, each in distinct.items()]
            found = (*counted, *database.rows(f"SELECT {', '.join(rest)} FROM {relation}")[0])
        for position, name in enumerate(names):
            start = len(names) + position * 4
            whole, low, high, filled = found[start : start + 4]
            seen[name] = Glance(filled=filled, distinct=found[position], low=low, high=high, whole=whole)
    return seen


def written_so(
    database: Database, source: Looked, columns: Collection[str], texts: Collection[str]
) -> dict[str, dict[str, int]]:
    """How often cells are one of some texts, spaces around them and letter case aside, by how they are written."""
    listed, longest = ", ".join(map(text, texts)), max(map(len, texts))
    counts: dict[str, dict[str, int]] = {}
    for names in _parts(columns, _TOGETHER):
        parts = ", ".join(
            f"histogram(CASE WHEN length({cell}) <= {longest} AND lower(trim({cell})) IN ({listed}) THEN {cell} END)"
            for cell in (f"CAST({identifier(name)} AS VARCHAR)" for name in names)
        )
        found = database.rows(f"SELECT {parts} FROM {source.of(names)}")[0]
        counts |= {name: dict(each or {}) for name, each in zip(names, found, strict=True)}
    return counts


def dates(database: Database, source: Looked, columns: Sequence[str]) -> dict[str, tuple[int, str | None, str | None]]:
    """How many cells of each column are dates, and the first and the last of them, such as 2020-03-31."""
    seen: dict[str, tuple[int, str | None, str | None]] = {}
    for names in _parts(columns, _TOGETHER):
        days = [f"TRY_CAST(CAST({identifier(name)} AS VARCHAR) AS DATE)" for name in names]
        parts = [f"count({day}), strftime(min({day}), '%Y-%m-%d'), strftime(max({day}), '%Y-%m-%d')" for day in days]
        found = database.rows(f"SELECT {', '.join(parts)} FROM {source.of(names)}")[0]
        seen |= {name: found[3 * place : 3 * place + 3] for place, name in enumerate(names)}
    return seen


def sample(
    database: Database, source: Looked, columns: Sequence[str], most: int, blank: Mapping[str, Sequence[str]]
) -> dict[str, NDArray[np.uint32]]:
    """Columns of some rows as numbers: equal cells have equal ones, and an empty cell or a blank text has 0.

    The numbers are hashes, so two cells in 4 billion may share one: enough for shares, not for a count.
    """
    found: dict[str, NDArray[np.uint32]] = {}
    chosen = f"SELECT * FROM {source.of(columns)} USING SAMPLE reservoir({most} ROWS) REPEATABLE (1)"
    database.rows(f"CREATE OR REPLACE TABLE {_SAMPLE} AS {chosen}")
    empty = np.uint64(database.rows("SELECT hash(NULL)")[0][0])
    for names in _parts(columns, _TOGETHER // 2):  # a hash is 8 bytes, and 4 of what is kept
        cells = ", ".join(f"hash({_filled(name, blank.get(name, ()))})" for name in names)
        taken = database.arrow(f"SELECT {cells} FROM {_SAMPLE}")
        for name, column in zip(names, taken.columns, strict=True):
            hashes = numbers(column)
            found[name] = np.where(hashes == empty, 0, 1 + hashes % _HASHES).astype(np.uint32)
    database.rows(f"DROP TABLE {_SAMPLE}")
    return found


def _filled(name: str, blank: Sequence[str]) -> str:
    """A cell, empty where it is a blank text."""
    cell = identifier(name)
    return (
        f"CASE WHEN CAST({cell} AS VARCHAR) NOT IN ({', '.join(map(text, blank))}) THEN {cell} END" if blank else cell
    )

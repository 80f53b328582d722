"""Profiling a table that has no policy yet: what each column looks like, in three scans at most, however many columns.

The first scan estimates how many values each column has; the second counts the values of those that have few; the third
looks closer at those that have many. Cells stay in memory: they are for the draft of a policy, never for a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from discreet.engine.duck import Engine
from discreet.engine.encoding import identifier
from discreet.engine.progress import Progress, Steps
from discreet.table.kinds import LARGEST_WHOLE, is_whole, kind_of_texts, kind_of_type
from discreet.table.names import ambiguous_names, check_names, names_in
from discreet.table.reading import parsing_share, unreadable
from discreet.table.source import SOURCE, CsvForm, open_source

MOST_VALUES = 1_000  # values that a draft lists
_FEW = 2 * MOST_VALUES  # an estimate of distinct values is some percent off
_NEARLY_ALL = 0.75  # a share of distinct values, as estimated, that is worth an exact count

_GLANCE, _COUNT, _CLOSER = "looking at every column", "counting values", "looking closer"


@dataclass(frozen=True, kw_only=True)
class Column:
    """What a column looks like. `kind` is whole, fraction, date, text or other; `counts` is None beyond MOST_VALUES.

    `distinct` counts the values of cells that are not empty: an estimate unless `exact`. `low` and `high` are the
    limits of whole numbers. `ambiguous`: another column's name differs in upper and lower case only.
    """

    name: str
    type: str
    kind: str
    rows: int
    filled: int
    distinct: int
    exact: bool = False
    low: int | None = None
    high: int | None = None
    length: float = 0
    spaced: bool = False
    counts: Mapping[int | str, int] | None = None
    ambiguous: bool = False

    @property
    def missing(self) -> int:
        return self.rows - self.filled

    @property
    def values(self) -> int:
        """How many values it has; an empty cell is one of them."""
        return self.distinct + (self.missing > 0)

    @property
    def unique(self) -> bool:
        """Different in every row, and empty in none; a fraction never counts, for -0.0 is 0.0."""
        return self.exact and self.distinct == self.rows and self.kind not in ("fraction", "date")

    @property
    def histogram(self) -> dict[object, int]:
        """How often each value occurs; None is the empty cell."""
        found: dict[object, int] = dict((self.counts or {}).items())
        return found | {None: self.missing} if self.missing else found


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A table's columns in order; `name` is a short name of the table, without a path."""

    name: str
    rows: int
    columns: tuple[Column, ...]


def profile_table(source: Any, csv: CsvForm | None = None, progress: Progress | None = None) -> Profile:
    """Look at every column of a table: a path or glob, or a pandas, Polars, Arrow or DuckDB table."""
    name = Path(source).name if isinstance(source, str | Path) else "table"
    try:
        names = names_in(source, csv) if isinstance(source, str | Path) else []
        clear = [each for each in names if each not in ambiguous_names(source, names, csv)]
        check_names(source, csv, clear)
        with Engine() as engine:
            steps = Steps(
                progress, {"reading the table": parsing_share(source), _GLANCE: 1.0, _COUNT: 1.0, _CLOSER: 0.5}
            )
            with steps.step("reading the table") as tell, engine.watched(tell):
                name = open_source(engine, source, clear, csv)
            present = engine.columns(SOURCE)
            names = names or list(present)
            ambiguous = ambiguous_names(source, names, csv)
            types = {each: kind for each, kind in present.items() if each not in ambiguous}
            rows, columns = _profiled(engine, types, steps)
    except duckdb.Error as error:
        raise unreadable(name, error) from None
    known = {column.name: column for column in columns}
    unknown = Column(name="", type="", kind="other", rows=rows, filled=0, distinct=0, ambiguous=True)
    return Profile(name=name, rows=rows, columns=tuple(known.get(each, replace(unknown, name=each)) for each in names))


def _profiled(engine: Engine, types: Mapping[str, str], steps: Steps) -> tuple[int, list[Column]]:
    with steps.step(_GLANCE) as tell, engine.watched(tell):
        rows, first = _estimate(engine, types)
    few = {each.name: each for each in first if 0 < each.distinct <= _FEW and each.kind != "other"}
    with steps.step(_COUNT) as tell, engine.watched(tell):
        counted = _count(engine, few)
    looked = [_known(each, counted[each.name]) if each.name in counted else each for each in first]
    with steps.step(_CLOSER) as tell, engine.watched(tell):
        return rows, _look_closer(engine, looked)


def _estimate(engine: Engine, types: Mapping[str, str]) -> tuple[int, list[Column]]:
    """The first scan: rows, empty cells, estimates of distinct values, limits, lengths."""
    kinds = {name: kind_of_type(kind) for name, kind in types.items()}
    parts = [part for name, kind in kinds.items() for part in _estimates(_cell(name, types[name]), kind)]
    rows, *found = engine.rows(f"SELECT {', '.join(['count(*)', *parts])} FROM {SOURCE}")[0]
    columns = []
    for position, (name, kind) in enumerate(kinds.items()):
        filled, distinct, low, high, whole, length = found[position * 6 : position * 6 + 6]
        column = Column(
            name=name, type=types[name], kind=kind, rows=rows, filled=filled, distinct=min(distinct, filled)
        )
        if kind == "text" and filled:
            spaced = " " in low.strip() or " " in high.strip()
            likely = "digits" if is_whole(low) and is_whole(high) else kind_of_texts((low, high))
            column = replace(column, kind=likely, length=length, spaced=spaced)
        elif kind in ("whole", "fraction") and filled:
            if whole == filled and _fits(low, high):
                column = replace(column, kind="whole", low=int(low), high=int(high))
            elif kind == "whole":
                column = replace(column, kind="text")
        columns.append(column)
    return rows, columns


def _fits(low: Any, high: Any) -> bool:
    """Within what a domain of whole numbers takes; what is no number at all is not."""
    return all(-LARGEST_WHOLE <= limit <= LARGEST_WHOLE for limit in (low, high))


def _cell(name: str, kind: str) -> str:
    """A cell as it is looked at: numbers and dates as they are, everything else as text."""
    return f"CAST({identifier(name)} AS VARCHAR)" if kind_of_type(kind) == "text" else identifier(name)


def _estimates(cell: str, kind: str) -> tuple[str, ...]:
    """Filled, distinct, lowest, highest, whole, average length."""
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


def _count(engine: Engine, columns: Mapping[str, Column]) -> dict[str, dict[str, int]]:
    """The second scan: how often each value of each of these columns occurs, as text; empty cells are left out."""
    if not columns:
        return {}
    names = list(columns)
    cells = ", ".join(f"{_key(columns[name])} AS k{i}" for i, name in enumerate(names))
    which = " ".join(f"WHEN grouping(k{i}) = 0 THEN {i}" for i in range(len(names)))
    value = ", ".join(f"CAST(k{i} AS VARCHAR)" for i in range(len(names)))
    sets = ", ".join(f"(k{i})" for i in range(len(names)))
    found = engine.rows(
        f"SELECT CASE {which} END, coalesce({value}, NULL), count(*) FROM (SELECT {cells} FROM {SOURCE}) "
        f"GROUP BY GROUPING SETS ({sets})"
    )
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for position, text, count in found:
        if text is not None:
            counts[names[position]][text] = count
    return counts


def _key(column: Column) -> str:
    """What a column is grouped by: whole numbers as such, everything else as the text that a domain would list."""
    if column.kind == "whole":
        return f"CAST({identifier(column.name)} AS BIGINT)"
    return f"CAST({identifier(column.name)} AS VARCHAR)"


def _known(column: Column, counts: Mapping[str, int]) -> Column:
    """The column with its values: their kind is now certain."""
    kind = column.kind
    listed: dict[int | str, int] = {value: counts[value] for value in sorted(counts)}
    if kind_of_type(column.type) == "text":
        kind = kind_of_texts(counts)
    if kind == "whole":
        listed = {int(value): counts[value] for value in sorted(counts, key=int)}
        column = replace(column, low=min(map(int, counts)), high=max(map(int, counts)))
    few = len(counts) <= MOST_VALUES
    spaced = column.spaced or any(" " in value.strip() for value in counts)
    return replace(column, kind=kind, distinct=len(counts), exact=True, counts=listed if few else None, spaced=spaced)


def _look_closer(engine: Engine, columns: Sequence[Column]) -> list[Column]:
    """The third scan, where it is needed: are texts of digits whole numbers, and is nearly every cell different?"""
    parts: list[str] = []
    asked = [column for column in columns if _doubtful(column)]
    for column in asked:
        cell = _cell(column.name, column.type)
        whole = f"TRY_CAST({cell} AS BIGINT)" if column.kind == "digits" else "CAST(NULL AS BIGINT)"
        parts += [
            f"count(DISTINCT hash({cell})) FILTER (WHERE {cell} IS NOT NULL)",  # different hashes: different values
            f"count_if(CAST({whole} AS VARCHAR) = {cell})" if column.kind == "digits" else "0",
            f"min({whole})",
            f"max({whole})",
        ]
    if not asked:
        return list(columns)
    found = engine.rows(f"SELECT {', '.join(parts)} FROM {SOURCE}")[0]
    closer = {}
    for position, column in enumerate(asked):
        distinct, whole, low, high = found[position * 4 : position * 4 + 4]
        seen = replace(column, distinct=distinct, exact=True)
        if column.kind == "digits":
            fits = whole == column.filled and _fits(low, high)
            seen = replace(seen, kind="whole", low=low, high=high) if fits else replace(seen, kind="text")
        closer[column.name] = seen
    return [closer.get(column.name, column) for column in columns]


def _doubtful(column: Column) -> bool:
    if column.exact or not column.filled or column.kind in ("other", "date", "fraction"):
        return False
    return column.kind == "digits" or column.distinct >= _NEARLY_ALL * column.rows

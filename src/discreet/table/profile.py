"""Profiling a table that has no policy yet: what each column looks like, in six scans at most, however many columns.

The first scan estimates how many values each column has; the second counts the values of those that have few; the next
two look for texts that mean a missing cell among those that have many, and past them where there are some; the last
two look closer at those, and for dates. Cells stay in memory: they are for the draft of a policy, never for a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.engine.duck.engine import DuckEngine
from discreet.engine.engine import ColumnType, Looks
from discreet.engine.faults import Unfit
from discreet.ground.progress import Progress, Steps
from discreet.table.column import MOST_VALUES, Column
from discreet.table.kinds import LARGEST_WHOLE, is_whole, kind_of_texts
from discreet.table.looking import Looking
from discreet.table.marks import MARKS, marks_among
from discreet.table.names import ambiguous_names, check_names, names_in
from discreet.table.ragged import first_ragged
from discreet.table.reading import parsing_share, uneven, unreadable
from discreet.table.source import DELIMITERS, CsvForm, find_source, name_of_source

_FEW = 2 * MOST_VALUES  # an estimate of distinct values is some percent off
_NEARLY_ALL = 0.75  # a share of distinct values, as estimated, that is worth an exact count

_GLANCE, _COUNT, _CLOSER = "looking at every column", "counting values", "looking closer"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A table's columns in order; `name` is a short name of the table, without a path."""

    name: str
    rows: int
    columns: tuple[Column, ...]


def profile_table(source: Any, csv: CsvForm | None = None, progress: Progress | None = None) -> Profile:
    """Look at every column of a table: a path or glob, or a pandas, Polars, Arrow or DuckDB table."""
    with open_profile(source, csv, progress) as (profile, _):
        return profile


@contextmanager
def open_profile(
    source: Any, csv: CsvForm | None = None, progress: Progress | None = None, after: Mapping[str, float] | None = None
) -> Iterator[tuple[Profile, Looking]]:
    """The same, with the rows still at hand for more; steps that come `after` take their share of the progress."""
    name = name_of_source(source)
    try:
        names = names_in(source, csv) if isinstance(source, str | Path) else []
        if len(names) == 1 and set(names[0]) & set(DELIMITERS) and (ragged := first_ragged(source, csv)):
            raise uneven(name, ragged)  # else a table of one column, called as the whole header is
        unclear = ambiguous_names(source, names, csv)
        clear = [each for each in names if each not in unclear]
        check_names(source, csv, clear)
        with closing(DuckEngine()) as engine:
            steps = Steps(
                progress,
                {"reading the table": parsing_share(source), _GLANCE: 1.0, _COUNT: 1.0, _CLOSER: 0.5, **(after or {})},
            )
            with steps.step("reading the table") as tell, engine.watched(tell):
                present = engine.open(find_source(source, clear, csv), clear, keep=True)
            names = names or list(present)
            ambiguous = ambiguous_names(source, names, csv)
            types = {each: kind for each, kind in present.items() if each not in ambiguous}
            rows, columns = _profiled(engine, types, steps)
            known = {column.name: column for column in columns}
            unknown = Column(name="", type="", kind="other", rows=rows, filled=0, distinct=0, ambiguous=True)
            each_one = tuple(
                replace(known.get(each, unknown), name=each, position=position) for position, each in enumerate(names)
            )
            yield Profile(name=name, rows=rows, columns=each_one), Looking(engine=engine, steps=steps)
    except Unfit as fault:
        raise unreadable(source, csv, fault) from None


def _profiled(engine: DuckEngine, types: Mapping[str, ColumnType], steps: Steps) -> tuple[int, list[Column]]:
    with steps.step(_GLANCE) as tell, engine.watched(tell):
        rows, first = _estimate(engine, types)
    few = {each.name: each.kind == "whole" for each in first if 0 < each.distinct <= _FEW and each.kind != "other"}
    with steps.step(_COUNT) as tell, engine.watched(tell):
        counted = engine.tally(few, rows)
    looked = [
        _known(each, counted[each.name], types[each.name].kind) if each.name in counted else each for each in first
    ]
    with steps.step(_CLOSER) as tell, engine.watched(tell):
        unmarked = _look_past_marks(engine, looked, types)
        return rows, _look_for_dates(engine, _look_closer(engine, unmarked))


def _look_past_marks(engine: Looks, columns: Sequence[Column], types: Mapping[str, ColumnType]) -> list[Column]:
    """The columns as they are without the texts that mean a missing cell, where that makes them numbers or dates."""
    many = [column.name for column in columns if column.kind == "text" and not column.exact and column.filled]
    found = {name: counts for name, counts in engine.written_so(many, MARKS).items() if counts}
    engine.blank(
        {
            **{each.name: each.marks for each in columns if each.marks},
            **{name: tuple(found[name]) for name in found},
        }
    )
    again = _estimate(engine, {name: types[name] for name in found})[1] if found else []
    past = {each.name: replace(each, marks=tuple(sorted(found[each.name]))) for each in again}
    return [past.get(column.name, column) for column in columns]


def _look_for_dates(engine: Looks, columns: Sequence[Column]) -> list[Column]:
    """The first and the last date of columns that hold nothing else."""
    found = engine.dates([column.name for column in columns if column.kind == "date"])
    return [
        replace(column, since=found[column.name][1], until=found[column.name][2])
        if column.name in found and found[column.name][0] == column.filled
        else column
        for column in columns
    ]


def _estimate(engine: Looks, types: Mapping[str, ColumnType]) -> tuple[int, list[Column]]:
    """The first scan: rows, empty cells, estimates of distinct values, limits, lengths."""
    rows, found = engine.glance(types)
    columns = []
    for name, seen in found.items():
        kind = types[name].kind
        column = Column(
            name=name,
            type=types[name].name,
            kind=kind,
            rows=rows,
            filled=seen.filled,
            distinct=min(seen.distinct, seen.filled),
        )
        if kind == "text" and seen.filled:
            spaced = " " in seen.low.strip() or " " in seen.high.strip()
            likely = "digits" if is_whole(seen.low) and is_whole(seen.high) else kind_of_texts((seen.low, seen.high))
            column = replace(column, kind=likely, length=seen.length or 0, spaced=spaced)
        elif kind in ("whole", "fraction") and seen.filled:
            if seen.whole == seen.filled and _fits(seen.low, seen.high):
                column = replace(column, kind="whole", low=int(seen.low), high=int(seen.high))
            elif kind == "whole":
                column = replace(column, kind="text")
        columns.append(column)
    return rows, columns


def _fits(low: Any, high: Any) -> bool:
    """Within what a domain of whole numbers takes; what is no number at all is not."""
    return all(-LARGEST_WHOLE <= limit <= LARGEST_WHOLE for limit in (low, high))


def _known(column: Column, counts: Mapping[str, int], given: str) -> Column:
    """The column with its values: their kind is now certain. `given` is the kind of its type."""
    kind = column.kind
    if given == "text":
        column, kind, counts = _past_marks(column, counts)
    listed: dict[int | str, int] = {value: counts[value] for value in sorted(counts)}
    if kind == "whole":
        listed = {int(value): counts[value] for value in sorted(counts, key=int)}
        column = replace(column, low=min(map(int, counts)), high=max(map(int, counts)))
    few = len(counts) <= MOST_VALUES
    spaced = column.spaced or any(" " in value.strip() for value in counts)
    return replace(column, kind=kind, distinct=len(counts), exact=True, counts=listed if few else None, spaced=spaced)


def _past_marks(column: Column, counts: Mapping[str, int]) -> tuple[Column, str, Mapping[str, int]]:
    """The column, the kind of its texts and how often each occurs; those that mean a missing cell are left out, unless
    there are no others.
    """
    marks = marks_among(counts)
    rest = {value: count for value, count in counts.items() if value not in marks}
    if not rest:
        return column, kind_of_texts(counts), counts
    return replace(column, marks=marks, filled=sum(rest.values())), kind_of_texts(rest), rest


def _look_closer(engine: Looks, columns: Sequence[Column]) -> list[Column]:
    """The third scan, where it is needed: are texts of digits whole numbers, and is nearly every cell different?"""
    seen = engine.closer({column.name: column.kind == "digits" for column in columns if _doubtful(column)})
    closer = []
    for column in columns:
        if column.name in seen:
            found = seen[column.name]
            fits = found.whole == column.filled and _fits(found.low, found.high)
            if column.kind == "digits":
                column = replace(column, kind="whole", low=found.low, high=found.high) if fits else _as_text(column)
            column = replace(column, distinct=found.distinct, exact=True)
        closer.append(column)
    return closer


def _as_text(column: Column) -> Column:
    return replace(column, kind="text")


def _doubtful(column: Column) -> bool:
    if column.exact or not column.filled or column.kind in ("other", "date", "fraction"):
        return False
    return column.kind == "digits" or column.distinct >= _NEARLY_ALL * column.rows

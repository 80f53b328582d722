"""The names that a source gives its columns, and which of them a policy cannot tell apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.engine.duck.engine import DuckEngine
from discreet.engine.faults import Unfit
from discreet.errors import TableError
from discreet.table.reading import unreadable
from discreet.table.source import PARQUET_ENDINGS, CsvForm, find_source, name_of_source, parquet_names

_RENAMED = re.compile(r"(.+)_[0-9]+", re.DOTALL)


@contextmanager
def _glance(source: Any, csv: CsvForm | None, expected: Sequence[str] = ()) -> Iterator[tuple[DuckEngine, list[str]]]:
    """An engine for a look at a file, which copies nothing, and the names that it gives the columns."""
    with closing(DuckEngine()) as engine:
        found = engine.open(find_source(source, expected, csv), expected)
        yield engine, list(found)


def columns_in(source: Any, csv: CsvForm | None, expected: Sequence[str]) -> list[str]:
    """The names of a source's columns, where a policy expects some; no row is looked at but the first."""
    try:
        with _glance(source, csv, expected) as (_, names):
            return names
    except Unfit as fault:
        raise unreadable(source, csv, fault) from None


def names_in(source: str | Path, csv: CsvForm | None) -> list[str]:
    """The names that the columns of a file seem to have, where nothing is expected yet."""
    with _glance(source, csv) as (_, names):
        return names


def check_names(source: Any, csv: CsvForm | None, expected: Sequence[str]) -> None:
    """Raise TableError where a file's header is not found again by these names, which are all that a policy has.

    Parquet has its names as they are: there is nothing to find.
    """
    if not isinstance(source, str | Path) or str(source).lower().endswith(PARQUET_ENDINGS):
        return
    with _glance(source, csv, expected) as (_, names):
        if not set(expected) <= set(names):
            raise TableError(
                f"table ({name_of_source(source)}) must have its column names on one line; "
                "rename those with line breaks"
            )


def ambiguous_names(source: Any, present: list[str], csv: CsvForm | None) -> set[str]:
    """Which of the engine's names stand for columns whose own names differ in case only.

    The engine calls the second of two such columns Age_1. So does a file in which a column has that very name: only
    the source can tell.
    """
    folded = Counter(name.casefold() for name in present)
    found = {name for name in present if folded[name.casefold()] > 1}
    suspects = {
        name: match[1] for name in present if (match := _RENAMED.fullmatch(name)) and match[1].casefold() in folded
    }
    own = set(_own_names(source, csv)) if suspects else set()
    for name, base in suspects.items():
        if name not in own:
            found |= {name, *(each for each in present if each.casefold() == base.casefold())}
    return found


def _own_names(source: Any, csv: CsvForm | None) -> list[str]:
    """The names that the source itself gives its columns."""
    if not isinstance(source, str | Path):
        return [str(name) for name in getattr(source, "column_names", None) or getattr(source, "columns", [])]
    if str(source).lower().endswith(PARQUET_ENDINGS):
        return parquet_names(Path(source))
    with _glance(source, replace(csv or CsvForm(), header=False)) as (engine, _):
        return engine.first_row()

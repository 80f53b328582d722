"""Opening a source with DuckDB: Parquet is scanned in place, text is parsed where it is, memory is not copied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier, text
from discreet.engine.encoding import DATES
from discreet.engine.source import CsvFiles, InMemory, ParquetFiles, Source
from discreet.errors import OutOfMemory

EVERYTHING = "source_as_given"  # all rows and columns
_KEPT = "source_kept"  # all rows, and the columns that are looked at
_SHARE = 8  # text may have one part in so many of the memory, to be kept as it is


def open_source(database: Database, source: Source) -> dict[str, str]:
    """Make a source the relation EVERYTHING; names and types of its columns."""
    if isinstance(source, InMemory):
        database.register(EVERYTHING, source.columns)
    elif isinstance(source, ParquetFiles):
        database.rows(f"CREATE VIEW {EVERYTHING} AS SELECT * FROM {_parquet(source)}")
    else:
        database.rows(f"CREATE VIEW {EVERYTHING} AS SELECT * FROM {_csv(source)}")
    return database.columns(EVERYTHING)


@dataclass(frozen=True, kw_only=True)
class Looked:
    """Rows to look at: a relation, and cells of some columns read otherwise, layer upon layer.

    A statement names no columns but those that it looks at: where there are thousands, naming all costs the most.
    """

    relation: str = EVERYTHING
    layers: tuple[Mapping[str, str], ...] = ()

    def of(self, columns: Iterable[str]) -> str:
        """Some of its columns as a relation."""
        names, found = list(columns), self.relation
        for cells in ({}, *self.layers):
            chosen = ", ".join(
                f"{cells[name]} AS {identifier(name)}" if name in cells else identifier(name) for name in names
            )
            found = f"(SELECT {chosen} FROM {found})"
        return found

    def read(self, cells: Mapping[str, str]) -> Looked:
        """The same rows with some cells read otherwise, as SQL."""
        return replace(self, layers=(*self.layers, cells))


def keep_source(database: Database, source: Source, columns: Sequence[str]) -> Looked:
    """The relation to look at again and again: text that fits into memory is parsed once, and kept as it is."""
    if isinstance(source, CsvFiles) and columns and _size(source) * _SHARE <= database.limit:
        with suppress(OutOfMemory):  # then it is parsed again each time
            listed = ", ".join(map(identifier, columns))
            database.rows(f"CREATE TABLE {_KEPT} AS SELECT {listed} FROM {EVERYTHING}")
            return Looked(relation=_KEPT)
    return Looked(relation=_parquet(source)) if isinstance(source, ParquetFiles) else Looked()


def replaced(database: Database, relation: str, cells: Mapping[str, str], suffix: str) -> str:
    """The same relation, under a name with a suffix, with some cells read otherwise, as SQL."""
    listed, name = (
        ", ".join(f"{cell} AS {identifier(column)}" for column, cell in cells.items()),
        f"{relation}_{suffix}",
    )
    database.rows(f"CREATE OR REPLACE VIEW {name} AS SELECT * REPLACE ({listed}) FROM {relation}")
    return name


def blanked(cells: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Columns of which cells that are written so are empty, as SQL."""
    found = {}
    for column, texts in cells.items():
        name, listed = identifier(column), ", ".join(map(text, texts))
        found[column] = f"CASE WHEN CAST({name} AS VARCHAR) NOT IN ({listed}) THEN {name} END"
    return found


def joined(cells: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Columns of which cells that are written so are written otherwise, as SQL.

    A cell is found among the spellings by halving their list: as an enumeration, what is none of them would be held
    against each of them.
    """
    return {
        column: _written(f"CAST({identifier(column)} AS VARCHAR)", sorted(spellings.items()))
        for column, spellings in cells.items()
    }


def _written(cell: str, spellings: Sequence[tuple[str, str]]) -> str:
    """What a cell is written as, of spellings in their order."""
    if len(spellings) == 1:
        (spelling, value), *_ = spellings
        return f"CASE WHEN {cell} = {text(spelling)} THEN {text(value)} ELSE {cell} END"
    half = len(spellings) // 2
    below, above = _written(cell, spellings[:half]), _written(cell, spellings[half:])
    return f"CASE WHEN {cell} < {text(spellings[half][0])} THEN {below} ELSE {above} END"


def cut(dates: Mapping[str, str]) -> dict[str, str]:
    """Columns of which dates are cut to a day, month or year, as SQL."""
    return {
        column: f"strftime(TRY_CAST(CAST({identifier(column)} AS VARCHAR) AS DATE), {text(DATES[by])})"
        for column, by in dates.items()
    }


def _size(source: CsvFiles) -> int:
    """About how many bytes of text there are; a packed file has ten times its own."""
    found = 0
    for path in source.paths:
        with suppress(OSError):  # gone: its reader will say so
            found += path.stat().st_size * (10 if path.name.lower().endswith(".gz") else 1)
    return found


def _parquet(source: ParquetFiles) -> str:
    return f"read_parquet([{_listed(source.paths)}])"


def _csv(source: CsvFiles) -> str:
    options = ["all_varchar = true", f"skip = {source.skip}", "comment = ''", "null_padding = false"]
    if source.delimiter is not None:
        options.append(f"delim = {text(source.delimiter)}")
    if source.quote is not None:
        options += [f"quote = {text(source.quote)}", f"escape = {text(source.quote)}"]
    if source.header is not None:
        options.append(f"header = {str(source.header).lower()}")
    return f"read_csv([{_listed(source.paths)}], {', '.join(options)})"


def _listed(paths: Sequence[Path]) -> str:
    return ", ".join(text(str(path)) for path in paths)

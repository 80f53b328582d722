"""Opening a source with DuckDB: Parquet is scanned in place, text is parsed where it is, memory is not copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
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
        database.rows(f"CREATE VIEW {EVERYTHING} AS SELECT * FROM read_parquet([{_listed(source.paths)}])")
    else:
        database.rows(f"CREATE VIEW {EVERYTHING} AS SELECT * FROM {_csv(source)}")
    return database.columns(EVERYTHING)


def keep_source(database: Database, source: Source, columns: Sequence[str]) -> str:
    """The relation to look at again and again: text that fits into memory is parsed once, and kept as it is."""
    if isinstance(source, CsvFiles) and columns and _size(source) * _SHARE <= database.limit:
        with suppress(OutOfMemory):  # then it is parsed again each time
            listed = ", ".join(map(identifier, columns))
            database.rows(f"CREATE TABLE {_KEPT} AS SELECT {listed} FROM {EVERYTHING}")
            return _KEPT
    return EVERYTHING


def blank_source(database: Database, relation: str, cells: Mapping[str, Sequence[str]]) -> str:
    """The same relation, but that cells of some columns that are written so are empty."""
    replaced = []
    for column, texts in cells.items():
        name, listed = identifier(column), ", ".join(map(text, texts))
        replaced.append(f"CASE WHEN CAST({name} AS VARCHAR) NOT IN ({listed}) THEN {name} END AS {name}")
    blanked = f"{relation}_blanked"
    database.rows(f"CREATE OR REPLACE VIEW {blanked} AS SELECT * REPLACE ({', '.join(replaced)}) FROM {relation}")
    return blanked


def join_source(database: Database, relation: str, cells: Mapping[str, Mapping[str, str]]) -> str:
    """The same relation, but that cells of some columns that are written so are written otherwise.

    A cell is found among the spellings by halving their list: as an enumeration, what is none of them would be held
    against each of them.
    """
    replaced, joined = [], f"{relation}_joined"
    for column, spellings in cells.items():
        name = identifier(column)
        replaced.append(f"{_written(f'CAST({name} AS VARCHAR)', sorted(spellings.items()))} AS {name}")
    database.rows(f"CREATE OR REPLACE VIEW {joined} AS SELECT * REPLACE ({', '.join(replaced)}) FROM {relation}")
    return joined


def _written(cell: str, spellings: Sequence[tuple[str, str]]) -> str:
    """What a cell is written as, of spellings in their order."""
    if len(spellings) == 1:
        (spelling, value), *_ = spellings
        return f"CASE WHEN {cell} = {text(spelling)} THEN {text(value)} ELSE {cell} END"
    half = len(spellings) // 2
    below, above = _written(cell, spellings[:half]), _written(cell, spellings[half:])
    return f"CASE WHEN {cell} < {text(spellings[half][0])} THEN {below} ELSE {above} END"


def cut_source(database: Database, relation: str, dates: Mapping[str, str]) -> str:
    """The same relation, but that dates of some columns are cut to a day, month or year."""
    cut = []
    for column, by in dates.items():
        name = identifier(column)
        cut.append(f"strftime(TRY_CAST(CAST({name} AS VARCHAR) AS DATE), {text(DATES[by])}) AS {name}")
    shorter = f"{relation}_cut"
    database.rows(f"CREATE OR REPLACE VIEW {shorter} AS SELECT * REPLACE ({', '.join(cut)}) FROM {relation}")
    return shorter


def _size(source: CsvFiles) -> int:
    """About how many bytes of text there are; a packed file has ten times its own."""
    found = 0
    for path in source.paths:
        with suppress(OSError):  # gone: its reader will say so
            found += path.stat().st_size * (10 if path.name.lower().endswith(".gz") else 1)
    return found


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

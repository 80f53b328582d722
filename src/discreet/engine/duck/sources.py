"""Opening a source with DuckDB: Parquet is scanned in place, text is parsed where it is, memory is not copied."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier, text
from discreet.engine.source import CsvFiles, InMemory, ParquetFiles, Source
from discreet.errors import OutOfMemory

SOURCE = "source_rows"  # the rows, with the wanted columns
EVERYTHING = "source_as_given"  # all columns, to know their names
_KEPT = "kept_rows"
_SHARE = 8  # text may have one part in so many of the memory, to be kept as it is


def open_source(database: Database, source: Source, wanted: Collection[str], *, keep: bool = False) -> dict[str, str]:
    """Make a source the relations SOURCE and EVERYTHING; names and types of all its columns.

    With `keep`, text that fits into memory is parsed once and kept as it is: for who looks at it again and again.
    """
    if isinstance(source, InMemory):
        database.register(EVERYTHING, source.columns)
    elif isinstance(source, ParquetFiles):
        database.rows(f"CREATE VIEW {EVERYTHING} AS SELECT * FROM read_parquet([{_listed(source.paths)}])")
    else:
        database.rows(f"CREATE VIEW {EVERYTHING} AS SELECT * FROM {_csv(source)}")
    types = database.columns(EVERYTHING)
    folded = {name.casefold() for name in wanted}
    columns = [name for name in types if not folded or name.casefold() in folded] or list(types)
    chosen = f"SELECT {', '.join(map(identifier, columns))} FROM {EVERYTHING}"
    if keep and isinstance(source, CsvFiles) and _size(source) * _SHARE <= database.limit:
        with suppress(OutOfMemory):  # then it is parsed again each time
            database.rows(f"CREATE TABLE {_KEPT} AS {chosen}")
            chosen = f"SELECT * FROM {_KEPT}"
    database.rows(f"CREATE VIEW {SOURCE} AS {chosen}")
    return types


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

"""Opening a source with DuckDB: Parquet is scanned in place, text is parsed once and kept, memory is not copied."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier, text
from discreet.engine.source import CsvFiles, InMemory, ParquetFiles, Source

SOURCE = "source_rows"  # the rows, with the wanted columns
EVERYTHING = "source_as_given"  # all columns, to know their names
_KEPT = "kept_rows"
_SMALL = 1 << 26  # bytes of text that are kept in memory; more is kept compressed in the scratch folder


def open_source(database: Database, source: Source, wanted: Collection[str], *, keep: bool = False) -> dict[str, str]:
    """Make a source the relations SOURCE and EVERYTHING; names and types of all its columns.

    With `keep`, text is parsed once and kept as it is: for who looks at it again and again.
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
    if keep and (place := place_of_text(database, source)) is not None:
        database.rows(f"CREATE TABLE {place}{_KEPT} AS {chosen}")
        chosen = f"SELECT * FROM {place}{_KEPT}"
    database.rows(f"CREATE VIEW {SOURCE} AS {chosen}")
    return types


def place_of_text(database: Database, source: Source) -> str | None:
    """Where rows that were text are kept, as the start of a relation's name; None for other rows, which need not be.

    A scan of text costs more than all the rest. Small ones are kept in memory, others compressed in the scratch folder.
    """
    if not isinstance(source, CsvFiles):
        return None
    if sum(path.stat().st_size for path in source.paths) <= _SMALL:
        return "memory.main."
    database.rows(f"ATTACH IF NOT EXISTS {text(str(database.scratch / _KEPT))} AS {_KEPT}")
    return f"{_KEPT}.main."


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

"""DuckDB as the place where rows live: embedded, out of core, nothing to start.

An engine offers few primitives and knows nothing of what they are for: load columns in a declared encoding, count what
does not fit it, histogram, stream codes, attach a column by position, write sorted, filter and count.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

Encoding = range | tuple[int | str, ...]  # whole numbers from-to, or listed values in order
BATCH = 1 << 20
ROW_GROUP = 122_880


class Engine:
    """One private in-memory database; with `paths` it reads nothing but those files and folders, and no setting
    changes.
    """

    def __init__(self, *, paths: Iterable[Path] | None = None, memory: str | None = None) -> None:
        self._spill = tempfile.TemporaryDirectory(prefix="discreet-")  # mode 0700: it may hold rows
        self._db = duckdb.connect(":memory:")
        self._db.execute("SET temp_directory = $1", [self._spill.name])
        if memory:
            self._db.execute("SET memory_limit = $1", [memory])
        self._db.execute("SET error_on_division_by_zero = false")
        self._db.execute("SET enable_progress_bar = false")
        self._db.execute("SET autoinstall_known_extensions = false")
        self._db.execute("SET disabled_optimizers = 'in_clause'")  # it makes a join of a list: slower here, by 4 times
        if paths is not None:
            allowed = [str(path.resolve()) for path in paths]
            self._db.execute(f"SET allowed_paths = [{', '.join(map(text, allowed))}]")
            self._db.execute(f"SET allowed_directories = [{', '.join(text(path + '/') for path in allowed)}]")
            self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()
        self._spill.cleanup()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement and fetch everything it gives."""
        return self._db.execute(sql).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        """Run one query and fetch it as columns."""
        return self._db.sql(sql).to_arrow_table()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run one query and stream its columns in row order; nothing else may run until the stream is used up or
        closed.
        """
        reader = self._db.sql(sql).to_arrow_reader(BATCH)
        try:
            yield from reader
        finally:
            reader.close()

    def register(self, relation: str, columns: Any) -> None:
        """Make columns in memory (Arrow, pandas) a relation, without copying them."""
        self._db.register(relation, columns)

    def columns(self, relation: str) -> dict[str, str]:
        """Names and types of a relation's columns."""
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE SELECT * FROM {relation}")}

    def encode(self, relation: str, source: str, columns: Mapping[str, tuple[str, Encoding]]) -> None:
        """Make `relation` a view of `source` in which each column holds a value of its encoding, or NULL.

        `columns` gives, for each new name, the column of the source and its encoding. Listed text becomes an
        enumeration, so it sorts in the order listed and its code is its position.
        """
        types = self.columns(source)
        parts = []
        for number, (name, (column, encoding)) in enumerate(columns.items()):
            value = f"{identifier(column)}"
            if isinstance(encoding, range):
                whole = _whole(value, types[column])
                parts.append(
                    f"CASE WHEN {whole} BETWEEN {encoding[0]} AND {encoding[-1]} THEN {whole} END AS {identifier(name)}"
                )
            elif isinstance(encoding[0], int):
                whole = _whole(value, types[column])
                parts.append(
                    f"CASE WHEN {whole} IN ({', '.join(map(str, encoding))}) THEN {whole} END AS {identifier(name)}"
                )
            else:
                listed = self._enumeration(f"{relation}_{number}", encoding)
                parts.append(f"TRY_CAST(CAST({value} AS VARCHAR) AS {listed}) AS {identifier(name)}")
        self.rows(f"CREATE OR REPLACE VIEW {relation} AS SELECT {', '.join(parts)} FROM {source}")

    def code(self, column: str, encoding: Encoding) -> str:
        """The SQL of a column's code: its position in the encoding, from 0."""
        if isinstance(encoding, range):
            return f"({identifier(column)} - ({encoding[0]}))"
        if isinstance(encoding[0], int):
            return f"(list_position({list(encoding)}::BIGINT[], {identifier(column)}) - 1)"
        return f"enum_code({identifier(column)})"

    def write_sorted(self, relation: str, columns: Sequence[str], order: Sequence[str], to: Path) -> None:
        """Write columns of a relation to one Parquet file, the rows sorted by the columns given."""
        options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
        listed, by = (", ".join(map(identifier, names)) for names in (columns, order))
        self.rows(f"COPY (SELECT {listed} FROM {relation} ORDER BY {by}) TO {text(str(to))} ({options})")

    def write_csv(self, parquet: Path, to: Path) -> None:
        """Write a Parquet file's rows as CSV, in the same order."""
        self.rows(f"COPY (SELECT * FROM read_parquet({text(str(parquet))})) TO {text(str(to))} (FORMAT csv, HEADER)")

    def _enumeration(self, name: str, values: Sequence[Any]) -> str:
        self.rows(f"CREATE TYPE {name} AS ENUM ({', '.join(text(value) for value in values)})")
        return name


def _whole(value: str, kind: str) -> str:
    """A column as whole numbers, NULL where it is not one: text and fractions are never rounded."""
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        return (
            f"CASE WHEN regexp_full_match(CAST({value} AS VARCHAR), '[+-]?[0-9]+') "
            f"THEN TRY_CAST(CAST({value} AS VARCHAR) AS BIGINT) END"
        )
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return f"CASE WHEN {value} = floor({value}) THEN TRY_CAST({value} AS BIGINT) END"
    return f"TRY_CAST({value} AS BIGINT)"


def listing(column: str, encoding: Encoding) -> str:
    """A relation of the encoding's values in order: `position_` from 0, and the value under the column's name."""
    name = identifier(column)
    if isinstance(encoding, range):
        first, end = encoding[0], encoding[-1] + 1
        return f"(SELECT {name} - ({first}) AS position_, {name} FROM range({first}, {end}) listed({name}))"
    values = ", ".join(f"({position}, {literal(value)})" for position, value in enumerate(encoding))
    return f"(VALUES {values}) listed(position_, {name})"


def literal(value: int | str) -> str:
    """A value as an SQL literal."""
    return text(value) if isinstance(value, str) else f"({value})"


def identifier(name: str) -> str:
    """A name as SQL: quoted, with quotes doubled."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as an SQL literal."""
    return "'" + value.replace("'", "''") + "'"

"""DuckDB as the place where rows live: embedded, out of core, nothing to start.

An engine offers few primitives and knows nothing of what they are for: load columns in a declared encoding, count what
does not fit it, histogram, stream codes, attach a column by position, write sorted, filter and count.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from discreet.engine.encoding import Encoding, encoded, identifier, literal, text
from discreet.engine.progress import Tell

BATCH = 1 << 20
ROW_GROUP = 122_880
_GLANCE = 0.1  # seconds between two looks at how far a statement is


class Engine:
    """One private in-memory database; with `paths` it opens nothing but those and a scratch folder of its own."""

    def __init__(self, *, paths: Iterable[Path] | None = None, memory: str | None = None) -> None:
        self._spill = tempfile.TemporaryDirectory(prefix="discreet-")  # mode 0700: it may hold rows
        self.spill = Path(self._spill.name)
        self._db = duckdb.connect(":memory:")
        self._encoded: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {}
        self._db.execute("SET temp_directory = $1", [self._spill.name])
        if memory:
            self._db.execute("SET memory_limit = $1", [memory])
        self._db.execute("SET error_on_division_by_zero = false")  # unknown, as SQL has it, and not infinity
        self._db.execute("SET ieee_floating_point_ops = false")
        self._db.execute("SET enable_progress_bar = true")  # counted, so that it can be asked for, and never printed
        self._db.execute("SET enable_progress_bar_print = false")
        self._db.execute("SET allocator_background_threads = true")  # memory goes back when a large sort is over
        self._db.execute("SET autoinstall_known_extensions = false")
        self._db.execute("SET disabled_optimizers = 'in_clause'")  # it makes a join of a list: slower here, by 4 times
        if paths is not None:
            allowed = [str(path.resolve()) for path in (*paths, self.spill)]
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

    @contextmanager
    def watched(self, tell: Tell) -> Iterator[None]:
        """Run one statement inside; from a thread beside, tell how much of it is done."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_GLANCE):
                if (percent := self._db.query_progress()) > 0:
                    tell(percent / 100)

        beside = threading.Thread(target=watch, daemon=True)
        beside.start()
        try:
            yield
        finally:
            over.set()
            beside.join()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run one statement and fetch everything it gives."""
        with _interruptible():
            return self._db.execute(sql).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        """Run one query and fetch it as columns."""
        with _interruptible():
            return self._db.sql(sql).to_arrow_table()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run one query and stream its columns in row order; nothing else may run until the stream is used up or
        closed.
        """
        with _interruptible():
            reader = self._db.sql(sql).to_arrow_reader(BATCH)
            try:
                yield from reader
            finally:
                reader.close()

    def register(self, relation: str, columns: Any) -> None:
        """Make columns in memory (Arrow, pandas) a relation, without copying them."""
        self._db.register(relation, columns)

    def forget(self, relation: str) -> None:
        """Let go of columns in memory."""
        self._db.unregister(relation)

    def keep(self, relation: str, sql: str) -> None:
        """Run a query once and keep its rows, in their order, as a relation: compressed, in the private folder."""
        kept = f"kept_{relation}"
        self.rows(f"ATTACH {text(str(self.spill / kept))} AS {kept}")
        self.rows(f"CREATE TABLE {kept}.{relation} AS {sql}")
        self.rows(f"CREATE VIEW {relation} AS SELECT * FROM {kept}.{relation}")

    def columns(self, relation: str) -> dict[str, str]:
        """Names and types of a relation's columns."""
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE SELECT * FROM {relation}")}

    def encode(self, relation: str, source: str, columns: Mapping[str, tuple[str, Encoding]]) -> None:
        """Make `relation` a view of `source` in which each column holds a value of its encoding, or NULL.

        `columns` gives, for each new name, the column of the source and its encoding. Listed text becomes an
        enumeration, so it sorts in the order listed and its code is its position.
        """
        types = self.columns(source)
        cells = {}
        for number, (name, (column, encoding)) in enumerate(columns.items()):
            enumeration = f"{relation}_{number}"
            if encoding.kind == "text":
                self.rows(f"CREATE TYPE {enumeration} AS ENUM ({', '.join(map(literal, encoding.values))})")
            cells[name] = (identifier(column), encoded(column, types[column], encoding, enumeration))
        self._encoded[relation] = (source, cells)
        parts = [f"{value} AS {identifier(name)}" for name, (_, value) in cells.items()]
        self.rows(f"CREATE OR REPLACE VIEW {relation} AS SELECT {', '.join(parts)} FROM {source}")

    def misfits(self, relation: str) -> tuple[int, dict[str, tuple[int, int]]]:
        """The rows of an encoded relation and, for each column, its empty cells and those outside the encoding."""
        source, cells = self._encoded[relation]
        parts = []
        for cell, value in cells.values():
            parts.append(f"count(*) FILTER (WHERE {cell} IS NULL)")
            parts.append(f"count(*) FILTER (WHERE {cell} IS NOT NULL AND ({value}) IS NULL)")
        rows, *found = self.rows(f"SELECT count(*), {', '.join(parts)} FROM {source}")[0]
        return rows, dict(zip(cells, zip(found[::2], found[1::2], strict=True), strict=True))

    def strangers(self, relation: str, column: str, most: int) -> list[tuple[str, int]]:
        """The most frequent cells of a column that are outside its encoding, with how often they occur."""
        source, cells = self._encoded[relation]
        cell, value = cells[column]
        outside = f"{cell} IS NOT NULL AND ({value}) IS NULL"
        counted = f"SELECT CAST({cell} AS VARCHAR), count(*) FROM {source} WHERE {outside} GROUP BY 1"
        return [(row[0], row[1]) for row in self.rows(f"{counted} ORDER BY 2 DESC, 1 LIMIT {most}")]

    def write_sorted(self, relation: str, columns: Sequence[str], order: Sequence[str], to: Path) -> None:
        """Write columns of a relation to one Parquet file, the rows sorted by the SQL expressions given."""
        options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
        listed = ", ".join(map(identifier, columns))
        self.rows(f"COPY (SELECT {listed} FROM {relation} ORDER BY {', '.join(order)}) TO {text(str(to))} ({options})")

    def write_csv(self, parquet: Path, to: Path) -> None:
        """Write a Parquet file's rows as CSV, in the same order."""
        self.rows(f"COPY (SELECT * FROM read_parquet({text(str(parquet))})) TO {text(str(to))} (FORMAT csv, HEADER)")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C during a statement: the library raises a RuntimeError of its own, which nobody would take for it."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise

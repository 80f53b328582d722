"""DuckDB embedded: one private database in memory, which many threads may ask at once; nothing to start.

The analyst's side speaks SQL to it. The custodian's side knows it only as an `engine.engine.Engine`.
"""

from __future__ import annotations

import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.engine.duck.session import Session
from discreet.engine.duck.sql import encoded, given_enumeration, identifier, literal, narrow, text
from discreet.engine.duck.told import FULL, told
from discreet.engine.encoding import Encoding
from discreet.engine.faults import Unfit
from discreet.engine.memory import bytes_of
from discreet.errors import EngineError, OutOfMemory
from discreet.ground.closing import Closes
from discreet.ground.disk import workplace
from discreet.ground.progress import Tell

BATCH = 1 << 20  # rows of a batch of a few columns; of many, fewer
ROW_GROUP = 122_880
_NARROW = 8  # columns, few
_SPILLED = 8  # times its memory that a database with a limit may have on disk
_PATIENCE = 10.0  # seconds that closing waits for questions that were told to stop
_GLANCE = 0.1  # seconds between two looks at how far a statement is
_EVERYWHERE = (  # on every connection
    "error_on_division_by_zero = false",  # unknown, as SQL has it, and not infinity
    "ieee_floating_point_ops = false",
    "allocator_background_threads = true",  # memory goes back when a large sort is over
    "autoinstall_known_extensions = false",
    "autoload_known_extensions = false",
    # the first makes a join of a list: slower here, by 4 times; the second reads a CSV's cell as the type that it is
    # tried as, and fails where it is none
    "disabled_optimizers = 'in_clause,type_pushdown'",
)
_WATCHED = (  # on the one that is watched: counted, so that it can be asked for, and never printed
    "enable_progress_bar = true",
    "enable_progress_bar_print = false",
)


class Database(Closes):
    """One private in-memory database; with `paths` it opens nothing but those and a scratch folder of its own.

    With `spills` it may put rows there that do not fit into memory: only for rows that anybody may see.
    What is made in it (views, tables, encodings) is there for every thread. `asking` gives a thread a connection of
    its own with a limit of time; outside of it, threads take turns on one connection.
    """

    def __init__(
        self,
        *,
        paths: Iterable[Path] | None = None,
        memory: str | None = None,
        spills: bool = True,
        threads: int | None = None,
    ) -> None:
        self.memory = bytes_of(memory) if memory else None
        self._scratch: Path | None = None
        if spills:
            stack = ExitStack()
            try:
                self._scratch = stack.enter_context(workplace(Path(tempfile.gettempdir()), "discreet"))
            except OSError:
                raise OutOfMemory(FULL) from None
            self._clean = weakref.finalize(self, stack.close)  # also where nobody closed it, at the end of the process
        self._db = duckdb.connect(":memory:")
        self._encoded: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {}
        self._shared, self._turn = Session(self._db), threading.RLock()
        self._here = threading.local()
        self._lock = threading.Condition()  # for what follows; told when a question is over
        self._free: list[duckdb.DuckDBPyConnection] = []
        self._running: set[Session] = set()
        self._closed = False
        self._set(paths, threads)

    def _set(self, paths: Iterable[Path] | None, threads: int | None) -> None:
        self._db.execute("SET temp_directory = $1", [str(self._scratch or "")])
        if threads:
            self._db.execute(f"SET threads = {threads}")
        if self.memory:
            self._db.execute("SET memory_limit = $1", [f"{self.memory}B"])
            self._db.execute("SET max_temp_directory_size = $1", [f"{_SPILLED * self.memory}B"])
        self._db.execute(
            "; ".join([*(f"SET GLOBAL {each}" for each in _EVERYWHERE), *(f"SET {each}" for each in _WATCHED)])
        )
        if paths is not None:
            allowed = [str(path.resolve()) for path in (*paths, *([self._scratch] if self._scratch else []))]
            self._db.execute(f"SET allowed_paths = [{', '.join(map(text, allowed))}]")
            self._db.execute(f"SET allowed_directories = [{', '.join(text(path + '/') for path in allowed)}]")
            self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")

    def close(self) -> None:
        """Stop what runs, and let go of everything, on disk too."""
        own = getattr(self._here, "session", None)
        with self._lock:
            self._closed = True
        self.cancel()
        with self._lock:
            self._lock.wait_for(lambda: not self._running - {own}, _PATIENCE)
            for connection in self._free:
                connection.close()
            self._free.clear()
        self._db.close()
        if self._scratch is not None:
            self._clean()

    @property
    def scratch(self) -> Path:
        """A private folder that is gone when the database is closed."""
        if self._scratch is None:
            raise EngineError("a database that keeps everything in memory has no scratch folder")
        return self._scratch

    @cached_property
    def limit(self) -> int:
        """Bytes of memory that it may use."""
        return self.memory or bytes_of(self.rows("SELECT current_setting('memory_limit')")[0][0])

    @property
    def free(self) -> int:
        """Bytes of memory that it may use beyond those that it uses."""
        return self.limit - int(self.rows("SELECT sum(memory_usage_bytes) FROM duckdb_memory()")[0][0])

    @contextmanager
    def asking(self, seconds: float | None = None) -> Iterator[None]:
        """Give this thread a connection of its own: for one question, which must be answered within `seconds`.

        What is registered inside is seen by nobody else, and forgotten at the end. A question inside a question is part
        of it.
        """
        if getattr(self._here, "session", None) is not None:
            yield
            return
        session = self._begin(seconds)
        self._here.session = session
        try:
            yield
            session.check()
        finally:
            self._here.session = None
            self._end(session)

    def cancel(self) -> None:
        """Stop every question that is being answered."""
        with self._lock:
            running = tuple(self._running)
        for session in running:
            session.cancel()

    def check(self) -> None:
        """Raise where the question that this thread answers was stopped or has taken its time; for long loops."""
        self._session.check()

    def afford(self, needed: int) -> None:
        """Raise OutOfMemory where so many bytes, outside of the database, are more than was allowed."""
        if self.memory is not None and needed > self.memory:
            raise OutOfMemory(
                f"the question needs {needed / 1e9:,.1f} GB of memory, and {self.memory / 1e9:,.1f} GB are allowed; "
                "ask less of it, or raise the limit"
            )

    @property
    def _session(self) -> Session:
        return getattr(self._here, "session", None) or self._shared

    def _begin(self, seconds: float | None) -> Session:
        with self._lock:
            if self._closed:
                raise EngineError("the database is closed; open the table or the release again")
            session = Session(self._free.pop() if self._free else self._db.cursor(), seconds)
            self._running.add(session)
            return session

    def _end(self, session: Session) -> None:
        again = session.end()
        with self._lock:
            self._running.discard(session)
            if again:
                self._free.append(session.connection)
            self._lock.notify_all()

    @contextmanager
    def _statement(self, writes: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
        """Run one statement inside, which may write a file; nothing of DuckDB's own errors gets out."""
        session = self._session
        with self._turn if session is self._shared else nullcontext():
            session.check()
            try:
                yield session.connection
            except duckdb.InterruptException:
                session.check()
                raise KeyboardInterrupt from None
            except duckdb.Error as error:
                raise told(error, writes=writes, scratch=self._scratch) from None
            except RuntimeError as error:  # Ctrl-C during a statement: DuckDB has an error of its own for it
                if str(error) == "Query interrupted":
                    raise KeyboardInterrupt from None
                raise Unfit("RuntimeError", why="asked") from None  # such as half of a surrogate pair in a text

    @contextmanager
    def watched(self, tell: Tell) -> Iterator[None]:
        """Run one statement inside; from a thread beside, tell how much of it is done."""
        over, connection = threading.Event(), self._session.connection

        def watch() -> None:
            while not over.wait(_GLANCE):
                if (percent := connection.query_progress()) > 0:
                    tell(percent / 100)

        beside = threading.Thread(target=watch, daemon=True)
        beside.start()
        try:
            yield
        finally:
            over.set()
            beside.join()

    def rows(self, sql: str, *, writes: Path | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and fetch everything it gives; raises OSError where the file that it writes cannot be."""
        with self._statement(writes) as connection:
            return connection.execute(sql).fetchall()

    def arrow(self, sql: str) -> pa.Table:
        """Run one query and fetch it as columns."""
        with self._statement() as connection:
            return connection.sql(sql).to_arrow_table()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run one query and stream its columns in row order; this thread runs nothing else until the stream is used up
        or closed.
        """
        with self._statement() as connection:
            found = connection.sql(sql)
            reader = found.to_arrow_reader(max(1, BATCH // -(-len(found.columns) // _NARROW)))
            try:
                yield from reader
            finally:
                reader.close()

    def register(self, relation: str, columns: Any) -> None:
        """Make columns in memory (Arrow, pandas) a relation, without copying them: for this question, or for all that
        runs outside of any.
        """
        with self._statement():
            self._session.register(relation, columns)

    def forget(self, relation: str) -> None:
        """Let go of columns in memory."""
        with self._statement():
            self._session.forget(relation)

    def columns(self, relation: str) -> dict[str, str]:
        """Names and types of a relation's columns."""
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE SELECT * FROM {relation}")}

    def encode(
        self,
        relation: str,
        source: str,
        columns: Mapping[str, tuple[str, Encoding]],
        *,
        types: Mapping[str, str] | None = None,
        small: bool = False,
        beside: Mapping[str, str] | None = None,
    ) -> None:
        """Make `relation` a view of `source` in which each column holds a value of its encoding, or NULL.

        `columns` gives, for each new name, the column of the source and its encoding; `types` are those of the source,
        where they are known. Listed text becomes an enumeration, so it sorts in the order listed and its code is its
        position. Where they shall be `small`, whole numbers have the smallest type that holds them. With `beside`, the
        rows are encoded once and kept in the table `{relation}_kept`, together with these expressions under their
        names, which the view does not show.
        """
        types = self.columns(source) if types is None else types
        cells = {}
        for number, (name, (column, encoding)) in enumerate(columns.items()):
            enumeration = f"{relation}_{number}"
            if encoding.kind == "text":
                self.enumerate(enumeration, encoding)
            if encoding.grouping is not None and encoding.grouping.given.kind == "text":
                self.enumerate(given_enumeration(enumeration), encoding.grouping.given)
            value = encoded(column, types[column], encoding, enumeration)
            if small and encoding.kind != "text":
                value = f"CAST({value} AS {narrow(encoding)[0]})"
            cells[name] = (identifier(column), value)
        self._encoded[relation] = (source, cells)
        if beside is None:
            chosen = ", ".join(f"{value} AS {identifier(name)}" for name, (_, value) in cells.items())
            self.rows(f"CREATE OR REPLACE VIEW {relation} AS SELECT {chosen} FROM {source}")
            return
        kept = [f"{value} AS c{number}" for number, (_, value) in enumerate(cells.values())]
        kept += [f"{value} AS {name}" for name, value in beside.items()]
        self.rows(f"CREATE OR REPLACE TABLE {relation}_kept AS SELECT {', '.join(kept)} FROM {source}")
        shown = ", ".join(f"c{number} AS {identifier(name)}" for number, name in enumerate(cells))
        self.rows(f"CREATE OR REPLACE VIEW {relation} AS SELECT {shown} FROM {relation}_kept")

    def enumerate(self, name: str, encoding: Encoding) -> None:
        """Make the values of an encoding a type."""
        self.rows(f"CREATE OR REPLACE TYPE {name} AS ENUM ({', '.join(map(literal, encoding.values))})")

    def misfits(self, relation: str) -> tuple[int, dict[str, tuple[int, int]]]:
        """The rows of an encoded relation and, for each column, its empty cells and those outside the encoding."""
        source, cells = self._encoded[relation]
        fitting = ", ".join(f"count({identifier(name)})" for name in cells)
        rows, *fits = self.rows(f"SELECT count(*), {fitting} FROM {relation}")[0]
        found = dict.fromkeys(cells, (0, 0))
        short = {name: fit for name, fit in zip(cells, fits, strict=True) if fit < rows}
        if short:  # which of them are empty, only the source tells
            given = self.rows(f"SELECT {', '.join(f'count({cells[name][0]})' for name in short)} FROM {source}")[0]
            found |= {name: (rows - own, own - short[name]) for name, own in zip(short, given, strict=True)}
        return rows, found

    def strangers(self, relation: str, column: str, most: int) -> list[tuple[str, int]]:
        """The most frequent cells of a column that are outside its encoding, with how often they occur."""
        source, cells = self._encoded[relation]
        cell, value = cells[column]
        outside = f"{cell} IS NOT NULL AND ({value}) IS NULL"
        counted = f"SELECT CAST({cell} AS VARCHAR), count(*) FROM {source} WHERE {outside} GROUP BY 1"
        return [(row[0], row[1]) for row in self.rows(f"{counted} ORDER BY 2 DESC, 1 LIMIT {most}")]

    def write_parquet(self, query: str, to: Path) -> None:
        """Write what a query gives to one Parquet file, in its order: its cells, and no filter of them beside."""
        options = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}, WRITE_BLOOM_FILTER false"
        self.rows(f"COPY ({query}) TO {text(str(to))} ({options})", writes=to)

    def write_csv(self, parquet: Path, to: Path) -> None:
        """Write a Parquet file's rows as CSV, in the same order; for a database with one thread, as several may wait
        for each other for ever where the disk is full.
        """
        rows = f"SELECT * FROM read_parquet({text(str(parquet))})"
        self.rows(f"COPY ({rows}) TO {text(str(to))} (FORMAT csv, HEADER)", writes=to)

"""What needs many rows at once, sorting and telling apart, within the memory there is: one part of the rows after the
other, so that nothing is ever spilled.

How many parts are needed is estimated from rows and bytes, and doubled where that was too few. What comes out does not
depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from discreet.engine.duck.database import ROW_GROUP, Database
from discreet.engine.encoding import Encoding
from discreet.errors import OutOfMemory

_MOST = 1 << 12
_DOUBT = 32  # times as many parts as were estimated, at most
_BESIDE = 24  # bytes of a row beside its columns, in a sort or in a table of distinct rows
_USED = 0.6  # of the memory that is free
_WRITER = 1 << 26  # bytes of memory that the writer of parts may use, at least
_SORTED = "sorted_rows"


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows to be written in order: a relation, what is `shown` of it, the order, a whole number (`key`) that comes
    first in it, and the enumerations among its types.
    """

    relation: str
    shown: str
    order: Sequence[str]
    key: str
    enumerations: Mapping[str, Encoding]

    def sorted(self, where: str) -> str:
        """The query of some of them, in order."""
        return f"SELECT * FROM {self.relation}{where} ORDER BY {', '.join(self.order)}"


def parts_for(database: Database, rows: int, width: int) -> int:
    """In how many parts so many rows, of so many bytes each, are sorted or told apart."""
    needed = rows * (_BESIDE + 2 * width)
    return min(_MOST, max(1, -(-needed // max(1, int(_USED * database.free)))))


def distinct(database: Database, columns: str, shown: str, relation: str, parts: int) -> Iterator[pa.RecordBatch]:
    """The distinct combinations of columns, in any order; `shown` is what is told of each."""
    waiting = [(part, parts) for part in range(parts)]
    while waiting:
        part, of = waiting.pop()
        some = f"SELECT DISTINCT {columns} FROM {relation}{_hashed(columns, part, of)}"
        try:
            batches = database.batches(f"SELECT {shown} FROM ({some})")
            first = next(batches, None)
        except OutOfMemory:
            _refuse(of, parts, "told apart")
            waiting += [(part, 2 * of), (part + of, 2 * of)]
            continue
        if first is not None:
            yield first
            yield from batches


def count_distinct(database: Database, cell: str, relation: str, parts: int) -> int:
    """How many cells are different, empty ones aside."""
    tried = parts
    while True:
        try:
            counts = (
                database.rows(f"SELECT count(DISTINCT {cell}) FROM {relation}{_hashed(cell, part, tried)}")[0][0]
                for part in range(tried)
            )
            return sum(counts)
        except OutOfMemory:
            _refuse(tried, parts, "told apart")
            tried *= 2


def count_alone(database: Database, columns: str, relation: str, parts: int) -> int:
    """How many rows have a combination of columns that no other row has."""
    tried = parts
    while True:
        try:
            grouped = (
                f"SELECT 1 FROM {relation}{_hashed(columns, part, tried)} GROUP BY {columns} HAVING count(*) = 1"
                for part in range(tried)
            )
            return sum(database.rows(f"SELECT count(*) FROM ({each})")[0][0] for each in grouped)
        except OutOfMemory:
            _refuse(tried, parts, "told apart")
            tried *= 2


def _hashed(columns: str, part: int, parts: int) -> str:
    return "" if parts == 1 else f" WHERE hash({columns}) % {parts} = {part}"


def write_sorted(database: Database, rows: Rows, to: Path, parts: int) -> None:
    """Write rows to one Parquet file, in order: the same bytes, however many parts there are."""
    tried = parts
    while True:
        try:
            if tried == 1:
                database.write_parquet(f"SELECT {rows.shown} FROM ({rows.sorted('')})", to)
            else:
                _write_parts(database, rows, [rows.sorted(each) for each in _ranges(database, rows, tried)], to)
            return
        except OutOfMemory:
            _refuse(tried, parts, "sorted")
            tried *= 2


def _ranges(database: Database, rows: Rows, parts: int) -> list[str]:
    """Conditions that cut rows into about equal parts, in the order of their key; NULL comes last."""
    key, shares = rows.key, [place / parts for place in range(1, parts)]
    found = database.rows(f"SELECT approx_quantile({key}, {shares}) FROM {rows.relation}")[0][0] or []
    cuts = sorted({int(each) for each in found})
    if not cuts:
        return [""]
    between = [f" WHERE {key} > {low} AND {key} <= {high}" for low, high in pairwise(cuts)]
    return [f" WHERE {key} <= {cuts[0]}", *between, f" WHERE {key} > {cuts[-1]} OR {key} IS NULL"]


def _write_parts(database: Database, rows: Rows, queries: Sequence[str], to: Path) -> None:
    """Queries one after the other as one file, in groups of rows as one query would have them.

    The file is written by a database of its own: one that waits for rows of another statement of the same would hold
    the threads that this statement needs.
    """
    failed: list[BaseException] = []

    def parts() -> Iterator[pa.RecordBatch]:
        try:
            yield from _groups(database.arrow(query) for query in queries)
        except BaseException as error:  # the writer would tell of it in words of its own
            failed.append(error)
            raise

    schema = database.arrow(f"SELECT * FROM ({queries[0]}) LIMIT 0").schema
    with Database(memory=f"{max(_WRITER, database.limit // 4)}B", spills=False) as writer:
        for name, encoding in rows.enumerations.items():
            writer.enumerate(name, encoding)
        writer.register(_SORTED, pa.RecordBatchReader.from_batches(schema, parts()))
        try:
            writer.write_parquet(f"SELECT {rows.shown} FROM {_SORTED}", to)
        except Exception:
            if failed:
                raise failed[0] from None
            raise


def _groups(tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
    """The rows of tables in batches of ROW_GROUP, but for the last."""
    rest = None
    for table in tables:
        rest = table if rest is None else pa.concat_tables([rest, table])
        whole = len(rest) - len(rest) % ROW_GROUP
        for start in range(0, whole, ROW_GROUP):
            yield _one(rest.slice(start, ROW_GROUP))
        rest = rest.slice(whole)
    if rest is not None and len(rest):
        yield _one(rest)


def _one(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0]


def _refuse(tried: int, parts: int, what: str) -> None:
    """Raise where more parts than were tried would not help: an estimate is not that wrong."""
    if tried >= min(_MOST, _DOUBT * parts):
        raise OutOfMemory(f"the rows cannot be {what} within the memory that the engine may have; raise its limit")

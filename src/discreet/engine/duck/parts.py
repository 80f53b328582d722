"""What needs many rows at once, sorting and telling apart, within the memory there is: one part of the rows after the
other, so that nothing is ever spilled.

How many parts are needed is estimated from rows and bytes, and doubled where that was too few. What comes out does not
depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from discreet.engine.duck.database import ROW_GROUP, Database
from discreet.errors import OutOfMemory

_MOST = 1 << 12
_BESIDE = 24  # bytes of a row beside its columns, in a sort or in a table of distinct rows
_USED = 0.6  # of the memory that is free
_SORTED = "sorted_rows"


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
        batches = database.batches(f"SELECT {shown} FROM ({some})")
        try:
            first = next(batches, None)
        except OutOfMemory:
            _refuse(of, "told apart")
            waiting += [(part, 2 * of), (part + of, 2 * of)]
            continue
        if first is not None:
            yield first
            yield from batches


def count_distinct(database: Database, cell: str, relation: str, parts: int) -> int:
    """How many cells are different, empty ones aside."""
    while True:
        try:
            counts = (
                database.rows(f"SELECT count(DISTINCT {cell}) FROM {relation}{_hashed(cell, part, parts)}")[0][0]
                for part in range(parts)
            )
            return sum(counts)
        except OutOfMemory:
            _refuse(parts, "told apart")
            parts *= 2


def _hashed(columns: str, part: int, parts: int) -> str:
    return "" if parts == 1 else f" WHERE hash({columns}) % {parts} = {part}"


def write_sorted(
    database: Database, relation: str, shown: str, key: str, order: Sequence[str], to: Path, parts: int
) -> None:
    """Write what is `shown` of a relation to one Parquet file, in order: the same bytes, however many parts there are.

    `key` is a whole number that comes first in the order.
    """

    def sorted_rows(where: str) -> str:
        return f"SELECT * FROM {relation}{where} ORDER BY {', '.join(order)}"

    while True:
        try:
            if parts == 1:
                database.write_parquet(f"SELECT {shown} FROM ({sorted_rows('')})", to)
            else:
                _write_parts(
                    database, [sorted_rows(each) for each in _ranges(database, relation, key, parts)], shown, to
                )
            return
        except OutOfMemory:
            _refuse(parts, "sorted")
            parts *= 2


def _ranges(database: Database, relation: str, key: str, parts: int) -> list[str]:
    """Conditions that cut a relation into about equal parts, in the order of a key; NULL comes last."""
    shares = [place / parts for place in range(1, parts)]
    found = database.rows(f"SELECT approx_quantile({key}, {shares}) FROM {relation}")[0][0] or []
    cuts = sorted({int(each) for each in found})
    if not cuts:
        return [""]
    between = [f" WHERE {key} > {low} AND {key} <= {high}" for low, high in pairwise(cuts)]
    return [f" WHERE {key} <= {cuts[0]}", *between, f" WHERE {key} > {cuts[-1]} OR {key} IS NULL"]


def _write_parts(database: Database, queries: Sequence[str], shown: str, to: Path) -> None:
    """Queries one after the other as one file, in groups of rows as one query would have them."""
    failed: list[BaseException] = []

    def parts() -> Iterator[pa.RecordBatch]:
        try:
            yield from _groups(aside.submit(database.arrow, query).result() for query in queries)
        except BaseException as error:  # the engine would tell of it in words of its own
            failed.append(error)
            raise

    schema = database.arrow(f"SELECT * FROM ({queries[0]}) LIMIT 0").schema
    with ThreadPoolExecutor(1) as aside, database.asking():  # writing and sorting have a connection each
        database.register(_SORTED, pa.RecordBatchReader.from_batches(schema, parts()))
        try:
            database.write_parquet(f"SELECT {shown} FROM {_SORTED}", to)
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


def _refuse(parts: int, what: str) -> None:
    """Raise where more parts would not help."""
    if parts >= _MOST:
        raise OutOfMemory(f"the rows cannot be {what} within the memory that the engine may have; raise its limit")

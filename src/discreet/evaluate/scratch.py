"""Releases that the product makes for an experiment: in a scratch folder, open while they are asked, and then gone.

A table is opened and checked once and published as often as an experiment needs. Coins come from a seed, so such a
release says that anyone can make it again; views of one table, which need a series, get one in the scratch folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier
from discreet.estimate.release import Release
from discreet.ground.arrays import Ints
from discreet.mechanism.publish import publish, published_in_scratch
from discreet.schema.domain import Domain, Listed
from discreet.schema.mechanisms import Mechanism
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema
from discreet.table.read import read_table
from discreet.table.table import Table

_AT_ONCE = 200  # conditions that one pass over the rows counts
_SERIES = "scratch.series"


class Slice(NamedTuple):
    """All values of some columns together, perhaps under a condition: a GROUP BY."""

    columns: tuple[str, ...]
    where: str = ""


@contextmanager
def opened(rows: pa.Table, policy: Policy) -> Iterator[Table]:
    """A table as the product reads it, checked against the policy; any mechanism over the same schema may follow."""
    table = read_table(rows, policy)
    try:
        yield table
    finally:
        table.close()


def released(table: Table, mechanism: Mechanism, seed: int) -> AbstractContextManager[Release]:
    """One release of an opened table."""
    return published_in_scratch(table, mechanism, seed=seed)


@contextmanager
def released_views(states: Sequence[Table], mechanism: Mechanism) -> Iterator[Iterator[Release]]:
    """The views of a table's states in turn, each with those before it, from a series with a fresh key."""

    def views() -> Iterator[Release]:
        for number, table in enumerate(states, start=1):
            policy = Policy(schema=table.schema, mechanism=mechanism)
            release = publish(table, policy, to=Path(folder) / f"view-{number}", series=Path(folder) / _SERIES)
            try:
                yield release
            finally:
                release.close()

    with tempfile.TemporaryDirectory() as folder:
        yield views()


def true_counts(rows: pa.Table | Path, wheres: Sequence[str]) -> Ints:
    """How many rows of a table, or of a Parquet file, meet each condition."""
    found: list[int] = []
    with Database() as engine:
        engine.register("people", pq.read_table(rows) if isinstance(rows, Path) else rows)
        for start in range(0, len(wheres), _AT_ONCE):
            counts = [f"count(*) FILTER (WHERE {where or 'TRUE'})" for where in wheres[start : start + _AT_ONCE]]
            found += engine.rows(f"SELECT {', '.join(counts)} FROM people")[0]
    return np.array(found, dtype=np.int64)


def true_groups(rows: pa.Table, slices: Iterable[Slice]) -> Iterator[dict[tuple[Any, ...], int]]:
    """How many rows each group of values has, for each slice; those without a row are left out."""
    with Database() as engine:
        engine.register("people", rows)
        for each in slices:
            columns = ", ".join(map(identifier, each.columns))
            found = engine.rows(f"SELECT {columns}, count(*) FROM people WHERE {each.where or 'TRUE'} GROUP BY ALL")
            yield {row[:-1]: row[-1] for row in found}


def distinct_rows(table: pa.Table) -> pa.Table:
    """The distinct tuples, in order."""
    order = [(name, "ascending") for name in table.column_names]
    return table.group_by(table.column_names).aggregate([]).sort_by(order)


def seen_values(rows: pa.Table) -> dict[str, Domain]:
    """Every column's values as its domain. For experiments only: no release may read domains off its rows."""
    return {name: Listed(values=tuple(sorted(pc.unique(rows[name]).to_pylist()))) for name in rows.column_names}


def schema_of(rows: pa.Table, sensitive: str, *, public_rows: int | None = None) -> Schema:
    """A schema of all columns over the values that occur."""
    others = tuple(name for name in rows.column_names if name != sensitive)
    return Schema(quasi_identifiers=others, sensitive=sensitive, domains=seen_values(rows), public_rows=public_rows)

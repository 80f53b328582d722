"""Writing the two tables of a bucket release: QIT and ST."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.columns import column_of, decoded
from discreet.engine.parquet import GROUP, write_parquet
from discreet.errors import TableError
from discreet.ground.arrays import Ints
from discreet.ground.progress import Steps, Tell
from discreet.mechanism.buckets.making.compose import Counts, Ids
from discreet.mechanism.buckets.making.fakes import compose_with_fakes
from discreet.mechanism.buckets.making.slots import WithFakes, draw_slots, hand_out
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.release.buckets.manifest import QIT, ST
from discreet.release.copies import write_copies
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.table.table import Table

DRAW, WRITE_ST, HAND_OUT, SORT = (
    "composing the buckets",
    "writing the sensitive table",
    "giving each row its bucket",
    "sorting and writing the rows",
)
SHARES = {DRAW: 0.3, WRITE_ST: 0.15, HAND_OUT: 0.1, SORT: 0.25}  # of the time, as measured on 10M rows


def write_buckets(
    table: Table,
    plan: BucketPlan,
    coins: Coins,
    folder: Path,
    *,
    csv: bool,
    steps: Steps,
    with_fakes: WithFakes = compose_with_fakes,
) -> tuple[bytes, Fraction | None]:
    """Fill `folder` with both tables; returns a digest of what the coins gave each row, and, with fakes, how certain
    one can be of a value who knows all others.
    """
    (folder / "data").mkdir()
    with steps.step(DRAW) as tell:
        slots = draw_slots(plan, tuple(table.histogram), plan.composition, coins, tell, with_fakes)
    with steps.step(WRITE_ST):
        order = np.argsort(slots.bucket.astype(np.int64) << 32 | slots.value)
        write_st(table.schema, slots.bucket, slots.value, slots.count, folder / ST, order)
    with steps.step(HAND_OUT) as tell:
        ids, starts, certainty = slots.shuffled(), slots.starts, slots.certainty
        del slots, order  # a large table's slots need not stay while its rows are read and sorted
        handed, drawn = gathered(table.rows, hand_out(ids, starts, _sensitive_codes(table, starts, tell)))
    del ids
    write_rows(table, handed, folder, csv=csv, steps=steps)
    return drawn, certainty


def gathered(rows: int, handed: Iterable[Ids]) -> tuple[Ids, bytes]:
    """The bucket id of every row, and a digest of them."""
    drawn = hashlib.blake2b(digest_size=16)
    ids, done = np.empty(rows, dtype=np.int32), 0
    for part in handed:
        drawn.update(part.tobytes())
        ids[done : done + len(part)] = part
        done += len(part)
    return ids, drawn.digest()


def write_rows(table: Table, ids: Ids, folder: Path, *, csv: bool, steps: Steps) -> None:
    """Write the table of quasi-identifiers with each row's bucket, and copies of both tables where they are wanted."""
    with steps.step(SORT) as tell, table.engine.watched(tell):
        _write_qit(table, ids, folder / QIT)
    if csv:
        write_copies(folder, (QIT, ST))


def _sensitive_codes(table: Table, starts: Ints, tell: Tell) -> Iterator[Ints]:
    """The sensitive column's codes; raises TableError where the rows are no longer those that were planned for."""
    left = np.diff(starts)
    for codes in table.codes(table.schema.sensitive, tell=tell):
        left = left - np.bincount(codes[0], minlength=len(left))
        if (left < 0).any():
            break
        yield codes[0]
    if left.any():
        raise TableError("the table changed while it was read; publish again when nobody writes to it")


def write_st(
    schema: Schema, bucket: Ids, value: NDArray[np.unsignedinteger[Any]], count: Counts, to: Path, order: Ints
) -> None:
    """For each bucket its values and counts, in an order by bucket and value: it says nothing of the input's."""
    encoding = schema.domains[schema.sensitive].encoding

    def groups() -> Iterator[pa.Table]:
        for start in range(0, len(order), GROUP):
            part = order[start : start + GROUP]
            counts = column_of(count[part].astype(np.int32))
            columns = [column_of(bucket[part]), decoded(encoding, value[part]), counts]
            yield pa.Table.from_arrays(columns, names=["BID", schema.sensitive, "COUNT"])

    write_parquet(groups(), to)


def _write_qit(table: Table, ids: Ids, to: Path) -> None:
    """Each row's quasi-identifiers and bucket, sorted by bucket and then by everything published."""
    columns = table.schema.quasi_identifiers
    table.engine.attach("BID", ids)
    table.engine.write_sorted([*columns, "BID"], ["BID", *columns], to)

"""Writing the two tables of a bucket release: QIT and ST."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.engine.encoding import identifier, rank
from discreet.engine.progress import Steps, Tell
from discreet.errors import TableError
from discreet.mechanism.buckets.making.slots import Slots, draw_slots, hand_out
from discreet.mechanism.buckets.planning.caps import Ints
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.release.buckets.manifest import QIT, ST
from discreet.series.coins import Coins
from discreet.table.table import ROWS, Table

_DRAW, _ST, _HAND_OUT, _SORT = (
    "composing the buckets",
    "writing the sensitive table",
    "giving each row its bucket",
    "sorting and writing the rows",
)
SHARES = {_DRAW: 0.3, _ST: 0.15, _HAND_OUT: 0.1, _SORT: 0.25}  # of the time, as measured on 10M rows


def write_buckets(
    table: Table, plan: BucketPlan, composition: str, coins: Coins, folder: Path, *, csv: bool, steps: Steps
) -> bytes:
    """Fill `folder` with both tables; returns a digest of what the coins gave each row."""
    (folder / "data").mkdir()
    with steps.step(_DRAW) as tell:
        slots = draw_slots(plan, tuple(table.histogram), composition, coins, tell)
    with steps.step(_ST) as tell, table.engine.watched(tell):
        _write_st(table, slots, folder)
    drawn = hashlib.blake2b(digest_size=16)
    handed, done = np.empty(table.rows, dtype=np.int32), 0
    with steps.step(_HAND_OUT) as tell:
        ids, starts = slots.shuffled(), slots.starts
        del slots  # a large table's slots need not stay while its rows are read and sorted
        for part in hand_out(ids, starts, _sensitive_codes(table, starts, tell)):
            drawn.update(part.tobytes())
            handed[done : done + len(part)] = part
            done += len(part)
    del ids
    with steps.step(_SORT) as tell, table.engine.watched(tell):
        _write_qit(table, pa.table({"BID": handed}), folder)
    for path in (QIT, ST) if csv else ():
        table.engine.write_csv(folder / path, (folder / path).with_suffix(".csv"))
    return drawn.digest()


def _sensitive_codes(table: Table, starts: Ints, tell: Tell) -> Iterator[np.ndarray[Any, np.dtype[np.int64]]]:
    """The sensitive column's codes; raises TableError where the rows are no longer those that were planned for."""
    left = np.diff(starts)
    for codes in table.codes(table.schema.sensitive, tell=tell):
        left = left - np.bincount(codes[0], minlength=len(left))
        if (left < 0).any():
            break
        yield codes[0]
    if left.any():
        raise TableError("the table changed while it was read; publish again when nobody writes to it")


def _write_st(table: Table, slots: Slots, folder: Path) -> None:
    """For each bucket its values and counts, sorted by bucket and value: an order that says nothing of the input's."""
    engine, sensitive = table.engine, table.schema.sensitive
    domain = table.schema.domains[sensitive]
    code = f"{sensitive}_code"  # a name that no published column has
    engine.register("sensitive_values", pa.table({code: np.arange(len(domain)), sensitive: list(domain)}))
    engine.register("drawn_counts", pa.table({"BID": slots.bucket, code: slots.value, "records": slots.count}))
    joined = (
        f"(SELECT BID, {identifier(code)}, {identifier(sensitive)}, records::INTEGER AS COUNT "
        f"FROM drawn_counts JOIN sensitive_values USING ({identifier(code)}))"
    )
    engine.write_sorted(joined, ["BID", sensitive, "COUNT"], ["BID", identifier(code)], folder / ST)
    engine.forget("drawn_counts")


def _write_qit(table: Table, ids: pa.Table, folder: Path) -> None:
    """Each row's quasi-identifiers and bucket, sorted by bucket and then by everything published."""
    engine, schema = table.engine, table.schema
    engine.register("drawn_ids", ids)
    columns = schema.quasi_identifiers
    order = ["BID", *(rank(name, schema.domains[name].encoding) for name in columns)]
    engine.write_sorted(f"{ROWS} POSITIONAL JOIN drawn_ids", [*columns, "BID"], order, folder / QIT)
    engine.forget("drawn_ids")

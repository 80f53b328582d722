"""Making near buckets: each window composed by itself, with coins of its own, and its rows handed their buckets."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.ground.arrays import Ints
from discreet.ground.progress import Steps, Tell
from discreet.mechanism.buckets.making.compose import Counts, Ids
from discreet.mechanism.buckets.making.curve import Along
from discreet.mechanism.buckets.making.slots import compose_classes
from discreet.mechanism.buckets.making.write import DRAW, HAND_OUT, WRITE_ST, gathered, write_rows, write_st
from discreet.mechanism.buckets.planning.caps import Defence
from discreet.mechanism.buckets.planning.plan import BucketPlan, WindowPlan
from discreet.release.buckets.manifest import ST
from discreet.series.coins import Coins
from discreet.table.table import Table

_BATCH = 1 << 20  # rows that are handed their buckets together


def write_near(
    table: Table, plan: BucketPlan, along: Along, coins: Coins, folder: Path, *, csv: bool, steps: Steps
) -> bytes:
    """Fill `folder` with both tables; returns a digest of what the coins gave each row."""
    (folder / "data").mkdir()
    limits = [plan.tolerance.get(value, Fraction(1)) for value in table.histogram]
    cells = [(number, x) for number, window in enumerate(plan.windows) for x in window.values.tolist()]
    codes = np.array([number * along.values + x for number, x in cells], dtype=np.int64)
    ids = np.empty(table.rows, dtype=np.int32)
    parts: list[tuple[Ids, Ints, Counts]] = []
    with steps.step(DRAW) as tell:
        done = 0
        for number, window in enumerate(plan.windows):
            own = coins.derive(b"window", number.to_bytes(8, "big"))
            mine = [limits[x] for x in window.values.tolist()]
            entries, ids[done : done + window.rows] = compose_window(window, mine, plan.composition, own, plan.defence)
            parts.append(entries)
            done += window.rows
            tell((number + 1) / len(plan.windows))
    with steps.step(WRITE_ST):
        bucket, value, count = (np.concatenate(each) for each in zip(*parts, strict=True))
        del parts
        write_st(table.schema, bucket, value, count, folder / ST, np.arange(len(bucket)))
        del bucket, value, count
    with steps.step(HAND_OUT) as tell:
        starts = np.concatenate([np.sum(window.records, axis=1) for window in plan.windows])
        starts = np.cumsum(starts) - starts
        handed, drawn = gathered(table.rows, _handed(ids, codes, starts, along, tell))
    del ids
    write_rows(table, handed, folder, csv=csv, steps=steps)
    return drawn


def compose_window(
    window: WindowPlan, limits: list[Fraction], composition: str, coins: Coins, defence: Defence
) -> tuple[tuple[Ids, Ints, Counts], Ids]:
    """What the buckets of a window hold, sorted by bucket and value; and each value's bucket ids, shuffled, value after
    value.
    """
    names = (coins.stream("bucket ids").permutation(window.last - window.first + 1) + window.first).astype(np.int32)
    bucket, count, held = compose_classes(window.classes, window.records, limits, composition, names, coins, defence)
    value = np.repeat(window.values, held)
    slots = np.repeat(bucket, count)
    whose = np.repeat(value, count).astype(np.min_scalar_type(int(window.values[-1])))
    mixed = coins.stream("slots").permutation(window.rows)
    ids = slots[mixed][np.argsort(whose[mixed], kind="stable")]
    order = np.argsort(bucket.astype(np.int64) << 32 | value)
    return (bucket[order], value[order].astype(whose.dtype), count[order]), ids


def _handed(ids: Ids, cells: Ints, starts: Ints, along: Along, tell: Tell) -> Iterator[Ids]:
    """The bucket id of each row, in row order: the next unused one of the row's window and value.

    `cells` are the windows and values that meet, ascending, and `starts` where the ids of each begin.
    """
    cursor, rows = starts.copy(), len(ids)
    for first in range(0, rows, _BATCH):
        part = slice(first, min(rows, first + _BATCH))
        codes = along.window[part].astype(np.int64) * along.values + along.value[part]
        order = np.argsort(codes, kind="stable")
        ranked = codes[order]
        begins = np.flatnonzero(np.diff(ranked, prepend=-1))
        often = np.diff(begins, append=len(ranked))
        place = np.searchsorted(cells, ranked[begins])
        given = np.empty(len(codes), dtype=np.int32)
        given[order] = ids[np.repeat(cursor[place] - begins, often) + np.arange(len(ranked))]
        cursor[place] += often
        yield given
        tell(part.stop / rows)

"""Slots: for each value, the list of bucket ids that its records will get, in secret random order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mechanism.buckets.caps import Ints
from discreet.mechanism.buckets.compose import compose
from discreet.mechanism.buckets.plan import BucketPlan
from discreet.series.coins import Coins

Ids = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The published counts (bucket, value code, count), and each value's shuffled bucket ids, one after the other."""

    bucket: Ids
    value: Ints
    count: Ints
    ids: Ids
    starts: Ints


def draw_slots(plan: BucketPlan, values: tuple[object, ...], composition: str, coins: Coins) -> Slots:
    """Compose every class, give the buckets ids without meaning, and shuffle each value's ids."""
    names = coins.stream("bucket ids").permutation(plan.buckets).astype(np.int32) + np.int32(1)
    held: list[list[tuple[Ids, Ints]]] = [[] for _ in values]
    first = 0
    for size, buckets in plan.classes:
        records = np.array([plan.allocation[value].get(size, 0) for value in values], dtype=np.int64)
        stream = coins.stream(f"composition of size {size}")
        for x, which, count in compose(records, buckets, composition, stream):
            held[x].append((names[first + which], count))
        first += buckets
    pieces = [(x, ids, count) for x, parts in enumerate(held) for ids, count in parts]
    lengths = [sum(int(count.sum()) for _, count in parts) for parts in held]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    slots = np.concatenate([np.repeat(ids, count) for _, ids, count in pieces])
    shuffle = coins.stream("slots")
    for x in range(len(values)):
        shuffle.shuffle(slots[starts[x] : starts[x + 1]])
    return Slots(
        bucket=np.concatenate([ids for _, ids, _ in pieces]),
        value=np.concatenate([np.full(len(ids), x, dtype=np.int64) for x, ids, _ in pieces]),
        count=np.concatenate([count for _, _, count in pieces]),
        ids=slots,
        starts=starts,
    )


def hand_out(slots: Slots, codes: Iterable[Ints]) -> Iterator[Ids]:
    """The bucket id of each row, in row order: the next unused slot of the row's value."""
    cursor = slots.starts[:-1].copy()
    for batch in codes:
        order = np.argsort(batch, kind="stable")
        found = np.bincount(batch, minlength=len(cursor))
        begins = np.cumsum(found) - found
        ranked = batch[order]
        ids = np.empty(len(batch), dtype=np.int32)
        ids[order] = slots.ids[cursor[ranked] + np.arange(len(batch)) - begins[ranked]]
        cursor += found
        yield ids

"""Slots: for each value, the list of bucket ids that its records will get, in secret random order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.engine.progress import Tell
from discreet.mechanism.buckets.caps import Ints
from discreet.mechanism.buckets.compose import Counts, Ids, compose
from discreet.mechanism.buckets.plan import BucketPlan
from discreet.series.coins import Coins


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The published counts, one entry for each bucket and value that meet, grouped by value (by position)."""

    bucket: Ids
    value: Ids
    count: Counts
    starts: Ints  # where each value's records begin among all slots, and where the last ends
    coins: Coins = field(repr=False)

    @cached_property
    def ids(self) -> Ids:
        """Each value's bucket ids, one for each record, shuffled, value after value."""
        slots = np.repeat(self.bucket, self.count)
        shuffle = self.coins.stream("slots")
        for start, stop in zip(self.starts[:-1], self.starts[1:], strict=True):
            shuffle.shuffle(slots[start:stop])
        return slots


def draw_slots(
    plan: BucketPlan, values: tuple[object, ...], composition: str, coins: Coins, tell: Tell = lambda done: None
) -> Slots:
    """Compose every class, and give the buckets ids without meaning."""
    names = coins.stream("bucket ids").permutation(plan.buckets).astype(np.int32) + np.int32(1)
    held: list[list[tuple[Ids, Counts]]] = [[] for _ in values]
    first = 0
    for size, buckets in plan.classes:
        records = np.array([plan.allocation[value].get(size, 0) for value in values], dtype=np.int64)
        stream = coins.stream(f"composition of size {size}")
        inside = _part_of(tell, first / plan.buckets, buckets / plan.buckets)
        for x, which, count in compose(records, buckets, composition, stream, inside):
            held[x].append((names[first : first + buckets][which], count))
        first += buckets
    pieces = [(x, ids, count) for x, parts in enumerate(held) for ids, count in parts]
    lengths = [sum(int(count.sum(dtype=np.int64)) for _, count in parts) for parts in held]
    return Slots(
        bucket=np.concatenate([ids for _, ids, _ in pieces]),
        value=np.repeat(np.array([x for x, _, _ in pieces], dtype=np.int32), [len(ids) for _, ids, _ in pieces]),
        count=np.concatenate([count for _, _, count in pieces]),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        coins=coins,
    )


def _part_of(tell: Tell, start: float, share: float) -> Tell:
    return lambda done: tell(start + done * share)


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

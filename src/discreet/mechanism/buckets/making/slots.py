"""Slots: for each value, the list of bucket ids that its records will get, in secret random order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.mechanism.buckets.making.compose import Counts, Ids, compose, meetings
from discreet.mechanism.buckets.making.fakes import compose_with_fakes
from discreet.mechanism.buckets.making.free import compose_freely
from discreet.mechanism.buckets.planning.caps import Classes, Defence, caps_of
from discreet.series.coins import Coins

if TYPE_CHECKING:
    from discreet.mechanism.buckets.planning.plan import BucketPlan


WithFakes = Callable[
    ..., tuple[Ids, Counts, Counts, Ints, Fraction]
]  # how fakes are put beside people: compose_with_fakes


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The published counts, one entry for each bucket and value that meet, grouped by value (by position).

    `real` of the count are people's: all of them, but for fakes. With fakes, `certainty` is the most that one who knows
    all others of a bucket, and the totals, can believe of a protected value.
    """

    bucket: Ids
    value: NDArray[np.unsignedinteger[Any]]
    count: Counts
    real: Counts = field(repr=False)
    starts: Ints  # where each value's records begin among all slots, and where the last ends
    coins: Coins = field(repr=False)
    certainty: Fraction | None = None

    def shuffled(self) -> Ids:
        """Each value's bucket ids, one for each record, shuffled, value after value."""
        slots = np.empty(int(self.starts[-1]), dtype=np.int32)
        shuffle = self.coins.stream("slots")
        met = np.searchsorted(self.value, np.arange(len(self.starts), dtype=self.value.dtype))
        for x, (start, stop) in enumerate(pairwise(self.starts.tolist())):  # one by one: all at once take more memory
            entries = slice(met[x], met[x + 1])
            slots[start:stop] = np.repeat(self.bucket[entries], self.real[entries])
            shuffle.shuffle(slots[start:stop])
        return slots


def draw_slots(
    plan: BucketPlan,
    values: tuple[object, ...],
    composition: str,
    coins: Coins,
    tell: Tell = lambda done: None,
    with_fakes: WithFakes = compose_with_fakes,
) -> Slots:
    """Compose the buckets freely, evenly ("even", once "random") or in turn, with ids without meaning."""
    names = coins.stream("bucket ids").permutation(plan.buckets).astype(np.int32) + np.int32(1)
    sizes, _ = zip(*plan.classes, strict=True)
    records = np.array([[plan.allocation[value].get(size, 0) for size in sizes] for value in values])
    limits = [plan.tolerance[value] for value in values]
    planned = plan.classes, records, limits, composition, names, coins, plan.defence, tell
    if plan.defence.fakes:
        bucket, count, real, held, sure = with_fakes(*planned)
    else:
        bucket, count, held = compose_classes(*planned)
        real, sure = count, None
    return Slots(
        bucket=bucket,
        value=np.repeat(np.arange(len(values), dtype=np.min_scalar_type(len(values))), held),
        count=count,
        real=real,
        starts=np.concatenate([[0], np.cumsum(records.sum(axis=1))]).astype(np.int64),
        coins=coins,
        certainty=sure,
    )


def compose_classes(
    classes: Classes,
    records: Ints,
    limits: Sequence[Fraction],
    composition: str,
    names: Ids,
    coins: Coins,
    defence: Defence,
    tell: Tell = lambda done: None,
) -> tuple[Ids, Counts, Ints]:
    """The buckets that hold each value, value after value, how often, and how many they are.

    `records` has a row for each value and a column for each class, and `names` are the buckets' ids.
    """
    if composition == "free":
        sizes, buckets = (np.array(each, dtype=np.int64) for each in zip(*classes, strict=True))
        return compose_freely(records, buckets, caps_of(limits, sizes, defence), names, coins, tell)
    return _compose_by_class(classes, records, composition, names, coins, tell)


def _compose_by_class(
    classes: Classes, records: Ints, composition: str, names: Ids, coins: Coins, tell: Tell
) -> tuple[Ids, Counts, Ints]:
    """As compose_freely, but each class by itself, with floor or ceil of each value's mean in every bucket."""
    held = np.array([meetings(records[:, j], buckets) for j, (_, buckets) in enumerate(classes)]).T
    ends = np.cumsum(held.ravel()).reshape(held.shape)  # value by value, and class by class within each
    bucket, count = np.empty(int(ends[-1, -1]), dtype=np.int32), np.empty(int(ends[-1, -1]), dtype=np.uint8)
    first = 0
    for j, (size, buckets) in enumerate(classes):
        starts = ends[:, j] - held[:, j]
        stream = coins.stream(f"composition of size {size}")
        inside = _part_of(tell, first / len(names), buckets / len(names))
        compose(records[:, j], buckets, composition, stream, (bucket, count, starts), inside)
        for start, end in zip(starts.tolist(), ends[:, j].tolist(), strict=True):
            bucket[start:end] = names[first : first + buckets][bucket[start:end]]
        first += buckets
    return bucket, count, held.sum(axis=1)


def _part_of(tell: Tell, start: float, share: float) -> Tell:
    return lambda done: tell(start + done * share)


def hand_out(ids: Ids, starts: Ints, codes: Iterable[Ints]) -> Iterator[Ids]:
    """The bucket id of each row, in row order: the next unused one of the row's value."""
    cursor = starts[:-1].copy()
    for batch in codes:
        order = np.argsort(batch, kind="stable")
        found = np.bincount(batch, minlength=len(cursor))
        begins = np.cumsum(found) - found
        ranked = batch[order]
        handed = np.empty(len(batch), dtype=np.int32)
        handed[order] = ids[cursor[ranked] + np.arange(len(batch)) - begins[ranked]]
        cursor += found
        yield handed

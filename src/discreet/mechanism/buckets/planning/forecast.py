"""How far off answers about each value will be, before anything is published: from the histogram and the plan alone.

Buckets are composed as a release would compose them, but with coins that anybody can toss again: no row is looked at,
and no release has these coins. From what the buckets hold follows, for every value x,

    A_x = n_x (G^-1)_xx - 1,   G = sum_g c_g c_g^T / S_g,

and an answer about x that a share p of its records matches has the standard error sqrt(p (1 - p) n_x A_x): exactly
where the same share of every value matches, and about that elsewhere. Of a large plan a few blocks are composed, with
records of all values in proportion; values that have hardly any record in these share one A. Answers of near buckets
are added up over the windows, so A_x is the mean over some windows, by their records of x.
Of a plan with fakes, c_g are the people that it is expected to hold of each value.
Symbols: n_x records of x, c_g what bucket g holds, S_g its size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.encoding import Encoding
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.regression import MOST_VALUES, Regression
from discreet.ground.arrays import Floats, Ints
from discreet.ground.shown import and_more, name_of, name_some
from discreet.mechanism.buckets.making.compose import compose, meetings
from discreet.mechanism.buckets.making.cut import Block, cut, layout
from discreet.mechanism.buckets.making.fakes import balanced
from discreet.mechanism.buckets.making.free import compose_block
from discreet.mechanism.buckets.planning.caps import NOTHING, Defence, caps_of
from discreet.schema.domain import key_of
from discreet.series.coins import Coins

if TYPE_CHECKING:
    from discreet.mechanism.buckets.planning.plan import BucketPlan, WindowPlan

COUNT = 100  # the people whose count is forecast, or half of those that there are
_BLOCKS = 4  # that are composed, of those that a plan has
_WINDOWS = 16  # of near buckets, the same
_FEW = 8  # records in those blocks: fewer tell little of their value
_SURE_RECORDS, _SURE_SLACK = 20, Fraction(1, 20)  # with as many, no answer was ever unknown
_SHOWN = 30
_EXACT = 0.05  # people: what rounds to nobody
_COINS = Coins.from_seed(0)
_STREAM = _COINS.stream("how many fakes")


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """How far a count of `count` people with the value would be off, about; None where it would be unknown."""

    value: object
    records: int
    count: int
    off: float | None

    @property
    def useless(self) -> bool:
        return self.off is None or self.off > self.count

    def as_json(self) -> dict[str, Any]:
        off = None if self.off is None else float(f"{self.off:.3g}")
        return {"value": key_of(self.value), "records": self.records, "count": self.count, "off_by_about": off}

    def __str__(self) -> str:
        if self.off is None:
            told = "unknown"
        elif self.off < _EXACT:
            told = "exact"
        else:
            told = f"off by about {self.off:,.{0 if self.off >= 10 else 1}f}"
        return f"{name_of(self.value)}: a count of {self.count:,} would be {told}"


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """An outlook for each value that occurs, the worst first, and the values of which nothing is assured.

    There is none where there are too many values for unbiased answers.
    """

    outlooks: tuple[Outlook, ...]
    doubtful: tuple[object, ...]
    values: int

    def as_json(self) -> dict[str, Any]:
        return {
            "forecast": [outlook.as_json() for outlook in self.outlooks],
            "useless": [key_of(outlook.value) for outlook in self.outlooks if outlook.useless],
            "doubtful": [key_of(value) for value in self.doubtful],
        }

    def lines(self) -> Iterator[str]:
        if self.values > MOST_VALUES:
            yield f"unbiased answers are not computed: {self.values:,} values occur, and {MOST_VALUES:,} may"
            return
        yield f"of {COUNT} people with a value, or of half of them if there are fewer, without bias (standard error):"
        yield from (f"  {outlook}" for outlook in self.outlooks[:_SHOWN])
        if more := and_more(len(self.outlooks), _SHOWN):
            yield f"  {more} values, whose counts are closer"
        if useless := [outlook.value for outlook in self.outlooks if outlook.useless]:
            yield (
                f"note: unbiased answers about {name_some(useless)} will be useless, off by more than the count; "
                "a higher tolerance, more slack or free composition helps"
            )
        if self.doubtful:
            yield (
                f"note: {name_some(self.doubtful)} may stay unknown without a model: fewer than {_SURE_RECORDS} "
                f"records, less than {float(_SURE_SLACK)} of slack, or too few buckets to tell the values apart"
            )


def forecast_of(plan: BucketPlan) -> Forecast:
    """The forecast for a plan; of near buckets, by its windows."""
    allocation, tolerance, slacks = plan.allocation, plan.tolerance, plan.slacks
    values = [value for value, shares in allocation.items() if shares]
    counts = {value: sum(allocation[value].values()) for value in values}
    none = Fraction(0)
    few = {value for value in values if counts[value] < _SURE_RECORDS or slacks.get(value, none) < _SURE_SLACK}
    if len(values) > MOST_VALUES:
        return Forecast(outlooks=(), doubtful=tuple(values), values=len(values))
    sizes, buckets = (np.array(each, dtype=np.int64) for each in zip(*plan.classes, strict=True))
    records = np.array([[allocation[value].get(size, 0) for size in sizes.tolist()] for value in values])
    if plan.windows:
        every = list(allocation)
        spread = _near_spread(plan, [tolerance.get(value, Fraction(1)) for value in every])
        spread = spread[[place for place, value in enumerate(every) if allocation[value]]]
    else:
        limits = [tolerance[value] for value in values]
        parted = _spread_with_fakes if plan.defence.fakes else _spread
        spread = parted(records, buckets, sizes, limits, plan.composition, plan.defence)
    outlooks = [_outlook(value, counts[value], float(a)) for value, a in zip(values, spread, strict=True)]
    outlooks.sort(key=lambda each: -math.inf if each.off is None else -each.off / max(1, each.count))
    few |= {outlook.value for outlook in outlooks if outlook.off is None}
    return Forecast(
        outlooks=tuple(outlooks), doubtful=tuple(value for value in values if value in few), values=len(values)
    )


def _outlook(value: object, records: int, a: float) -> Outlook:
    count = min(COUNT, max(1, records // 2))
    share = min(COUNT / records, 1 / 2)
    off = None if math.isinf(a) else math.sqrt(share * (1 - share) * records * a)
    return Outlook(value=value, records=records, count=count, off=off)


def _spread(
    records: Ints, buckets: Ints, sizes: Ints, limits: Sequence[Fraction], composition: str, defence: Defence = NOTHING
) -> Floats:
    """A_x of each value; infinite where the buckets do not tell it from others."""
    caps = caps_of(limits, sizes, defence)
    blocks = len(layout(buckets))
    taken = [next(iter(cut(records, buckets, _COINS, only=k * blocks // _BLOCKS))) for k in range(_BLOCKS)]
    taken = taken if blocks > _BLOCKS else list(cut(records, buckets, _COINS))
    held = np.asarray(sum(block.records for block in taken)).sum(axis=1)
    seen = np.flatnonzero(held)
    found = np.full(len(records), np.inf)
    drawn = [_composed(block, sizes, caps, composition) for block in taken]
    found[seen] = Regression(composition=_joined(drawn, seen, len(records))).spread
    return _shared(found, held) if blocks > _BLOCKS else np.asarray(np.maximum(found, 0))


def _shared(found: Floats, held: Ints) -> Floats:
    """The same, with one A for all values that have hardly any record in the blocks that were composed."""
    if (rare := held < _FEW).any():
        known = rare & np.isfinite(found) if (rare & np.isfinite(found)).any() else np.isfinite(found)
        found[rare] = np.average(found[known], weights=held[known]) if known.any() else np.inf
    return np.asarray(np.maximum(found, 0))


def _spread_with_fakes(
    records: Ints, buckets: Ints, sizes: Ints, limits: Sequence[Fraction], composition: str, defence: Defence
) -> Floats:
    """The same with fakes, which are composed class by class; of a large class a part."""
    drawn, people = [], np.zeros(records.shape)
    for j, size in enumerate(sizes.tolist()):
        caps, made = caps_of(limits, sizes[j : j + 1], defence), balanced(records[:, j], size, defence.fakes, _STREAM)
        slots, own = (records[:, j] + made)[:, None], buckets[j : j + 1]
        block = next(iter(cut(slots, own, _COINS)))
        drawn.append(_composed(block, sizes[j : j + 1], caps, composition))
        share = np.divide(records[:, j], slots[:, 0], out=np.zeros(len(records)), where=slots[:, 0] > 0)
        people[:, j] = block.records[:, 0] * share
    held = people.sum(axis=1)
    seen = np.flatnonzero(held)
    found = np.full(len(records), np.inf)
    joined = _joined(drawn, seen, len(records))
    found[seen] = Regression(composition=replace(joined, fakes=defence.fakes, people=people[seen])).spread
    return _shared(found, held) if (held < records.sum(axis=1)).any() else np.asarray(np.maximum(found, 0))


def _near_spread(plan: BucketPlan, limits: Sequence[Fraction]) -> Floats:
    """The same where answers are added up over windows, from some of them: the mean of theirs by the records."""
    windows: Sequence[WindowPlan] = plan.windows
    found, held = np.zeros(len(limits)), np.zeros(len(limits))
    for window in (windows[place] for place in sorted({k * len(windows) // _WINDOWS for k in range(_WINDOWS)})):
        sizes, buckets = (np.array(each, dtype=np.int64) for each in zip(*window.classes, strict=True))
        mine, own = [limits[value] for value in window.values.tolist()], window.records.sum(axis=1)
        spread = _spread(window.records, buckets, sizes, mine, plan.composition, plan.defence)
        found[window.values] += own * spread
        held[window.values] += own
    return np.where(held > 0, found / np.maximum(held, 1), np.inf)


def _composed(block: Block, sizes: Ints, caps: Ints, composition: str) -> tuple[Ints, Ints, Ints]:
    """The buckets of a block, the values that they hold, and how often."""
    if composition == "free":
        slots, starts = compose_block(block, caps, _COINS)
        bucket = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return bucket, slots.astype(np.int64), np.ones(len(slots), dtype=np.int64)
    parts, first = [], 0
    for j in np.flatnonzero(block.buckets).tolist():
        number, own = int(block.buckets[j]), block.records[:, j]
        met = meetings(own, number)
        into = np.empty(int(met.sum()), dtype=np.int32), np.empty(int(met.sum()), dtype=np.uint8), np.cumsum(met) - met
        compose(own, number, composition, _COINS.stream(f"block {block.number}, size {sizes[j]}"), into)
        parts.append((into[0].astype(np.int64) + first, np.repeat(np.arange(len(met)), met), into[1].astype(np.int64)))
        first += number
    bucket, value, count = (np.concatenate(each) for each in zip(*parts, strict=True))
    return bucket, value, count


def _joined(drawn: Sequence[tuple[Ints, Ints, Ints]], seen: Ints, values: int) -> Composition:
    """What all blocks hold, with the values that occur there alone."""
    place = np.zeros(values, dtype=np.int64)
    place[seen] = np.arange(len(seen))
    firsts = np.cumsum([0, *(int(bucket.max()) + 1 for bucket, _, _ in drawn)])
    return Composition(
        ids=np.arange(firsts[-1]),
        encoding=Encoding(range(len(seen))),
        bucket=np.concatenate([bucket + first for (bucket, _, _), first in zip(drawn, firsts, strict=False)]),
        value=place[np.concatenate([value for _, value, _ in drawn])],
        count=np.concatenate([count for _, _, count in drawn]),
    )

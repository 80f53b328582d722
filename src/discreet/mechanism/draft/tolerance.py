"""Proposing a tolerance that some plan keeps: as strict as buckets of a useful size allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import numpy as np

from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.caps import caps_of, smallest_size
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets
from discreet.mechanism.buckets.planning.two_size import best_two_sizes

FLOOR = Decimal("0.02")
THETAS = (2, 4, 8, 16, 32)
_USEFUL = 10  # records in a bucket, on average


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tolerance, the plan that keeps it, and what was asked of the plan."""

    tolerance: Tolerance
    plan: BucketPlan

    sizes: ClassVar[str] = "optimal"
    max_size: ClassVar[int] = 50

    @property
    def mean_size(self) -> float:
        return self.plan.records / self.plan.buckets


def propose_tolerance(counts: Mapping[object, int]) -> Proposal:
    """The smallest theta whose buckets are useful, else the one with the smallest buckets, else one cap for all values.

    Only where nothing else can be kept is every value's tolerance 1.
    """
    tolerance = _search(counts)
    plan = plan_buckets(counts, tolerance.of(counts), Proposal.sizes, max_size=Proposal.max_size)
    return Proposal(tolerance=tolerance, plan=plan)


def _search(counts: Mapping[object, int]) -> Tolerance:
    kept = []
    for theta in THETAS:
        tolerance = Tolerance(theta=theta, floor=FLOOR)
        size = _mean_size(tolerance, counts)
        if size is None or _promises_nothing(tolerance, counts):
            continue
        if size <= _USEFUL:
            return tolerance
        kept.append((size, tolerance))
    if kept:
        return min(kept, key=lambda each: each[0])[1]
    most = max(counts.values()) * 100 // sum(counts.values())  # no tolerance is below a value's share: [WWFW] Lemma 1
    for hundredths in range(max(1, most), 100):
        tolerance = Tolerance(floor=Decimal(hundredths) / 100)
        if _mean_size(tolerance, counts) is not None:
            return tolerance
    return Tolerance(floor=1)


def _mean_size(tolerance: Tolerance, counts: Mapping[object, int]) -> float | None:
    """The average bucket of the best two sizes: quick to find, and where two sizes do, any number of them does."""
    limits = tolerance.of(counts)
    occurring = {value: count for value, count in counts.items() if count}
    least = min(smallest_size(limits[value]) for value in occurring)
    if least > Proposal.max_size:
        return None
    sizes = np.arange(least, Proposal.max_size + 1)
    caps = caps_of([limits[value] for value in occurring], sizes)
    classes = best_two_sizes(caps, np.array(list(occurring.values()), dtype=np.int64), sizes)
    return None if classes is None else sum(occurring.values()) / sum(buckets for _, buckets in classes)


def _promises_nothing(tolerance: Tolerance, counts: Mapping[object, int]) -> bool:
    limits = tolerance.of(counts)
    return all(limits[value] == 1 for value, count in counts.items() if count)

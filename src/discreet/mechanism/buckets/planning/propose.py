"""Proposing a tolerance that some plan keeps: as strict as buckets of a useful size allow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.caps import LARGEST, caps_of, smallest_size
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets
from discreet.mechanism.buckets.planning.slack import DEFAULT
from discreet.mechanism.buckets.planning.two_size import best_two_sizes

FLOOR = Decimal("0.02")
THETAS = (2, 4, 8, 16, 32)
MAX_SIZES = (50, LARGEST)  # the larger only where nothing else protects everybody
_USEFUL = 10  # records in a bucket, on average
_HALF = Fraction(1, 2)
_DIGITS = range(2, 10)  # decimals of a ceiling


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tolerance, the plan that keeps it, and what was asked of the plan."""

    tolerance: Tolerance
    plan: BucketPlan
    max_size: int

    sizes: ClassVar[str] = "optimal"

    @property
    def mean_size(self) -> float:
        return self.plan.records / self.plan.buckets


def propose_tolerance(counts: Mapping[object, int]) -> Proposal:
    """The smallest theta whose buckets are useful, else the one with the smallest buckets, else one cap for all values;
    with a ceiling, so that no value goes unprotected.

    Only where nothing else can be kept has a value the tolerance 1.
    """
    for max_size in MAX_SIZES:
        if (tolerance := _search(counts, max_size)) is not None:
            break
    else:
        tolerance, max_size = Tolerance(floor=1), MAX_SIZES[0]
    plan = plan_buckets(counts, tolerance.of(counts), Proposal.sizes, max_size=max_size, slack=DEFAULT)
    return Proposal(tolerance=tolerance, plan=plan, max_size=max_size)


def ceiling_for(counts: Mapping[object, int]) -> Decimal:
    """Half-way between the share of the most frequent value and certainty, and 1/2 at least; as few decimals as stay
    below 1, rounded up.
    """
    share = Fraction(max(counts.values()), sum(counts.values()))
    wanted = max(_HALF, (1 + share) / 2)
    for digits in _DIGITS:
        found = Decimal(math.ceil(wanted * 10**digits)).scaleb(-digits)
        if found < 1:
            return found.normalize()
    return Decimal(1)


def _search(counts: Mapping[object, int], max_size: int) -> Tolerance | None:
    kept, ceiling = [], ceiling_for(counts)
    for theta in THETAS:
        tolerance = Tolerance(theta=theta, floor=FLOOR, ceiling=ceiling)
        size = _mean_size(tolerance, counts, max_size)
        if size is None or _leaves_out(tolerance, counts):
            continue
        if size <= _USEFUL:
            return tolerance
        kept.append((size, tolerance))
    if kept:
        return min(kept, key=lambda each: each[0])[1]
    most = max(counts.values()) * 100 // sum(counts.values())  # no tolerance is below a value's share: [WWFW] Lemma 1
    for hundredths in range(max(1, most), 100):
        tolerance = Tolerance(floor=Decimal(hundredths) / 100)
        if _mean_size(tolerance, counts, max_size) is not None:
            return tolerance
    return None


def _mean_size(tolerance: Tolerance, counts: Mapping[object, int], max_size: int) -> float | None:
    """The average bucket of the best two sizes: quick to find, and where two sizes do, any number of them does."""
    limits = tolerance.of(counts)
    occurring = {value: count for value, count in counts.items() if count}
    least = min(smallest_size(limits[value]) for value in occurring)
    if least > max_size:
        return None
    sizes = np.arange(least, max_size + 1)
    caps = caps_of([limits[value] for value in occurring], sizes)
    classes = best_two_sizes(caps, np.array(list(occurring.values()), dtype=np.int64), sizes)
    return None if classes is None else sum(occurring.values()) / sum(buckets for _, buckets in classes)


def _leaves_out(tolerance: Tolerance, counts: Mapping[object, int]) -> bool:
    """Whether a value that somebody has is not protected."""
    limits = tolerance.of(counts)
    return any(limits[value] == 1 for value, count in counts.items() if count)

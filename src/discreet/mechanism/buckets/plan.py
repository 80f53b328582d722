"""Planning buckets from the histogram of the sensitive attribute alone: it never sees a row.

Paper: [WWFW] sections 3.4, 4 and 5.1; [W14] chapters 3 to 5.
Symbols: o_i counts, f'_i tolerances, (S_j, b_j) classes, M = min_size, M' = max_size, Loss = sum_j b_j (S_j - 1)^2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import Infeasible, PolicyError
from discreet.guarantee.tolerance import Number, exact
from discreet.mechanism.buckets.allocate import allocate
from discreet.mechanism.buckets.caps import Ints, caps_of, smallest_size
from discreet.mechanism.buckets.infeasible import explain
from discreet.mechanism.buckets.planners import LARGEST, PLANNERS


@dataclass(frozen=True, kw_only=True)
class BucketPlan:
    """A valid bucket setting: how many buckets of which size, and how many records of each value in each class.

    `lower_bound` holds for every valid setting with any number of sizes; `proved_optimal` says that the loss meets it.
    """

    classes: tuple[tuple[int, int], ...]
    loss: int
    lower_bound: int
    allocation: Mapping[object, Mapping[int, int]]
    tolerance: Mapping[object, Fraction]

    @property
    def proved_optimal(self) -> bool:
        return self.loss == self.lower_bound

    @property
    def records(self) -> int:
        return sum(size * buckets for size, buckets in self.classes)

    @property
    def buckets(self) -> int:
        return sum(buckets for _, buckets in self.classes)

    def drivers(self) -> tuple[tuple[object, int, int], ...]:
        """What the cost comes from: values that cannot go to the smallest class, as (value, records, smallest size)."""
        records = {value: sum(shares.values()) for value, shares in self.allocation.items() if shares}
        found = [(value, count, smallest_size(self.tolerance[value])) for value, count in records.items()]
        costly = [driver for driver in found if driver[2] > self.classes[0][0]]
        return tuple(sorted(costly, key=lambda driver: (-driver[2], -driver[1])))


def plan_buckets(
    counts: Mapping[object, int],
    tolerance: Mapping[object, Number],
    sizes: str = "two",
    min_size: int | None = None,
    max_size: int = 50,
) -> BucketPlan:
    """The bucket setting of least loss that keeps every tolerance, with sizes from min_size to max_size.

    `min_size` defaults to M, the smallest bucket that any value may enter. Raises Infeasible, which names the values
    and the nearest remedy.
    """
    if not isinstance(sizes, str) or sizes not in PLANNERS:
        raise PolicyError(f"sizes ({sizes}) must be one of {', '.join(sorted(PLANNERS))}")
    values, occurring, limits = _checked(counts, tolerance)
    least = max(1, min(map(smallest_size, limits))) if min_size is None else min_size
    if not least >= 1:
        raise PolicyError(f"min_size ({min_size}) must be 1 or more")
    if not isinstance(max_size, int) or not isinstance(least, int) or not 1 <= max_size <= LARGEST:
        raise PolicyError(f"max_size ({max_size}) must be between 1 and {LARGEST}, and both sizes whole numbers")
    planner = PLANNERS[sizes]
    span = np.arange(least, max_size + 1, dtype=np.int64)
    classes = planner(caps_of(limits, span), occurring, span)
    if classes is None:
        message, blamed = explain(values, occurring, limits, sizes, min_size, max_size)
        raise Infeasible(message, values=blamed)
    return _finished(counts, tolerance, values, occurring, limits, classes)


def _checked(
    counts: Mapping[object, int], tolerance: Mapping[object, Number]
) -> tuple[list[object], Ints, list[Fraction]]:
    """The values that occur, their counts and their tolerances; refuses what cannot be planned."""
    if any(not isinstance(count, int | np.integer) or count < 0 for count in counts.values()):
        raise PolicyError("counts must be whole numbers, 0 or more")
    values = [value for value, count in counts.items() if count]
    if not values:
        raise Infeasible("the table has no rows; there is nothing to publish")
    if missing := [value for value in values if value not in tolerance]:
        raise PolicyError(f"tolerance must cover every value that occurs; {len(missing)} are missing")
    limits = [exact("tolerance", tolerance[value]) for value in values]
    if any(not 0 < number.numerator <= number.denominator for number in limits):
        raise PolicyError("tolerance must be above 0 and at most 1 for every value")
    occurring = [int(counts[value]) for value in values]
    if sum(occurring) > 2**62 // (LARGEST**2):
        raise PolicyError("counts must add up to less than 10^14; no table about people is larger")
    return values, np.array(occurring, dtype=np.int64), limits


def _finished(
    counts: Mapping[object, int],
    tolerance: Mapping[object, Number],
    values: list[object],
    occurring: Ints,
    limits: list[Fraction],
    classes: tuple[tuple[int, int], ...],
) -> BucketPlan:
    chosen = np.array([size for size, _ in classes], dtype=np.int64)
    shares = allocate(caps_of(limits, chosen), occurring, classes).tolist()
    where = dict(zip(values, shares, strict=True))
    return BucketPlan(
        classes=classes,
        loss=sum(buckets * (size - 1) ** 2 for size, buckets in classes),
        lower_bound=_lower_bound(occurring, limits),
        allocation={
            value: {size: records for (size, _), records in zip(classes, where[value], strict=True) if records}
            if value in where
            else {}
            for value in counts
        },
        tolerance={value: exact("tolerance", tolerance[value]) for value in counts if value in tolerance},
    )


def _lower_bound(counts: Ints, limits: list[Fraction]) -> int:
    """No valid setting loses less: a record in a bucket of size S costs (S - 1)^2 / S, which grows with S."""
    records: Counter[int] = Counter()
    for number, count in zip(limits, counts.tolist(), strict=True):
        records[smallest_size(number)] += count
    total = sum((Fraction(count * (size - 1) ** 2, size) for size, count in records.items()), Fraction(0))
    return -(-total.numerator // total.denominator)

"""Why no plan exists, which values are to blame, and the smallest change that would do.

Every remedy named here was tried: the planner that failed succeeds with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from discreet.guarantee.tolerance import name_some
from discreet.mechanism.buckets.caps import Ints, caps_of, smallest_size

Planner = Callable[[Ints, Ints, Ints], tuple[tuple[int, int], ...] | None]


def explain(
    values: Sequence[object],
    counts: Ints,
    limits: Sequence[Fraction],
    planner: Planner,
    min_size: int,
    max_size: int,
    largest: int,
) -> tuple[str, tuple[object, ...]]:
    """One sentence with the broken bound and the remedies, and the values that break it."""
    rows = int(counts.sum())

    def works(tolerance: Sequence[Fraction], size: int) -> bool:
        span = np.arange(min(min_size, *map(smallest_size, tolerance)), size + 1, dtype=np.int64)
        return planner(caps_of(tolerance, span), counts, span) is not None

    below = [i for i, limit in enumerate(limits) if limit < Fraction(int(counts[i]), rows)]
    large = [i for i, limit in enumerate(limits) if smallest_size(limit) > max_size]
    if below:  # [WWFW] Lemma 1
        blamed = below
        reason = f"the tolerance of {name_some([values[i] for i in below])} is below the value's own share of the rows"
    elif large:
        blamed = large
        least = max(smallest_size(limits[i]) for i in large)
        reason = f"{name_some([values[i] for i in large])} needs buckets of at least {least}, above max_size {max_size}"
    else:
        blamed = list(range(len(values)))
        reason = f"no setting with sizes {min_size} to {max_size} fits these counts and tolerances"
    remedies = []
    if not below and (size := _smallest_max_size(limits, works, max_size, largest)):
        remedies.append(f"max_size {size} would do")
    if (limit := _smallest_tolerance(limits, blamed, works, max_size)) is not None:
        whose = "theirs" if len(blamed) > 1 else "it"
        whose = "every lower tolerance" if len(blamed) == len(values) > 1 else whose
        remedies.append(f"raising {whose} to {limit} ({float(limit):.2%}) would do")
    advice = ", or ".join(remedies) or 'no single max_size or tolerance mends it; try sizes = "two" or fewer limits'
    return f"{reason}; {advice}", tuple(values[i] for i in blamed)


def _smallest_max_size(
    limits: Sequence[Fraction], works: Callable[[Sequence[Fraction], int], bool], max_size: int, largest: int
) -> int | None:
    """The smallest max_size that the planner can use; more sizes never hurt, so bisection finds it."""
    if not works(limits, largest):
        return None
    low, high = max_size, largest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(limits, middle) else (middle, high)
    return high


def _smallest_tolerance(
    limits: Sequence[Fraction],
    blamed: Sequence[int],
    works: Callable[[Sequence[Fraction], int], bool],
    max_size: int,
) -> Fraction | None:
    """The smallest tolerance that mends the plan when the blamed values are raised to it.

    A tolerance matters only through floor(f' S), so the fractions k/S with S <= max_size are all that need trying.
    """
    steps = sorted({Fraction(top, size) for size in range(1, max_size + 1) for top in range(1, size + 1)})

    chosen = set(blamed)

    def raised(limit: Fraction) -> list[Fraction]:
        return [max(each, limit) if i in chosen else each for i, each in enumerate(limits)]

    if not works(raised(steps[-1]), max_size):
        return None
    low, high = -1, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(raised(steps[middle]), max_size) else (middle, high)
    return steps[high]

"""Why no plan exists, which values are to blame, and the smallest change that would do.

Every remedy named here was tried: the planner that failed succeeds with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.ground.arrays import Ints
from discreet.ground.shown import name_some
from discreet.mechanism.buckets.planning.caps import LARGEST, smallest_size

Plans = Callable[[Ints, Sequence[Fraction], str, int, int], bool]  # whether a planner finds any plan between two sizes
Works = Callable[[Sequence[Fraction], int], bool]  # whether these tolerances and this max_size can be planned


def why_infeasible(
    values: Sequence[object],
    counts: Ints,
    limits: Sequence[Fraction],
    sizes: str,
    min_size: int | None,
    max_size: int,
    plans: Plans,
) -> tuple[str, tuple[object, ...]]:
    """One sentence with the broken bound and the remedies, and the values that break it."""

    def works(tolerance: Sequence[Fraction], largest: int, planner: str = sizes) -> bool:
        least = min(map(smallest_size, tolerance)) if min_size is None else min_size
        return plans(counts, tolerance, planner, least, largest)

    reason, blamed, possible = _reason(values, counts, limits, max_size)
    remedies = []
    if possible and (size := _smallest_max_size(limits, works, max_size)):
        remedies.append(f"max_size {size} would do")
    if (limit := _smallest_tolerance(limits, blamed, works, max_size)) is not None:
        everyone = len(blamed) == len(values) > 1
        whose = "every lower tolerance" if everyone else "theirs" if len(blamed) > 1 else "it"
        remedies.append(f"raising {whose} to {limit} ({float(limit):.2%}) would do")
    if possible and sizes != "optimal" and works(limits, max_size, "optimal"):
        remedies.append('sizes = "optimal" would do')
    advice = ", or ".join(remedies) or "no single max_size or tolerance mends it; relax several"
    return f"{reason}; {advice}", tuple(values[i] for i in blamed)


def _reason(
    values: Sequence[object], counts: Ints, limits: Sequence[Fraction], max_size: int
) -> tuple[str, list[int], bool]:
    """Which bound is broken, by which values, and whether sizes alone might mend it."""
    rows = int(counts.sum())
    below = [i for i, limit in enumerate(limits) if limit < Fraction(int(counts[i]), rows)]
    large = [i for i, limit in enumerate(limits) if smallest_size(limit) > max_size]
    if below:  # [WWFW] Lemma 1
        named = name_some([values[i] for i in below])
        return f"tolerance of {named} must be at least the value's own share of the rows", below, False
    if large:
        least = max(smallest_size(limits[i]) for i in large)
        named = name_some([values[i] for i in large])
        return f"max_size ({max_size}) must be at least {least} for {named}", large, True
    return f"no setting with sizes up to {max_size} fits these counts and tolerances", list(range(len(values))), True


def _smallest_max_size(limits: Sequence[Fraction], works: Works, max_size: int) -> int | None:
    """The smallest max_size that the planner can use; more sizes never hurt, so bisection finds it."""
    if not works(limits, LARGEST):
        return None
    low, high = max_size, LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if works(limits, middle) else (middle, high)
    return high


def _smallest_tolerance(
    limits: Sequence[Fraction],
    blamed: Sequence[int],
    works: Works,
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

"""Why no plan exists, which values are to blame, and the smallest change that would do.

Every remedy named here was tried: the planner that failed succeeds with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.ground.arrays import Ints
from discreet.ground.shown import name_some
from discreet.mechanism.buckets.planning.caps import LARGEST, Defence, smallest_size

Plans = Callable[[Ints, Sequence[Fraction], str, int, int, Defence], bool]  # whether a planner finds any plan
Works = Callable[[Sequence[Fraction], int], bool]  # whether these tolerances and this max_size can be planned


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was to be planned."""

    values: Sequence[object]
    counts: Ints
    limits: Sequence[Fraction]
    sizes: str
    min_size: int | None
    max_size: int
    defence: Defence


def why_infeasible(asked: Asked, plans: Plans, *, without: bool = False) -> tuple[str, tuple[object, ...]]:
    """One sentence with the broken bound and the remedies, and the values that break it.

    `without` says that there is no plan without fakes either, so they are not to blame; a remedy must do with them.
    """
    limits, max_size, known = asked.limits, asked.max_size, asked.defence.known

    def works(
        tolerance: Sequence[Fraction], largest: int, planner: str = asked.sizes, defence: Defence = asked.defence
    ) -> bool:
        least = asked.min_size or min(smallest_size(limit, defence.known) for limit in tolerance)
        return least <= largest and plans(asked.counts, tolerance, planner, least, largest, defence)

    reason, blamed, possible = _reason(replace(asked, defence=Defence(known=known)) if without else asked)
    remedies = []
    if possible and (size := _smallest_max_size(limits, works, max_size)):
        remedies.append(f"max_size {size} would do")
    if (limit := _smallest_tolerance(limits, blamed, works, max_size, known)) is not None:
        everyone = len(blamed) == len(asked.values) > 1
        whose = "every lower tolerance" if everyone else "theirs" if len(blamed) > 1 else "it"
        remedies.append(f"raising {whose} to {limit} ({float(limit):.2%}) would do")
    if possible and asked.sizes != "optimal" and works(limits, max_size, "optimal"):
        remedies.append('sizes = "optimal" would do')
    remedies += _less_of(asked, lambda defence: works(limits, max_size, defence=defence))
    advice = ", or ".join(remedies) or "no single max_size or tolerance mends it; relax several"
    return f"{reason}; {advice}", tuple(asked.values[i] for i in blamed)


def _less_of(asked: Asked, works: Callable[[Defence], bool]) -> list[str]:
    """How many fakes, or known others, less would do."""
    for name in ("fakes", "known"):
        for fewer in range(getattr(asked.defence, name) - 1, -1, -1):
            if works(replace(asked.defence, **{name: fewer})):
                return [f"{name} {fewer} would do"]
    return []


def _reason(asked: Asked) -> tuple[str, list[int], bool]:
    """Which bound is broken, by which values, and whether sizes alone might mend it."""
    values, limits, max_size, defence = asked.values, asked.limits, asked.max_size, asked.defence
    rows = int(asked.counts.sum())
    below = [i for i, limit in enumerate(limits) if limit < Fraction(int(asked.counts[i]), rows)]
    large = [i for i, limit in enumerate(limits) if smallest_size(limit, defence.known) > max_size]
    if below:  # [WWFW] Lemma 1
        named = name_some([values[i] for i in below])
        return f"tolerance of {named} must be at least the value's own share of the rows", below, False
    if large:
        least = max(smallest_size(limits[i], defence.known) for i in large)
        beside = f" beside {defence.known} known" if defence.known else ""
        named = name_some([values[i] for i in large])
        return f"max_size ({max_size}) must be at least {least} for {named}{beside}", large, True
    reason = f"no setting with sizes up to {max_size} fits these counts and tolerances"
    if defence.fakes:
        reason = f"fakes ({defence.fakes}) must fit within the tolerances beside the people, and {reason}"
    elif defence.known:
        others = "one other" if defence.known == 1 else f"{defence.known} others"
        reason = f"{reason} where {others} may be known"
    return reason, list(range(len(values))), True


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
    known: int,
) -> Fraction | None:
    """The smallest tolerance that mends the plan when the blamed values are raised to it.

    A tolerance matters only through floor(f' (S - known)), so the fractions k/(S - known) with S <= max_size are all
    that need trying.
    """
    most = max(1, max_size - known)
    steps = sorted({Fraction(top, size) for size in range(1, most + 1) for top in range(1, size + 1)})

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

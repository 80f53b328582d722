"""Planning buckets from the histogram of the sensitive attribute alone: it never sees a row.

Paper: [WWFW] sections 3.4, 4 and 5; [W14] chapters 3 to 6.
Symbols: o_i counts, f'_i tolerances, (S_j, b_j) classes, M = min_size, M' = max_size, Loss = sum_j b_j (S_j - 1)^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from discreet.errors import Infeasible, PolicyError
from discreet.ground.arrays import Ints
from discreet.ground.exact import Number, exact
from discreet.ground.progress import Progress
from discreet.ground.shown import shown
from discreet.mechanism.buckets.planning.allocate import allocate
from discreet.mechanism.buckets.planning.caps import (
    LARGEST,
    MOST_BESIDE,
    NOTHING,
    Classes,
    Defence,
    caps_of,
    smallest_size,
)
from discreet.mechanism.buckets.planning.certificate import Certificate, Leaf, Split
from discreet.mechanism.buckets.planning.infeasible import Asked, why_infeasible
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.planners import PLANNERS, Problem
from discreet.mechanism.buckets.planning.settle import settled_setting
from discreet.mechanism.buckets.planning.slack import read_slack, slacks_of, steps_of


def plan_buckets(
    counts: Mapping[object, int],
    tolerance: Mapping[object, Number],
    sizes: str = "optimal",
    min_size: int | None = None,
    max_size: int = 50,
    gap: float = 1e-4,
    seconds: float | None = None,
    progress: Progress | None = None,
    slack: Number = 0,
    known: int = 0,
    fakes: int = 0,
) -> BucketPlan:
    """The bucket setting of least loss that keeps every tolerance, with sizes from min_size to max_size.

    `sizes` is "optimal" (any number of sizes), "multi" (the papers' heuristic), "two" or "one". `min_size` defaults to
    M, the smallest bucket that any value may enter. "optimal" stops at a certified gap of `gap` (0 asks for a proof) or
    when a fixed amount of work is done, and the plan says which gap it proved: the same counts and tolerances give the
    same plan on any machine. `seconds` is an upper bound on its time beside that; a plan that it cut short says so.
    With `slack` above 0 it is the setting of nearly the least loss that leaves that share of every cap unused, or half
    of it, and so on: see slack.py. The plan says which was kept, and how far above the proved least its loss is.
    Tolerances are also kept against one who knows the values of up to `known` others of a bucket, and every bucket gets
    `fakes` values that nobody has beside those of its people: see caps.py. What is proved of the loss with fakes is
    that no setting without them loses less.
    Raises Infeasible, which names the values and the nearest remedy.
    """
    _check_search(sizes, gap, seconds, min_size, max_size)
    asked, defence = read_slack(slack), read_defence(known, fakes)
    values, occurring, limits = _checked(counts, tolerance)
    least = min(smallest_size(limit, known) for limit in limits) if min_size is None else min_size
    problem = Problem(
        counts=occurring,
        limits=limits,
        sizes=np.arange(least, max_size + 1, dtype=np.int64),
        gap=float(gap),
        seconds=None if seconds is None else float(seconds),
        tell=lambda done: progress("planning", done) if progress else None,
        defence=Defence(known=known),
    )
    question = Asked(
        values=values,
        counts=occurring,
        limits=limits,
        sizes=sizes,
        min_size=min_size,
        max_size=max_size,
        defence=defence,
    )
    if (found := PLANNERS[sizes](problem)) is None:
        message, blamed = why_infeasible(question, _works, without=True)
        raise Infeasible(message, values=blamed)
    tree = found.tree or _simple_prices(limits, known)
    plain = replace(
        _finished(counts, tolerance, (values, occurring, limits), found.classes, tree, (least, max_size), known),
        stopped_by_clock=found.late,
        defence=defence,
    )
    if not asked and not fakes:
        return plain
    second = _with_slack(plain, values, replace(problem, seconds=found.left, defence=defence), sizes, asked)
    if second is None:
        message, blamed = why_infeasible(question, _works)
        raise Infeasible(message, values=blamed)
    return second


def _check_search(sizes: object, gap: object, seconds: object, min_size: object, max_size: object) -> None:
    """Raise PolicyError where there is no such way to look for a plan."""
    if not isinstance(sizes, str) or sizes not in PLANNERS:
        raise PolicyError(f"sizes ({sizes}) must be one of {', '.join(PLANNERS)}")
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 <= gap <= 1:
        raise PolicyError(f"gap ({gap}) must be between 0 and 1; it is a share of the loss")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0):
        raise PolicyError(f"seconds ({seconds}) must be above 0")
    if min_size is not None and (type(min_size) is not int or min_size < 1):
        raise PolicyError(f"min_size ({min_size}) must be a whole number, 1 or more")
    if type(max_size) is not int or not 1 <= max_size <= LARGEST:
        raise PolicyError(f"max_size ({max_size}) must be a whole number between 1 and {LARGEST}")


def read_defence(known: object, fakes: object) -> Defence:
    """Against whom buckets are filled; raises PolicyError where these are no such numbers."""
    for name, number in (("known", known), ("fakes", fakes)):
        if type(number) is not int or not 0 <= number <= MOST_BESIDE:
            raise PolicyError(
                f"{name} ({shown(number)}) must be a whole number between 0 and {MOST_BESIDE}", key=(name,)
            )
    return Defence(known=known, fakes=fakes)  # type: ignore[arg-type]


def _with_slack(
    plain: BucketPlan, values: list[object], problem: Problem, sizes: str, slack: Fraction
) -> BucketPlan | None:
    """The plan with the largest slack that can be kept; `plain` is the one without, and has the certificate.

    None where there is none with the fakes that are asked for.
    """
    fakes = problem.defence.fakes
    for kept in (*steps_of(slack, problem.counts), *([Fraction(0)] if fakes else [])):
        slacks = slacks_of(problem.counts, problem.limits, slack, kept)
        if (settled := settled_setting(replace(problem, slacks=slacks), sizes)) is None:
            continue
        found, shares = settled
        return replace(
            plain,
            classes=found.classes,
            loss=loss_of(found.classes),
            allocation=_named(plain.allocation, values, shares, found.classes),
            slack=slack,
            kept_slack=kept,
            slacks=dict(zip(values, slacks, strict=True)),
            stopped_by_clock=plain.stopped_by_clock or found.late,
        )
    return None if fakes else replace(plain, slack=slack)


def plan_of_classes(
    counts: Mapping[object, int], tolerance: Mapping[object, Number], classes: Classes, span: tuple[int, int]
) -> BucketPlan:
    """The plan of a valid setting that is known already, with a bound over sizes from span[0] to span[1]."""
    values, occurring, limits = _checked(counts, tolerance)
    return _finished(counts, tolerance, (values, occurring, limits), classes, _simple_prices(limits, 0), span, 0)


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
    checked: tuple[list[object], Ints, list[Fraction]],
    classes: Classes,
    tree: Leaf | Split,
    span: tuple[int, int],
    known: int,
) -> BucketPlan:
    values, occurring, limits = checked
    chosen = np.array([size for size, _ in classes], dtype=np.int64)
    shares = allocate(caps_of(limits, chosen, Defence(known=known)), occurring, classes)
    stated = {value: exact("tolerance", tolerance[value]) for value in counts if value in tolerance}
    return BucketPlan(
        classes=classes,
        loss=loss_of(classes),
        allocation=_named(counts, values, shares, classes),
        tolerance=stated,
        certificate=Certificate.of(tree, {value: counts[value] for value in values}, stated, span, known),
    )


def _named(
    every: Iterable[object], values: list[object], shares: Ints, classes: Classes
) -> dict[object, dict[int, int]]:
    """How many records of every value go to which size; none of those that do not occur."""
    where = dict(zip(values, shares.tolist(), strict=True))
    none = [0] * len(classes)
    return {
        value: {size: n for (size, _), n in zip(classes, where.get(value, none), strict=True) if n} for value in every
    }


def _simple_prices(limits: list[Fraction], known: int) -> Leaf:
    """Prices that need no program: a record in a bucket of size S costs (S - 1)^2 / S, which grows with S."""
    least = [smallest_size(limit, known) for limit in limits]
    bottom = math.lcm(*set(least))
    return Leaf(prices=tuple((size - 1) ** 2 * bottom // size for size in least), denominator=bottom)


def _works(
    counts: Ints, limits: Sequence[Fraction], sizes: str, least: int, largest: int, defence: Defence = NOTHING
) -> bool:
    """Whether a planner finds any plan with sizes between these."""
    span = np.arange(least, largest + 1, dtype=np.int64)
    problem = Problem(
        counts=counts, limits=limits, sizes=span, gap=1.0, seconds=None, tell=lambda done: None, defence=defence
    )
    if PLANNERS[sizes](replace(problem, defence=Defence(known=defence.known))) is None:
        return False
    return not defence.fakes or settled_setting(replace(problem, slacks=[Fraction(0)] * len(limits)), sizes) is not None

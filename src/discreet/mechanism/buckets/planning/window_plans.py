"""How one window is planned: by the policy's planner, with the few bucket sizes of the whole table's plan first.

There may be hundreds of windows. What the best plan of the whole table uses is looked at first; all sizes that the
policy allows only where those do not keep the slack, or anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.ground.exact import Number
from discreet.mechanism.buckets.planning.allocate import allocate, allocate_with_slack
from discreet.mechanism.buckets.planning.anatomy import anatomy_classes
from discreet.mechanism.buckets.planning.caps import Classes, caps_of
from discreet.mechanism.buckets.planning.near import PlanWindow, Setting
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.planners import PLANNERS, Planner, Problem
from discreet.mechanism.buckets.planning.slack import UNIT, scaled_caps, slacks_of, steps_of
from discreet.mechanism.buckets.planning.validity import find_violation

_GAP = 1e-4


def window_planner(whole: BucketPlan, sizes: str, slack: Fraction) -> PlanWindow:
    """Windows planned as the whole table was: by the same planner, within the same limits of the sizes."""
    planner, span = PLANNERS[sizes], whole.certificate
    some = np.array([size for size, _ in whole.classes], dtype=np.int64)
    every = np.arange(span.min_size, span.max_size + 1, dtype=np.int64)

    def plan(counts: Ints, limits: Sequence[Fraction]) -> Setting | None:
        for kept in (*steps_of(slack, counts), None):
            slacks = None if kept is None else slacks_of(counts, limits, slack, kept)
            for choice in (some, every):
                if (classes := _classes(planner, counts, limits, choice, slacks)) is not None:
                    records = _allocated(counts, limits, classes, slacks)
                    return Setting(classes=classes, records=records, kept_slack=kept or Fraction(0))
        return None

    return plan


def _classes(
    planner: Planner, counts: Ints, limits: Sequence[Fraction], sizes: Ints, slacks: Sequence[Fraction] | None
) -> Classes | None:
    problem = Problem(
        counts=counts, limits=limits, sizes=sizes, gap=_GAP, seconds=None, tell=lambda done: None, slacks=slacks
    )
    found = planner(problem)
    return None if found is None else found.classes


def _allocated(counts: Ints, limits: Sequence[Fraction], classes: Classes, slacks: Sequence[Fraction] | None) -> Ints:
    chosen = np.array([size for size, _ in classes], dtype=np.int64)
    caps = caps_of(limits, chosen)
    if slacks is None:
        return allocate(caps, counts, classes)
    return allocate_with_slack(scaled_caps(caps, chosen, slacks), counts, classes, UNIT)


def anatomy_windows(l: int) -> PlanWindow:  # noqa: E741 - the paper's name
    """Windows in buckets of l and l + 1, as Anatomy plans a table."""

    def plan(counts: Ints, limits: Sequence[Fraction]) -> Setting | None:
        classes = anatomy_classes(int(counts.sum()), l)
        held: dict[object, int] = dict(enumerate(counts.tolist()))
        allowed: dict[object, Number] = dict(enumerate(limits))
        if classes is None or find_violation(held, allowed, classes) is not None:
            return None
        return Setting(classes=classes, records=_allocated(counts, limits, classes, None), kept_slack=Fraction(0))

    return plan

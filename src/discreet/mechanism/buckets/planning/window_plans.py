"""How the windows of near buckets are planned: eight of them by the policy's planner, the others in milliseconds.

There may be hundreds. The bucket sizes of the plan of the whole table, and of the plans of eight windows spread along
the curve, are nearly always enough for the others: with 46 values and 29 windows the loss was the same to four digits.
Where they are not, a window is planned with all sizes that the policy allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.ground.exact import Number
from discreet.mechanism.buckets.planning.allocate import allocate, allocate_with_slack
from discreet.mechanism.buckets.planning.anatomy import anatomy_classes
from discreet.mechanism.buckets.planning.caps import NOTHING, Classes, Defence, caps_of, most_people
from discreet.mechanism.buckets.planning.near import Held, Setting
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.planners import PLANNERS, Problem
from discreet.mechanism.buckets.planning.quick import quick_sizes
from discreet.mechanism.buckets.planning.slack import UNIT, scaled_caps, slacks_of, steps_of
from discreet.mechanism.buckets.planning.validity import find_violation

_GAP = 1e-4
_FULLY = 8  # windows that are planned with all sizes


Choose = Callable[[Held, Ints, Sequence[Fraction] | None], Classes | None]  # from sizes, and the slack of each value


@dataclass(frozen=True, kw_only=True)
class BucketWindows:
    """Windows planned by the planner of the whole table, within the same limits of the sizes."""

    whole: BucketPlan
    sizes: str
    slack: Fraction
    defence: Defence  # without fakes: small windows cannot hide them

    def __call__(self, windows: Sequence[Held]) -> Iterator[Setting | None]:
        span = self.whole.certificate
        every = np.arange(span.min_size, span.max_size + 1, dtype=np.int64)
        if self.sizes != "optimal":
            yield from (self._planned(window, every, self._choose) for window in windows)
            return
        fully = {
            place: self._planned(windows[place], every, self._choose)
            for place in sorted({number * len(windows) // _FULLY for number in range(_FULLY)})
        }
        known = {size for size, _ in self.whole.classes}
        known.update(size for found in fully.values() if found for size, _ in found.classes)
        some = np.array(sorted(known), dtype=np.int64)
        for place, window in enumerate(windows):
            if place in fully:
                yield fully[place]
            else:
                yield self._planned(window, some, self._quickly) or self._planned(window, every, self._choose)

    def _planned(self, window: Held, sizes: Ints, choose: Choose) -> Setting | None:
        """With as much of the slack as can be kept, halved some times; or none."""
        for kept in (*steps_of(self.slack, window.counts), None):
            slacks = None if kept is None else slacks_of(window.counts, window.limits, self.slack, kept)
            if (classes := choose(window, sizes, slacks)) is not None:
                records = _allocated(window, classes, slacks, self.defence)
                return Setting(classes=classes, records=records, kept_slack=kept or Fraction(0))
        return None

    def _choose(self, window: Held, sizes: Ints, slacks: Sequence[Fraction] | None) -> Classes | None:
        problem = Problem(
            counts=window.counts,
            limits=window.limits,
            sizes=sizes,
            gap=_GAP,
            seconds=None,
            tell=lambda done: None,
            slacks=slacks,
            defence=self.defence,
        )
        found = PLANNERS[self.sizes](problem)
        return None if found is None else found.classes

    def _quickly(self, window: Held, sizes: Ints, slacks: Sequence[Fraction] | None) -> Classes | None:
        caps = caps_of(window.limits, sizes, self.defence)
        if slacks is None:
            return quick_sizes(caps, window.counts, sizes, 1)
        return quick_sizes(scaled_caps(caps, sizes, slacks), window.counts * UNIT, sizes, UNIT)


def _allocated(window: Held, classes: Classes, slacks: Sequence[Fraction] | None, defence: Defence) -> Ints:
    chosen = np.array([size for size, _ in classes], dtype=np.int64)
    caps = caps_of(window.limits, chosen, defence)
    if slacks is None:
        return allocate(caps, window.counts, classes)
    most = most_people(caps, classes, defence.fakes)
    return allocate_with_slack(scaled_caps(caps, chosen, slacks), window.counts, classes, UNIT, most)


@dataclass(frozen=True, kw_only=True)
class AnatomyWindows:
    """Windows in buckets of l and l + 1, as Anatomy plans a table."""

    l: int  # noqa: E741 - the paper's name

    def __call__(self, windows: Sequence[Held]) -> Iterator[Setting | None]:
        for window in windows:
            held: dict[object, int] = dict(enumerate(window.counts.tolist()))
            allowed: dict[object, Number] = dict(enumerate(window.limits))
            classes = anatomy_classes(int(window.counts.sum()), self.l)
            if classes is None or find_violation(held, allowed, classes) is not None:
                yield None
            else:
                yield Setting(
                    classes=classes, records=_allocated(window, classes, None, NOTHING), kept_slack=Fraction(0)
                )

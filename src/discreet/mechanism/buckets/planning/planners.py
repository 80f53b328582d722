"""The planners by name: each takes a problem and gives the best classes that it can find, or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.mechanism.buckets.planning.caps import NOTHING, Classes, Defence, caps_of
from discreet.mechanism.buckets.planning.certificate import Leaf, Split
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.one_size import best_one_size
from discreet.mechanism.buckets.planning.optimal import best_any_sizes, near_any_sizes
from discreet.mechanism.buckets.planning.slack import UNIT, scaled_caps
from discreet.mechanism.buckets.planning.two_size import best_two_sizes

_NEAR = 1e-3  # of the loss: how exactly a plan with slack is looked for; nothing is proved of it


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Counts and tolerances of the values that occur, the sizes that are allowed, and when to stop.

    With `slacks`, one for each value, and with fakes, caps and counts are in parts of a record: see slack.py.
    """

    counts: Ints
    limits: Sequence[Fraction]
    sizes: Ints
    gap: float
    seconds: float | None
    tell: Tell
    slacks: Sequence[Fraction] | None = None
    defence: Defence = NOTHING

    @cached_property
    def caps(self) -> Ints:
        whole = caps_of(self.limits, self.sizes, self.defence)
        return whole if self.slacks is None else scaled_caps(whole, self.sizes, self.slacks, self.defence.fakes)

    @property
    def unit(self) -> int:
        return 1 if self.slacks is None else UNIT

    @property
    def parts(self) -> Ints:
        """The counts in parts of a record."""
        return self.counts * self.unit


@dataclass(frozen=True, kw_only=True)
class Found:
    """Classes (size, buckets), and prices that bound every setting's loss, where the planner knows any.

    `late` says that a clock stopped the search, and `left` how many seconds it has left, where it runs.
    """

    classes: Classes
    tree: Leaf | Split | None = None
    late: bool = False
    left: float | None = None


Planner = Callable[[Problem], Found | None]


def _optimal(problem: Problem) -> Found | None:
    given = problem.caps, problem.parts, problem.sizes
    if problem.slacks is None:
        best = best_any_sizes(*given, gap=problem.gap, seconds=problem.seconds, tell=problem.tell)
    else:
        best = near_any_sizes(*given, problem.unit, gap=max(problem.gap, _NEAR), seconds=problem.seconds)
    return None if best is None else Found(classes=best.classes, tree=best.tree, late=best.late, left=best.left)


def _plain(planner: Callable[[Ints, Ints, Ints, int], Classes | None]) -> Planner:
    """A planner that looks at caps, counts and sizes only, and proves nothing."""

    def run(problem: Problem) -> Found | None:
        classes = planner(problem.caps, problem.parts, problem.sizes, problem.unit)
        return None if classes is None else Found(classes=classes)

    return run


PLANNERS: MappingProxyType[str, Planner] = MappingProxyType(
    {
        "optimal": _optimal,
        "multi": _plain(best_top_down),
        "two": _plain(best_two_sizes),
        "one": _plain(best_one_size),
    }
)

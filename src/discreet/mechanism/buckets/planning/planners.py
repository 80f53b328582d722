"""The planners by name: each takes a problem and gives the best classes that it can find, or None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.mechanism.buckets.planning.caps import Classes, caps_of
from discreet.mechanism.buckets.planning.certificate import Leaf, Split
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.one_size import best_one_size
from discreet.mechanism.buckets.planning.optimal import best_any_sizes
from discreet.mechanism.buckets.planning.two_size import best_two_sizes


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Counts and tolerances of the values that occur, the sizes that are allowed, and when to stop."""

    counts: Ints
    limits: Sequence[Fraction]
    sizes: Ints
    gap: float
    seconds: float | None
    tell: Tell

    @cached_property
    def caps(self) -> Ints:
        return caps_of(self.limits, self.sizes)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Classes (size, buckets), and prices that bound every setting's loss, where the planner knows any.

    `late` says that a clock stopped the search.
    """

    classes: Classes
    tree: Leaf | Split | None = None
    late: bool = False


Planner = Callable[[Problem], Found | None]


def _optimal(problem: Problem) -> Found | None:
    best = best_any_sizes(
        problem.caps, problem.counts, problem.sizes, gap=problem.gap, seconds=problem.seconds, tell=problem.tell
    )
    return None if best is None else Found(classes=best.classes, tree=best.tree, late=best.late)


def _plain(planner: Callable[[Ints, Ints, Ints], Classes | None]) -> Planner:
    """A planner that looks at caps, counts and sizes only, and proves nothing."""

    def run(problem: Problem) -> Found | None:
        classes = planner(problem.caps, problem.counts, problem.sizes)
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

"""The best setting with any number of sizes, to a certified gap.

Paper: [WWFW] section 5.2 and [W14] section 6.1 state the integer program.
Departs: only the numbers of buckets are integers here; see cuts.py, program.py and branch.py. A setting is checked by
    an exact maximum flow and the bound by exact prices, so an error of the solver can cost quality but not truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.ground.progress import Tell
from discreet.mechanism.buckets.planning.branch import Search
from discreet.mechanism.buckets.planning.caps import Classes, buckets_of
from discreet.mechanism.buckets.planning.certificate import Leaf, Split
from discreet.mechanism.buckets.planning.cuts import Cuts
from discreet.mechanism.buckets.planning.enough import enough, needs_of, with_needs
from discreet.mechanism.buckets.planning.groups import Groups
from discreet.mechanism.buckets.planning.knapsack import solve_capacity
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.program import Program
from discreet.mechanism.buckets.planning.rounding import nearby
from discreet.mechanism.buckets.planning.two_size import best_two_sizes
from discreet.mechanism.buckets.planning.work import Work

_EASY = 40  # nodes without a linear program: enough where only the last few buckets are in question
_NODES = 4_000  # of linear programs
_NEAR = 0.1  # of the gap: how exactly the linear program is solved before its point is rounded


@dataclass(frozen=True, kw_only=True)
class Best:
    """Classes (size, buckets), the tree of prices that bounds every loss from below, and whether a clock stopped it.

    There is no tree where nothing was proved. `left` are the seconds that are left, where they are counted.
    """

    classes: Classes
    tree: Leaf | Split | None
    late: bool
    left: float | None


def best_any_sizes(
    caps: Ints,
    counts: Ints,
    sizes: Ints,
    *,
    gap: float,
    seconds: float | None = None,
    tell: Tell = lambda done: None,
) -> Best | None:
    """The classes of least loss; None where none is found. Never worse than the best two sizes or the heuristic.

    Stops when the certified gap is at most `gap`, when the work is done, or, where they are given, after `seconds`.
    """
    usable = caps.sum(axis=0) >= sizes
    if not usable.any():
        return None
    caps, sizes = caps[:, usable], sizes[usable]
    groups = Groups.of(caps, counts, sizes)
    work = Work(seconds)
    search = Search(groups, Fraction(gap), work)
    if not _easily(search, caps, counts):
        _by_programs(search, gap, work, tell)
    if search.best is None or search.bound is None:
        return None
    return Best(classes=_classes(sizes, search.best), tree=search.tree(), late=work.late, left=work.seconds_left)


def near_any_sizes(
    caps: Ints, counts: Ints, sizes: Ints, unit: int, *, gap: float, seconds: float | None
) -> Best | None:
    """Classes of nearly the least loss, without a proof, for caps and counts in parts of a record; None where none is.

    Never worse than the best two sizes or the heuristic with the same caps, but for this: where there is a setting with
    enough buckets to tell all values apart (enough.py), one of those is taken.
    """
    usable = caps.sum(axis=0) >= sizes * unit
    if not usable.any():
        return None
    caps, sizes = caps[:, usable], sizes[usable]
    work = Work(seconds)
    known = [best_two_sizes(caps, counts, sizes, unit)]
    known += [best_top_down(caps, counts, sizes, unit)] if known[0] else []
    found = [classes for classes in known if classes]
    inside = buckets_of(min(found, key=loss_of), sizes).astype(np.float64) if found else None
    groups, needs = Groups.of(caps, counts, sizes, unit), needs_of(caps, sizes)
    found += _near(Cuts(groups, work), inside, gap, work)
    if not any(enough(classes, needs) for classes in found):
        found += _near(with_needs(Cuts(groups, work), needs), None, gap, work)
    found = [classes for classes in found if enough(classes, needs)] or found
    return Best(classes=min(found, key=loss_of), tree=None, late=work.late, left=work.seconds_left) if found else None


def _near(cuts: Cuts, inside: Floats | None, gap: float, work: Work) -> list[Classes]:
    rounded = _rounded(cuts, inside, gap, work)
    return [] if rounded is None else [_classes(cuts.groups.sizes // cuts.groups.unit, rounded)]


def _rounded(cuts: Cuts, inside: Floats | None, gap: float, work: Work) -> Ints | None:
    """The point of a linear program, rounded; it starts from a point `inside`, where one is known."""
    groups = cuts.groups
    low, high = np.zeros_like(groups.sizes), groups.rows // groups.sizes
    program = Program(cuts, low, groups.rows // groups.unit, work)
    point = program.solve(low, high) if inside is None else program.solve_from(inside, low, high, near=_NEAR * gap)
    return None if point is None or point.buckets is None else nearby(cuts, point.buckets, gap, work)


def _classes(sizes: Ints, buckets: Ints) -> Classes:
    return tuple((s, b) for s, b in zip(sizes.tolist(), buckets.tolist(), strict=True) if b)


def _easily(search: Search, caps: Ints, counts: Ints) -> bool:
    """Heuristics, and a bound that needs no linear program; whether they meet."""
    groups = search.groups
    two = best_two_sizes(caps, counts, groups.sizes)
    if two is None:
        return False
    search.offer(buckets_of(two, groups.sizes))
    search.start(solve_capacity(groups, *search.everywhere))
    near = (two[-1][0] + 1) ** 2  # what one bucket more or less may cost
    if search.loss is not None and search.root.bound + near >= search.loss * (1 - search.gap):
        search.run(lambda low, high: solve_capacity(groups, low, high), search.is_valid, lambda done: None, _EASY)
    if search.bound == search.loss:
        return True
    multi = best_top_down(caps, counts, groups.sizes)
    search.offer(buckets_of(multi or two, groups.sizes))
    return search.good


def _by_programs(search: Search, gap: float, work: Work, tell: Tell) -> None:
    """A linear program, its point rounded, and branching."""
    groups, everywhere = search.groups, search.everywhere
    cuts = Cuts(groups, work)
    wide = Program(cuts, np.zeros_like(groups.sizes), groups.rows, work)
    if search.best is None:
        point = wide.solve(*everywhere)
    else:
        point = wide.solve_from(search.best.astype(np.float64), *everywhere, near=_NEAR * gap)
    search.start(point)
    if point is None or point.buckets is None:
        return
    if not search.good and (rounded := nearby(cuts, point.buckets, gap, work)) is not None:
        search.offer(rounded)
    if search.good:
        return
    narrow = Program(cuts, np.floor(point.buckets).astype(np.int64), 1, work)
    search.start(narrow.solve(*everywhere))
    search.run(narrow.solve, lambda buckets: not cuts.separate_exactly(buckets), tell, _NODES)

"""The best setting with any number of sizes, to a certified gap.

Paper: [WWFW] section 5.2 and [W14] section 6.1 state the integer program.
Departs: only the numbers of buckets are integers here; see cuts.py, program.py and branch.py. A setting is checked by
    an exact maximum flow and the bound by exact prices, so an error of the solver can cost quality but not truth.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction

import highspy
import numpy as np

from discreet.engine.progress import Tell
from discreet.mechanism.buckets.planning.branch import Search
from discreet.mechanism.buckets.planning.caps import Classes, Ints
from discreet.mechanism.buckets.planning.certificate import Leaf, Split
from discreet.mechanism.buckets.planning.cuts import Cuts
from discreet.mechanism.buckets.planning.multi_size import best_top_down
from discreet.mechanism.buckets.planning.program import add_buckets, add_cuts, quiet_solver
from discreet.mechanism.buckets.planning.two_size import best_two_sizes

Found = tuple[Classes, Leaf | Split, int]  # classes, tree, bound
_WHOLE = 1e-7
_BOXES = (3, 12, 48)  # how far from the linear program's point the integer program looks


def best_any_sizes(
    caps: Ints,
    counts: Ints,
    sizes: Ints,
    limits: Sequence[Fraction],
    *,
    gap: float,
    seconds: float,
    tell: Tell = lambda done: None,
) -> Found | None:
    """The classes (size, buckets) of least loss, and the tree of prices that bounds the loss; None where none is found.

    Stops when the certified gap is at most `gap`, or after `seconds`.
    """
    usable = caps.sum(axis=0) >= sizes
    if not usable.any():
        return None
    caps, sizes = caps[:, usable], sizes[usable]
    until = time.monotonic() + seconds
    two = best_two_sizes(caps, counts, sizes)
    known = None if two is None else _buckets(two, sizes)
    search = Search(Cuts(caps, counts, sizes), limits, Fraction(gap), until, known)
    if search.root.point is None and two is not None:  # out of time: the heuristic is better than nothing
        search.offer(_buckets(best_top_down(caps, counts, sizes) or two, sizes))
    elif search.root.point is not None and not search.good:
        _look_nearby(search, np.floor(search.root.point + _WHOLE).astype(np.int64), gap, min(1.0, seconds / 4))
    search.run(tell)
    if search.best is None or search.bound is None:
        return None
    classes = tuple((s, b) for s, b in zip(sizes.tolist(), search.best.tolist(), strict=True) if b)
    return classes, search.root.tree(sizes), search.bound


def _buckets(classes: Classes, sizes: Ints) -> Ints:
    known = dict(classes)
    return np.array([known.get(size, 0) for size in sizes.tolist()], dtype=np.int64)


def _look_nearby(search: Search, center: Ints, gap: float, seconds: float) -> None:
    """Offer the best valid setting close to the linear program's point, by an integer program in small steps."""
    cuts = search.cuts
    for box in _BOXES:
        solver = quiet_solver()
        solver.setOptionValue("time_limit", seconds)
        solver.setOptionValue("mip_rel_gap", gap / 4)
        add_buckets(solver, cuts, center, 1)
        columns = np.arange(len(center), dtype=np.int32)
        low, high = np.maximum(-center, -box).astype(np.float64), np.full(len(center), float(box))
        solver.changeColsBounds(len(center), columns, low, high)
        solver.changeColsIntegrality(len(center), columns, np.full(len(center), highspy.HighsVarType.kInteger))
        solver.changeObjectiveOffset(float(((cuts.sizes - 1) ** 2) @ center))
        known = 0
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            known += add_cuts(solver, cuts, center, 1, known)
            solver.run()
            if solver.getInfo().primal_solution_status != highspy.kSolutionStatusFeasible:
                break
            buckets = center + np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
            if not search.holds_the_table(buckets):
                break
            if not cuts.separate_exactly(buckets):
                search.offer(buckets)
                return

"""From a linear program's point to a valid setting close to it: an integer program in a small box around the point.

What the solver gives is checked by an exact flow; a setting that breaks a cap gives a cut, and the program runs again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.buckets.planning.solver import add_buckets, add_cuts, quiet_solver
from discreet.mechanism.buckets.planning.work import Work, run_of

if TYPE_CHECKING:
    from discreet.mechanism.buckets.planning.cuts import Cuts

_WHOLE = 1e-7
_BOXES = (3, 12, 48)  # how far from the linear program's point the integer program looks
_NODES = 200  # of one integer program
_TRIES = 30  # integer programs for one box, each with a cut more


def nearby(cuts: Cuts, point: Floats, gap: float, work: Work) -> Ints | None:
    """The best valid setting in a small box around the point, by an integer program; None where none is found."""
    center = np.floor(point + _WHOLE).astype(np.int64)
    for box in _BOXES:
        found = _in_box(cuts, center, box, gap, work)
        if found is not None:
            return found
    return None


def _in_box(cuts: Cuts, center: Ints, box: int, gap: float, work: Work) -> Ints | None:
    import highspy

    sizes, width = cuts.groups.sizes, len(center)
    solver = quiet_solver()
    solver.setOptionValue("mip_max_nodes", _NODES)
    solver.setOptionValue("mip_rel_gap", gap / 4)
    add_buckets(solver, cuts, center, 1)
    columns = np.arange(width, dtype=np.int32)
    low, high = np.maximum(-center, -box).astype(np.float64), np.full(width, float(box))
    solver.changeColsBounds(width, columns, low, high)
    solver.changeColsIntegrality(width, columns, np.full(width, highspy.HighsVarType.kInteger))
    solver.changeObjectiveOffset(float(cuts.groups.costs @ center))
    known = 0
    for _ in range(_TRIES):
        known += add_cuts(solver, cuts, center, 1, known)
        if (left := work.seconds_left) is not None:
            solver.setOptionValue("time_limit", left)
        solver.run()
        work.spend(max(1, solver.getInfo().mip_node_count) * run_of(known, width))
        if solver.getInfo().primal_solution_status != highspy.kSolutionStatusFeasible or work.over:
            return None
        buckets = center + np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
        if int(sizes @ buckets) != cuts.rows:
            return None
        if not cuts.separate_exactly(buckets):
            return np.asarray(buckets)
    return None

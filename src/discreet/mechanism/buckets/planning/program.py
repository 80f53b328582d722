"""The linear program over the numbers of buckets, with the cuts found so far.

Only the numbers of buckets are variables: for fixed ones the records form a transportation problem, which the cuts
describe. The solver works in floating point; nothing that it says is taken as a proof or as a plan unchecked. It is
loaded when a program is solved, not before.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.buckets.planning.cuts import Cuts
from discreet.mechanism.buckets.planning.point import Point
from discreet.mechanism.buckets.planning.solver import add_buckets, add_cuts, quiet_solver
from discreet.mechanism.buckets.planning.work import Work, run_of


class Program:
    """Least loss over the numbers of buckets, written as `center` + `unit` x: small numbers keep a solver exact."""

    def __init__(self, cuts: Cuts, center: Ints, unit: int, work: Work) -> None:
        self._cuts, self._center, self._unit, self._work = cuts, center, unit, work
        self._columns = np.arange(len(center), dtype=np.int32)
        self._costs = cuts.groups.costs.astype(np.float64)
        self._solver = quiet_solver()
        self._solver.setOptionValue("presolve", "off")  # a program this small needs none, and it hides dual rays
        add_buckets(self._solver, cuts, center, unit)
        self._known = 0

    def solve(self, low: Ints, high: Ints) -> Point | None:
        """The best point with low <= buckets <= high that keeps every cut that can be found; None where none is."""
        while True:
            point = self._run(low, high)
            if point is None or point.buckets is None or self._work.over or not self._cuts.separate(point.buckets):
                return point

    def solve_from(self, inside: Floats, low: Ints, high: Ints, near: float) -> Point | None:
        """The same from a point `inside` that keeps every cut, up to a loss that is `near` (a share) to the best.

        Cuts are looked for half-way between it and the solver's point: they are deeper there. The point is the best
        that is known to keep every cut, and the prices are the solver's.
        """
        while True:
            point = self._run(low, high)
            if point is None or point.buckets is None:
                return point
            missing = float(self._costs @ (inside - point.buckets))
            if missing <= near * float(self._costs @ inside) or self._work.over:
                return Point(buckets=inside, prices=point.prices)
            middle = (inside + point.buckets) / 2
            if self._cuts.separate(middle):
                continue
            inside = middle
            if not self._cuts.separate(point.buckets):
                return point

    def _run(self, low: Ints, high: Ints) -> Point | None:
        import highspy

        self._known += add_cuts(self._solver, self._cuts, self._center, self._unit, self._known)
        bounds = ((low - self._center) / self._unit, (high - self._center) / self._unit)
        self._solver.changeColsBounds(len(self._columns), self._columns, *bounds)
        self._solver.run()
        self._work.spend(run_of(self._known, len(self._columns)))
        status = self._solver.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return self._infeasible()
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        found = self._solver.getSolution()
        buckets = np.clip(np.array(found.col_value) * self._unit + self._center, low, high).astype(np.float64)
        return Point(buckets=buckets, prices=self._prices(np.array(found.row_dual)))

    def _infeasible(self) -> Point | None:
        _, known, ray = self._solver.getDualRay()  # type: ignore[attr-defined] # the stubs lack it
        return Point(buckets=None, prices=self._prices(np.array(ray)), empty=True) if known else None

    def _prices(self, duals: Floats) -> Floats:
        """The price of a record: that of the rows it stands in, the capacity first and then the cuts."""
        prices = np.full(len(self._cuts.groups.counts), duals[0])
        for cut in np.flatnonzero(duals[1:]).tolist():
            prices[self._cuts.values[cut]] += duals[1 + cut]
        return prices

"""The linear program over the numbers of buckets, with the cuts found so far.

Only the numbers of buckets are variables: for fixed ones the records form a transportation problem, which the cuts
describe. The solver works in floating point; nothing that it says is taken as a proof or as a plan unchecked.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import highspy
import numpy as np

from discreet.mechanism.buckets.planning.caps import Ints
from discreet.mechanism.buckets.planning.cuts import Cuts, Floats

_INFINITY = highspy.kHighsInf


@dataclass(frozen=True, kw_only=True)
class Point:
    """Numbers of buckets with fractions, and a price for each record of each value.

    `buckets` is None where time ran out before they were found, and where the box has no setting (`empty`); then the
    prices, taken often enough, show it.
    """

    buckets: Floats | None
    prices: Floats
    empty: bool = False


class Program:
    """Least loss over the numbers of buckets, written as `center` + `unit` x: small numbers keep a solver exact."""

    def __init__(self, cuts: Cuts, center: Ints, unit: int) -> None:
        self._cuts, self._center, self._unit = cuts, center, unit
        self._columns = np.arange(len(center), dtype=np.int32)
        self._solver = quiet_solver()
        self._solver.setOptionValue("presolve", "off")  # a program this small needs none, and it hides dual rays
        add_buckets(self._solver, cuts, center, unit)
        self._known = 0

    def solve(self, low: Ints, high: Ints, until: float = math.inf, inside: Floats | None = None) -> Point | None:
        """The best point with low <= buckets <= high that keeps every cut, found or not yet found.

        When the clock says `until`, the prices at hand must do. `inside` is a point that keeps every cut: looking for
        cuts half-way between it and the solver's point finds deeper ones.
        """
        while True:
            self._known += add_cuts(self._solver, self._cuts, self._center, self._unit, self._known)
            bounds = ((low - self._center) / self._unit, (high - self._center) / self._unit)
            self._solver.changeColsBounds(len(self._columns), self._columns, *bounds)
            self._solver.run()
            status = self._solver.getModelStatus()
            if status == highspy.HighsModelStatus.kInfeasible:
                return self._infeasible()
            if status != highspy.HighsModelStatus.kOptimal:
                return None
            found = self._solver.getSolution()
            buckets = np.clip(np.array(found.col_value) * self._unit + self._center, low, high).astype(np.float64)
            prices = self._prices(np.array(found.row_dual))
            if time.monotonic() >= until:
                return Point(buckets=None, prices=prices)
            if inside is not None:
                middle = (inside + buckets) / 2
                if self._cuts.separate(middle):
                    continue
                inside = middle
            if not self._cuts.separate(buckets):
                return Point(buckets=buckets, prices=prices)

    def _infeasible(self) -> Point | None:
        _, known, ray = self._solver.getDualRay()  # type: ignore[attr-defined] # the stubs lack it
        return Point(buckets=None, prices=self._prices(np.array(ray)), empty=True) if known else None

    def _prices(self, duals: Floats) -> Floats:
        """The price of a record: that of the rows it stands in, the capacity first and then the cuts."""
        prices = np.full(len(self._cuts.counts), duals[0])
        for cut in np.flatnonzero(duals[1:]).tolist():
            prices[self._cuts.values[cut]] += duals[1 + cut]
        return prices


def quiet_solver() -> highspy.Highs:
    solver = highspy.Highs()  # type: ignore[no-untyped-call] # so are its stubs
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)  # the same plan each time
    return solver


def add_buckets(solver: highspy.Highs, cuts: Cuts, center: Ints, unit: int) -> None:
    """A variable for each size, its loss, and the condition that the buckets hold the table."""
    columns = np.arange(len(center), dtype=np.int32)
    solver.addVars(len(center), -center / unit, np.full(len(center), _INFINITY))
    solver.changeColsCost(len(center), columns, ((cuts.sizes - 1) ** 2).astype(np.float64))
    rest = (cuts.rows - _exact_sum(cuts.sizes, center)) / unit
    solver.addRow(rest, rest, len(center), columns, cuts.sizes.astype(np.float64))


def add_cuts(solver: highspy.Highs, cuts: Cuts, center: Ints, unit: int, known: int) -> int:
    """Give the solver the cuts after the first `known`; how many there were."""
    for row, limit in zip(cuts.coefficients[known:], cuts.limits[known:], strict=True):
        columns = np.flatnonzero(row).astype(np.int32)
        rest = (limit - _exact_sum(row, center)) / unit
        solver.addRow(-_INFINITY, rest, len(columns), columns, row[columns].astype(np.float64))
    return len(cuts.limits) - known


def _exact_sum(row: Ints, buckets: Ints) -> int:
    return sum(a * b for a, b in zip(row.tolist(), buckets.tolist(), strict=True))

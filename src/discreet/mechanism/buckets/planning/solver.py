"""The solver, and how the numbers of buckets and their cuts are told to it; loaded when it is used, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.ground.arrays import Ints

if TYPE_CHECKING:
    import highspy

    from discreet.mechanism.buckets.planning.cuts import Cuts


def quiet_solver() -> highspy.Highs:
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call] # so are its stubs
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)  # the same plan each time
    solver.setOptionValue("random_seed", 0)
    return solver


def add_buckets(solver: highspy.Highs, cuts: Cuts, center: Ints, unit: int) -> None:
    """A variable for each size, its loss, and the condition that the buckets hold the table."""
    sizes = cuts.groups.sizes
    columns = np.arange(len(center), dtype=np.int32)
    solver.addVars(len(center), -center / unit, np.full(len(center), np.inf))
    solver.changeColsCost(len(center), columns, cuts.groups.costs.astype(np.float64))
    rest = (cuts.rows - _exact_sum(sizes, center)) / unit
    solver.addRow(rest, rest, len(center), columns, sizes.astype(np.float64))


def add_cuts(solver: highspy.Highs, cuts: Cuts, center: Ints, unit: int, known: int) -> int:
    """Give the solver the cuts after the first `known`; how many there were."""
    rows, limits = cuts.coefficients[known:], cuts.limits[known:]
    if rows:
        table = np.array(rows, dtype=np.int64)
        at_center = [_exact_sum(row, center) for row in rows] if center.any() else [0] * len(rows)
        rest = np.array([(limit - held) / unit for limit, held in zip(limits, at_center, strict=True)])
        place, columns = np.nonzero(table)
        starts = np.searchsorted(place, np.arange(len(rows))).astype(np.int32)
        numbers = table[place, columns].astype(np.float64)
        lowest = np.full(len(rows), -np.inf)
        solver.addRows(len(rows), lowest, rest, len(numbers), starts, columns.astype(np.int32), numbers)
    return len(rows)


def _exact_sum(row: Ints, buckets: Ints) -> int:
    return sum(a * b for a, b in zip(row.tolist(), buckets.tolist(), strict=True))

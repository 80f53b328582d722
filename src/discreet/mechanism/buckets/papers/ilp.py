"""The papers' integer programs, given to a solver as they are printed; for the reproduction and as an oracle.

Paper: [W14] section 6.1 (many sizes) and 7.3 (two sizes; that program is not printed: here one for each pair).
Symbols: b_j buckets of size S_j, v_ij records of value i in them.
What a solver returns is checked in exact integers before it is believed: `solve` raises where it is not valid.
"""

from __future__ import annotations

import time
from itertools import combinations

import highspy
import numpy as np

from discreet.errors import DiscreetError
from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.flow import fill
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.solver import quiet_solver


def solve_many_sizes(caps: Ints, counts: Ints, sizes: Ints, seconds: float = 600) -> Classes | None:
    """The program of [W14] section 6.1; None where the solver finds no setting in that time."""
    values, columns = caps.shape
    usable = caps.sum(axis=0) >= sizes
    caps, sizes = caps[:, usable], sizes[usable]
    columns = len(sizes)
    if not columns:
        return None
    solver = quiet_solver()
    solver.setOptionValue("time_limit", seconds)
    solver.setOptionValue("mip_rel_gap", 0.0)
    cost = np.concatenate([(sizes - 1) ** 2, np.zeros(values * columns)]).astype(np.float64)
    number = len(cost)
    solver.addVars(number, np.zeros(number), np.full(number, highspy.kHighsInf))
    every = np.arange(number, dtype=np.int32)
    solver.changeColsCost(number, every, cost)
    solver.changeColsIntegrality(number, every, np.full(number, highspy.HighsVarType.kInteger))
    records = columns + np.arange(values * columns, dtype=np.int32).reshape(values, columns)
    for i in range(values):
        solver.addRow(float(counts[i]), float(counts[i]), columns, records[i], np.ones(columns))
    for j in range(columns):
        row = np.concatenate([records[:, j], [j]]).astype(np.int32)
        solver.addRow(0.0, 0.0, values + 1, row, np.append(np.ones(values), -float(sizes[j])))
        for i in range(values):
            pair = np.array([records[i, j], j], dtype=np.int32)
            solver.addRow(-highspy.kHighsInf, 0.0, 2, pair, np.array([1.0, -float(caps[i, j])]))
    solver.addRow(float(counts.sum()), float(counts.sum()), columns, every[:columns], sizes.astype(np.float64))
    solver.run()
    if solver.getInfo().primal_solution_status != highspy.kSolutionStatusFeasible:
        return None
    buckets = np.rint(np.array(solver.getSolution().col_value)[:columns]).astype(np.int64)
    return _checked(caps, counts, sizes, buckets)


def solve_two_sizes(caps: Ints, counts: Ints, sizes: Ints, seconds: float = 600) -> Classes | None:
    """The same with two sizes, one program for each pair of them; the best of all that were solved in that time."""
    end = time.monotonic() + seconds
    settings = []
    for pair in map(list, combinations(range(len(sizes)), min(2, len(sizes)))):
        if (left := end - time.monotonic()) <= 0:
            break
        if (classes := solve_many_sizes(caps[:, pair], counts, sizes[pair], left)) is not None:
            settings.append(classes)
    return min(settings, key=loss_of, default=None)


def _checked(caps: Ints, counts: Ints, sizes: Ints, buckets: Ints) -> Classes:
    flow = fill(caps, counts, sizes, buckets)
    if int(sizes @ buckets) != int(counts.sum()) or int(flow.records.sum()) != int(counts.sum()):
        raise DiscreetError("the solver's setting is not valid in exact integers")
    return tuple((s, b) for s, b in zip(sizes.tolist(), buckets.tolist(), strict=True) if b)

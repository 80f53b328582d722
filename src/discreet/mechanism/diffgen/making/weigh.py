"""Leaves and tables weighed together: both counted the same people, so each corrects the other by its precision.

The term of art is generalized least squares (GLS).
Symbols: G the noisy leaves (of one class) with variance g each; t the noisy sums of a table's cells over the values of
    a cut, with variances r; M the sums of leaves that t also counts. Least squares moves G by g M' l with
    l = (diag(r) + g M M')^-1 (t - M G), and the cells of a value by equal parts of what its sum moved.
    It is the tree consistency of [QSL] Algorithm 2 with many trees above the same leaves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Floats
from discreet.mechanism.diffgen.making.tables import along, grouped
from discreet.mechanism.diffgen.planning.cuts import Cuts
from discreet.release.diffgen.leaves import common_leaves


def weigh(
    leaves: Floats, leaf_variance: float, tables: Sequence[Floats], variances: Sequence[float], cuts: Cuts
) -> tuple[Floats, tuple[Floats, ...]]:
    """Leaves (an axis for each attribute that was specialized, classes last) and tables that agree."""
    groups = [cuts.groups(position) for position in range(len(tables))]
    starts = np.concatenate([[0], np.cumsum(cuts.shape)])
    sums = [grouped(table, own, size) for table, own, size in zip(tables, groups, cuts.shape, strict=True)]
    cells = [np.bincount(own, minlength=size) for own, size in zip(groups, cuts.shape, strict=True)]
    spread = np.concatenate([number * variance for number, variance in zip(cells, variances, strict=True)])
    seen = np.concatenate([margin(leaves, cuts, position) for position in range(len(tables))])
    overlap = common_leaves(cuts.shape)
    lift = np.linalg.solve(np.diag(spread) + leaf_variance * overlap, np.concatenate(sums) - seen)
    moved = leaves.copy()
    for axis, position in enumerate(cuts.axes):
        part = lift[starts[position] : starts[position + 1]]
        moved += leaf_variance * part.reshape(along(leaves, axis))
    for position in set(range(len(tables))) - set(cuts.axes):  # a table that was not specialized knows the totals
        moved += leaf_variance * lift[starts[position]]
    agreed = []
    for position, table in enumerate(tables):
        change = margin(moved, cuts, position) - sums[position]
        agreed.append(table + (change / cells[position][:, None])[groups[position]])
    return moved, tuple(agreed)


def margin(leaves: Floats, cuts: Cuts, position: int) -> Floats:
    """The sums of leaves over each value of one attribute: values x classes."""
    axes = cuts.axes
    others = tuple(axis for axis, own in enumerate(axes) if own != position)
    return np.asarray(leaves.sum(axis=others)).reshape(-1, leaves.shape[-1])

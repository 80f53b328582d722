"""From measurements to what is released: leaves and tables that agree to the last digit, and no negative count.

Nothing here sees the data: the same measurements always give the same tables.

Paper: [QSL] section III-D.
Departs: the paper releases leaves alone, spread evenly inside generalized values. Here the tables are released too, and
    say how the people of a leaf are spread inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.guarantee.epsilon import laplace_variance
from discreet.mechanism.diffgen.making.measurements import Measurements
from discreet.mechanism.diffgen.making.rake import shrink
from discreet.mechanism.diffgen.making.tables import fitted_sums, grouped, settle, spread_table
from discreet.mechanism.diffgen.making.weigh import margin, weigh
from discreet.mechanism.diffgen.making.whole import nearest_split, rounded_split
from discreet.mechanism.diffgen.planning.budget import HistogramBudget
from discreet.mechanism.diffgen.planning.cuts import Cuts, replay
from discreet.release.diffgen.leaves import UNIT
from discreet.schema.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Fitted:
    """What is released: leaves (an axis for each specialized attribute, classes last) and tables (cells x classes).

    Both are whole numbers of 1 / UNIT records; every table's sums over the values of its cut are those of the leaves.
    """

    cuts: Cuts
    leaves: Ints
    tables: tuple[Ints, ...]

    @property
    def people(self) -> Floats:
        """The leaves in records."""
        return self.leaves / UNIT


def fit_histogram(
    measured: Measurements,
    taxonomies: Sequence[Taxonomy],
    classes: int,
    budget: HistogramBudget,
    *,
    weighed: bool = True,
) -> Fitted:
    """The release of the histogram guide; without `weighed`, leaves are raked to tables that stay as measured."""
    tables = [_table(each, classes) for each in measured.tables]
    variances = [laplace_variance(share) for share in budget.tables]
    if not measured.steps:
        return _tables_alone(measured, tables, variances, taxonomies, classes, budget)
    cuts = replay(taxonomies, measured.steps)
    variance = laplace_variance(budget.leaves)
    leaves = np.array(measured.leaves, dtype=np.float64).reshape([*(cuts.shape[axis] for axis in cuts.axes), classes])
    if weighed:
        leaves, agreed = weigh(leaves, variance, tables, variances, cuts)
        totals = np.maximum(leaves.reshape(-1, classes).sum(axis=0), 0.0)
    else:
        settled = settle(tables, variances)
        agreed, totals = settled.tables, settled.totals
    positive = [
        _non_negative(_shrunk(table, cuts, position, variances[position]), cuts, position, totals)
        for position, table in enumerate(agreed)
    ]
    sums = [grouped(positive[position], cuts.groups(position), cuts.shape[position]) for position in cuts.axes]
    return round_off(cuts, shrink(leaves, variance, sums, totals), positive)


def fit_leaves(leaves: Floats, cuts: Cuts, classes: int) -> Fitted:
    """Leaves that were counted without tables: none negative, and people spread evenly inside generalized values."""
    totals = np.maximum(leaves.reshape(-1, classes).sum(axis=0), 0.0)
    flat = [nearest_split(leaves.reshape(-1, classes)[:, place], float(totals[place])) for place in range(classes)]
    even = [np.repeat(taxonomy.sizes[:, None].astype(np.float64), classes, axis=1) for taxonomy in cuts.taxonomies]
    return round_off(cuts, np.stack(flat, axis=-1).reshape(leaves.shape), even)


def round_off(cuts: Cuts, leaves: Floats, tables: Sequence[Floats]) -> Fitted:
    """Whole multiples of 1 / UNIT: the leaves first, then each table inside the sums that the leaves give."""
    classes = leaves.shape[-1]
    flat = leaves.reshape(-1, classes) * UNIT
    whole = np.stack([rounded_split(flat[:, place], round(flat[:, place].sum())) for place in range(classes)], axis=-1)
    whole = whole.reshape(leaves.shape)
    found = []
    for position, table in enumerate(tables):
        sums = margin(whole.astype(np.float64), cuts, position).astype(np.int64)
        found.append(_spread(table, cuts, position, sums))
    return Fitted(cuts, whole, tuple(found))


def _tables_alone(
    measured: Measurements,
    tables: Sequence[Floats],
    variances: Sequence[float],
    taxonomies: Sequence[Taxonomy],
    classes: int,
    budget: HistogramBudget,
) -> Fitted:
    """Both measurements of each table, weighed by their precision; one leaf for each class."""
    second = [_table(each, classes) for each in measured.again]
    others = [laplace_variance(share) for share in budget.again]
    both = [
        (one / v + two / w) / (1 / v + 1 / w) for one, two, v, w in zip(tables, second, variances, others, strict=True)
    ]
    known = [1 / (1 / v + 1 / w) for v, w in zip(variances, others, strict=True)]
    settled = settle(both, known)
    cuts = replay(taxonomies, ())
    spread = [
        _non_negative(_shrunk(table, cuts, position, variance), cuts, position, settled.totals)
        for position, (table, variance) in enumerate(zip(both, known, strict=True))
    ]
    return round_off(cuts, settled.totals, spread)


def _table(counts: Sequence[int], classes: int) -> Floats:
    return np.array(counts, dtype=np.float64).reshape(-1, classes)


def _shrunk(table: Floats, cuts: Cuts, position: int, variance: float) -> Floats:
    """The table with cells' classes nearer to those of their value, the more so the less they stand out from the noise.

    Sums over classes and over values stay. Of the squared deviations, what the noise is expected to give is taken off
    (James and Stein's rule, for all cells of the attribute together).
    """
    groups, number, classes = cuts.groups(position), cuts.shape[position], table.shape[1]
    sums = grouped(table, groups, number)
    cells = np.bincount(groups, minlength=number)
    total = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, total, out=np.full_like(sums, 1 / classes), where=total > 0)
    likely = table.sum(axis=1, keepdims=True) * shares[groups]
    deviation = table - likely
    noise = variance * float((cells - 1).sum()) * (classes - 1)
    seen = float((deviation**2).sum())
    return np.asarray(likely + deviation * (max(0.0, 1 - noise / seen) if seen else 0.0))


def _non_negative(table: Floats, cuts: Cuts, position: int, totals: Floats) -> Floats:
    groups = cuts.groups(position)
    sums = fitted_sums(grouped(table, groups, cuts.shape[position]), totals)
    found = np.zeros_like(table)
    for node, own in zip(cuts.values[position], sums, strict=True):
        cells = list(node.cells)
        found[cells] = spread_table(table[cells], own, cuts.taxonomies[position], node)
    return found


def _spread(table: Floats, cuts: Cuts, position: int, sums: Ints) -> Ints:
    """The cells of each value as whole parts of its sum; even by the number of values where the table says nothing."""
    found = np.zeros(table.shape, dtype=np.int64)
    sizes = cuts.taxonomies[position].sizes
    for number, node in enumerate(cuts.values[position]):
        cells = np.array(node.cells)
        for place in range(table.shape[1]):
            parts, total = table[cells, place], int(sums[number, place])
            known = parts if parts.sum() > 0 else sizes[cells].astype(np.float64)
            found[cells, place] = rounded_split(known * (total / known.sum()), total)
    return found

"""Noisy attribute x class tables made to agree: the same class totals in all, and none negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.diffgen.making.whole import nearest_split
from discreet.schema.taxonomy import Node, Taxonomy

_FEW_CLASSES = 4  # measured: with two, the plain fit is better; with fourteen, by rows
_PASSES = 20
_LITTLE = 1e-6  # of independence, so that rows and columns can always be met


@dataclass(frozen=True, eq=False)
class Settled:
    """Tables (cells x classes) that agree on the totals of the classes."""

    tables: tuple[Floats, ...]
    totals: Floats


def settle(tables: Sequence[NDArray[np.generic]], variances: Sequence[float]) -> Settled:
    """The tables moved as little as possible: totals from all tables by their precision, no cell negative."""
    found = [np.asarray(table, dtype=np.float64) for table in tables]
    weights = [1 / (len(table) * variance) for table, variance in zip(found, variances, strict=True)]
    sums = np.array([table.sum(axis=0) for table in found])
    totals = np.maximum(np.average(sums, axis=0, weights=weights), 0.0)
    return Settled(tuple(fitted(table, totals) for table in found), totals)


def fitted(table: Floats, totals: Floats) -> Floats:
    """The nearest table without a negative cell whose columns have these totals."""
    parts = [nearest_split(table[:, place], float(total)) for place, total in enumerate(totals)]
    return np.stack(parts, axis=1)


def spread_down(cells: Floats, total: float, taxonomy: Taxonomy, node: Node) -> Floats:
    """The cells below a value as parts of its total, none negative: split value by value, down the taxonomy.

    Cutting off negative noise lifts sparse cells. Down a tree it lifts a sparse range once for each of its values on
    the way, instead of once for each cell: sums over ranges stay nearly unbiased. Intervals are halved.
    """
    if len(node.cells) == 1:
        return np.array([max(total, 0.0)])
    below = taxonomy.split(node, len(node.cells) // 2) or tuple(Node("", (cell,)) for cell in node.cells)
    place = {cell: number for number, cell in enumerate(node.cells)}
    members = [[place[cell] for cell in child.cells] for child in below]
    sums = np.array([cells[each].sum() for each in members])
    parts = nearest_split(sums, total, np.array([float(len(each)) for each in members]))
    found = np.zeros(len(cells))
    for child, each, part in zip(below, members, parts, strict=True):
        found[each] = spread_down(cells[each], float(part), taxonomy, child)
    return found


def spread_table(table: Floats, totals: Floats, taxonomy: Taxonomy, node: Node) -> Floats:
    """The same for a table (cells x classes); with many classes, by sums over them first, for the same reason."""
    if table.shape[1] <= _FEW_CLASSES:
        parts = [spread_down(table[:, place], float(total), taxonomy, node) for place, total in enumerate(totals)]
        return np.stack(parts, axis=1)
    sums = table.sum(axis=1)
    return _rake(table, spread_down(sums, float(totals.sum()), taxonomy, node), totals)


def fitted_sums(sums: Floats, totals: Floats) -> Floats:
    """Sums over the values of a cut (values x classes) without a negative one, whose columns have these totals."""
    if sums.shape[1] <= _FEW_CLASSES:
        return fitted(sums, totals)
    return _rake(sums, nearest_split(sums.sum(axis=1), float(totals.sum())), totals)


def _rake(table: Floats, rows: Floats, totals: Floats) -> Floats:
    """A table near the given one with these sums of rows and of columns."""
    found = np.maximum(table + ((rows - table.sum(axis=1)) / table.shape[1])[:, None], 0.0)
    found = found + _LITTLE * np.outer(rows, totals) / max(float(totals.sum()), 1.0)
    for _ in range(_PASSES):
        found = found * _ratio(rows, found.sum(axis=1))[:, None]
        found = found * _ratio(totals, found.sum(axis=0))
    return np.asarray(found)


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)


def grouped(table: Floats, groups: Ints, number: int) -> Floats:
    """The sums of the cells of each group."""
    found = np.zeros((number, table.shape[1]))
    np.add.at(found, groups, table)
    return found


def along(leaves: Floats, *axes: int) -> tuple[int, ...]:
    """The shape in which something over these axes and the classes meets the leaves."""
    return tuple(size if axis in (*axes, leaves.ndim - 1) else 1 for axis, size in enumerate(leaves.shape))

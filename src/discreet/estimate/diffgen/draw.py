"""Synthetic rows from leaves and tables: any number of them, each a value of every column (systematic sampling)."""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Ints
from discreet.release.diffgen.tables import LeafTables


def draw_cells(found: LeafTables, rows: int, coins: np.random.Generator) -> tuple[list[Ints], Ints]:
    """The cells of each attribute and the classes of `rows` rows, as close to the counts as whole rows can be.

    Leaves are drawn systematically, and so are cells inside the leaves' values: only what stands together is random.
    """
    classes = found.leaves.shape[-1]
    reached = np.cumsum(found.leaves.ravel().astype(np.float64))
    if reached[-1] <= 0:
        drawn = coins.integers(0, found.leaves.size, size=rows)
    else:
        drawn = np.searchsorted(reached, (np.arange(rows) + coins.random()) / rows * reached[-1], side="right")
        drawn = np.minimum(drawn, found.leaves.size - 1)
    place = np.unravel_index(drawn, found.leaves.shape)
    axes = [position for position, cut in enumerate(found.values) if len(cut) > 1]
    columns = []
    for position, table in enumerate(found.tables):
        held = place[axes.index(position)] if position in axes else np.zeros(rows, dtype=np.int64)
        columns.append(_spread(table, found.groups[position], held, place[-1], classes, coins))
    return columns, place[-1]


def _spread(table: Ints, groups: Ints, held: Ints, own: Ints, classes: int, coins: np.random.Generator) -> Ints:
    """A cell for each row, as the table spreads the people of its value and class."""
    key = held * classes + own
    order = coins.permutation(len(key))
    order = order[np.argsort(key[order], kind="stable")]
    found = np.zeros(len(key), dtype=np.int64)
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    for part in np.split(order, starts[1:]) if len(order) else []:
        value, place = divmod(int(key[part[0]]), classes)
        cells = np.flatnonzero(groups == value)
        weights = table[cells, place].astype(np.float64)
        reached = np.cumsum(weights if weights.any() else np.ones(len(cells)))
        at = (np.arange(len(part)) + coins.random()) / len(part) * reached[-1]
        found[part] = cells[np.minimum(np.searchsorted(reached, at, side="right"), len(cells) - 1)]
    return found


def codes_of(cells: Ints, cell_of: Ints, coins: np.random.Generator) -> Ints:
    """A value of the domain for each row: any of its cell's, evenly."""
    order = np.argsort(cell_of, kind="stable")
    starts = np.searchsorted(cell_of[order], np.arange(int(cell_of.max()) + 2))
    sizes = np.diff(starts)
    return order[starts[cells] + (coins.random(len(cells)) * sizes[cells]).astype(np.int64)]

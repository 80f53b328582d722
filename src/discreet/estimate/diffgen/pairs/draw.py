"""Synthetic rows from a model of pairs: any number of them, each independent of the others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.pairs.junction import Axes
from discreet.release.diffgen.pairs.model import Model


def draw_cells(model: Model, rows: int, coins: np.random.Generator) -> list[Ints]:
    """The cells of each column: from clique to clique, given the columns that both have."""
    junction, values = model.beliefs.junction, dict[int, Ints]()
    for clique in reversed(range(len(junction.cliques))):  # a parent stands after its children
        own, known = junction.cliques[clique], junction.separators[clique]
        fresh = tuple(column for column in own if column not in known)
        drawn = _drawn(model.beliefs.belief(clique), own, known, values, rows, coins)
        places = np.unravel_index(drawn, [model.columns.widths[column] for column in fresh])
        values.update(zip(fresh, (np.asarray(each, dtype=np.int64) for each in places), strict=True))
    return [_inside(model, column, values[column], coins) for column in range(len(junction.home))]


def _inside(model: Model, column: int, values: Ints, coins: np.random.Generator) -> Ints:
    """Cells for the values of a column, as its margin has them."""
    width, cells = model.columns.widths[column], model.columns.sizes[column]
    if width == cells:
        return values
    table = np.zeros((width, cells))
    table[model.columns.values[column], np.arange(cells)] = model.margins[column]
    return _drawn(table, (0, 1), (0,), {0: values}, len(values), coins)


def _drawn(
    table: Floats, columns: Axes, known: Axes, values: Mapping[int, Ints], number: int, coins: np.random.Generator
) -> Ints:
    """Places in a table's other columns, drawn for known values of some, which need not stand first."""
    order = [columns.index(column) for column in known]
    order += [axis for axis in range(len(columns)) if axis not in order]
    wide = [table.shape[axis] for axis in order[: len(known)]]
    flat = table.transpose(order).reshape(int(np.prod(wide)), -1).cumsum(axis=1)
    at = np.ravel_multi_index([values[column] for column in known], wide) if known else np.zeros(number, np.int64)
    steps = flat / flat[:, -1:] + np.arange(len(flat))[:, None]
    found = np.searchsorted(steps.ravel(), at + coins.random(number), side="right") - at * flat.shape[1]
    return np.asarray(np.clip(found, 0, flat.shape[1] - 1), dtype=np.int64)

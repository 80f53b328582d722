"""What a reader asks a model: how many people a question expects, tables of a few columns, and rows.

Only the cliques between the columns of a question are looked at, and their sums are kept for the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.pairs.beliefs import spread, summed
from discreet.release.diffgen.pairs.junction import Axes
from discreet.release.diffgen.pairs.model import Model

_MOST_KEPT = 1 << 22  # cells of sums that are kept
Labelled = tuple[Floats, Axes]  # a table, and its columns in order


class Joint:
    """A model that answers."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._junction = model.beliefs.junction
        self._sums: dict[tuple[int, Axes], Floats] = {}
        self._kept = 0

    def expected(self, asked: Mapping[int, Floats]) -> float:
        """The people that are expected: `asked` says for some columns how much of each cell a question takes."""
        found = 1.0
        for columns in self._apart(sorted(asked)):
            if len(columns) == 1:
                share = float(self.model.margins[columns[0]] @ asked[columns[0]]) / self.model.people
            else:
                weights = {column: self._folded(column, asked[column]) for column in columns}
                share = float(self._contracted(weights, ())[0])
            found *= share
        return found * self.model.people

    def table(self, columns: Sequence[int]) -> Floats:
        """The people that are expected in each combination of cells of a few columns, in increasing order."""
        wanted = tuple(sorted(columns))
        found = np.full([1] * len(wanted), float(self.model.people))
        for part in self._apart(wanted):
            table = self.model.margins[part[0]] / self.model.people if len(part) == 1 else self._cells(part)
            found = found * spread(table, part, wanted)
        return found

    def draw(self, number: int, coins: np.random.Generator) -> tuple[Ints, ...]:
        """The cells of so many rows, column by column; rows do not depend on each other."""
        junction, values = self._junction, dict[int, Ints]()
        for clique in reversed(range(len(junction.cliques))):
            own, known = junction.cliques[clique], junction.separators[clique]
            fresh = tuple(column for column in own if column not in known)
            drawn = _drawn(self._sum(clique, own), own, known, values, number, coins)
            places = np.unravel_index(drawn, [self.model.columns.widths[column] for column in fresh])
            values.update(zip(fresh, (np.asarray(each, dtype=np.int64) for each in places), strict=True))
        return tuple(self._inside(column, values[column], coins) for column in range(len(junction.home)))

    def _inside(self, column: int, values: Ints, coins: np.random.Generator) -> Ints:
        """Cells for the values of a column, as its margin has them."""
        columns = self.model.columns
        if columns.widths[column] == columns.sizes[column]:
            return values
        table = np.zeros((columns.widths[column], columns.sizes[column]))
        table[columns.values[column], np.arange(columns.sizes[column])] = self.model.margins[column]
        return _drawn(table, (0, 1), (0,), {0: values}, len(values), coins)

    def _folded(self, column: int, weights: Floats) -> Floats:
        """The part of each value of the model that a question takes."""
        columns = self.model.columns
        if columns.widths[column] == columns.sizes[column]:
            return weights
        taken = np.bincount(columns.values[column], self.model.margins[column] * weights, columns.widths[column])
        return np.asarray(taken / self._margins[column])

    @cached_property
    def _margins(self) -> list[Floats]:
        return [self.model.by_values(column) for column in range(len(self.model.margins))]

    def _cells(self, columns: Axes) -> Floats:
        """The shares of combinations of cells of columns that hang together."""
        found, own = self._contracted({}, columns), self.model.columns
        for axis, column in enumerate(columns):
            if own.widths[column] < own.sizes[column]:
                inside = self.model.margins[column] / self._margins[column][own.values[column]]
                found = found.take(own.values[column], axis=axis) * spread(inside, (column,), columns)
        return found

    def _apart(self, columns: Sequence[int]) -> list[Axes]:
        """Columns, by what hangs together."""
        found: dict[int, list[int]] = {}
        for column in columns:
            found.setdefault(self._way(self._junction.home[column])[-1], []).append(column)
        return [tuple(each) for each in found.values()]

    def _way(self, clique: int) -> list[int]:
        """A clique and those above it, up to the root."""
        found = [clique]
        while self._junction.parents[found[-1]] >= 0:
            found.append(self._junction.parents[found[-1]])
        return found

    def _contracted(self, weights: Mapping[int, Floats], keep: Axes) -> Floats:
        """The sums of the model times weights of columns, over the columns to keep; all hang together.

        Below the lowest clique that the ways of all columns meet in, the ways are all that matters.
        """
        homes = [self._junction.home[column] for column in (*weights, *keep)]
        ways = [self._way(clique) for clique in homes]
        root = next(clique for clique in ways[0] if all(clique in way for way in ways))
        inside = {clique for way in ways for clique in way[: way.index(root)]} | {root}
        found, _ = self._told(root, inside, weights, keep)
        return np.atleast_1d(found)

    def _told(self, clique: int, inside: set[int], weights: Mapping[int, Floats], keep: Axes) -> Labelled:
        """What a clique and those below it say of the columns above it and of those to keep."""
        junction = self._junction
        below = [each for each in junction.near[clique] if each in inside and junction.parents[each] == clique]
        above = junction.separators[clique] if junction.parents[clique] in inside else ()
        own = {column for column in (*weights, *keep) if junction.home[column] == clique}
        needed = own.union(above, *(junction.separators[each] for each in below))
        axes = tuple(column for column in junction.cliques[clique] if column in needed)
        found = self._sum(clique, axes)
        for column in own & set(weights):
            found = found * spread(weights[column], (column,), axes)
        for each in below:
            told, columns = self._told(each, inside, weights, keep)
            shared = junction.separators[each]
            given = told / spread(self._sum(each, shared), shared, columns)
            both = tuple(sorted({*axes, *columns}))
            found, axes = spread(found, axes, both) * spread(given, columns, both), both
        left = tuple(column for column in axes if column in above or column in keep)
        return summed(found, axes, left), left

    def _sum(self, clique: int, axes: Axes) -> Floats:
        """A clique's shares over some of its columns, kept while there is room."""
        found = self._sums.get((clique, axes))
        if found is None:
            own = self._junction.cliques[clique]
            whole = self.model.beliefs.belief(clique) if axes == own else self._sum(clique, own)
            found = summed(whole, own, axes)
            if axes == own or self._kept + found.size <= _MOST_KEPT:
                self._sums[clique, axes] = found
                self._kept += found.size
        return found


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

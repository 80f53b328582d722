"""What a reader asks models: how many people a question expects.

Several models are asked at once, which differ in numbers alone: every sum has an axis for them. Only the cliques
between the columns of a question are looked at, and their sums are kept for the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np

from discreet.errors import QueryError
from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.beliefs import spread, summed
from discreet.release.diffgen.pairs.junction import Axes
from discreet.release.diffgen.pairs.model import Model

MODELS = -1  # the axis of the models, which stands first
_MOST_KEPT = 1 << 22  # numbers of sums that are kept
_MOST_AT_ONCE = 1 << 25  # numbers of a sum
Labelled = tuple[Floats, Axes]  # a table, and its columns in order
Asked = tuple[Axes, Floats]  # columns in increasing order, and how much of each of their cells a question takes


class Joint:
    """Models that answer, of the same columns and pairs."""

    def __init__(self, models: Sequence[Model]) -> None:
        self.first = models[0]
        self._models = tuple(models)
        self._junction = self.first.beliefs.junction
        self._widths = self.first.columns.widths
        self._people = np.array([each.people for each in models], dtype=np.float64)
        self._margins = [np.stack(each) for each in zip(*(model.margins for model in models), strict=True)]
        self._sums: dict[tuple[int, Axes], Floats] = {}
        self._kept = 0

    def expected(self, asked: Sequence[Asked]) -> Floats:
        """The people that each model expects to meet all parts of a question, which speak of different columns."""
        found = self._people.copy()
        for parts in self._apart(asked):
            if len(parts) == 1 and len(parts[0][0]) == 1:
                ((column,), weights) = parts[0]
                found *= self._margins[column] @ weights / self._people
            else:
                found *= self._share(parts)
        return found

    def _share(self, parts: Sequence[Asked]) -> Floats:
        """The share of people that meet parts which hang together."""
        single = {columns[0]: self._folded(columns, weights) for columns, weights in parts if len(columns) == 1}
        tied = [(columns, self._folded(columns, weights)) for columns, weights in parts if len(columns) > 1]
        over: Axes = (MODELS, *sorted(column for columns, _ in tied for column in columns))
        _check_size([len(self._models), *(self._widths[column] for column in over[1:])])
        found: Floats = np.ones([1] * len(over))
        for own in self._components([*single, *over[1:]]):
            keep = tuple(column for column in over[1:] if column in own)
            weights = {column: single[column] for column in own if column in single}
            found = found * spread(self._contracted(weights, keep), (MODELS, *keep), over)
        for columns, weight in tied:
            found = found * spread(weight, (MODELS, *columns), over)
        return np.asarray(found.reshape(len(self._models), -1).sum(axis=1))

    def _folded(self, columns: Axes, weights: Floats) -> Floats:
        """The part of each value of the models that a question takes, with an axis for the models."""
        found = weights[None]
        for axis, column in enumerate(columns, start=1):
            width, cells = self._widths[column], self._margins[column].shape[1]
            if width == cells:
                continue
            below = np.equal.outer(self.first.columns.values[column], np.arange(width)).astype(np.float64)
            inside = self._margins[column] / (self._margins[column] @ below @ below.T)
            shape = [len(inside), *(cells if each == axis else 1 for each in range(1, weights.ndim + 1))]
            found = np.moveaxis(np.moveaxis(found * inside.reshape(shape), axis, -1) @ below, -1, axis)
        return np.asarray(found)

    def _apart(self, asked: Sequence[Asked]) -> list[list[Asked]]:
        """Parts, by what hangs together: through the models, or through a part that ties columns."""
        found: list[tuple[set[int], list[Asked]]] = []
        for part in asked:
            roots, own = {self._root(column) for column in part[0]}, [part]
            rest = []
            for others, parts in found:
                if roots & others:
                    roots, own = roots | others, [*parts, *own]
                else:
                    rest.append((others, parts))
            found = [*rest, (roots, own)]
        return [parts for _, parts in found]

    def _components(self, columns: Iterable[int]) -> list[set[int]]:
        """Columns, by what hangs together through the models."""
        found: dict[int, set[int]] = {}
        for column in columns:
            found.setdefault(self._root(column), set()).add(column)
        return list(found.values())

    def _root(self, column: int) -> int:
        return self._way(self._junction.home[column])[-1]

    def _way(self, clique: int) -> list[int]:
        """A clique and those above it, up to the root."""
        found = [clique]
        while self._junction.parents[found[-1]] >= 0:
            found.append(self._junction.parents[found[-1]])
        return found

    def _contracted(self, weights: Mapping[int, Floats], keep: Axes) -> Floats:
        """The sums of the models times weights of columns, over the columns to keep; all hang together.

        Below the lowest clique that the ways of all columns meet in, the ways are all that matters.
        """
        homes = [self._junction.home[column] for column in (*weights, *keep)]
        ways = [self._way(clique) for clique in homes]
        root = next(clique for clique in ways[0] if all(clique in way for way in ways))
        inside = {clique for way in ways for clique in way[: way.index(root)]} | {root}
        found, _ = self._told(root, inside, weights, keep)
        return found

    def _told(self, clique: int, inside: set[int], weights: Mapping[int, Floats], keep: Axes) -> Labelled:
        """What a clique and those below it say of the columns above it and of those to keep."""
        junction = self._junction
        below = [each for each in junction.near[clique] if each in inside and junction.parents[each] == clique]
        above = junction.separators[clique] if junction.parents[clique] in inside else ()
        own = {column for column in (*weights, *keep) if junction.home[column] == clique}
        needed = own.union(above, *(junction.separators[each] for each in below))
        axes = (MODELS, *(column for column in junction.cliques[clique] if column in needed))
        found = self._sum(clique, axes[1:])
        for column in own & set(weights):
            found = found * spread(weights[column], (MODELS, column), axes)
        for each in below:
            told, columns = self._told(each, inside, weights, keep)
            shared = junction.separators[each]
            given = told / spread(self._sum(each, shared), (MODELS, *shared), columns)
            both = tuple(sorted({*axes, *columns}))
            _check_size([len(self._models), *(self._widths[column] for column in both[1:])])
            found, axes = spread(found, axes, both) * spread(given, columns, both), both
        left = tuple(column for column in axes if column == MODELS or column in above or column in keep)
        return summed(found, axes, left), left

    def _sum(self, clique: int, axes: Axes) -> Floats:
        """The models' shares of a clique over some of its columns, kept while there is room."""
        found = self._sums.get((clique, axes))
        if found is None:
            own = self._junction.cliques[clique]
            if axes == own:
                found = np.stack([model.beliefs.belief(clique) for model in self._models])
            else:
                found = summed(self._sum(clique, own), (MODELS, *own), (MODELS, *axes))
            if axes == own or self._kept + found.size <= _MOST_KEPT:
                self._sums[clique, axes] = found
                self._kept += found.size
        return found


def _check_size(shape: Sequence[int]) -> None:
    """Raise QueryError where a sum would need too much memory."""
    if prod(shape) > _MOST_AT_ONCE:
        raise QueryError("the condition ties too many values of several columns together; join simpler ones by AND")

"""What a reader asks models: how many people a question expects.

Several models are asked at once, which differ in numbers alone: every sum has an axis for them. Only the cliques
between the columns of a question are looked at, and their sums are kept for the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from string import ascii_letters

import numpy as np

from discreet.errors import QueryError
from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.beliefs import spread, summed
from discreet.release.diffgen.pairs.junction import Axes
from discreet.release.diffgen.pairs.model import Model

MODELS = -1  # the axis of the models, which stands first
_MOST_KEPT = 1 << 24  # numbers of sums that are kept
_MOST_AT_ONCE = 1 << 25  # numbers of a sum
Labelled = tuple[Floats, Axes]  # a table, and its columns in order
Asked = tuple[Axes, Floats]  # columns in increasing order, and how much of each of their cells a question takes


class Joint:
    """Models that answer, of the same columns and pairs; in single precision they answer twice as fast."""

    def __init__(self, models: Sequence[Model], *, single: bool = False) -> None:
        self._kind = np.float32 if single else np.float64
        self.first = models[0]
        self._models = tuple(models)
        self._junction = self.first.beliefs.junction
        self._widths = self.first.columns.widths
        self._people = np.array([each.people for each in models], dtype=np.float64)
        self._margins = [np.stack(each) for each in zip(*(model.margins for model in models), strict=True)]
        self._cliques: dict[frozenset[int], frozenset[int]] = {}
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
        found: Floats = np.ones([1] * len(over), dtype=self._kind)
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
        return np.asarray(found, dtype=self._kind)

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
        """The sums of the models times weights of columns, over the columns to keep; all hang together."""
        cliques = self._between(frozenset((*weights, *keep)))
        (root,) = (clique for clique in cliques if self._junction.parents[clique] not in cliques)
        found, _ = self._told(root, cliques, weights, keep)
        return found

    def _between(self, columns: frozenset[int]) -> frozenset[int]:
        """The fewest cliques that have all of the columns and hang together."""
        found = self._cliques.get(columns)
        if found is None:
            junction, root = self._junction, self._root(min(columns))
            left = {clique for clique in range(len(junction.cliques)) if self._way(clique)[-1] == root}
            while spare := [clique for clique in sorted(left) if len(left) > 1 and self._spare(clique, left, columns)]:
                left.remove(spare[0])
            found = self._cliques[columns] = frozenset(left)
        return found

    def _spare(self, clique: int, left: set[int], columns: frozenset[int]) -> bool:
        """Whether a clique hangs on one other alone, which has all of its columns that are asked for."""
        near = [each for each in self._junction.near[clique] if each in left]
        return len(near) == 1 and columns & {*self._junction.cliques[clique]} <= {*self._junction.cliques[near[0]]}

    def _told(self, clique: int, inside: frozenset[int], weights: Mapping[int, Floats], keep: Axes) -> Labelled:
        """What a clique and those below it say of the columns above it and of those to keep."""
        junction = self._junction
        below = [each for each in junction.near[clique] if each in inside and junction.parents[each] == clique]
        above = junction.separators[clique] if junction.parents[clique] in inside else ()
        apart = {column for each in below for column in junction.separators[each]}
        own = {*weights, *keep}.intersection(junction.cliques[clique]).difference(above)
        needed = {*own, *above, *apart}
        found = self._sum(clique, tuple(column for column in junction.cliques[clique] if column in needed))
        factors: list[Labelled] = [(weights[column], (MODELS, column)) for column in sorted(own.intersection(weights))]
        for each in below:
            told, columns = self._told(each, inside, weights, keep)
            shared = (MODELS, *junction.separators[each])
            factors.append((told / spread(self._sum(each, shared[1:])[0], shared, columns), columns))
        for place, factor in enumerate(factors, start=1):
            later = {MODELS, *above, *keep}.union(*(columns for _, columns in factors[place:]))
            found = self._times(found, factor, later)
        return found

    def _times(self, one: Labelled, other: Labelled, later: set[int]) -> Labelled:
        """The product of two tables, summed over what is not needed later."""
        both = sorted({*one[1], *other[1]})
        left = tuple(column for column in both if column in later)
        _check_size([len(self._models), *(self._widths[column] for column in left if column != MODELS)])
        names = dict(zip(both, ascii_letters, strict=False))
        first, second, out = ("".join(names[each] for each in columns) for columns in (one[1], other[1], left))
        return np.asarray(np.einsum(f"{first},{second}->{out}", one[0], other[0])), left

    def _sum(self, clique: int, columns: Axes) -> Labelled:
        """The models' shares of a clique over some of its columns, kept while there is room."""
        axes = (MODELS, *columns)
        found = self._sums.get((clique, columns))
        if found is None:
            own = self._junction.cliques[clique]
            if columns == own:
                found = np.stack([model.beliefs.belief(clique) for model in self._models], dtype=self._kind)
            else:
                found = summed(self._sum(clique, own)[0], (MODELS, *own), axes)
            if columns == own or self._kept + found.size <= _MOST_KEPT:
                self._sums[clique, columns] = found
                self._kept += found.size
        return found, axes


def _check_size(shape: Sequence[int]) -> None:
    """Raise QueryError where a sum would need too much memory."""
    if prod(shape) > _MOST_AT_ONCE:
        raise QueryError("the condition ties too many values of several columns together; join simpler ones by AND")

"""A model of pairs and its law by enumeration, for tests: all factors, multiplied over every combination of cells.

It knows no tree, and of a group only which cells it has.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from discreet.release.diffgen.pairs.candidates import Graph
from discreet.release.diffgen.pairs.measured import Candidate, Level
from discreet.release.diffgen.pairs.model import Columns, Model

PEOPLE, NUMBER = 1_000, 4  # of columns
seeds = st.integers(0, 2**32)


class Whole:
    """A model, and the law of its cells by enumeration."""

    def __init__(self, seed, *, like=None):
        """`like` gives the sizes, groups and tables: another model of the same ones."""
        coins = np.random.default_rng(seed)
        if like is None:
            self.sizes = tuple(coins.choice([1, 2, 3, 9, 11], NUMBER, p=[0.1, 0.3, 0.2, 0.2, 0.2]).tolist())
            self.groups = tuple(
                coins.permutation(np.resize(np.arange(8), size)) if size > 8 else np.arange(size) for size in self.sizes
            )
            self.measured = tuple(self.some_tables(coins))
        else:
            self.sizes, self.groups, self.measured = like.sizes, like.groups, like.measured
        by_cells = {column for each in self.measured for column, level in levels_of(each) if level is Level.CELLS}
        self.values = [
            np.arange(size) if column in by_cells else own
            for column, (size, own) in enumerate(zip(self.sizes, self.groups, strict=True))
        ]
        self._law(coins)

    def some_tables(self, coins):
        """Any tables of two, at any levels."""
        for first, second in combinations(range(NUMBER), 2):
            if coins.random() < 0.5:
                coarse = [self.sizes[column] > 8 and coins.random() < 0.6 for column in (first, second)]
                one, other = (Level.GROUPS if each else Level.CELLS for each in coarse)
                yield Candidate(first, second, (one, other))

    def place(self, column, level):
        """Where each cell of a column is at a level."""
        return self.groups[column] if level is Level.GROUPS else np.arange(self.sizes[column])

    def on(self, table, *columns):
        """A table by cells, to be multiplied with others."""
        return table.reshape([size if column in columns else 1 for column, size in enumerate(self.sizes)])

    def _law(self, coins):
        own = [coins.uniform(0.2, 3, values.max() + 1) for values in self.values]
        inside = [coins.uniform(0.2, 3, size) for size in self.sizes]
        inside = [
            each / np.bincount(values, weights=each)[values] for each, values in zip(inside, self.values, strict=True)
        ]
        pairs = [
            coins.uniform(0.2, 3, [self.place(*each).max() + 1 for each in levels_of(chosen)])
            for chosen in self.measured
        ]
        self.law = np.ones(self.sizes)
        for part in self.components():
            mass = np.ones([1] * NUMBER)
            for column in part:
                mass = mass * self.on(own[column][self.values[column]] * inside[column], column)
            for chosen, factor in zip(self.measured, pairs, strict=True):
                if chosen.first in part:
                    cells = factor[np.ix_(*(self.place(*each) for each in levels_of(chosen)))]
                    mass = mass * self.on(cells, *chosen.columns)
            own[min(part)] /= mass.sum()
            self.law *= mass / mass.sum()
        shares = [self.over(column) for column in range(NUMBER)]
        self.model = Model(
            columns=Columns(groups=self.groups, graph=Graph(self.measured)),
            people=PEOPLE,
            margins=tuple(share * PEOPLE for share in shares),
            own=tuple(
                factor / np.bincount(values, weights=share)
                for factor, values, share in zip(own, self.values, shares, strict=True)
            ),
            pairs=tuple(pairs),
        )

    def components(self):
        """Columns that tables hang together."""
        found = [{column} for column in range(NUMBER)]
        for each in self.measured:
            met = [part for part in found if part & set(each.columns)]
            found = [part for part in found if part not in met] + [set().union(*met)]
        return found

    def over(self, *columns):
        """The law of some columns, in increasing order."""
        return self.law.sum(axis=tuple(axis for axis in range(NUMBER) if axis not in columns))


def levels_of(chosen):
    return list(zip(chosen.columns, chosen.levels, strict=True))

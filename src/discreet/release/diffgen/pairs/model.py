"""The model: people are spread as a product over columns and measured pairs, and inside groups as the margins are.

p is proportional to prod u_a prod psi_ab. A column that was measured by groups alone has groups for values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.pairs.beliefs import Beliefs
from discreet.release.diffgen.pairs.candidates import Graph
from discreet.release.diffgen.pairs.groups import GROUPS
from discreet.release.diffgen.pairs.junction import junction_of
from discreet.release.diffgen.pairs.measured import Level


@dataclass(frozen=True, eq=False, kw_only=True)
class Columns:
    """The columns' cells and groups, and in how many values each stands in a model of these tables."""

    groups: tuple[Ints, ...]
    graph: Graph

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(len, self.groups))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        return tuple(self.graph.widths(self.sizes))

    @cached_property
    def values(self) -> tuple[Ints, ...]:
        """The value of the model that each cell is in."""
        return tuple(
            np.arange(len(own)) if width == len(own) else own
            for own, width in zip(self.groups, self.widths, strict=True)
        )

    @cached_property
    def below(self) -> tuple[Floats, ...]:
        """Cells x groups: 1 where a cell is in a group."""
        return tuple((own[:, None] == np.arange(min(GROUPS, len(own)))).astype(np.float64) for own in self.groups)

    def coarse(self, column: int, level: Level) -> bool:
        """Whether a level has fewer values than the model."""
        return level is Level.GROUPS and self.widths[column] == self.sizes[column] > GROUPS

    def at(self, column: int, level: Level) -> Ints | None:
        """The value at a level that each value of the model is in; None where they are the same."""
        return self.groups[column] if self.coarse(column, level) else None

    def lowered(self, table: Floats, columns: tuple[int, int], levels: tuple[Level, Level]) -> Floats:
        """A table of two columns by the model's values, summed to levels that are not finer."""
        if self.coarse(columns[0], levels[0]):
            table = self.below[columns[0]].T @ table
        return table @ self.below[columns[1]] if self.coarse(columns[1], levels[1]) else table


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """Margins by cells, and the factors that go with them: `own` of each column by values, `pairs` at their levels."""

    columns: Columns
    people: int
    margins: tuple[Floats, ...]
    own: tuple[Floats, ...]
    pairs: tuple[Floats, ...]

    @cached_property
    def beliefs(self) -> Beliefs:
        """The model summed, in shares of the people."""
        columns = self.columns
        found = Beliefs(junction_of(columns.widths, columns.graph.edges()), columns.widths)
        for column, clique in enumerate(found.junction.home):
            shares = self.by_values(column) / self.people
            found.times(clique, shares * self.own[column], (column,))
        for chosen, factor in zip(columns.graph.measured, self.pairs, strict=True):
            clique = found.junction.holder(chosen.columns)
            found.times(clique, self.raised(factor, chosen.columns, chosen.levels), chosen.columns)
        return found

    def by_values(self, column: int) -> Floats:
        """A column's margin by the model's values."""
        columns = self.columns
        return _sums(self.margins[column], columns.values[column], columns.widths[column])

    def raised(self, factor: Floats, columns: tuple[int, int], levels: tuple[Level, Level]) -> Floats:
        """A factor at levels by the model's values, which are not coarser."""
        for axis in (0, 1):
            at = self.columns.at(columns[axis], levels[axis])
            if at is not None:
                factor = factor.take(at, axis=axis)
        return factor


def level_margin(margin: Floats, groups: Ints, level: Level) -> Floats:
    """A column's margin at a level."""
    if level is Level.CELLS:
        return margin
    return _sums(margin, groups, GROUPS)


def plain(groups: Sequence[Ints], margins: Sequence[Floats], people: int) -> Model:
    """The model without a measured pair: columns do not depend on each other."""
    columns = Columns(groups=tuple(groups), graph=Graph())
    own = tuple(np.ones(width) for width in columns.widths)
    return Model(columns=columns, people=people, margins=tuple(margins), own=own, pairs=())


def _sums(weights: Floats, groups: Ints, number: int) -> Floats:
    return np.bincount(groups, weights=weights, minlength=number).astype(np.float64, copy=False)

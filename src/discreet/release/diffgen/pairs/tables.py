"""Tables of two columns that a model implies, of any two and at any levels."""

from __future__ import annotations

from string import ascii_letters

import numpy as np

from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.beliefs import Beliefs, spread, summed
from discreet.release.diffgen.pairs.junction import Axes
from discreet.release.diffgen.pairs.measured import Level
from discreet.release.diffgen.pairs.model import Model, level_margin

Tables = dict[int, Floats]


def pair_table(model: Model, columns: tuple[int, int], levels: tuple[Level, Level]) -> Floats:
    """The people that a model expects in each cell of a table of two columns."""
    return at_levels(model, tables_with(model.beliefs, columns[0]).get(columns[1]), columns, levels)


def pair_tables(model: Model) -> list[Floats]:
    """The people that a model expects in the cells of each table that it was fitted to, in order."""
    return [pair_table(model, each.columns, each.levels) for each in model.columns.graph.measured]


def at_levels(model: Model, table: Floats | None, columns: tuple[int, int], levels: tuple[Level, Level]) -> Floats:
    """A table of shares by the model's values as people at levels; None where the columns do not hang together."""
    margins = [
        level_margin(model.margins[column], model.columns.groups[column], level)
        for column, level in zip(columns, levels, strict=True)
    ]
    if table is None:
        return np.outer(margins[0], margins[1]) / model.people
    found = model.columns.lowered(table, columns, levels) * model.people
    for axis, (column, level) in enumerate(zip(columns, levels, strict=True)):
        if level is Level.CELLS and model.columns.widths[column] < model.columns.sizes[column]:
            groups, margin = model.columns.groups[column], model.margins[column]
            inside = margin / model.by_values(column)[groups]
            found = found.take(groups, axis=axis) * (inside[:, None] if axis == 0 else inside)
    return found


def tables_with(beliefs: Beliefs, column: int) -> Tables:
    """The shares of a column (first) with each other column that it hangs together with, by the model's values.

    From a clique with the column outwards: what is beyond a separator depends on the column through it alone.
    """
    junction, found = beliefs.junction, Tables()
    waiting: list[tuple[int, int, Floats | None]] = [(junction.home[column], -1, None)]
    while waiting:
        clique, before, told = waiting.pop()
        own, belief = junction.cliques[clique], beliefs.belief(clique)
        between = () if before < 0 else junction.between(clique, before)

        def joint(
            others: Axes, own: Axes = own, belief: Floats = belief, told: Floats | None = told, between: Axes = between
        ) -> Floats:
            return _inside(belief, own, column, others) if told is None else _beyond(belief, own, told, between, others)

        for other in own:
            if other != column and other not in found:
                found[other] = joint((other,))
        for each in junction.near[clique]:
            if each != before:
                shared = junction.between(clique, each)
                waiting.append((each, clique, None if column in shared else joint(shared)))
    return found


def _inside(belief: Floats, own: Axes, column: int, others: Axes) -> Floats:
    """A column of a clique (first) with others of it."""
    kept = tuple(sorted((column, *others)))
    return np.moveaxis(summed(belief, own, kept), kept.index(column), 0)


def _beyond(belief: Floats, own: Axes, told: Floats, between: Axes, others: Axes) -> Floats:
    """A column (first) with others of a clique that it is not in; `told` has it with what is between."""
    both = tuple(sorted({*between, *others}))
    known = summed(belief, own, both)
    given = known / spread(summed(known, both, between), between, both)
    names = dict(zip(both, ascii_letters[1:], strict=False))
    one, other, out = ("".join(names[each] for each in columns) for columns in (between, both, others))
    return np.asarray(np.einsum(f"a{one},{other}->a{out}", told, given))

"""Fitting the model: its tables are scaled to wanted ones, one after the other, from where it stood before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.measured import Candidate
from discreet.release.diffgen.pairs.model import Columns, Model, level_margin
from discreet.release.diffgen.pairs.shrink import raked


def widened(model: Model, chosen: Candidate) -> Model:
    """The same model with room for one more table: its columns by cells where the table has them so."""
    before = model.columns
    after = Columns(groups=before.groups, graph=before.graph.after(chosen))
    own = tuple(
        factor if before.widths[column] == after.widths[column] else factor[before.values[column]]
        for column, factor in enumerate(model.own)
    )
    shape = [
        len(level_margin(model.margins[column], before.groups[column], level))
        for column, level in zip(chosen.columns, chosen.levels, strict=True)
    ]
    return replace(model, columns=after, own=own, pairs=(*model.pairs, np.ones(shape)))


def scaled(model: Model, wanted: Sequence[Floats], sweeps: int) -> Model:
    """The model after some sweeps over all wanted tables (people, at the levels that were measured) and all margins."""
    columns, beliefs = model.columns, replace(model).beliefs
    own, pairs = [each.copy() for each in model.own], [each.copy() for each in model.pairs]
    measured = columns.graph.measured
    targets = [_target(model, chosen, each) for chosen, each in zip(measured, wanted, strict=True)]
    cliques = [beliefs.junction.holder(chosen.columns) for chosen in measured]
    order = sorted(range(len(measured)), key=lambda place: (cliques[place], place))
    met = sorted({column for chosen in measured for column in chosen.columns})
    for _ in range(sweeps):
        for place in order:
            chosen = measured[place]
            found = columns.lowered(beliefs.marginal(cliques[place], chosen.columns), chosen.columns, chosen.levels)
            ratio = targets[place] / found
            pairs[place] *= ratio
            beliefs.times(cliques[place], model.raised(ratio, chosen.columns, chosen.levels), chosen.columns)
        for column in met:
            clique = beliefs.junction.home[column]
            ratio = model.by_values(column) / model.people / beliefs.marginal(clique, (column,))
            own[column] *= ratio
            beliefs.times(clique, ratio, (column,))
    found_model = replace(model, own=tuple(own), pairs=tuple(pairs))
    found_model.__dict__["beliefs"] = beliefs
    return found_model


def _target(model: Model, chosen: Candidate, wanted: Floats) -> Floats:
    """A wanted table with the model's margins, in shares."""
    groups = model.columns.groups
    rows, columns = (
        level_margin(model.margins[column], groups[column], level) / model.people
        for column, level in zip(chosen.columns, chosen.levels, strict=True)
    )
    return raked(wanted / model.people, rows, columns)

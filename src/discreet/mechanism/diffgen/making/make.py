"""Making a DiffGen release: from a table to measurements, and from measurements to what is published and promised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.mechanism.diffgen.making.exponential import estimated_leaves, measure_exponential
from discreet.mechanism.diffgen.making.fit import Fitted, fit_histogram, fit_leaves
from discreet.mechanism.diffgen.making.measure import measure_histogram
from discreet.mechanism.diffgen.making.measurements import Measurements
from discreet.mechanism.diffgen.making.noise import Noise
from discreet.mechanism.diffgen.planning.parts import exponential_parts, histogram_parts
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.mechanism.diffgen.planning.settings import Settings
from discreet.table.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Made:
    """What is published, and what it promises."""

    fitted: Fitted
    guarantee: EpsilonPrivacy
    specializations: int
    levels: int  # counts of leaves that one record's path is in


def measure(table: Table, settings: Settings, noise: Noise, tell: Tell) -> Measurements:
    """See the rows once, and keep only noisy numbers."""
    rows = rows_of(table, settings, tell)
    if settings.guided:
        return measure_histogram(rows, settings.histogram_budget, noise, settings.score, settings.specializations)
    budget = settings.exponential_budget
    return measure_exponential(rows, budget, noise, settings.score, budget.selections, settings.consistency)


def make_leaves(measured: Measurements, settings: Settings, before: Fraction) -> Made:
    """What follows from the measurements; the rows are not needed."""
    taxonomies, classes, levels = settings.taxonomies, settings.classes, 1
    if settings.guided:
        shares = settings.histogram_budget
        fitted = fit_histogram(measured, taxonomies, classes, shares, weighed=settings.consistency == "exact")
        parts = histogram_parts(shares, taxonomies, again=not measured.steps)
    else:
        budget = settings.exponential_budget
        leaves, cuts, levels = estimated_leaves(measured, taxonomies, classes, budget.counts, settings.consistency)
        fitted = fit_leaves(leaves, cuts, classes)
        parts = exponential_parts(budget, measured.splits, measured.selections)
    guarantee = EpsilonPrivacy(epsilon=settings.epsilon, parts=parts, before=before)
    return Made(fitted=fitted, guarantee=guarantee, specializations=len(measured.steps), levels=levels)


def rows_of(table: Table, settings: Settings, tell: Tell) -> Rows:
    """The rows as cells of the taxonomies."""
    taxonomies = settings.taxonomies
    names = [each.name for each in taxonomies]
    found: list[list[Ints]] = []
    for codes in table.codes(*names, settings.target, tell=tell):
        cells = [taxonomy.cell_of[column] for taxonomy, column in zip(taxonomies, codes[:-1], strict=True)]
        found.append([*cells, codes[-1]])
    empty = [np.zeros(0, dtype=np.int64)]
    columns = [np.concatenate(column) for column in zip(*found, strict=True)] or empty * (len(names) + 1)
    return Rows(tuple(columns[:-1]), columns[-1], taxonomies, settings.classes)

"""Making a DiffGen release: from a table to measurements, and from measurements to what is published and promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantee.epsilon import UNSPENT, EpsilonPrivacy
from discreet.mechanism.diffgen.making.cuts import diffgen_tree, most_steps
from discreet.mechanism.diffgen.making.exponential import estimated_leaves, measure_exponential
from discreet.mechanism.diffgen.making.fit import Fitted, fit_histogram, fit_leaves
from discreet.mechanism.diffgen.making.measure import Measurements, Rows, measure_histogram
from discreet.mechanism.diffgen.making.noise import Noise
from discreet.mechanism.diffgen.planning.budget import ExponentialBudget, HistogramBudget, levels_of
from discreet.mechanism.diffgen.policy.diffgen import DiffGen
from discreet.mechanism.public_rows import check_public_rows
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy
from discreet.table.table import Table

Tell = Callable[[float], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Made:
    """What is published, and what it promises."""

    fitted: Fitted
    promise: EpsilonPrivacy
    specializations: int
    levels: int  # counts of leaves that one record's path is in


@dataclass(frozen=True, kw_only=True)
class LeafPlan:
    """What a release would cost and hold, from the policy alone: the rows are not looked at."""

    epsilon: Fraction
    parts: tuple[tuple[str, Fraction], ...]
    attributes: int
    classes: int
    table_counts: int
    specializations: int | None  # None: as many as the noisy total is worth
    warnings: tuple[str, ...]


def plan_leaves(mechanism: DiffGen, schema: Schema) -> LeafPlan:
    """The plan; it is public, for a number that depended on the rows would have to be paid for."""
    taxonomies = mechanism.taxonomies(schema)
    possible = most_steps(taxonomies)
    wanted = mechanism.specializations or (mechanism.steps if mechanism.guide == "exponential" else None)
    warnings = []
    if wanted is not None and wanted > possible:
        warnings.append(f"specializations ({wanted}) are more than the hierarchies allow; {possible} are used")
    if mechanism.guide == "histogram":
        parts = histogram_parts(mechanism.histogram_budget(taxonomies), taxonomies, again=False)
    else:
        parts = exponential_parts(mechanism.exponential_budget(taxonomies), None)
    classes = mechanism.classes(schema)
    return LeafPlan(
        epsilon=mechanism.exact_epsilon,
        parts=parts,
        attributes=len(taxonomies),
        classes=classes,
        table_counts=sum(map(len, taxonomies)) * classes,
        specializations=None if wanted is None else min(wanted, possible),
        warnings=tuple(warnings),
    )


def measure(table: Table, mechanism: DiffGen, noise: Noise, tell: Tell | None = None) -> Measurements:
    """See the rows once, and keep only noisy numbers."""
    check_public_rows(table, table.rows)
    rows = _rows(table, mechanism, tell)
    if mechanism.guide == "histogram":
        budget = mechanism.histogram_budget(rows.taxonomies)
        return measure_histogram(rows, budget, noise, mechanism.score, mechanism.specializations)
    spent = mechanism.exponential_budget(rows.taxonomies)
    return measure_exponential(rows, spent, noise, mechanism.score, spent.selections, mechanism.consistency)


def make_leaves(measured: Measurements, mechanism: DiffGen, schema: Schema, before: Fraction) -> Made:
    """What follows from the measurements; the rows are not needed."""
    taxonomies, classes = mechanism.taxonomies(schema), mechanism.classes(schema)
    if mechanism.guide == "histogram":
        budget = mechanism.histogram_budget(taxonomies)
        fitted = fit_histogram(measured, taxonomies, classes, budget, weighed=mechanism.consistency == "exact")
        parts = histogram_parts(budget, taxonomies, again=not measured.steps)
    else:
        spent = mechanism.exponential_budget(taxonomies)
        leaves, cuts = estimated_leaves(measured, taxonomies, classes, spent.counts, mechanism.consistency)
        fitted = fit_leaves(leaves, cuts, classes)
        parts = exponential_parts(spent, measured)
    promise = EpsilonPrivacy(epsilon=mechanism.exact_epsilon, parts=parts, before=before)
    levels = 1
    if mechanism.guide == "exponential" and mechanism.consistency != "none":
        levels = levels_of(diffgen_tree(taxonomies, measured.steps)[0])
    return Made(fitted=fitted, promise=promise, specializations=len(measured.steps), levels=levels)


def histogram_parts(
    budget: HistogramBudget, taxonomies: tuple[Taxonomy, ...], *, again: bool
) -> tuple[tuple[str, Fraction], ...]:
    """What each table and the leaves cost."""
    tables = [(f"table of {each.name}", share) for each, share in zip(taxonomies, budget.tables, strict=True)]
    return (*tables, ("tables again" if again else "leaves", budget.leaves))


def exponential_parts(budget: ExponentialBudget, measured: Measurements | None) -> tuple[tuple[str, Fraction], ...]:
    """What choices and counts cost; what was reserved for choices that were not needed is a part of its own."""
    splits = budget.splits if measured is None else measured.splits
    chosen = budget.selections if measured is None else measured.selections
    left = budget.choice * (budget.splits - splits + budget.selections - chosen)
    parts = (
        ("selections", budget.choice * chosen),
        ("split points", budget.choice * splits),
        ("leaves", budget.counts),
    )
    return (*parts, (UNSPENT, left)) if left else parts


def _rows(table: Table, mechanism: DiffGen, tell: Tell | None) -> Rows:
    """The rows as cells of the taxonomies."""
    schema = table.schema
    taxonomies, target = mechanism.taxonomies(schema), mechanism.target_of(schema)
    names = mechanism.attributes(schema)
    found: list[list[np.ndarray[tuple[int], np.dtype[np.int64]]]] = []
    for codes in table.codes(*names, target, tell=tell):
        cells = [taxonomy.cell_of[column] for taxonomy, column in zip(taxonomies, codes[:-1], strict=True)]
        found.append([*cells, codes[-1]])
    empty = [np.zeros(0, dtype=np.int64)]
    columns = [np.concatenate(column) for column in zip(*found, strict=True)] or empty * (len(names) + 1)
    return Rows(tuple(columns[:-1]), columns[-1], taxonomies, mechanism.classes(schema))

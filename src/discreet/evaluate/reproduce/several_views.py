"""Several views of one table: the printed estimator's bias, and what the releases answer, which has none.

Paper: [RSH] section 4.4.1, Algorithm 7.
Symbols: as in `discreet.mechanism.alphabeta.papers.algorithm_7`.
Departs: the printed estimator takes all of V' for noise. A release splits view i at V': among the tuples of V' those of
    the table are shown with s and the others with q, elsewhere with s and beta_i; each part is undone by itself.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.evaluate.conditions import equal
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.scratch import (
    Slice,
    distinct_rows,
    opened,
    released_views,
    schema_of,
    true_counts,
    true_groups,
)
from discreet.ground.arrays import Floats
from discreet.mechanism.alphabeta.papers.algorithm_7 import Algorithm7, Printed
from discreet.query.count_domain import count_domain
from discreet.release.alphabeta.manifest import EARLIER, VIEW, domain_size
from discreet.schema.policy import Policy
from discreet.table.table import Table

VIEWS = 3
MECHANISM = Algorithm7(prior=10, posterior="0.2", adversary="independent", views=VIEWS)
RUNS, QUICK_RUNS = 8, 2
SPLIT = "split at V'"


def _frequent(rows: pa.Table) -> list[str]:
    """As conditions, the most frequent values: as many as there are attributes."""
    slices = [Slice((name,)) for name in rows.column_names]
    found = [
        (count, equal(each.columns[0], value))
        for each, groups in zip(slices, true_groups(rows, slices), strict=True)
        for (value,), count in groups.items()
    ]
    return [condition for _, condition in sorted(found, reverse=True)[: len(slices)]]


def _estimates(
    states: list[Table], law: Printed, conditions: list[str], possible: Floats, runs: int, setting: Setting
) -> tuple[Floats, Floats]:
    """Estimates of every query over runs (run, view, query): the printed one, and what the releases answer."""
    printed, split = np.zeros((2, runs, VIEWS, len(conditions)))
    for run in range(runs):
        with released_views(states, MECHANISM) as views:
            for place, release in enumerate(views):
                seen, before = (true_counts(release.path / name, conditions) for name in (VIEW, EARLIER))
                printed[run, place] = law.estimate(seen, before, possible, place + 1)
                designs = [answer.design for answer in release.count_many(conditions)]
                split[run, place] = [math.nan if each is None else each.value for each in designs]
        setting.tell((run + 1) / runs)
    return printed, split


def _several(setting: Setting) -> Result:
    rows = distinct_rows(setting.sources.adult())
    schema = schema_of(rows, rows.column_names[-1], public_rows=len(rows))
    conditions = _frequent(rows)
    possible = np.array([count_domain(each, schema.domains) for each in conditions], dtype=np.float64)
    law = MECHANISM.printed(Fraction(MECHANISM.prior) * Fraction(len(rows), domain_size(schema)))
    runs = QUICK_RUNS if setting.quick else RUNS
    tables = [rows.slice(0, len(rows) - view) for view in range(VIEWS)]  # a table that did not change has no new view
    truths = [true_counts(each, conditions) for each in tables]
    with ExitStack() as open_tables:
        policy = Policy(schema=schema, mechanism=MECHANISM)
        states = [open_tables.enter_context(opened(each, policy)) for each in tables]
        setting.seeds.draw_fresh("the keys of the series")
        printed, split = _estimates(states, law, conditions, possible, runs, setting)
    told: list[tuple[Cell, ...]] = []
    ratios: dict[str, list[tuple[float, float]]] = {"printed": [], SPLIT: []}
    errors: dict[str, list[float]] = {label: [] for label in ratios}
    for view, truth in enumerate(truths):
        expected = law.expected_estimate(truth, possible, view + 1)
        for query, true in enumerate(truth.tolist()):
            one, two = printed[:, view, query], split[:, view, query]
            error = float(two.std(ddof=1) / math.sqrt(runs))
            told.append((view + 1, true, float(one.mean()), float(expected[query]), float(two.mean()), error))
        for label, found in (("printed", printed), (SPLIT, split)):
            each = found[:, view].sum(axis=1) / truth.sum()
            ratios[label].append((view + 1.0, float(each.mean())))
            errors[label].append(float(each.std(ddof=1) / math.sqrt(runs)))
    times = {
        label: ", ".join(f"{ratio:.2f} +- {error:.2f}" for (_, ratio), error in zip(found, errors[label], strict=True))
        for label, found in ratios.items()
    }
    return Result(
        columns=("view", "true count", "printed, mean", "printed, expected", "split at V', mean", "its standard error"),
        rows=tuple(told),
        figures=(("bias", _bars(ratios)),),
        ours=f"In views 1, 2, 3 the printed estimator gives {times['printed']} times the true count on average, what "
        f"the releases answer, split at V', {times[SPLIT]} times (standard errors over {runs} series)",
        data=f"{setting.sources.adult_words}; {len(rows):,} distinct tuples, one fewer in each further view; v = "
        f"{VIEWS}, s = 1/2, beta = d / gamma at (10 n/m, 0.2)-privacy; the most frequent values of the attributes, "
        f"{runs} series of releases with keys of their own, so figures differ a little from run to run",
    )


def _bars(ratios: dict[str, list[tuple[float, float]]]) -> Figure:
    return Figure(
        title="mean estimate / true count",
        x="view",
        y="ratio",
        curves=tuple(Curve(label=label, points=tuple(points)) for label, points in ratios.items()),
        kind="bars",
    )


SEVERAL_VIEWS = Item(
    name="several-views",
    paper="[RSH] section 4.4.1, Algorithm 7",
    line="several views of one table: what the printed estimator and one without bias give",
    claim="The printed estimator undoes the noise of view i with n_V', the answer on the union of the views before; "
    "its utility is slightly less than that of one view; no number is printed.",
    differs="The estimator subtracts q n_V', as if no tuple of the earlier views were in the table, and divides by "
    "s (1 - e^(-1/v)), so it is far too large, most in the first view. Split at V' and undone part by part it has no "
    "bias; what it gives for one series varies, so few series leave a mean that is off by chance.",
    run=_several,
)

"""Measuring: the only place that sees the rows. What leaves it is noisy, whole numbers, and paid for.

Everything after it is post-processing, and the same measurements always give the same release.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.ground.arrays import Ints
from discreet.guarantee.epsilon import laplace_variance
from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.making.guide import specialize
from discreet.mechanism.diffgen.making.measurements import Measurements
from discreet.mechanism.diffgen.making.noise import Noise
from discreet.mechanism.diffgen.making.tables import settle
from discreet.mechanism.diffgen.planning.budget import HistogramBudget
from discreet.mechanism.diffgen.planning.rows import Rows

MOST_COUNTS = 60_000  # noisy counts of leaves x classes, so that a release takes a second or two
FEWEST_COUNTS = 64  # where fewer are worth counting, the tables alone are released
RECORDS = 2  # counts of leaves for each record and unit of epsilon


def measure_histogram(
    rows: Rows, budget: HistogramBudget, noise: Noise, score: str, most_steps: int | None = None
) -> Measurements:
    """The tables once; then the leaves that they guide to, or the tables again where leaves are not worth it."""
    exact = [rows.table(position) for position in range(len(rows.cells))]
    tables = _noisy(exact, budget.tables, noise)
    variances = [laplace_variance(share) for share in budget.tables]
    settled = settle(tables, variances)
    most = counts_worth(float(sum(settled.totals)), budget) // rows.number_of_classes
    if most * rows.number_of_classes >= FEWEST_COUNTS:
        limit = MOST_COUNTS // rows.number_of_classes
        steps, cuts = specialize(
            settled.tables, rows.taxonomies, score, limit if most_steps else min(most, limit), most_steps, variances
        )
        if steps:
            leaves = noise.laplace(leaf_counts(rows, cuts), budget.leaves)
            return Measurements(tables=_kept(tables), steps=steps, leaves=tuple(leaves.tolist()))
    return Measurements(tables=_kept(tables), again=_kept(_noisy(exact, budget.again, noise)))


def measure_tables(rows: Rows, budget: HistogramBudget, noise: Noise) -> Measurements:
    """The tables twice, with all of epsilon, whatever leaves are worth."""
    exact = [rows.table(position) for position in range(len(rows.cells))]
    tables, again = (_noisy(exact, shares, noise) for shares in (budget.tables, budget.again))
    return Measurements(tables=_kept(tables), again=_kept(again))


def counts_worth(total: float, budget: HistogramBudget) -> int:
    """How many leaves x classes are worth counting, from the noisy total: never from the number of rows."""
    return int(min(float(MOST_COUNTS), max(0.0, RECORDS * total * float(budget.leaves))))


def _noisy(tables: Sequence[Ints], shares: Sequence[Fraction], noise: Noise) -> list[Ints]:
    return [noise.laplace(table, share) for table, share in zip(tables, shares, strict=True)]


def _kept(tables: Sequence[Ints]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(table.ravel().tolist()) for table in tables)

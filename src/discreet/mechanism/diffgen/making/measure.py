"""Measuring: the only place that sees the rows. What leaves it is noisy, whole numbers, and paid for.

Everything after it is post-processing, and the same measurements always give the same release.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import PolicyError
from discreet.guarantee.epsilon import laplace_variance
from discreet.mechanism.diffgen.making.guide import specialize
from discreet.mechanism.diffgen.making.noise import Noise
from discreet.mechanism.diffgen.making.tables import settle
from discreet.mechanism.diffgen.planning.budget import HistogramBudget
from discreet.mechanism.diffgen.planning.cuts import Cuts, Step, places
from discreet.mechanism.diffgen.planning.tree import Ints
from discreet.schema.taxonomy import Taxonomy

MOST_COUNTS = 60_000  # noisy counts of leaves x classes, so that a release takes a second or two
FEWEST_COUNTS = 64  # where fewer are worth counting, the tables alone are released
RECORDS = 2  # counts of leaves for each record and unit of epsilon


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """Noisy counts, and the specializations that followed from noisy choices.

    `tables` and `again` hold attribute x class counts, cells first; `leaves` the counts of all combinations of the
    values that the steps lead to, classes last, or of every node of the DiffGen tree where consistency needs them.
    """

    tables: tuple[tuple[int, ...], ...] = ()
    again: tuple[tuple[int, ...], ...] = ()
    steps: tuple[Step, ...] = ()
    leaves: tuple[int, ...] = ()
    splits: int = 0  # choices of split points that were paid for
    selections: int = 0  # choices of values that were paid for

    def as_json(self) -> str:
        content = {"tables": self.tables, "again": self.again, "steps": self.steps, "leaves": self.leaves}
        return json.dumps({**content, "splits": self.splits, "selections": self.selections}, separators=(",", ":"))


def measurements_from_json(text: str) -> Measurements:
    """Read back what a series kept; raises PolicyError on anything else."""
    try:
        data: dict[str, Any] = json.loads(text)
        return Measurements(
            tables=tuple(tuple(map(int, each)) for each in data["tables"]),
            again=tuple(tuple(map(int, each)) for each in data["again"]),
            steps=tuple((int(one), int(two), int(three)) for one, two, three in data["steps"]),
            leaves=tuple(map(int, data["leaves"])),
            splits=int(data["splits"]),
            selections=int(data["selections"]),
        )
    except (ValueError, TypeError, KeyError):
        raise PolicyError("measurements must be those that a release was made from") from None


@dataclass(frozen=True, eq=False)
class Rows:
    """The sensitive rows: for each attribute the cell of each row, and the class of each row."""

    cells: tuple[Ints, ...]
    classes: Ints
    taxonomies: tuple[Taxonomy, ...]
    number_of_classes: int

    def table(self, position: int) -> Ints:
        """One attribute x class table, exactly."""
        size = len(self.taxonomies[position]) * self.number_of_classes
        found = np.bincount(self.cells[position] * self.number_of_classes + self.classes, minlength=size)
        return found.reshape(-1, self.number_of_classes)

    def leaves(self, cuts: Cuts) -> Ints:
        """The counts of all combinations of the cuts' values and classes, exactly; classes last."""
        held = [cuts.groups(position)[self.cells[position]] for position in cuts.axes]
        place = places([*held, self.classes], [*(cuts.shape[each] for each in cuts.axes), self.number_of_classes])
        return np.bincount(place, minlength=cuts.leaves * self.number_of_classes)


def measure_histogram(
    rows: Rows, budget: HistogramBudget, noise: Noise, score: str, most_steps: int | None = None
) -> Measurements:
    """The tables once; then the leaves that they guide to, or the tables again where leaves are not worth it."""
    exact = [rows.table(position) for position in range(len(rows.cells))]
    tables = [noise.laplace(table, share) for table, share in zip(exact, budget.tables, strict=True)]
    variances = [laplace_variance(share) for share in budget.tables]
    settled = settle(tables, variances)
    most = counts_worth(float(sum(settled.totals)), budget) // rows.number_of_classes
    if most * rows.number_of_classes >= FEWEST_COUNTS:
        limit = MOST_COUNTS // rows.number_of_classes
        steps, cuts = specialize(
            settled.tables, rows.taxonomies, score, limit if most_steps else min(most, limit), most_steps, variances
        )
        if steps:
            leaves = noise.laplace(rows.leaves(cuts), budget.leaves)
            return Measurements(tables=_kept(tables), steps=steps, leaves=tuple(leaves.tolist()))
    again = [noise.laplace(table, share) for table, share in zip(exact, budget.again, strict=True)]
    return Measurements(tables=_kept(tables), again=_kept(again))


def counts_worth(total: float, budget: HistogramBudget) -> int:
    """How many leaves x classes are worth counting, from the noisy total: never from the number of rows."""
    return int(min(float(MOST_COUNTS), max(0.0, RECORDS * total * float(budget.leaves))))


def _kept(tables: Sequence[Ints]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(table.ravel().tolist()) for table in tables)

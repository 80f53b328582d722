"""A release of leaves and tables that answers: any condition over the columns, synthetic rows, training tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from discreet.errors import QueryError, ReleaseError
from discreet.estimate.diffgen.draw import codes_of, draw_cells
from discreet.estimate.diffgen.factors import factors_of
from discreet.estimate.diffgen.leaves import LeafModel
from discreet.estimate.estimate import COINS, MODEL, Estimate
from discreet.estimate.release import Release, width_of
from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.query.condition import Condition
from discreet.release.diffgen.registry import registry_entry
from discreet.release.diffgen.tables import LeafTables, read_leaves
from discreet.schema.schema import MOST_ROWS

WEIGHT = "WEIGHT"
MOST_DRAWN = 10_000_000
MOST_LEVELS = 1_001  # counts on a record's path
FEWEST_TRAINING, MOST_TRAINING = 1_000, 50_000
CUT = "the condition cuts leaves, so the answer rests on a model of how people are spread inside them"


class DiffGenRelease(Release):
    """Noisy leaves and tables that agree with each other. Every answer comes from both: "model" and "unbiased", the
    word that all releases know, are the same here.
    """

    estimators: ClassVar[tuple[str, ...]] = ("model", "unbiased")

    @property
    def rows(self) -> int:
        """How many counts the leaves have: the number of people is not released."""
        rows: int = self._manifest.block["leaves"]
        return rows

    @property
    def target(self) -> str:
        """The class that leaves tell apart."""
        return self._tables.target

    @cached_property
    def _tables(self) -> LeafTables:
        return read_leaves(self._manifest)

    @cached_property
    def _model(self) -> LeafModel:
        promise, levels = self._manifest.guarantee, self._manifest.block["levels"]
        if not isinstance(promise, EpsilonPrivacy) or not promise.counts_cost or not 1 <= levels <= MOST_LEVELS:
            raise ReleaseError("the guarantee must be epsilon-differential privacy with its parts; verify says more")
        return LeafModel(self._tables, promise, levels)

    def sample(self, n: int, *, seed: int | None = None) -> pa.Table:
        """`n` synthetic rows with a value of every column; the same seed gives the same rows.

        They are drawn from what is released, so they cost nothing more and are as private.
        """
        if type(n) is not int or not 1 <= n <= MOST_DRAWN:
            raise QueryError(f"n ({n}) must be a whole number from 1 to {MOST_DRAWN:,}")
        found = self._tables
        coins = np.random.default_rng(seed)
        cells, classes = draw_cells(found, n, coins)
        codes = {
            each.name: codes_of(own, each.cell_of, coins) for each, own in zip(found.taxonomies, cells, strict=True)
        }
        codes[found.target] = classes
        order = coins.permutation(n)
        columns = {}
        for name in self.schema.columns:
            domain = self.schema.domains[name]
            values = pa.array(list(domain), pa.int64() if domain.type == "integer" else pa.string())
            columns[name] = values.take(pa.array(codes[name][order]))
        return pa.table(columns)

    def to_training_table(self, rows: int | None = None, *, seed: int = 0) -> pa.Table:
        """Weighted rows for a classifier: every column, and WEIGHT, which adds up to the release's total.

        `sample_weight=table["WEIGHT"]` is how scikit-learn takes it. `rows` is about the total by default.
        """
        total = float(self._model.leaves.sum())
        number = min(max(round(total), FEWEST_TRAINING), MOST_TRAINING) if rows is None else rows
        table = self.sample(number, seed=seed)
        return table.append_column(WEIGHT, pa.array(np.full(table.num_rows, total / table.num_rows)))

    def registry_entry(self) -> str:
        """A draft of this release's entry in the OpenDP Deployments Registry, as YAML; TODO is for the custodian."""
        return registry_entry(self._manifest)

    def _occurring(self, column: str) -> list[Any]:
        return list(self.schema.domains[column])

    def _answers(self, conditions: Sequence[Condition], estimator: str, confidence: float) -> list[Estimate]:
        encodings = {name: self.schema.domains[name].encoding for name in self.schema.columns}
        width = width_of(confidence)
        most = MOST_ROWS if self.schema.public_rows is None else self.schema.public_rows
        answers = []
        for condition in conditions:
            found = self._model.count(factors_of(condition, encodings, self._engine))
            error = math.hypot(found.noise, found.model)
            modelled = found.model > 0
            answers.append(
                Estimate(
                    value=found.value,
                    standard_error=error,
                    low=min(max(found.value - width * error, 0.0), float(most)),
                    high=min(max(found.value + width * error, 0.0), float(most)),
                    confidence=confidence,
                    bounds=(0, most),
                    conditional_on=MODEL if modelled else COINS,
                    note=CUT if modelled else "",
                )
            )
        return answers

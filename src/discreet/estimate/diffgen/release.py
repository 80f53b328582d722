"""A release of leaves and tables that answers: any condition over the columns, synthetic rows, training tables."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.errors import QueryError, ReleaseError
from discreet.estimate.diffgen.draw import codes_of, draw_cells
from discreet.estimate.diffgen.factors import Factor, factors_of
from discreet.estimate.diffgen.leaves import LeafModel
from discreet.estimate.estimate import PEOPLE
from discreet.estimate.release import Release
from discreet.query.condition import Condition
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.manifest import DiffGenManifest
from discreet.release.diffgen.registry import registry_entry
from discreet.release.diffgen.tables import LeafTables, read_leaves

WEIGHT = "WEIGHT"
MOST_DRAWN = 10_000_000
MOST_LEVELS = 1_001  # counts on a record's path
FEWEST_TRAINING, MOST_TRAINING = 1_000, 50_000


class DiffGenRelease(Release):
    """Noisy leaves and tables that agree with each other."""

    _manifest: DiffGenManifest

    @property
    def rows(self) -> int | None:
        """The number of people is not released."""
        return None

    @property
    def size(self) -> int:
        return self._manifest.statement.numbers.leaves

    @property
    def unit(self) -> str:
        return PEOPLE

    @property
    def target(self) -> str:
        """The class that leaves tell apart."""
        return self.tables.target

    @cached_property
    def tables(self) -> LeafTables:
        """Leaves and tables, read with the first question."""
        return read_leaves(self._manifest)

    @cached_property
    def model(self) -> LeafModel:
        """How people are spread over and inside leaves, with what each part of the release cost."""
        statement = self._manifest.statement
        guarantee, levels = statement.guarantee, statement.numbers.levels
        if not guarantee.counts_cost or not 1 <= levels <= MOST_LEVELS:
            raise ReleaseError("the guarantee must have parts that paid for what was counted; verify says more")
        return LeafModel(self.tables, guarantee, levels, weighed=statement.mechanism.consistency == "exact")

    def factors(self, condition: Condition) -> list[Factor]:
        """A condition as parts that speak of different columns."""
        encodings = {name: self.schema.domains[name].encoding for name in self.schema.columns}
        return factors_of(condition, encodings, self._engine)

    def sample(self, n: int, *, seed: int | None = None) -> pa.Table:
        """`n` synthetic rows with a value of every column; the same seed gives the same rows.

        They are drawn from what is released, so they cost nothing more and are as private.
        """
        if type(n) is not int or not 1 <= n <= MOST_DRAWN:
            raise QueryError(f"n ({n}) must be a whole number from 1 to {MOST_DRAWN:,}")
        found = self.tables
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
        total = float(self.tables.leaves.sum()) / UNIT
        number = min(max(round(total), FEWEST_TRAINING), MOST_TRAINING) if rows is None else rows
        table = self.sample(number, seed=seed)
        return table.append_column(WEIGHT, pa.array(np.full(table.num_rows, total / table.num_rows)))

    def registry_entry(self) -> str:
        """A draft of this release's entry in the OpenDP Deployments Registry, as YAML; TODO is for the custodian."""
        return registry_entry(self._manifest)

    def _possible(self, column: str) -> list[Any]:
        return list(self.schema.domains[column])

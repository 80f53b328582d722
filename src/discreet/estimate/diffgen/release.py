"""A release of leaves and tables that answers: any condition over the columns, synthetic rows, training tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.engine.columns import cells_of
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError, ReleaseError
from discreet.estimate.diffgen.draw import codes_of, draw_cells
from discreet.estimate.diffgen.factors import apart, factor_of
from discreet.estimate.diffgen.leaves import LeafModel, Part
from discreet.estimate.estimate import PEOPLE
from discreet.estimate.learned import learned
from discreet.estimate.release import Release
from discreet.query.condition import Condition
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.manifest import DiffGenManifest
from discreet.release.diffgen.registry import CHOSEN, GUIDED, registry_entry
from discreet.release.diffgen.tables import LeafTables, read_leaves

WEIGHT = "WEIGHT"
MOST_DRAWN = 10_000_000
MOST_LEVELS = 1_001  # counts on a record's path
Known = dict[frozenset[str], tuple[Condition, Part]]  # of some columns, the last condition that was asked
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
        """How many noisy counts of leaves there are, one for each class: the number of people is not released."""
        return self._manifest.statement.numbers.leaves

    @property
    def unit(self) -> str:
        return PEOPLE

    @property
    def target(self) -> str:
        """The class that leaves tell apart."""
        return self.tables.target

    @learned
    def tables(self) -> LeafTables:
        """Leaves and tables, read with the first question."""
        return read_leaves(self._manifest)

    @learned
    def model(self) -> LeafModel:
        """How people are spread over and inside leaves, with what each part of the release cost."""
        statement = self._manifest.statement
        guarantee, levels = statement.guarantee, statement.numbers.levels
        if not guarantee.counts_cost or not 1 <= levels <= MOST_LEVELS:
            raise ReleaseError("the guarantee must have parts that paid for what was counted; verify says more")
        return LeafModel(self.tables, guarantee, levels, weighed=statement.mechanism.consistency == "exact")

    @learned
    def encodings(self) -> dict[str, Encoding]:
        return {name: self.schema.domains[name].encoding for name in self.schema.columns}

    def parts(self, condition: Condition, known: Known) -> list[Part]:
        """A condition as parts that speak of different columns; a part that is the last of `known` is taken from it."""
        self._engine.check()
        found = []
        for columns, each in apart(condition):
            if columns not in known or known[columns][0] != each:
                known[columns] = each, self.model.part(factor_of(each, columns, self.encodings, self._engine))
            found.append(known[columns][1])
        return found

    def sample(self, n: int, *, seed: int | None = None) -> pa.Table:
        """`n` synthetic rows with a value of every column; the same seed gives the same rows.

        They are drawn from what is released, so they cost nothing more and are as private.
        """
        self._check_open()
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
            values = cells_of(self.schema.domains[name].encoding)
            columns[name] = values.take(pa.array(codes[name][order]))
        return pa.table(columns)

    def to_training_table(self, rows: int | None = None, *, seed: int = 0) -> pa.Table:
        """Weighted rows for a classifier: every column, and WEIGHT, which adds up to the release's total.

        `sample_weight=table["WEIGHT"]` is how scikit-learn takes it. `rows` is about the total by default.
        """
        self._check_open()
        total = float(self.tables.leaves.sum()) / UNIT
        number = min(max(round(total), FEWEST_TRAINING), MOST_TRAINING) if rows is None else rows
        table = self.sample(number, seed=seed)
        return table.append_column(WEIGHT, pa.array(np.full(table.num_rows, total / table.num_rows)))

    def registry_entry(self) -> str:
        """A draft of this release's entry in the OpenDP Deployments Registry, as YAML; TODO is for the custodian."""
        statement = self._manifest.statement
        return registry_entry(statement, GUIDED if statement.mechanism.guide == "histogram" else CHOSEN)

    def _possible(self, column: str) -> Collection[Any]:
        return self.schema.domains[column]

"""A release of noisy counts that answers: any condition over the columns, synthetic rows, training tables.

What DiffGen's leaves and tables of pairs share: the number of people is not released, and a model of the published
counts answers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.engine.columns import cells_of
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError
from discreet.estimate.diffgen.answers import Answers
from discreet.estimate.diffgen.factors import Factor, factor_of
from discreet.estimate.diffgen.factors import apart as parts_apart
from discreet.estimate.diffgen.sums import Noisy, noisy_sums
from discreet.estimate.estimate import PEOPLE
from discreet.estimate.learned import learned
from discreet.estimate.release import Release
from discreet.estimate.sums import Sums
from discreet.ground.arrays import Ints
from discreet.query.condition import Condition
from discreet.query.figure import Sum
from discreet.release.diffgen.registry import Used, registry_entry

WEIGHT = "WEIGHT"
MOST_DRAWN = 10_000_000
FEWEST_TRAINING, MOST_TRAINING = 1_000, 50_000


Known = dict[frozenset[str], tuple[Condition, Any]]  # of some columns, the last condition that was asked


class NoisyRelease(Release):
    """Noisy counts of people, of which there are no rows."""

    @property
    def rows(self) -> int | None:
        """The number of people is not released."""
        return None

    @property
    def unit(self) -> str:
        return PEOPLE

    @property
    @abstractmethod
    def model(self) -> Answers:
        """How people are spread over the cells of all columns."""

    @property
    @abstractmethod
    def total(self) -> float:
        """About how many people there are."""

    @property
    @abstractmethod
    def used(self) -> Used:
        """How such a release is made, for the registry."""

    @abstractmethod
    def draw(self, n: int, coins: np.random.Generator) -> dict[str, Ints]:
        """A code of every column for each of `n` rows, in any order."""

    @learned
    def encodings(self) -> dict[str, Encoding]:
        return {name: self.schema.domains[name].encoding for name in self.schema.columns}

    def parts(self, condition: Condition, known: Known) -> list[Any]:
        """A condition as parts that speak of different columns; a part that is the last of `known` is taken from it."""
        self._engine.check()
        found = []
        for columns, each in parts_apart(condition):
            if columns not in known or known[columns][0] != each:
                known[columns] = each, self.model.part(factor_of(each, columns, self.encodings, self._engine))
            found.append(known[columns][1])
        return found

    def _sums(self, asked: Sequence[Sum], *, apart: bool = False) -> Sums:
        def factors(condition: Condition) -> list[Factor]:
            self._engine.check()
            return [factor_of(each, columns, self.encodings, self._engine) for columns, each in parts_apart(condition)]

        return noisy_sums(Noisy(schema=self.schema, model=self.model, factors=factors), asked)

    def sample(self, n: int, *, seed: int | None = None) -> pa.Table:
        """`n` synthetic rows with a value of every column; the same seed gives the same rows.

        They are drawn from what is released, so they cost nothing more and are as private.
        """
        self._check_open()
        if type(n) is not int or not 1 <= n <= MOST_DRAWN:
            raise QueryError(f"n ({n}) must be a whole number from 1 to {MOST_DRAWN:,}")
        coins = np.random.default_rng(seed)
        codes = self.draw(n, coins)
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
        total = self.total
        number = min(max(round(total), FEWEST_TRAINING), MOST_TRAINING) if rows is None else rows
        table = self.sample(number, seed=seed)
        return table.append_column(WEIGHT, pa.array(np.full(table.num_rows, total / table.num_rows)))

    def registry_entry(self) -> str:
        """A draft of this release's entry in the OpenDP Deployments Registry, as YAML; TODO is for the custodian."""
        return registry_entry(self._manifest.statement, self.used)

    def _possible(self, column: str) -> Collection[Any]:
        return self.schema.domains[column]

"""Selection queries of up to three attributes, `a = x [AND b = y [AND c = z]]`, and what a release answers to them.

Paper: [RSH] section 5 asks all of them. All of up to two attributes are asked here; of those of three, whole slices
(one value of the attribute with the most values, and all of the two others) at equal steps from a random start, so that
all attributes are among them and each query has the same chance. Means weigh a query by how many it stands for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pyarrow as pa

from discreet.estimate.estimate import Estimate
from discreet.estimate.release import Release
from discreet.evaluate.conditions import equal
from discreet.evaluate.scratch import Slice, true_groups
from discreet.ground.arrays import Floats, Ints
from discreet.schema.schema import Schema


@dataclass(frozen=True, kw_only=True, eq=False)
class Selections:
    """Queries in the order of their slices: the true count of each, and how many queries it stands for."""

    slices: tuple[Slice, ...]
    conditions: tuple[str, ...]
    truth: Ints
    weight: Floats

    def answers(self, release: Release, estimator: str | None = None) -> list[Estimate]:
        """What a release says of every query, slice by slice."""
        return [
            answer
            for each in self.slices
            for _, answer in release.count_by(*each.columns, where=each.where, estimator=estimator)
        ]

    def mean(self, errors: Floats, least: int) -> float:
        """The mean over the queries with at least that true count."""
        chosen = self.truth >= least
        return float(np.average(errors[chosen], weights=self.weight[chosen]))


def selections_of(rows: pa.Table, schema: Schema, coins: np.random.Generator, *, sliced: int = 100) -> Selections:
    """All queries of up to two attributes, and `sliced` slices of those of three, with their true counts."""
    whole = [Slice(each) for k in (1, 2) for each in combinations(schema.columns, k)]
    three = [each for columns in combinations(schema.columns, 3) for each in _sliced(schema, columns)]
    number = min(sliced, len(three))
    picked = np.floor((np.arange(number) + coins.random()) * len(three) / max(number, 1)).astype(np.int64).tolist()
    slices = [*whole, *(three[place] for place in picked)]
    conditions, truth, apart = [], [], []
    for number, (each, known) in enumerate(zip(slices, true_groups(rows, slices), strict=True)):
        for values in product(*(schema.domains[name] for name in each.columns)):
            parts = [equal(name, value) for name, value in zip(each.columns, values, strict=True)]
            conditions.append(" AND ".join([*parts, each.where] if each.where else parts))
            truth.append(known.get(values, 0))
            apart.append(number >= len(whole))
    all_three = sum(math.prod(len(schema.domains[name]) for name in each) for each in combinations(schema.columns, 3))
    weight = np.where(apart, all_three / max(sum(apart), 1), 1.0)
    return Selections(slices=tuple(slices), conditions=tuple(conditions), truth=np.array(truth), weight=weight)


def _sliced(schema: Schema, columns: tuple[str, ...]) -> list[Slice]:
    """The queries over some columns, by the values of the one that has the most."""
    widest = max(columns, key=lambda name: len(schema.domains[name]))
    others = tuple(name for name in columns if name != widest)
    return [Slice(others, equal(widest, value)) for value in schema.domains[widest]]

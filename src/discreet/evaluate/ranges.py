"""Range counts: random conditions over a few attributes with their true counts, and how far off a release is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.estimate.release import Release
from discreet.evaluate.conditions import condition_on
from discreet.evaluate.labelled import Halves, Labelled, halve
from discreet.evaluate.scratch import true_counts
from discreet.ground.arrays import Ints

MOST_ATTRIBUTES = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranges:
    """Rows to be published and to be classified, and conditions with their true counts among the first."""

    halves: Halves
    conditions: tuple[str, ...]
    truth: Ints

    def mean_error(self, release: Release) -> float:
        """The mean absolute error of what a release answers."""
        found = [estimate.value for estimate in release.count_many(self.conditions)]
        return float(np.abs(np.array(found, dtype=np.float64) - self.truth).mean())


def ranges_of(source: Labelled, number: int = 600, seed: int = 0) -> Ranges:
    """Conditions over 1 to 3 attributes: an interval between two uniform values of a numeric attribute, or a value of
    any level of a categorical one's taxonomy. The same for the same seed.
    """
    coins = np.random.default_rng(seed)
    halves = halve(source, coins)
    taxonomies = source.taxonomies
    most = min(MOST_ATTRIBUTES, len(taxonomies))
    conditions = []
    for _ in range(number):
        picked = coins.choice(len(taxonomies), coins.integers(1, most + 1), replace=False)
        parts = [condition_on(taxonomies[i], source.domains[taxonomies[i].name], coins) for i in picked.tolist()]
        conditions.append(" AND ".join(parts))
    return Ranges(halves=halves, conditions=tuple(conditions), truth=true_counts(halves.train, conditions))

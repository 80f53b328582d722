"""What an adversary may hold of people before he sees their bucket, and what he holds of them afterwards.

Paper: [RSH] section 2.4, "k-anonymity".
Symbols: c_b(x) records of bucket b have the sensitive value x; p(x) is what he holds of a person before. All p are at
    most d, and only their ratios matter: afterwards he holds x for c_b(x) p(x) / sum over y of c_b(y) p(y).
Departs: that is Bayes for one who holds all values of the others in the bucket for equally probable. Where he holds
    value x of the others for q(x), p(x) stands for the ratio of what he holds of this person to q(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Bools, Floats, Ints

IMPROBABLE = 0.9  # of the values that a person does not have, in the drawn priors


def posterior(counts: Sequence[int], priors: Sequence[Fraction]) -> list[Fraction]:
    """What he holds of each value of a bucket afterwards, exactly."""
    weight = [count * prior for count, prior in zip(counts, priors, strict=True)]
    return [each / sum(weight) for each in weight]


@dataclass(frozen=True, kw_only=True)
class People:
    """For each person the bucket, the true value and a group of the public columns; counts of bucket by value, or with
    fakes the people that are expected there.
    """

    bucket: Ints
    true: Ints
    group: Ints
    counts: Ints | Floats

    def reached(self, priors: Floats) -> Floats:
        """The posterior of each person's true value; `priors`: persons by values."""
        weight = self.counts[self.bucket] * priors
        found: Floats = weight[np.arange(len(self.true)), self.true] / weight.sum(axis=1)
        return found


def statistics(group: Ints, true: Ints, groups: int, values: int) -> Floats:
    """How often each value occurs in each of so many groups of people; where there are few, as often as in all."""
    cells = np.bincount(group * values + true, minlength=values * groups)
    shares = np.bincount(true, minlength=values) + 1.0
    table = cells.reshape(-1, values) + shares / shares.sum()
    found: Floats = table / table.sum(axis=1, keepdims=True)
    return found


def learned(people: People, known: Bools) -> Floats:
    """Priors from statistics: how often each value occurs in each group among the people that he knows."""
    groups, values = int(people.group.max()) + 1, people.counts.shape[1]
    return statistics(people.group[known], people.true[known], groups, values)[people.group]


def drawn(people: People, ratio: float, coins: np.random.Generator) -> Floats:
    """Priors that are lower by a factor for nine in ten of the values that a person does not have."""
    found = np.where(coins.random((len(people.true), people.counts.shape[1])) < IMPROBABLE, ratio, 1.0)
    found[np.arange(len(people.true)), people.true] = 1.0
    return found

"""A model of independent attributes, read off a noisy release, and the estimate that leans on it where noise is large.

The term of art is empirical Bayes: the prior is learned from the release itself.

Every attribute's distribution is the posterior mean of its counts, given their noise, with an exponential law before:
the least presumptuous one for counts from 0 with a known mean. A condition is then expected to be met by
mu = total times the product of shares, summed over its tuples. Counts scatter around mu with variance mu + c mu^2, as
counts with a hidden rate do; c comes from the moments of the two-way tables.

Symbols: mu what the model expects, c the spread of rates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.ground.arrays import Floats, Ints

Noisy = tuple[Floats, Floats]  # unbiased counts and their variances

# Up to so many standard errors an estimate leans on the model, from so many on it stands as it is, and between it moves
# from one to the other. Chosen on Adult: a hard switch at 3 made counts from 1,000 worse by 1 %, this does not.
UNSURE, SURE = 1.5, 2.5
_FINE = 1 << 10  # weights are whole numbers, this large on average
_UNKNOWN = 1.0  # c, where no two-way table tells it
_ROUNDS = 8


@dataclass(frozen=True, kw_only=True)
class Independence:
    """`total` tuples; the values of each attribute in proportion to its weights; c."""

    total: float
    weights: tuple[Ints, ...]
    spread: float

    def expected(self, weight: int) -> float:
        """mu of a condition, from the weight of the tuples that meet it (of all attributes together)."""
        return self.total * (weight / self._whole)

    @cached_property
    def _whole(self) -> int:
        """The weight of all tuples of the domain."""
        return math.prod(int(each.sum()) for each in self.weights)

    def cells(self, *attributes: int) -> Floats:
        """mu for every combination of values of some attributes, the last one fastest."""
        found = np.array([self.total])
        for number in attributes:
            found = np.multiply.outer(found, self.weights[number] / self.weights[number].sum()).ravel()
        return found


def fit_independence(
    total: float, ones: Sequence[Noisy], pairs: Mapping[tuple[int, int], Noisy], least: float = 1.0
) -> Independence:
    """The model of noisy one-way tables, and c of noisy two-way tables."""
    total = max(total, least)
    model = Independence(total=total, weights=tuple(_weights(total, *each) for each in ones), spread=_UNKNOWN)
    if not pairs:
        return model
    values = np.concatenate([value for value, _ in pairs.values()])
    variances = np.concatenate([variance for _, variance in pairs.values()])
    expected = np.concatenate([model.cells(*pair) for pair in pairs])
    return Independence(total=total, weights=model.weights, spread=_spread(values, variances, expected))


def _weights(total: float, values: Floats, variances: Floats) -> Ints:
    """Posterior means under an exponential law with mean total / size, as whole numbers; none is 0."""
    from scipy.special import log_ndtr

    errors = np.sqrt(np.maximum(variances, 1e-12))
    shift = (values - variances * len(values) / total) / errors
    means: Floats = errors * (shift + np.exp(-0.5 * shift**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(shift)))
    means = np.maximum(means, 0)
    whole = means.sum() or 1.0
    weights: Ints = np.maximum(1, np.rint(means / whole * len(values) * _FINE)).astype(np.int64)
    return weights


def _spread(values: Floats, variances: Floats, expected: Floats) -> float:
    """c by weighted least squares of (value - mu)^2 - variance - mu on mu^2; weights from the c before."""
    rest = (values - expected) ** 2 - variances - expected
    found = _UNKNOWN
    for _ in range(_ROUNDS):
        weight = (expected / (variances + expected + found * expected**2)) ** 2
        found = max(0.0, float((weight * rest).sum() / (weight * expected**2).sum()))
    return found


def best(value: ArrayLike, error: ArrayLike, expected: ArrayLike, spread: float, most: ArrayLike) -> Floats:
    """Unbiased estimates where they are many standard errors; else the posterior mean around what the model expects.

    `value`, `error`: unbiased estimates and their standard errors; `most`: the counts that are possible at most.
    """
    value, error, most = (np.asarray(each, dtype=np.float64) for each in (value, error, most))
    centre = np.minimum(np.asarray(expected, dtype=np.float64), most)
    around = centre + spread * centre**2
    share = around / np.maximum(around + error**2, 1e-300)
    sure = np.clip((value - UNSURE * error) / np.maximum((SURE - UNSURE) * error, 1e-300), 0.0, 1.0)
    leaning = np.maximum(0.0, centre + share * (value - centre))
    found: Floats = np.clip(sure * value + (1 - sure) * leaning, 0.0, most)
    return found

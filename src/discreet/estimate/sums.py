"""Sums as a family answers them together: the one seam on which differences, shares, means and tables are built."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.estimate.estimate import COINS
from discreet.ground.arrays import Floats

_ROUNDING = 1e-12  # of the variance if all went the same way: nothing is left of it
Ends = tuple[Fraction, Fraction]
MOST_SUMS = 2_000  # at a time: their covariance is a table of all by all


@dataclass(frozen=True, kw_only=True)
class Sums:
    """Several sums over one release: values without bias, and how they vary together.

    `values` are nan where the release does not determine a sum, and `unknown` says why. `covariance` is over the
    publisher's coins, and 0 where a sum is certain. `stray` is the standard deviation of what a model leaves open,
    which may go any way together. `bounds` hold each sum always. `over` and `note` are as in an estimate.
    """

    values: Floats
    covariance: Floats
    stray: Floats
    bounds: tuple[Ends, ...]
    over: str = COINS
    note: str = ""
    unknown: str = ""

    def error(self, gradient: Floats) -> float:
        """The standard error of a sum of these with such factors; what a model leaves open is taken to add up."""
        varies = float(gradient @ self.covariance @ gradient)
        apart = float(np.abs(gradient) @ np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))
        chance = math.sqrt(varies) if varies > _ROUNDING * apart**2 else 0.0
        return math.hypot(chance, float(np.abs(gradient) @ self.stray))


def range_of_sum(counts: tuple[int, int], weights: Ends) -> Ends:
    """Where a sum lies of so many numbers between two ends."""
    (few, many), (low, high) = counts, weights
    return min(few * low, many * low), max(few * high, many * high)


def added(ends: Sequence[Ends]) -> Ends:
    """Where the sum of several lies."""
    return sum((low for low, _ in ends), Fraction(0)), sum((high for _, high in ends), Fraction(0))

"""Several views as the paper prints them: its probabilities, as a mechanism that publishes, and its estimator.

Paper: [RSH] section 4.4.1, Algorithm 7.
Symbols: v views are declared; V' the union of the views before view i; s = alpha + beta; q = s e^(-1/v) the probability
    to show again a tuple of V' that is not in the table; beta_i = (1 - s)^(i-1) beta that to insert any other one.
Departs: nothing. It keeps no promise from some v on, and its estimator is biased; `AlphaBeta(views=v)` is what may be
    used, and what a release answers is split at V' and has no bias.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.ground.arrays import Floats
from discreet.ground.exact import exact
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.planning.parameters import rounded_up
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta


@dataclass(frozen=True, kw_only=True)
class Printed:
    """Algorithm 7's probabilities for v views."""

    keep: float  # s
    insert: float  # beta
    views: int  # v

    @property
    def again(self) -> float:
        """q"""
        return self.keep * math.exp(-1 / self.views)

    def insert_in(self, number: int) -> float:
        """beta_i, for i from 1"""
        return (1 - self.keep) ** (number - 1) * self.insert

    def estimate(self, seen: ArrayLike, before: ArrayLike, possible: ArrayLike, number: int) -> Floats:
        """(n_Vi - q n_V' - beta_i n_D) / (s (1 - e^(-1/v)))"""
        rest = np.asarray(seen) - self.again * np.asarray(before) - self.insert_in(number) * np.asarray(possible)
        return np.asarray(rest / (self.keep - self.again), dtype=np.float64)

    def expected_estimate(self, truth: ArrayLike, possible: ArrayLike, number: int) -> Floats:
        """What the estimator gives on average."""
        there, others = np.asarray(truth), np.asarray(possible) - np.asarray(truth)
        shown = 1 - (1 - self.keep) ** (number - 1)
        noise = 1 - math.prod(1 - self.insert_in(j) for j in range(1, number))
        seen = self.keep * there + others * (noise * self.again + (1 - noise) * self.insert_in(number))
        return self.estimate(seen, shown * there + noise * others, possible, number)

    def promise(self, d: Fraction, gamma: Fraction) -> DGammaPrivacy:
        """The same as a release states it, in probabilities that coins can have."""
        inserts = [rounded_up(Fraction(self.insert_in(number))) for number in range(1, self.views + 1)]
        return DGammaPrivacy(
            d=d,
            gamma=gamma,
            adversary="independent",
            keep=Fraction(self.keep),
            insert=inserts[0],
            candidates=1,
            later=tuple(inserts[1:]),
            again=rounded_up(Fraction(self.again)),
        )


@dataclass(frozen=True, kw_only=True)
class Algorithm7(AlphaBeta):
    """`views` views, with s = 1/2, and beta = d / gamma in the first. For experiments: `verify` may say no."""

    def printed(self, d: Fraction) -> Printed:
        return Printed(keep=0.5, insert=float(d / exact("posterior", self.posterior)), views=self.views)

    def choose(self, d: Fraction, weights: tuple[Fraction, Fraction]) -> DGammaPrivacy:
        return self.printed(d).promise(d, exact("posterior", self.posterior))

"""Alpha-beta with s = 1/2 and the least beta that Theorem 4.2 allows there: what fits the paper's own figures.

Paper: [RSH] Theorem 4.2, section 5.
Departs: the paper prints beta = d / gamma, which inserts more; its measured errors are those of beta = s / R.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.ground.exact import exact
from discreet.guarantee.dgamma import DGammaPrivacy, odds
from discreet.mechanism.alphabeta.planning.parameters import rounded_up
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta


@dataclass(frozen=True, kw_only=True)
class Tight(AlphaBeta):
    """A choice between the printed one and the optimum; it keeps the promise to an independent adversary."""

    def choose(self, d: Fraction, weights: tuple[Fraction, Fraction]) -> DGammaPrivacy:
        gamma, half = exact("posterior", self.posterior), Fraction(1, 2)
        insert = rounded_up(half / odds(d, gamma))
        return DGammaPrivacy(d=d, gamma=gamma, adversary="independent", keep=half, insert=insert, candidates=1)

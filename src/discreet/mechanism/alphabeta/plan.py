"""What an alpha-beta release would be: its probabilities, its size, and how far off any count may be.

Paper: [RSH] Theorem 4.3, section 3.
Departs: the theorem has a stray n under the root and a Chernoff form that holds for one tail only; here the bound is
    Bernstein's, for both tails and every counting query.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.guarantee.dgamma import DGammaPrivacy

CHANCE = 0.05


@dataclass(frozen=True, kw_only=True)
class ViewPlan:
    """The plan for `tuples` distinct tuples of a domain of `domain` tuples."""

    guarantee: DGammaPrivacy
    tuples: int
    domain: int

    @property
    def alpha(self) -> Fraction:
        return self.guarantee.keep - self.guarantee.insert

    @property
    def beta(self) -> Fraction:
        return self.guarantee.insert

    @property
    def expected_tuples(self) -> float:
        """How many tuples the release will have, on average."""
        return float(self.guarantee.keep * self.tuples + self.beta * (self.domain - self.tuples))

    def error_bound(self, chance: float = CHANCE) -> float:
        """No counting query is off by more than this, but with that chance (for each query)."""
        keep, insert = float(self.guarantee.keep), float(self.beta)
        variance = self.tuples * keep * (1 - keep) + (self.domain - self.tuples) * insert * (1 - insert)
        length = math.log(2 / chance)
        reach = length / 3 + math.sqrt(length**2 / 9 + 2 * variance * length)
        return reach / float(self.alpha)

    def rho(self, chance: float = CHANCE) -> float:
        """The error bound in units of the root of the number of tuples."""
        return self.error_bound(chance) / math.sqrt(max(1, self.tuples))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where the paper's limits bite."""
        found = []
        if self.guarantee.d >= Fraction(self.tuples) / math.isqrt(self.domain):
            found.append(
                "the prior is of the order n / sqrt(m), where no method is both private and useful (Theorem 3.3); "
                "expect "
                "large errors"
            )
        if self.error_bound() >= self.tuples:
            found.append("counts of this table will drown in noise: the error bound is above the number of tuples")
        found.append(
            "an adversary who knows that tuples stand or fall together can learn more, whatever the method "
            "(Theorems 6.1 and 6.6)"
        )
        return tuple(found)

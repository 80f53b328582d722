"""What a release of tuples would be: its probabilities, its size, and how far off any count may be.

Paper: [RSH] Theorem 4.3, section 3.
Departs: the theorem has a stray n under the root and a Chernoff form that holds for one tail only; here the bound is
    Bernstein's, for both tails and every counting query.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.estimate.estimate import RECORDS, TUPLES
from discreet.estimate.unit import meaning_of
from discreet.guarantee.conversions import delta_of_gamma, epsilon_of_gamma
from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.mechanism.plan import Stakes
from discreet.release.alphabeta.facts_3 import facts_3

CHANCE = 0.05


@dataclass(frozen=True, kw_only=True)
class AlphaBetaPlan:
    """The plan for `tuples` distinct tuples (or records) of `rows` rows, in a domain of `domain` tuples (with their
    slots).
    """

    guarantee: DGammaPrivacy | FrappPrivacy
    tuples: int
    domain: int
    rows: int
    public_rows: int | None

    @property
    def unit(self) -> str:
        """What the counts of the release will count."""
        return RECORDS if self.guarantee.of_records else TUPLES

    @property
    def alpha(self) -> Fraction:
        return self.guarantee.keep - self.beta

    @property
    def beta(self) -> Fraction:
        """The probability that a tuple which is not in the table is there; in FRAPP, that a record becomes it."""
        return self.guarantee.insert

    @property
    def expected_tuples(self) -> float:
        """How many tuples the release (the first view) will have, on average."""
        if isinstance(self.guarantee, FrappPrivacy):
            return self.tuples
        return float(self.guarantee.keep * self.tuples + self.beta * (self.domain - self.tuples))

    @property
    def stakes(self) -> Stakes:
        """The bound on a posterior; every tuple has the same promise."""
        return Stakes(
            number=float(self.guarantee.gamma),
            what="bound on the posterior of a tuple",
            unprotected=0,
            alone=None,
            size=self.expected_tuples,
        )

    def error_bound(self, chance: float = CHANCE) -> float:
        """No counting query is off by more than this, but with that chance (for each query; of several views, any)."""
        length = math.log(2 / chance)
        variance, slope = self._worst
        reach = length / 3 + math.sqrt(length**2 / 9 + 2 * variance * length)
        return reach / slope

    @cached_property
    def _worst(self) -> tuple[float, float]:
        """The largest variance that what is counted can have, and what it is divided by."""
        guarantee = self.guarantee
        keep = float(guarantee.keep)
        if isinstance(guarantee, FrappPrivacy):
            return self.tuples / 4, float(guarantee.keep - guarantee.other)
        own = self.tuples * keep * (1 - keep)
        if not guarantee.later:
            insert = float(guarantee.insert)
            return own + (self.domain - self.tuples) * insert * (1 - insert), keep - insert
        again, slope = float(guarantee.again), keep - float(guarantee.again)
        worst, unseen = 0.0, 1.0
        for insert in map(float, guarantee.inserts):  # both parts of a view, the fresh one in units of the other
            shown = (1 - unseen) * again * (1 - again)
            fresh = unseen * insert * (1 - insert) * (slope / (keep - insert)) ** 2
            worst = max(worst, self.domain * (shown + fresh))
            unseen *= 1 - insert
        return own + worst, slope

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
                "expect large errors"
            )
        if self.error_bound() >= self.tuples:
            found.append("counts of this table will drown in noise: the error bound is above the number of tuples")
        if self.rho() < 1:
            found.append(
                "errors are below sqrt(n) for every query; a method that is so exact for tables of every size gives "
                "some improbable tuple away (Theorem 2.6), so look at the facts again: who is not covered?"
            )
        found.append(
            "an adversary who knows that tuples stand or fall together can learn more, whatever the method "
            "(Theorems 6.1 and 6.6)"
        )
        return tuple(found)

    @property
    def equivalents(self) -> dict[str, float]:
        """What the promise comes to in other notions, for one who holds tuples for independent."""
        d, gamma = self.guarantee.d, self.guarantee.gamma
        return {
            "relative_delta": delta_of_gamma(d, gamma),
            "epsilon_add_remove": epsilon_of_gamma(d, gamma, swap=False),
            "epsilon_swap": epsilon_of_gamma(d, gamma),
        }

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        return {
            "alpha": str(self.alpha),
            "beta": str(self.beta),
            "unit": self.unit,
            "rows": self.rows,
            "tuples": self.tuples,
            "domain": self.domain,
            "expected_tuples": self.expected_tuples,
            "error_bound": self.error_bound(),
            "rho": self.rho(),
            "equivalents": self.equivalents,
            "warnings": list(self.warnings),
            "facts": self._facts,
        }

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        """Probabilities, size, error bound and promise."""
        guarantee = self.guarantee
        keep, insert = float(guarantee.keep), float(self.beta)
        several = False
        if isinstance(guarantee, FrappPrivacy):
            yield f"{self.tuples:,} records in a domain of {self.domain:,} tuples"
            yield f"each keeps its tuple with probability {keep:.6g}, and else becomes a random other one"
        else:
            of = f"of {self.rows:,} rows " if self.unit == TUPLES else ""
            places = "tuples" if guarantee.slots == 1 else "tuples with their slots"
            yield f"{self.tuples:,} {self.unit} {of}in a domain of {self.domain:,} {places}"
            weight = " times its weight" if guarantee.weights != EVEN else ""
            yield f"each is kept with probability {keep:.6g}, every other inserted with {insert:.4g}{weight}"
            several = guarantee.views > 1
            if several:
                again, last = float(guarantee.again), float(guarantee.inserts[-1])
                yield f"in later views, tuples shown before with {again:.4g}, others with {last:.4g} in the last"
        what = "tuples" if isinstance(guarantee, FrappPrivacy) else "tuples, true ones and random ones"
        yield f"the {'first view' if several else 'release'} will have about {self.expected_tuples:,.0f} {what}"
        yield (
            f"a count is off by at most {self.error_bound():,.0f} {self.unit}, but for 5 % of the coins "
            f"(rho {self.rho():.3g})"
        )
        yield f"its counts are of {self.unit}: {meaning_of(self.unit)}"
        yield str(self._facts["words"])

    @property
    def _facts(self) -> dict[str, Any]:
        return facts_3(self.guarantee, False, self.public_rows)  # of the newest version, as a release will say it

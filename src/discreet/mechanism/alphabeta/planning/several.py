"""The probabilities of several views of a table that changes: chosen for the declared number of views.

Paper: [RSH] section 4.4.1, Algorithm 7.
Symbols: v views; s the probability to keep a tuple of the table, q = r s that to show again a tuple that an earlier
    view showed, beta_i that to insert any other tuple in view i; R the odds that the promise allows.
Departs: the printed choice (q = s e^(-1/v), beta_i = (1 - s)^(i-1) beta) protects only tuples that are in every table
    or in none: one that joins for view i is kept with s and hidden among (1 - s)^(i-1) beta. Here
    beta_i is proportional to (s / q)^(v-i), the least that keeps every history, and r (and s, for an exclusive
    adversary) minimize the variance of the worst view.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import Infeasible
from discreet.guarantee.dgamma import DGammaPrivacy, odds
from discreet.mechanism.alphabeta.planning.parameters import rounded_down, rounded_up

_CLOSE = 1e-9
_TRIES = 60


@dataclass(frozen=True, kw_only=True)
class _Problem:
    """The promise, in floating point: the search need not be exact, for its result is rounded and checked."""

    views: int
    ratio: float  # R
    least: float  # d / gamma
    exclusive: bool

    def inserts(self, keep: float, r: float) -> list[float]:
        """beta_1, ..., beta_v for s and r; empty where there are none below q."""
        steps = [r ** -(self.views - 1 - i) for i in range(self.views)]
        if max(steps) * keep / self.ratio >= keep * r:
            return []
        last = keep / self.ratio
        if self.exclusive:

            def spare(last: float) -> float:
                hidden = math.prod(1 - last * step for step in steps)
                return last * self.ratio * (1 - keep) ** self.views - keep * hidden

            from scipy.optimize import brentq

            top = keep * r / max(steps)
            if spare(top) <= 0:
                return []
            last = float(brentq(spare, 0, top, xtol=1e-300, rtol=1e-14))
        return [last * step for step in steps]

    def most_kept(self, r: float) -> float:
        """The largest s that leaves an unseen tuple probable enough to an independent adversary."""

        def spare(keep: float) -> float:
            hidden = sum(math.log1p(-min(each, 0.999999)) for each in self.inserts(keep, r))
            return self.views * math.log1p(-keep) - hidden - math.log(self.least)

        from scipy.optimize import brentq

        low, high = 1e-12, 1 - 1e-12
        return float(brentq(spare, low, high, xtol=1e-15)) if spare(high) < 0 < spare(low) else high

    def variance(self, keep: float, r: float) -> float:
        """Of the worst view, for each tuple of the domain; 1e300 where there are no such probabilities."""
        inserts, again = self.inserts(keep, r), keep * r
        if not inserts:
            return 1e300
        worst, unseen = 0.0, 1.0
        for each in inserts:
            shown = (1 - unseen) * again * (1 - again) / (keep - again) ** 2
            worst = max(worst, shown + unseen * each * (1 - each) / (keep - each) ** 2)
            unseen *= 1 - each
        return worst

    def best(self) -> tuple[float, float]:
        """s and r with the least variance."""
        from scipy.optimize import minimize_scalar

        def keep_for(r: float) -> float:
            if not self.exclusive:
                return self.most_kept(r)
            found = minimize_scalar(lambda x: self.variance(math.exp(x), r), bounds=(-14, -0.69), method="bounded")
            return math.exp(float(found.x))

        # the variance may have no value at all over most of the range, so look along a grid first
        grid = [0.02 * i for i in range(1, 50)]
        start = min(range(len(grid)), key=lambda i: self.variance(keep_for(grid[i]), grid[i]))
        found = minimize_scalar(
            lambda r: self.variance(keep_for(r), r),
            bounds=(grid[max(start - 1, 0)], min(grid[min(start + 1, len(grid) - 1)], 0.99)),
            method="bounded",
        )
        return keep_for(float(found.x)), float(found.x)


def several_views(d: Fraction, gamma: Fraction, adversary: str, views: int) -> DGammaPrivacy:
    """A promise for that many views, with the probabilities that keep it; raises Infeasible where none do."""
    problem = _Problem(
        views=views, ratio=float(odds(d, gamma)), least=float(d / gamma), exclusive=adversary == "exclusive"
    )
    start, r = problem.best()
    inserts = problem.inserts(start, r)
    why = (
        f"views ({views}) must be fewer, or posterior ({float(gamma):.4g}) further above prior ({float(d):.4g}); no "
        "probabilities keep this promise for so many views"
    )
    if not inserts:
        raise Infeasible(why, key=("views",))
    keep, last = Fraction(start), Fraction(inserts[-1])
    for _ in range(_TRIES):  # a little less kept and a little more inserted until the exact conditions hold
        guarantee = _rounded(d, gamma, adversary, views, keep, Fraction(r), last)
        if guarantee is not None and guarantee.holds:
            return guarantee
        keep, last = keep * (1 - Fraction(_CLOSE)), last * (1 + Fraction(_CLOSE))
    raise Infeasible(why, key=("views",))


def _rounded(
    d: Fraction, gamma: Fraction, adversary: str, views: int, keep: Fraction, r: Fraction, last: Fraction
) -> DGammaPrivacy | None:
    """The promise with probabilities that coins can have."""
    keep = rounded_down(keep)
    again = rounded_up(keep * r)
    if not 0 < again < keep:
        return None
    inserts = [rounded_up(last * (keep / again) ** (views - 1 - i)) for i in range(views)]
    whole = DGammaPrivacy(d=d, gamma=gamma, adversary=adversary, keep=keep, insert=inserts[0], candidates=1)
    return replace(whole, later=tuple(inserts[1:]), again=again)

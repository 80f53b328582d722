"""Tuples that stand or fall together: two brothers, rows of one person, a household.

Noise that shows both is rare, its chances multiply; that both are true is no rarer than that one is. So what the view
says of one says it of the other too. Nothing is promised about this.

Paper: [RSH] section 6.1 (Joe and Jim), Theorem 6.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.attack.alphabeta.pool import IMPOSSIBLE, Pool, domain_of, pool_of, promise_of
from discreet.attack.alphabeta.posterior import Promise, correlated, evidence_of, pair_ratios, several
from discreet.attack.alphabeta.seen import measured, plain
from discreet.attack.attack import Finding, Group
from discreet.attack.rate import Rate, computed
from discreet.attack.target import Target
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.guarantee.frapp import FrappPrivacy

HALF = Fraction(1, 2)
_NOTE = "the promise is for tuples that are independent; noise shows both of two tuples with the product of its chances"


@dataclass(frozen=True, kw_only=True)
class Correlated:
    """He holds each of two tuples for at most d probable, and knows that where one is true the other is, or may be."""

    name: ClassVar[str] = "correlated"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "knows two tuples that are in the table together or not at all, and sees both"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.1

    def unfit(self, target: Target) -> str:
        promise = promise_of(target)
        if isinstance(promise, FrappPrivacy) and promise.rows < 2:
            return "there is one record"
        return "" if promise.possible else IMPOSSIBLE

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        promise = promise_of(target)
        own = evidence_of(promise)
        for given, variant in ((Fraction(1), "always together"), (HALF, "together half of the time")):
            reached = correlated(own.prior, max(given, own.prior), pair_ratios(promise))
            yield self._finding(promise, computed(reached, 1), variant)
        if target.table is not None and not several(promise) and _plain(promise):
            found = _pairs(target, promise, target.once(pool_of))
            if found is not None:
                yield self._finding(promise, found, "always together, measured")

    def _finding(self, promise: Promise, rate: Rate, variant: str) -> Finding:
        return Finding(
            name=self.name,
            variant=variant,
            group=self.group,
            measures="how probable a tuple of the largest covered prior is, where it and one tied to it are shown",
            rate=rate,
            bound=promise.gamma,
            baseline=float(evidence_of(promise).prior),
            baseline_is="its prior",
            covered=False,
            note=_NOTE,
        )


def _plain(promise: Promise) -> bool:
    """Whether all tuples of the table have the same chances, and a place of their own."""
    return not isinstance(promise, FrappPrivacy) and promise.slots == 1 and promise.weights[0] == promise.weights[1]


def _pairs(target: Target, promise: Promise, pool: Pool) -> Rate | None:
    """True tuples two by two, mixed with so many pairs of others that d of all pairs are true: those shown whole."""
    first, second = neighbours(pool)
    shown = pool.shown > 0
    seen = plain(
        hits=int((shown[first] & shown[second]).sum()),
        places=len(first),
        stray=int((shown & ~pool.real).sum()),
        others=domain_of(target) - int(pool.real.sum()),
    )
    if not seen.enough:
        return None
    prior = float(evidence_of(promise).prior)

    def value(both: float, insert: float) -> float:
        whole = prior * both + (1 - prior) * insert**2
        return prior * both / whole if whole > 0 else prior

    return measured(seen, target.confidence, value)


def neighbours(pool: Pool) -> tuple[Ints, Ints]:
    """The table's tuples two by two, each once: those that come next to each other in the order of the columns."""
    columns = [column[pool.real] for column in pool.codes.values()]
    order = np.flatnonzero(pool.real)[np.lexsort(columns[::-1])]
    even = order[: len(order) // 2 * 2]
    return even[::2], even[1::2]

"""How probable tuples really are to be shown, measured with the table, and what follows with an interval.

One who holds a tuple for d probable is someone for whom d of a hundred such tuples are true. So true tuples are mixed
with as many others as make d their share, and those that a view shows are counted. No tuple need be drawn for this: all
true tuples and all others of the domain are there, and weighing them gives the mean over all such mixtures.

Symbols: H of the places of true tuples are shown, F of all others; the expectation of H is n alpha + beta W_H, that of
    F is beta W_F, with n true tuples in these places and W the weights of the places (without a source, how many they
    are). Both are sums of independent yes or no, which spread no more than a binomial count of the same mean: an
    interval for that covers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.attack.alphabeta.pool import Pool, domain_of, weights_in
from discreet.attack.alphabeta.posterior import Promise
from discreet.attack.rate import Rate, rate_of
from discreet.attack.target import Target
from discreet.ground.arrays import Bools
from discreet.guarantee.frapp import FrappPrivacy

Value = Callable[[float, float], float]  # of the chances that a true tuple is shown, and another; see `measured`


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was shown of the places where true tuples stand, and of all other places."""

    hits: int
    places: int
    true: int  # how many of these places have a true tuple: all of them, where there are no slots
    weight: float
    stray: int
    others: int
    weight_of_others: float

    @property
    def enough(self) -> bool:
        return min(self.places, self.others, self.true) > 0 and self.weight_of_others > 0


def plain(hits: int, places: int, stray: int, others: int) -> Seen:
    """Places that have one true tuple each, and others, without a source."""
    return Seen(
        hits=hits,
        places=places,
        true=places,
        weight=float(places),
        stray=stray,
        others=others,
        weight_of_others=float(others),
    )


def seen_of(target: Target, promise: Promise, pool: Pool, shown: Bools) -> Seen:
    """How many places of the table's tuples, and how many others, are shown in this way.

    FRAPP's law is that of a tuple which one row has, so the others are left out.
    """
    domain, slots = domain_of(target), promise.slots
    if isinstance(promise, FrappPrivacy):
        one = pool.copies == 1
        return plain(
            hits=int((shown & one).sum()),
            places=int(one.sum()),
            stray=int((shown & ~pool.real).sum()),
            others=domain - int(pool.real.sum()),
        )
    number = int(pool.real.sum())
    weight = float(weights_in(target, {name: column[pool.real] for name, column in pool.codes.items()}).sum())
    times = np.where(shown, pool.shown, 0)
    return Seen(
        hits=int(times[pool.real].sum()),
        places=number * slots,
        true=int(pool.copies.sum()) if slots > 1 else number,
        weight=weight * slots,
        stray=int(times[~pool.real].sum()),
        others=(domain - number) * slots,
        weight_of_others=max(0.0, (domain - weight) * slots),
    )


def measured(seen: Seen, confidence: float, value: Value, weight: float = 1.0) -> Rate:
    """A number that grows with the chance of true tuples and falls with that of others, for tuples of a weight.

    Each of both chances gets half of what the interval may miss; they need not be independent.
    """
    half = 1 - (1 - confidence) / 2
    own = rate_of(seen.hits, seen.places, half)
    noise = rate_of(seen.stray, seen.others, half)

    def at(mean: float, other: float) -> float:
        insert = other * seen.others / seen.weight_of_others
        alpha = (mean * seen.places - insert * seen.weight) / seen.true
        return value(_chance(alpha + insert * weight), _chance(insert * weight))

    found, low, high = at(own.rate, noise.rate), at(own.low, noise.high), at(own.high, noise.low)
    return Rate(rate=found, low=min(low, found), high=max(high, found), attempts=seen.hits + seen.stray)


def sole(candidates: float) -> Value:
    """The posterior of a tuple which alone is shown of so many candidates of which exactly one is true."""

    def value(keep: float, insert: float) -> float:
        mine, another = keep * (1 - insert), (1 - keep) * insert
        whole = mine + (candidates - 1) * another
        return mine / whole if whole > 0 else 1 / candidates

    return value


def posterior(prior: float) -> Value:
    """That of a tuple which is shown."""

    def value(keep: float, insert: float) -> float:
        whole = prior * keep + (1 - prior) * insert
        return prior * keep / whole if whole > 0 else prior

    return value


def less_probable(keep: float, insert: float) -> float:
    """By which factor a tuple becomes less probable by not being shown, at most: where its prior was small."""
    return (1 - insert) / max(1 - keep, 1e-12)


def _chance(number: float) -> float:
    return min(1.0, max(0.0, number))

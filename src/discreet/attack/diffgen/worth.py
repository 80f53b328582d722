"""How much epsilon the noise in counts is really worth, to one who knows all records, with bounds that hold.

Symbols: a part has m counts with noise n, bought with a share s; A is the sum of |n|. With a factor c the noise is that
    of a cost of c s: log f_c = m log tanh(c s / 2) - c s A. c = 1 is promised; noise of half the scale has c = 2.
Bounds: for a true factor of at most c, the mean over some g > 1 of f_(cg) / f_c is at most 1 in expectation, also where
    what is bought next depends on what came out so far (each factor is fresh, and falls in |n|). So by Markov's
    inequality it reaches 1 / alpha with a probability of at most alpha, and the c for which it does are ruled out.
    The same with g < 1 from above.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attack.rate import Rate
from discreet.ground.arrays import Floats, Ints

_LEAST, _MOST = 1e-3, 1e3  # factors that are told apart
_BEYOND = np.array([1.01, 1.02, 1.04, 1.08, 1.15, 1.3, 1.6, 2.5, 6.0, 30.0])  # g
_HALVINGS = 60


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the noise of one part looks like: its share, how many counts, and the sum of |n|."""

    share: float
    counts: int
    size: int

    @classmethod
    def of(cls, share: float, noise: Ints) -> Seen:
        return cls(share=float(share), counts=noise.size, size=int(np.abs(noise).sum()))


def log_likelihood(seen: Sequence[Seen], factors: Floats) -> Floats:
    """log f_c of all parts together, for each factor c."""
    found = np.zeros(len(factors))
    for each in seen:
        worth = factors * each.share
        found += each.counts * np.log(np.tanh(worth / 2)) - worth * each.size
    return found


def factor_of(seen: Sequence[Seen], confidence: float) -> Rate:
    """The most likely factor, and bounds that both hold with `confidence`; none is beyond .001 and 1,000."""
    limit = np.log(2 / (1 - confidence))

    def ruled_out(factor: float, beyond: Floats) -> bool:
        """Whether noise of this factor, or one on its other side, would hardly ever look like this."""
        against = log_likelihood(seen, factor * beyond) - log_likelihood(seen, np.array([factor]))
        top = float(against.max())
        return bool(top + np.log(np.exp(against - top).mean()) >= limit)

    likely = _where(lambda factor: _slope(seen, factor) > 0, _LEAST, _MOST)
    low = _where(lambda factor: ruled_out(factor, _BEYOND), _LEAST, likely)
    high = _where(lambda factor: not ruled_out(factor, 1 / _BEYOND), likely, _MOST)
    return Rate(rate=likely, low=low, high=high, attempts=sum(each.counts for each in seen))


def _slope(seen: Sequence[Seen], factor: float) -> float:
    """The derivative of log f_c by c."""
    terms = [each.share * (each.counts / np.sinh(min(factor * each.share, 700.0)) - each.size) for each in seen]
    return float(sum(terms))


def _where(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The last factor up to which something holds; an end of the range where it holds nowhere, or everywhere."""
    if holds(high):
        return high
    if not holds(low):
        return low
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

"""Is a record in the table? What noisy counts say of it to one who knows all other records.

Of each target he is asked twice: whether it is there, and whether there is one more just like it. The right answers
are yes and no, and in both cases he knows all the rest. Counts say the same of both unless the noise is 0: n >= 0
speaks for the first, n >= 1 for the second.

Symbols: s a part's share, n the noise of the target's count; its log ratio of present to absent is s where n speaks for
    it, -s where not, and they add up. B(e) = e^e / (1 + e^e).
Claim: whatever is bought next depends on, the two answers are right B(epsilon) of the time in the mean, at most.
    Both are right only if noise was 0 at some time, else one of them is. Let r be what is left to spend,
    t = tanh(s / 2) the probability that the next noise is 0, u = tanh((r - s) / 2). If the claim holds for r - s, then
    for r the mean is at most t + (1 - t)(1 + u) / 2 = (1 + t + u - t u) / 2 <= (1 + (t + u) / (1 + t u)) / 2, which is
    (1 + tanh(r / 2)) / 2 = B(r).
Paper: [QSL] Definition II.1 bounds each log ratio by epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.attack.rate import Rate
from discreet.ground.arrays import Floats, Ints

_TIE = 1e-12
_MOST_WORLDS = 20_000
_CELLS = 1 << 22  # numbers that are held at a time


@dataclass(frozen=True, eq=False, kw_only=True)
class Told:
    """What one part says of targets: its share, the noise of its counts, and the count that each target is in."""

    share: Fraction
    noise: Ints = field(repr=False)
    cell: Ints = field(repr=False)


def allowed(epsilon: Fraction | float) -> float:
    """B(epsilon): the most right answers to an even yes or no about one record."""
    return 1 / (1 + math.exp(-float(epsilon)))


def leaning(told: Sequence[Told], *, more: bool) -> Floats:
    """The log ratio of each target: of its presence, or that there is one `more` like it."""
    found = np.zeros(len(told[0].cell))
    for part in told:
        found += float(part.share) * np.where(part.noise >= (1 if more else 0), 1, -1)[part.cell]
    return found


def exact_leaning(told: Sequence[Told], target: int) -> Fraction:
    """The log ratio of one target's presence, in exact arithmetic."""
    return sum((part.share if part.noise[part.cell[target]] >= 0 else -part.share for part in told), Fraction(0))


def right(present: Floats, more: Floats) -> Floats:
    """The share of right answers for each target; where nothing speaks for either side, he tosses a coin."""
    return (_yes(present) + 1 - _yes(more)) / 2


def _yes(log_ratio: Floats) -> Floats:
    return np.where(np.abs(log_ratio) < _TIE, 0.5, (log_ratio > 0).astype(np.float64))


def rate_in(told: Sequence[Told], confidence: float, coins: np.random.Generator) -> Rate:
    """The rate of right answers; its interval is as wide as such rates spread where noise is as large as was paid for.

    Targets share counts, so they hang together. So many worlds are drawn that the extreme ones are as rare as the
    interval's ends should be.
    """
    rate = float(right(leaning(told, more=False), leaning(told, more=True)).mean())
    worlds = math.ceil(2 / (1 - confidence))
    attempts = 2 * len(told[0].cell)
    if worlds > _MOST_WORLDS:
        return Rate(rate=rate, low=0.0, high=1.0, attempts=attempts)
    drawn = rates_drawn(told, worlds, coins)
    low, high = rate - (drawn.max() - drawn.mean()), rate + (drawn.mean() - drawn.min())
    return Rate(rate=rate, low=max(0.0, float(low)), high=min(1.0, float(high)), attempts=attempts)


def rates_drawn(told: Sequence[Told], worlds: int, coins: np.random.Generator) -> Floats:
    """Rates of right answers in so many worlds, with noise that costs what the parts do."""
    targets = len(told[0].cell)
    seen = [np.unique(part.cell, return_inverse=True) for part in told]
    step = max(1, _CELLS // targets)
    found = []
    for start in range(0, worlds, step):
        some = min(step, worlds - start)
        present, more = np.zeros((some, targets)), np.zeros((some, targets))
        for part, (cells, place) in zip(told, seen, strict=True):
            share = float(part.share)
            drawn = coins.random((some, len(cells)))
            present += share * np.where(drawn < allowed(share), 1, -1)[:, place]  # n >= 0
            more += share * np.where(drawn < 1 - allowed(share), 1, -1)[:, place]  # n >= 1
        found.append(right(present, more).mean(axis=1))
    return np.concatenate(found)

"""The beta-step: every tuple of the domain with probability beta, without going through the domain.

Paper: [RSH] Algorithm 2.
Departs: the paper draws a number of tuples and then tuples until there are that many. Where codes fit in a word,
    the gaps between inserted codes are drawn instead (they are geometric), so the noise comes sorted and distinct.
    Where they do not, the number is binomial and the tuples are a uniform set of that size.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.mechanism.alphabeta.codes import Ints, Radix, distinct

_AT_ONCE = 1 << 22
_SPARE = 1 << 61


def every_tuple_with(probability: Fraction, radix: Radix, coins: np.random.Generator) -> Ints:
    """The chosen tuples, packed and in order."""
    if len(radix.words) == 1:
        return _by_gaps(float(probability), radix.domain, coins)[None, :]
    return _by_number(float(probability), radix, coins)


def _by_gaps(probability: float, domain: int, coins: np.random.Generator) -> Ints:
    parts: list[Ints] = []
    position = -1
    step = min(_AT_ONCE, max(1, int(_SPARE * probability / 64)))  # so that a run of gaps stays within 64 bits
    while position < domain:
        gaps = np.minimum(
            coins.geometric(probability, size=min(step, _expected(domain - position, probability))), domain + 1
        )
        reached = position + np.cumsum(gaps)
        parts.append(reached[reached < domain])
        position = int(reached[-1])
    return np.concatenate(parts)


def _expected(left: int, probability: float) -> int:
    """About as many gaps as are still needed."""
    return int(left * probability * 1.01 + 100)


def _by_number(probability: float, radix: Radix, coins: np.random.Generator) -> Ints:
    """A binomial number of tuples, drawn attribute by attribute; copies, which hardly occur, are drawn again."""
    mean = float(radix.domain * Fraction(probability))
    wanted = int(coins.poisson(mean))  # binomial, but for a total variation of at most p, which is below 1e-9 here
    chosen = np.zeros((len(radix.words), 0), dtype=np.int64)
    while chosen.shape[1] < wanted:
        more = wanted - chosen.shape[1]
        columns = [coins.integers(0, size, size=more) for size in radix.sizes]
        chosen = distinct(np.concatenate([chosen, radix.pack(columns)], axis=1))
    return chosen

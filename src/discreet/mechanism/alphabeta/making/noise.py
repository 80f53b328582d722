"""The beta-step: every tuple of the domain with its probability, without going through the domain.

The terms of art are geometric skipping, and Poisson thinning where tuples are not equally probable.

Paper: [RSH] Algorithms 2 and 8.
Departs: the paper draws a number of tuples and then tuples until there are that many. Where codes fit in a word,
    the gaps between inserted codes are drawn instead (they are geometric), so the noise comes sorted and distinct.
    Where they do not, the number is binomial and the tuples are a uniform set of that size. Where a source makes some
    tuples more probable than others, the number of inserted tuples is not binomial: points are strewn over the domain
    by a Poisson process and thinned, so that each tuple is hit with exactly its probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.alphabeta.making.codes import Radix, distinct

_AT_ONCE = 1 << 22
_SPARE = 1 << 61
Weights = Sequence[Sequence[int] | None]


def every_tuple_with(probability: Fraction, radix: Radix, coins: np.random.Generator) -> Ints:
    """The chosen tuples, packed and in order."""
    if len(radix.words) == 1:
        return _by_gaps(float(probability), radix.domain, coins)[None, :]
    return _by_number(float(probability), radix, coins)


def every_tuple_by_weight(probability: Fraction, weights: Weights, radix: Radix, coins: np.random.Generator) -> Ints:
    """Each tuple with that probability times its weight: packed and in order.

    `weights` are whole numbers for the values of each attribute, or None where all are alike; the weight of a tuple is
    their product, 1 on average.
    """
    chance, shares = float(probability), shares_of(weights, radix)
    ends = [None if each is None else np.cumsum(np.array(each, dtype=np.int64)) for each in weights]
    largest = chance * math.prod(float(each.max()) for each in shares)
    excess = -math.log1p(-largest) / largest  # of the intensity -log(1 - p) over p, which grows with p
    wanted = int(coins.poisson(excess * float(probability * radix.domain)))
    parts = [np.zeros((len(radix.words), 0), dtype=np.int64)]
    for start in range(0, wanted, _AT_ONCE):
        some = min(_AT_ONCE, wanted - start)
        columns = [_draw(each, size, some, coins) for each, size in zip(ends, radix.sizes, strict=True)]
        hit = chance * weights_of(columns, shares)
        kept = coins.random(some) * excess * hit < -np.log1p(-hit)
        parts.append(radix.pack([column[kept] for column in columns]))
    return distinct(np.concatenate(parts, axis=1))


def weights_of(columns: Sequence[Ints], shares: Sequence[Floats]) -> Floats:
    """The weight of each tuple."""
    found = np.ones(len(columns[0]))
    for share, column in zip(shares, columns, strict=True):
        if len(share) > 1:
            found *= share[column]
    return found


def shares_of(weights: Weights, radix: Radix) -> list[Floats]:
    """How much more probable than on average each value is; one entry where all are alike."""
    return [
        np.ones(1) if each is None else np.array(each) * (size / sum(each))
        for each, size in zip(weights, radix.sizes, strict=True)
    ]


def _draw(ends: Ints | None, size: int, number: int, coins: np.random.Generator) -> Ints:
    """Values of one attribute, each drawn with a probability that is exactly its share; `ends` are summed weights."""
    if ends is None:
        return coins.integers(0, size, size=number)
    return np.searchsorted(ends, coins.integers(0, int(ends[-1]), size=number), side="right")


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

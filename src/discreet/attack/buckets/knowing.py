"""What one bucket says of a person to somebody who knows the values of others in it: closed forms, in fractions.

Paper: [WWFW] section 6.
Symbols: S rows of the bucket, sigma fakes that were put beside them, c_x how often the ST counts x (fakes included), so
    sum c_x = S + sigma slots; q others are known, k_x of them have x; T = S + sigma - q slots are left.
    Pr(x) = (c_x - k_x) / T, if the fakes are a uniform choice of sigma slots: all injections of people into slots are
    equally likely, and fixing q of them leaves uniform injections into the others.
Departs: the paper's 1/(1 + sigma) for one who knows all others holds only where values are distinct: it is c_x - k_x
    times that. And whoever knows how many fakes of each value there are in all, as totals of real records tell, is not
    held by it: see `totals.py` and guarantee/certainty.py. Whatever he knows of the fakes, he never has more than
    min(c_x, S) / (S - q): given which slots are fakes, the rest are given to people uniformly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction


def believed(count: int, slots: int, others: int = 0, having: int = 0) -> Fraction:
    """Pr(x) for one who knows `others`, of whom so many are `having` x; `slots` with fakes."""
    return Fraction(count - having, slots - others)


def most_believed(count: int, slots: int, others: int) -> Fraction:
    """The largest Pr(x), whoever the others are: as few of them as can be have x."""
    return believed(count, slots, others, max(0, others - (slots - count)))


def most_of_people(count: int, people: int, others: int) -> Fraction:
    """The largest Pr(x), whoever the others are and whatever he knows of the fakes: at worst none of them is x."""
    return most_believed(min(count, people), people, min(others, people - 1))


def believed_without(count: int, slots: int, excluded: int) -> Fraction:
    """Pr(x) for one who knows that the person has none of the values of `excluded` slots, of which x is not one."""
    return Fraction(count, slots - excluded)


def expected_right(counts: Sequence[int], lefts: Sequence[int]) -> list[Fraction]:
    """How often the best guess is right where so many slots are left, in the mean over who is known; exact.

    The slots that are left, the person's among them, are a uniform choice of all slots; of T the best guess is right
    with max_x r_x / T. E max = sum over t of P(max > t), and P(max <= t) = prod_x (ways to leave at most t of x).
    """
    slots, kinds = sum(counts), Counter(counts)
    width = slots + 1  # bits of a coefficient, which counts some of the 2^slots choices
    mask = (1 << width) - 1
    summed = [Fraction(0)] * len(lefts)
    for most in range(max(counts)):
        ways = 1
        for count, often in kinds.items():
            few = sum(math.comb(count, r) << (width * r) for r in range(min(most, count) + 1))
            ways *= few**often
        for number, left in enumerate(lefts):
            summed[number] += 1 - Fraction((ways >> (width * left)) & mask, math.comb(slots, left))
    return [total / left for total, left in zip(summed, lefts, strict=True)]

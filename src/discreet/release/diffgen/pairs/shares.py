"""How epsilon is shared out, in exact fractions: a function of epsilon, the columns' sizes and the noisy total alone.

Roots are taken of whole numbers and cut to thousandths, so that every machine gets the same shares, and short ones.

Symbols: x = max(1, noisy total * epsilon), what a table is worth; D a column's number of cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

TOTAL = Fraction(1, 100)  # of epsilon, for the total
FEWEST_ROUNDS, MOST_ROUNDS = 3, 20
MOST_STATED = 60  # characters by which a share, written as a/b, can be longer than epsilon
_MOST_ONES = Fraction(85, 100)
_LEAST_CHOOSING, _MOST_CHOOSING = Fraction(8, 100), Fraction(30, 100)
_DIGITS = 1000


@dataclass(frozen=True, kw_only=True)
class Shares:
    """What each part may cost: the total, each column's table, and the rounds, which divide the rest.

    `choosing` is the part of a round's share that pays for its choice.
    """

    total: Fraction
    ones: tuple[Fraction, ...]
    rest: Fraction
    rounds: int
    choosing: Fraction

    @property
    def epsilon(self) -> Fraction:
        return self.total + sum(self.ones) + self.rest

    def again(self, left: Fraction) -> tuple[Fraction, ...]:
        """What is left, divided over the columns' tables as at first."""
        whole = sum(self.ones)
        return tuple(left * share / whole for share in self.ones)


def share_of_total(epsilon: Fraction) -> Fraction:
    """What the total costs; all other shares depend on what came out."""
    return epsilon * TOTAL


def shares_of(epsilon: Fraction, sizes: Sequence[int], total: int) -> Shares:
    """Columns' tables get min(.85, 12 x^(-1/3)) of epsilon, a thousandth at least, by D^(1/4); .15 (15000 / x)^(1/2)
    of a round chooses.
    """
    x = max(Fraction(1), total * epsilon)
    ones = min(_MOST_ONES, Fraction(max(1, _cube_root((12 * _DIGITS) ** 3 / x)), _DIGITS))
    weights = [math.isqrt(math.isqrt(size * _DIGITS**4)) for size in sizes]
    choosing = Fraction(math.isqrt(int((_DIGITS * 15 // 100) ** 2 * 15_000 / x)), _DIGITS)
    return Shares(
        total=share_of_total(epsilon),
        ones=tuple(epsilon * ones * Fraction(weight, sum(weights)) for weight in weights),
        rest=epsilon * (1 - TOTAL - ones),
        rounds=min(max((math.isqrt(int(4 * Fraction(361, 100_000) * x)) + 1) // 2, FEWEST_ROUNDS), MOST_ROUNDS),
        choosing=min(max(choosing, _LEAST_CHOOSING), _MOST_CHOOSING),
    )


def _cube_root(number: Fraction) -> int:
    """The largest whole number whose cube is not above a number."""
    wanted = int(number)
    low, high = 0, 1 << (wanted.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= wanted else (low, middle - 1)
    return low

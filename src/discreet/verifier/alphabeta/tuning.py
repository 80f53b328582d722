"""Whether stated probabilities are the ones that the stated tuning chooses: a rule of the format, worked out once more.

Paper: [RSH] Theorems 4.2 and 6.3, sections 4.2, 4.4.1 and 4.4.2.
Symbols: s the probability to keep a tuple, beta_i that to insert another one in view i, q that to show again what an
    earlier view showed; a = d (1 - gamma), b = gamma (1 - d). Coins have multiples of 2^-62 as probabilities.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from discreet.verifier.alphabeta.bayes import keeps, records_keep
from discreet.verifier.alphabeta.stated import Records, Tuples

UNITS = 1 << 62
_UNIT = Fraction(1, UNITS)
_NOISE = Fraction(999, 1000)  # so much of the noise would not do


def coins_have(promised: Tuples | Records) -> bool:
    """Whether all stated probabilities are ones that coins have."""
    stated = [promised.keep]
    if isinstance(promised, Tuples):
        stated += promised.inserts if promised.again is None else [*promised.inserts, promised.again]
    return all(UNITS % each.denominator == 0 for each in stated)


def tuned(promised: Tuples | Records, tuning: str) -> bool:
    """Whether the tuning chooses these; of several views, as far as it is no search."""
    if isinstance(promised, Records):
        return most_kept(promised)
    if promised.again is None:
        return (promised.keep, *promised.inserts) == chosen(promised, tuning)
    return in_step(promised, promised.again) and scarce(promised, promised.again)


def chosen(promised: Tuples, tuning: str) -> tuple[Fraction, Fraction]:
    """s and beta of one view: chosen for the heaviest tuple, scaled to weight 1, beta rounded up and s down."""
    heaviest = promised.weights[1]
    d, gamma = promised.d * heaviest, promised.gamma
    a, b = d * (1 - gamma), gamma * (1 - d)
    keep, insert = {
        ("exclusive", "optimal"): (Fraction(1, 2), a / (a + b)),
        ("exclusive", "paper"): (Fraction(1, 2), 2 * a / b),
        ("independent", "optimal"): (b / (b + d), a / (b + d)),
        ("independent", "paper"): (Fraction(1, 2), d / gamma),
    }[promised.adversary, tuning]
    insert = _above(insert / heaviest)
    return -_above(insert * (heaviest - 1) - keep), insert


def in_step(promised: Tuples, again: Fraction) -> bool:
    """Whether some x gives every view's noise: beta_i is x (s / q)^(v - i), rounded up."""
    step, low, high = Fraction(1), Fraction(0), Fraction(1)
    for insert in reversed(promised.inserts):
        low, high = max(low, (insert - _UNIT) / step), min(high, insert / step)
        step *= promised.keep / again
    return low < high


def scarce(promised: Tuples, again: Fraction) -> bool:
    """Whether no noise could be spared: a thousandth of it and two units less, and the promise is not kept."""
    less = tuple(insert * _NOISE - 2 * _UNIT for insert in promised.inserts)
    return not keeps(replace(promised, inserts=less))


def most_kept(promised: Records) -> bool:
    """Whether FRAPP keeps as much as the promise allows: one unit more, and it is not kept."""
    more = promised.keep + _UNIT
    return more == 1 or not records_keep(replace(promised, keep=more))


def _above(number: Fraction) -> Fraction:
    """The next multiple of 2^-62 at or above."""
    return Fraction(-(-number * UNITS // 1), UNITS)

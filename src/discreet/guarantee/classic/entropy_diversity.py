"""Entropy l-diversity: the values of every class are as mixed as l equally frequent ones, or more.

Paper: Machanavajjhala and others, l-diversity, which [W14] section 2.3.1 starts from.
Symbols: H = - sum of p ln p over the shares p of a class; l = exp(H), so l^S times the product of all c^c is S^S.
Departs: comparisons are of these whole numbers, not of floats.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from discreet.ground.arrays import Ints
from discreet.ground.exact import Number
from discreet.ground.shown import name_some
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.logs import sign_of_powers, sum_of_logs
from discreet.guarantee.classic.measured import Measured, limit_of, rows, worst_place

Mix = tuple[int, ...]  # the counts of a class without their common divisor, in order: all that its entropy hangs on
_NEAR = 1e-9  # entropies of doubles that are further apart are not equal
_DIGITS = 60


@dataclass(frozen=True, kw_only=True)
class EntropyDiversity(Measured):
    """`number` is None, for exp(H) is seldom a fraction; `value` is the nearest double, or one beside it."""

    mix: Mix

    @property
    def value(self) -> float:
        size = sum(self.mix)
        with localcontext() as context:
            context.prec = _DIGITS
            return float((sum_of_logs(_entropy(self.mix), _DIGITS) / Decimal(size)).exp())

    def holds(self, limit: Number) -> bool:
        wanted = limit_of(self.symbol, limit)
        if wanted <= 1:
            return True
        size, powers = sum(self.mix), _entropy(self.mix)
        powers[wanted.numerator] -= size
        powers[wanted.denominator] += size
        return sign_of_powers(powers) >= 0

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "exact": f"exp of the entropy of {name_some(self.mix)}"}


def entropy_diversity(classes: Classes) -> EntropyDiversity:
    """The largest l, exp of the least entropy of a class."""
    place, mix = _least(classes)
    size = int(classes.sizes[place])
    count = int(np.maximum.reduceat(classes.count, classes.starts)[place])
    return EntropyDiversity(
        notion="entropy l-diversity",
        symbol="l",
        number=None,
        keeps="at least",
        count=count,
        mix=mix,
        why=f"{len(mix):,} {'value' if len(mix) == 1 else 'values'} in {rows(size)}, the most frequent has {count:,}",
        **worst_place(classes, place),
    )


def _least(classes: Classes) -> tuple[int, Mix]:
    """The class of the least entropy, and what it hangs on; the first of equal ones."""
    values = np.diff(classes.starts, append=len(classes.count))
    if (alone := np.flatnonzero(values == 1)).size:
        return int(alone[0]), (1,)
    inside = np.add.reduceat(classes.count * np.log(classes.count), classes.starts) / classes.sizes
    entropy = np.log(classes.sizes) - inside
    near = np.flatnonzero(entropy <= entropy.min() + _NEAR)
    first: dict[Mix, int] = {}
    ends = np.append(classes.starts, len(classes.count))
    for place in near.tolist():
        first.setdefault(_mix(classes.count[ends[place] : ends[place + 1]]), place)
    found = iter(first.items())
    mix, best = next(found)
    for other, place in found:
        if _compare(other, mix) < 0:
            mix, best = other, place
    return best, mix


def _mix(count: Ints) -> Mix:
    counts = sorted(count.tolist())
    common = math.gcd(*counts)
    return tuple(each // common for each in counts)


def _entropy(mix: Iterable[int]) -> Counter[int]:
    """S ln S - sum c ln c, S times the entropy, as powers."""
    counts = list(mix)
    powers: Counter[int] = Counter()
    for count in counts:
        powers[count] -= count
    powers[sum(counts)] += sum(counts)
    return powers


def _compare(one: Mix, other: Mix) -> int:
    """Whether one has more entropy, as much or less."""
    size, others = sum(one), sum(other)
    powers: Counter[int] = Counter()
    for own, times in ((_entropy(one), others), (_entropy(other), -size)):
        for base, power in own.items():
            powers[base] += power * times
    return sign_of_powers(powers)

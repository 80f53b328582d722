"""How certain one can be who knows all others of a bucket with fakes, and the exact totals: by the law of the draw.

Paper: [WWFW] section 6.
Symbols: sigma fakes in every bucket of a class, beside people; of each value v_x people and m_x fakes in the class; rho
    the largest of the odds v_x / m_x over the smallest; c_x how often a bucket's ST counts x, fakes included. Who knows
    all others is left with 1 + sigma slots, of which c = min(c_x, 1 + sigma) at most are x, and believes in x with
    rho c / (rho c + 1 + sigma - c) at most.
Departs: the paper's 1 / (1 + sigma) fails where values repeat, and where totals tell which values were made up more
    often than others. The bound is proved for weights of product form; that they are of that form is an approximation,
    coarse in tiny tables. So it is never part of the promise.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction


def certainty(left: int, slots: int, odds: Fraction | None) -> Fraction:
    """What a value reaches that `left` of `slots` may be; `odds` is rho, None where a value has no fakes."""
    if odds is None:
        return Fraction(int(left > 0))
    return odds * left / (odds * left + slots - left)


def class_certainty(most: int, held: Iterable[tuple[int, int]], fakes: int) -> Fraction:
    """The same of a class whose buckets hold any protected value `most` times at most; `held` as in `odds_ratio`."""
    return certainty(min(most, 1 + fakes), 1 + fakes, odds_ratio(held))


def odds_ratio(held: Iterable[tuple[int, int]]) -> Fraction | None:
    """rho of a class, from how many people and how many fakes have each value that people have."""
    odds = [Fraction(people, made) if made else None for people, made in held]
    known = [each for each in odds if each is not None]
    return None if len(known) < len(odds) else max(known) / min(known)

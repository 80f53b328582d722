"""Quantiles of a column of numbers, by turning counts around: which values could be it, given what is known of how many
people have at most that.

Of a value t the number D = N(column <= t) - q N(column is there) says on which side of the quantile it lies. The
interval has every t for which D may be 0, so it covers as the interval of D does (the term of art is Woodruff's
interval). Columns of many values are cut into bands first, and those that matter are cut again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np

from discreet.engine.duck.sql import literal
from discreet.estimate.estimate import Estimate
from discreet.estimate.interval import Way
from discreet.estimate.sums import Sums
from discreet.query.condition import Atom, Column, Condition, Every
from discreet.query.figure import Quantile, Sum
from discreet.schema.valued import Valued

_PIECES = 64  # into which a band that matters is cut
_NOBODY = "nobody may be meant, so there may be no such value"
Number = int | Decimal
Answer = Callable[[Sequence[Sum]], Sums]  # of sums of which no row is in two


@dataclass(frozen=True, kw_only=True)
class _Place:
    """The bands that the quantile and the ends of its interval are in; no quantile where nobody may be meant."""

    low: int
    value: int | None
    high: int
    certain: bool


def quantile(asked: Quantile, domain: Valued, answer: Answer, way: Way) -> Estimate:
    """The quantile with its interval."""
    values: list[Number] = sorted(value for value in domain if not isinstance(value, str | None))
    ends = _cut([0, len(values)], [0])
    while True:
        bands = [_band(asked.column, values[low], values[high - 1]) for low, high in pairwise(ends)]
        sums = answer([Sum(where=Every((band, asked.where))) for band in bands])
        found = _placed(sums, asked.share, way.width)
        matter = {found.low, found.high, *(() if found.value is None else (found.value,))}
        if all(ends[place + 1] - ends[place] == 1 for place in matter):
            break
        ends = _cut(ends, {ends[place] for place in matter})  # none is joined again, so it ends
    least, value, most = (
        None if place is None else _plain(values[ends[place]]) for place in (found.low, found.value, found.high)
    )
    if value is not None and found.certain:
        return way.certain(value)
    bounds = (_plain(values[0]), _plain(values[-1]))
    if value is None or least is None or most is None:
        note = sums.unknown if np.isnan(sums.values).any() else _NOBODY
        return way.bounds_only(bounds, note=note)
    return Estimate(
        value=value,
        standard_error=None,
        low=min(least, value),
        high=max(most, value),
        confidence=way.confidence,
        bounds=bounds,
        unit=way.unit,
        estimator=way.estimator,
        conditional_on=sums.over,
        note=sums.note,
    )


def _placed(sums: Sums, share: Fraction, width: float) -> _Place:
    """Where the number D turns from below 0 to above it, surely and as it came out."""
    last = len(sums.values) - 1
    if not sums.values.sum() > 0:  # nan too
        return _Place(low=0, value=None, high=last, certain=False)
    if not sums.covariance.any() and not sums.stray.any():
        reached = [int(sum((low for low, _ in sums.bounds[: place + 1]), Fraction(0))) for place in range(last + 1)]
        place = next(number for number, count in enumerate(reached) if count >= share * reached[-1])
        return _Place(low=place, value=place, high=place, certain=all(low == high for low, high in sums.bounds))
    below = np.tril(np.ones((last + 1, last + 1))) - float(share)
    side = below @ sums.values
    reach = width * np.array([sums.error(each) for each in below])
    above, surely = np.flatnonzero(side >= 0), np.flatnonzero(side - reach <= 0)
    low = np.flatnonzero(side + reach >= 0)
    return _Place(
        low=int(low[0]) if len(low) else last,
        value=int(above[0]) if len(above) else last,
        high=min(last, int(surely[-1]) + 1) if len(surely) else 0,
        certain=False,
    )


def _cut(ends: Sequence[int], starts: Collection[int]) -> list[int]:
    """The same bands, those with these starts cut into pieces."""
    found = [ends[0]]
    for low, high in pairwise(ends):
        pieces = min(_PIECES, high - low) if low in starts else 1
        found += [low + (high - low) * number // pieces for number in range(1, pieces + 1)]
    return found


def _band(column: str, low: Number, high: Number) -> Condition:
    return Atom((Column(column), f" BETWEEN {literal(low)} AND {literal(high)}"))


def _plain(value: Number) -> float:
    return value if isinstance(value, int) else float(value)

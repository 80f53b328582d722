"""`estimator="unbiased"`: the matches of each bucket, weighted by a regression on the ST that is made once.

The weights and their variance are in `regression.py`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.matched import Matched
from discreet.estimate.buckets.regression import MOST_VALUES, Answer, Regressed
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.estimate import COINS, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Spread, Way

_UNKNOWN = "the published counts do not determine the share of these values"
_SOME = f"{_UNKNOWN} in some windows; the interval carries how far off that may be"


class Unbiased:
    """True on average over the publisher's coins, whatever the table is like."""

    name: ClassVar[str] = "unbiased"
    needs: ClassVar[str] = ""

    def __init__(self, release: BucketRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: BucketRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        regression = self._release.regression
        return [unbiased_estimate(regression, each, way) for each in self._release.matched(asked.conditions)]


def unbiased_estimate(regression: Regressed, matched: Matched, way: Way) -> Estimate:
    """The matches, weighted; the bounds alone where the published counts do not determine the answer.

    A count that only the chance of the coins made exact keeps the design that it would have had, or none: else sums of
    designs would not stay without bias.
    """
    least, most = matched.limits
    if least == most and matched.plain:
        return way.certain(least)
    found = regression.answer(matched.chosen, matched.matches, matched.joint)
    if found is None:
        if least == most:
            return replace(way.certain(least), design=None)
        return way.bounds_only(matched.limits, note=f"{_why(regression.composition)}; only the bounds are known")
    if found.off:
        return _partly(found, matched, way)
    spread = Spread(noise=found.variance)
    if least == most:
        return replace(way.certain(least), design=way.raw(found.value, spread, matched.limits, over=COINS))
    return way.estimate(found.value, spread, matched.limits, over=COINS)


def _partly(found: Answer, matched: Matched, way: Way) -> Estimate:
    """The answer where some windows do not determine their part: error and interval carry how far off that may be, and
    where it may be further than chance reaches, there is no value.
    """
    if matched.limits[0] == matched.limits[1]:
        return replace(way.certain(matched.limits[0]), design=None)
    error = math.sqrt(found.variance)
    spread = Spread(noise=(error + found.off / way.width) ** 2)
    usual = way.estimate(found.value, spread, matched.limits, over=COINS, note=_SOME)
    if found.off <= way.width * error:
        return usual
    if usual.low == matched.limits[0] and usual.high == matched.limits[1]:
        return way.bounds_only(matched.limits, note=f"{_UNKNOWN}; only the bounds are known")
    return replace(usual, value=None, standard_error=None, design=None, note=f"{_UNKNOWN} in some windows")


def _why(composition: Composition) -> str:
    if len(composition.values) > MOST_VALUES:
        return f"more than {MOST_VALUES:,} values occur"
    return _UNKNOWN

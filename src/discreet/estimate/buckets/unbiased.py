"""`estimator="unbiased"`: the matches of each bucket, weighted by a regression on the ST that is made once.

The weights and their variance are in `regression.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from discreet.estimate.buckets.matched import Matched
from discreet.estimate.buckets.regression import MOST_VALUES, Regression, Weighted
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.estimate import COINS, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Spread, Way


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


def unbiased_estimate(regression: Regression, matched: Matched, way: Way) -> Estimate:
    """The matches, weighted; the bounds alone where the published counts do not determine the answer.

    A count that only the chance of the coins made exact keeps the design that it would have had, or none: else sums of
    designs would not stay without bias.
    """
    least, most = matched.limits
    if least == most and matched.plain:
        return way.certain(least)
    if not all(regression.identifies(values) for values in matched.chosen):
        if least == most:
            return replace(way.certain(least), design=None)
        return way.bounds_only(matched.limits, note=f"{_why(regression)}; only the bounds are known")
    value, spread = _weighted(regression, matched)
    if least == most:
        return replace(way.certain(least), design=way.raw(value, spread, matched.limits, over=COINS))
    return way.estimate(value, spread, matched.limits, over=COINS)


def _weighted(regression: Regression, matched: Matched) -> tuple[float, Spread]:
    """The unbiased value and its variance over the coins."""
    parts = [
        Weighted(values=values, weights=regression.weights(values), matches=found)
        for values, found in zip(matched.chosen, matched.matches, strict=True)
    ]
    value = sum(float((part.weights * part.matches).sum()) for part in parts)
    return value, Spread(noise=regression.variance(parts, matched.joint))


def _why(regression: Regression) -> str:
    if len(regression.composition.values) > MOST_VALUES:
        return f"more than {MOST_VALUES:,} values occur"
    return "the published counts do not determine the share of these values"

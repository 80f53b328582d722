"""From matches to an estimate: the value, its variance, the interval and the hard bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.estimate.buckets.bounds import bounds
from discreet.estimate.buckets.composition import Ints
from discreet.estimate.buckets.unbiased import MOST_VALUES, Regression, Weighted
from discreet.estimate.buckets.uniform import uniform
from discreet.estimate.estimate import COINS, MODEL, NOTHING, Estimate

OUTSIDE = "the value is unbiased but lies outside the bounds; go by the interval"


def answer(
    regression: Regression,
    matches: Sequence[Ints],
    chosen: Sequence[tuple[int, ...]],
    joint: Mapping[tuple[int, int], Ints],
    *,
    estimator: str,
    confidence: float,
    width: float,
) -> Estimate:
    """The estimate of a sum over parts: the people with a value in `chosen` who meet the part's condition.

    `joint` has, for pairs of parts, the rows of each bucket that meet both conditions.
    """
    composition = regression.composition
    held = [composition.held(values) for values in chosen]
    limits = bounds(matches, held, composition.sizes)

    def interval(value: float, variance: float, over: str) -> Estimate:
        error = variance**0.5
        low, high = (min(max(value + side * width * error, limits[0]), limits[1]) for side in (-1, 1))
        return Estimate(
            value=value,
            standard_error=error,
            low=low,
            high=high,
            confidence=confidence,
            bounds=limits,
            conditional_on=over,
            note="" if limits[0] <= value <= limits[1] else OUTSIDE,
        )

    if limits[0] == limits[1]:
        return interval(float(limits[0]), 0.0, NOTHING)
    if estimator == "uniform":
        return interval(*uniform(matches, held, composition.sizes), MODEL)
    if not all(regression.identifies(values) for values in chosen):
        return _bounds_only(limits, confidence, len(composition.values))
    parts = [
        Weighted(values=values, weights=regression.weights(values), matches=found)
        for values, found in zip(chosen, matches, strict=True)
    ]
    value = sum(float((part.weights * part.matches).sum()) for part in parts)
    return interval(value, regression.variance(parts, joint), COINS)


def _bounds_only(limits: tuple[int, int], confidence: float, values: int) -> Estimate:
    why = (
        f"more than {MOST_VALUES:,} values occur"
        if values > MOST_VALUES
        else "the published counts do not determine the share of these values"
    )
    return Estimate(
        value=None,
        standard_error=None,
        low=limits[0],
        high=limits[1],
        confidence=confidence,
        bounds=limits,
        conditional_on=NOTHING,
        note=f"{why}; only the bounds are known",
    )

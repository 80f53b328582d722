"""The one place where intervals are made: all possible counts that are near enough to what was estimated.

The score interval has all counts whose expectation is within z standard deviations, at that count, of what was seen.
Where the variance does not depend on the count, that is the value with z standard errors to each side. It is cut to the
bounds, which loses no truth. Where the estimate itself lies outside the bounds, little of it may be left, and
the interval reaches at least as far from the nearest bound as a likelihood does that knows the bounds (`edge.py`). Both
meet where the estimate is a bound. A count is whole, so an interval reaches at least half a one to each side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

from discreet.estimate.edge import reach
from discreet.estimate.estimate import COINS, NOTHING, Estimate

Interval = tuple[float, float]
_ROUNDING = 1e-6  # of a count
_HALF = 0.5  # a narrower interval might have no whole number in it


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The variance of an estimate: noise + more Q, where Q is the true count."""

    noise: float
    more: float = 0.0

    def error(self, count: float) -> float:
        """The standard error where that is the true count."""
        return math.sqrt(max(0.0, self.noise + self.more * count))

    def score(self, value: float, width: float) -> Interval | None:
        """All Q with (value - Q)^2 <= width^2 (noise + more Q); None where there is none, far outside of the bounds."""
        middle = width**2 * self.more / 2
        square = self.noise + self.more * value + middle * self.more / 2
        if square < 0:
            return None
        half = width * math.sqrt(square)
        return value + middle - half, value + middle + half


@dataclass(frozen=True, kw_only=True)
class Way:
    """How an answer is made: what is counted, by which estimator, and how sure its interval is to be."""

    unit: str
    estimator: str
    confidence: float
    half: float = _HALF  # how far an interval reaches at least
    times: float | None = None  # standard errors to each side, where others must hold at once

    @property
    def width(self) -> float:
        """How many standard errors an interval reaches to each side."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2) if self.times is None else self.times

    def estimate(
        self,
        value: float,
        spread: Spread,
        bounds: tuple[float, float],
        *,
        over: str,
        note: str = "",
        design: Estimate | None = None,
    ) -> Estimate:
        """A value and its interval within the bounds; what was cut is noted, and over coins `design` keeps it whole."""
        if bounds[0] == bounds[1]:
            return self.certain(bounds[0])
        raw = self.raw(value, spread, bounds, over=over, note=note)
        shown = _within(value, bounds)
        low, high = self._possible(raw, value, shown, spread)
        cut = _cut({"the value": abs(shown - value), "the interval": _beyond((raw.low, raw.high), bounds)})
        return replace(
            raw,
            value=shown,
            low=low,
            high=high,
            design=raw if over == COINS else design,
            note="; ".join(filter(None, (note, cut))),
        )

    def raw(self, value: float, spread: Spread, bounds: tuple[float, float], *, over: str, note: str = "") -> Estimate:
        """A value and its interval as they came out; the standard error is that of the nearest possible count."""
        error = spread.error(_within(value, bounds))
        low, high = spread.score(value, self.width) or (value - self.width * error, value + self.width * error)
        return Estimate(
            value=value,
            standard_error=error,
            low=low,
            high=high,
            confidence=self.confidence,
            bounds=bounds,
            unit=self.unit,
            estimator=self.estimator,
            conditional_on=over,
            note=note,
        )

    def leaning(self, unbiased: Estimate, value: float, *, over: str, note: str) -> Estimate:
        """Another value in the place of an unbiased answer's, whose interval stays; widened, if it must, to hold it."""
        design = unbiased.design or unbiased
        shown = _within(value, unbiased.bounds)
        cut = _cut({"the value": abs(shown - value), "the interval": _beyond((design.low, design.high), design.bounds)})
        return replace(
            unbiased,
            value=shown,
            low=min(unbiased.low, shown),
            high=max(unbiased.high, shown),
            estimator=self.estimator,
            conditional_on=over,
            note="; ".join(filter(None, (note, cut))),
        )

    def between(
        self, value: float, error: float, interval: Interval, bounds: tuple[float, float], *, over: str, note: str = ""
    ) -> Estimate:
        """A value with an interval that was worked out for it, within the bounds; over coins `design` has it whole."""
        raw = replace(
            self.raw(value, Spread(noise=error**2), bounds, over=over, note=note), low=interval[0], high=interval[1]
        )
        shown = _within(value, bounds)
        cut = _cut({"the value": abs(shown - value), "the interval": _beyond(interval, bounds)})
        return replace(
            raw,
            value=shown,
            low=min(shown, _within(interval[0], bounds)),
            high=max(shown, _within(interval[1], bounds)),
            design=raw if over == COINS else None,
            note="; ".join(filter(None, (note, cut))),
        )

    def certain(self, count: float) -> Estimate:
        """A count that the published tables leave no doubt about: whatever the coins were, so it is its own design."""
        found = self.bounds_only((count, count), value=float(count), error=0.0)
        return replace(found, design=found)

    def bounds_only(
        self, bounds: tuple[float, float], *, value: float | None = None, error: float | None = None, note: str = ""
    ) -> Estimate:
        """What is known where nothing but the bounds is."""
        return Estimate(
            value=value,
            standard_error=error,
            low=float(bounds[0]),
            high=float(bounds[1]),
            confidence=self.confidence,
            bounds=bounds,
            unit=self.unit,
            estimator=self.estimator,
            conditional_on=NOTHING,
            note=note,
        )

    def _possible(self, raw: Estimate, value: float, shown: float, spread: Spread) -> Interval:
        """The interval within the bounds: the raw one, and what is plausible of the counts next to the value shown."""
        ends = [raw.low, raw.high, shown - self.half, shown + self.half]
        error, outside = spread.error(shown), abs(value - shown)
        if error > _ROUNDING and outside > _ROUNDING:
            apart = (raw.bounds[1] - raw.bounds[0]) / error
            ends += spread.score(shown, reach(outside / error, apart, self.confidence)) or ()
        return _within(min(ends), raw.bounds), _within(max(ends), raw.bounds)


def _within(number: float, bounds: tuple[float, float]) -> float:
    """The nearest possible number; what is a rounding error away from a bound is the bound."""
    least, most = map(float, bounds)
    return least if number <= least + _ROUNDING else most if number >= most - _ROUNDING else number


def _beyond(interval: Interval, bounds: tuple[float, float]) -> float:
    """How far an interval reaches out of the bounds."""
    return max(0.0 if end in bounds else abs(end - _within(end, bounds)) for end in interval)


def _cut(off: dict[str, float]) -> str:
    """What was cut, in words."""
    what = [name for name, cut in off.items() if cut > _ROUNDING]
    return f"{' and '.join(what)} {'were' if len(what) > 1 else 'was'} cut to what is possible" if what else ""

"""The one place where intervals are made, cut to what is possible, and what was cut is noted.

Two kinds: around a value, by its standard error; and the score interval, all counts whose expectation is within z
standard deviations, at that count, of what was seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

from discreet.estimate.estimate import COINS, NOTHING, Estimate

Interval = tuple[float, float]
_ROUNDING = 1e-6  # of a count


@dataclass(frozen=True, kw_only=True)
class Way:
    """How an answer is made: what is counted, by which estimator, and how sure its interval is to be."""

    unit: str
    estimator: str
    confidence: float

    @property
    def width(self) -> float:
        """How many standard errors an interval reaches to each side."""
        return NormalDist().inv_cdf((1 + self.confidence) / 2)

    def around(self, value: float, error: float) -> Interval:
        """The interval of a value with a standard error that does not depend on the true count."""
        return value - self.width * error, value + self.width * error

    def score(self, value: float, noise: float, more: float) -> Interval:
        """The score interval of a value whose variance is noise + more Q: all Q with (value - Q)^2 <= z^2 of that."""
        middle = 2 * value + self.width**2 * more
        root = math.sqrt(max(0.0, middle**2 - 4 * (value**2 - self.width**2 * noise)))
        return (middle - root) / 2, (middle + root) / 2

    def estimate(
        self,
        value: float,
        error: float,
        interval: Interval,
        bounds: tuple[int, int],
        *,
        over: str,
        note: str = "",
        design: Estimate | None = None,
    ) -> Estimate:
        """A value and its interval within the bounds; what was cut is noted, and over coins `design` keeps it whole."""
        if bounds[0] == bounds[1]:
            return self.certain(bounds[0])
        raw = Estimate(
            value=value,
            standard_error=error,
            low=interval[0],
            high=interval[1],
            confidence=self.confidence,
            bounds=bounds,
            unit=self.unit,
            estimator=self.estimator,
            conditional_on=over,
            note=note,
        )
        low, high = (_within(end, bounds) for end in interval)
        shown = min(max(_within(value, bounds), low), high)
        cuts = abs(shown - value), max(abs(low - interval[0]), abs(high - interval[1]))
        what = [name for name, cut in zip(("the value", "the interval"), cuts, strict=True) if cut > _ROUNDING]
        cut = f"{' and '.join(what)} {'were' if len(what) > 1 else 'was'} cut to what is possible" if what else ""
        return replace(
            raw,
            value=shown,
            low=low,
            high=high,
            design=raw if over == COINS else design,
            note="; ".join(filter(None, (note, cut))),
        )

    def certain(self, count: int) -> Estimate:
        """A count that the published tables leave no doubt about: whatever the coins were, so it is its own design."""
        found = self.bounds_only((count, count), value=float(count), error=0.0)
        return replace(found, design=found)

    def bounds_only(
        self, bounds: tuple[int, int], *, value: float | None = None, error: float | None = None, note: str = ""
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


def _within(number: float, bounds: tuple[int, int]) -> float:
    """The nearest possible number; what is a rounding error away from a bound is the bound."""
    least, most = map(float, bounds)
    return least if number <= least + _ROUNDING else most if number >= most - _ROUNDING else number

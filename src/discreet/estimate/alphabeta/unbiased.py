"""`estimator="unbiased"`: what the view shows above the expected noise, turned around; and the same by another name.

The laws are in `law.py`. "clipped" was the unbiased value cut to what is possible, which every value is now.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

from discreet.estimate.alphabeta.law import Part
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.estimate import COINS, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way


class Unbiased:
    """True on average over the publisher's coins."""

    name: ClassVar[str] = "unbiased"

    def __init__(self, release: AlphaBetaRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: AlphaBetaRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        return [estimate_of(found.parts, found.most, way) for found in self._release.found(asked)]


class Clipped(Unbiased):
    """The unbiased answer, under the name that it had where it was cut."""

    name: ClassVar[str] = "clipped"


def estimate_of(
    parts: Sequence[Part], most: int, way: Way, *, over: str = COINS, note: str = "", design: Estimate | None = None
) -> Estimate:
    """The sum of the parts, with a score interval; `most` is the largest count that is possible."""
    value = sum(part.value for part in parts)
    noise = sum(part.noise / part.slope**2 for part in parts)
    shares = [max(part.value, 1e-9) for part in parts]
    more = sum(part.more / part.slope**2 * share for part, share in zip(parts, shares, strict=True)) / sum(shares)
    error = math.sqrt(max(0.0, noise + more * min(max(value, 0.0), float(most))))
    interval = way.score(value, noise, more)
    return way.estimate(value, error, interval, (0, most), over=over, note=note, design=design)

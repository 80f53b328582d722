"""`estimator="unbiased"`: what the view shows above the expected noise, turned around; and the same by another name.

The laws are in `law.py`. "clipped" was the unbiased value cut to what is possible, which every value is now.
"""

from __future__ import annotations

from typing import ClassVar

from discreet.estimate.alphabeta.answer import UNBIASED, estimate_of
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.estimate import Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way


class Unbiased:
    """True on average over the publisher's coins."""

    name: ClassVar[str] = UNBIASED
    needs: ClassVar[str] = ""

    def __init__(self, release: AlphaBetaRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: AlphaBetaRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        return [estimate_of(found.parts, found.bounds, way) for found in self._release.found(asked)]


class Clipped(Unbiased):
    """The unbiased answer, under the name that it had where it was cut."""

    name: ClassVar[str] = "clipped"

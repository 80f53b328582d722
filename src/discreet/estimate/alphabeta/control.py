"""`estimator="control"`: what the view shows of all records, against how many there are, corrects each count.

A control variate: it trusts that `public_rows` is exactly the number of records.
"""

from __future__ import annotations

from typing import ClassVar

from discreet.estimate.alphabeta.answer import UNBIASED, estimate_of
from discreet.estimate.alphabeta.law import with_total
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way

_TOTAL = "the answer trusts that public_rows is exactly the number of records"


class Control:
    """The unbiased answer with less noise, if the public number of rows is right."""

    name: ClassVar[str] = "control"
    needs: ClassVar[str] = "a release of records in slots that states public_rows"

    def __init__(self, release: AlphaBetaRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: AlphaBetaRelease) -> bool:
        """Only where records are counted in slots, and their number is public."""
        return release.slots > 1 and release.schema.public_rows is not None

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        unit = self._release.unit
        own = Way(unit=unit, estimator=self.name, confidence=confidence)
        plain = Way(unit=unit, estimator=UNBIASED, confidence=confidence)
        rows = self._release.schema.public_rows or 0
        answers = []
        for found in self._release.found(asked):
            design = estimate_of(found.parts, found.bounds, plain).design
            parts = [with_total(found.parts[0], self._release.whole, rows)]
            answers.append(estimate_of(parts, found.bounds, own, over=MODEL, note=_TOTAL, design=design))
        return answers

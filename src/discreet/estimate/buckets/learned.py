"""`estimator="learned"`: who in a bucket has which value is learned from all buckets; the unbiased answer is beside it.

A model: networks learn from the whole release how values depend on quasi-identifiers, and each bucket's rows are
matched to its values by what was learned (`learning/`). The interval carries what matching leaves open, what the model
is unsure of, how far a simpler model is from it, and how far both are from what is unbiased, as far as that shows.

Symbols: v, i_m as in likely.py, D the difference to the linear model, tau^2 the excess of calibrate.py. The interval is
    N +- (z sqrt(2 v + D^2 + tau^2 i_m^2) + 1/2); the root is at most the unbiased answer's standard error, for what was
    learned is off by no more, as measured, but at least that of what is open, i_m.
Where the model contradicts the unbiased answers by more than chance explains (GUARD), or there is no memory for it,
    those are given instead. rule.py says for which releases the learned answer is the default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from discreet.errors import OutOfMemory
from discreet.estimate.buckets.likely import Cell
from discreet.estimate.buckets.matched import Matched
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.buckets.unbiased import Unbiased, unbiased_estimate
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Spread, Way

GUARD = 2.0  # of the mean of d^2 / (v_u + v + 1); it is about 1 where the model is right
_HALF = 0.5  # a count is whole
_WARNED = "what was learned of this release contradicts the unbiased answers, so those are given"
_DEAR = (
    "to learn from this release needs more memory than is allowed, so unbiased answers are given; allow more (memory)"
)
_UNCHECKED = "what was learned of this release cannot be checked by unbiased answers, so it is not used"


class Learned:
    """The least error of all, if what was learned is right; `design` is the unbiased answer."""

    name: ClassVar[str] = "learned"
    needs: ClassVar[str] = ""

    def __init__(self, release: BucketRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: BucketRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        other = Way(unit=self._release.unit, estimator=Unbiased.name, confidence=confidence)
        answers: list[Estimate] = []
        doubt: str | None = None  # found out with the first question that is not exact
        for matched in self._release.matched(asked.conditions, with_rows=True):
            unbiased = unbiased_estimate(self._release.regression, matched, other)
            if unbiased.exact:
                answers.append(replace(unbiased, estimator=self.name if matched.plain else unbiased.estimator))
                continue
            doubt = self._doubt() if doubt is None else doubt
            if doubt:
                answers.append(replace(unbiased, note="; ".join(filter(None, (doubt, unbiased.note)))))
            else:
                answers.append(self._answer(matched, way, unbiased))
        return answers

    def _doubt(self) -> str:
        """Why the unbiased answers are given instead; empty where what was learned is used."""
        if not self._release.regression.fits:
            return _UNCHECKED
        try:
            misfit = self._release.knowledge.misfit
        except OutOfMemory:
            return _DEAR
        if misfit <= GUARD:
            return ""
        return _WARNED if math.isfinite(misfit) else _UNCHECKED

    def _answer(self, matched: Matched, way: Way, unbiased: Estimate) -> Estimate:
        parts = list(zip(matched.rows, matched.chosen, strict=True))
        likely, regression = self._release.likely, self._release.regression
        cells = [
            likely.cell(rows, values, regression.entangled(values, matches))
            for (rows, values), matches in zip(parts, matched.matches, strict=True)
        ]
        value = sum(cell.value for cell in cells)
        between = value - sum(likely.second(rows, values) for rows, values in parts)
        error = learned_error(cells, between, self._release.knowledge.excess)
        if unbiased.design is not None and unbiased.design.standard_error is not None:
            left = math.sqrt(sum(cell.missing for cell in cells))
            error = min(error, max(unbiased.design.standard_error, left))
        error += _HALF / way.width
        return way.estimate(value, Spread(noise=error**2), matched.limits, over=MODEL, design=unbiased.design)


def learned_error(cells: Sequence[Cell], between: float, excess: float) -> float:
    """sqrt(2 v + D^2 + tau^2 i_m^2); what several parts leave open is taken to go the same way."""
    variance = sum(math.sqrt(cell.variance) for cell in cells) ** 2
    missing = sum(cell.missing for cell in cells)
    return math.sqrt(2 * variance + between**2 + excess * missing**2)

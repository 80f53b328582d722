"""`estimator="best"`: the unbiased answer where it is sure, one that leans on what the view tells where it is not.

The value comes from the model; the interval does not. It stays the unbiased answer's, over the publisher's coins, and
is widened to hold the value where it does not.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.estimate.alphabeta.answer import UNBIASED, estimate_of
from discreet.estimate.alphabeta.law import law_of
from discreet.estimate.alphabeta.model import Model
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.alphabeta.shown import Weighed
from discreet.estimate.alphabeta.weighed import learn_view
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way
from discreet.estimate.learned import learned
from discreet.ground.most import MOST_ROWS

NOTE = (
    "the value leans on a model where noise is large; the interval holds over the publisher's coins, whatever the model"
)


class Best:
    """Counts lean on what the view tells of the table, as far as questions of their size may."""

    name: ClassVar[str] = "best"
    needs: ClassVar[str] = "a release of one view"

    def __init__(self, release: AlphaBetaRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: AlphaBetaRelease) -> bool:
        """Not for one of several views: the model is not known there."""
        return not release.several

    @learned
    def _learnt(self) -> tuple[Model, Weighed]:
        """What the view tells of its table, and its tuples with their weights."""
        release = self._release
        most = float(release.schema.public_rows or MOST_ROWS)
        return learn_view(*release.tuples, release.encodings, law_of(release.guarantee), release.source, most)

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        model, weighed = self._learnt
        measures = [dict(zip(self._release.encodings, each, strict=True)) for each, _ in model.filters.measures]
        measured = self._release.measured(asked, weighed, measures)
        units = [unit for _, unit in model.filters.measures]
        rows = [[float(own / unit) for own, unit in zip(each.weights, units, strict=True)] for each in measured]
        best = model.best(np.array(rows), np.array([each.sums for each in measured]))
        plain = Way(unit=self._release.unit, estimator=UNBIASED, confidence=confidence)
        return [
            self._leaning(estimate_of(each.found.parts, each.found.bounds, plain), value)
            for each, value in zip(measured, best.tolist(), strict=True)
        ]

    def _leaning(self, unbiased: Estimate, value: float) -> Estimate:
        """The best value for an unbiased answer; interval and standard error stay those of the unbiased one."""
        own = Way(unit=unbiased.unit, estimator=self.name, confidence=unbiased.confidence)
        if unbiased.exact:
            return own.certain(unbiased.bounds[0])
        return own.leaning(unbiased, value, over=MODEL, note=NOTE)

"""`estimator="best"`: the unbiased answer where it is sure, one that leans on a model of the table where it is not.

The value comes from the model; the interval does not. It stays the unbiased answer's, over the publisher's coins, and
is widened to hold the value where it does not.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.estimate.alphabeta.answer import UNBIASED, estimate_of
from discreet.estimate.alphabeta.independence import Independence, best
from discreet.estimate.alphabeta.law import model_of
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way
from discreet.estimate.learned import learned

NOTE = (
    "the value leans on a model where noise is large; the interval holds over the publisher's coins, whatever the model"
)


class Best:
    """Small counts lean on a model of independent attributes that is read off the view once."""

    name: ClassVar[str] = "best"
    needs: ClassVar[str] = "a release of one view"

    def __init__(self, release: AlphaBetaRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: AlphaBetaRelease) -> bool:
        """Not for one of several views: the model is not known there."""
        return not release.several

    @learned
    def _model(self) -> Independence:
        """Independent attributes as the view shows them."""
        weights = [self._release.source.weights.get(name) for name in self._release.schema.columns]
        return model_of(self._release.margins, self._release.guarantee, weights)

    def expect(self, asked: Asked) -> list[float]:
        """How many tuples the model expects to meet each condition, without enumerating them; all groups at once."""
        weights = dict(zip(self._release.encodings, self._model.weights, strict=True))
        weighed = self._release.weigh_groups(asked.groups, weights) if asked.groups else None
        if weighed is None:
            weighed = [self._release.weigh(condition, weights) for condition in asked.conditions]
        return list(map(self._model.expected, weighed))

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        plain = Way(unit=self._release.unit, estimator=UNBIASED, confidence=confidence)
        answers = []
        for found, expected in zip(self._release.found(asked), self.expect(asked), strict=True):
            unbiased = estimate_of(found.parts, found.bounds, plain)
            answers.append(self._leaning(unbiased, expected))
        return answers

    def _leaning(self, unbiased: Estimate, expected: float) -> Estimate:
        """The best value for an unbiased answer; interval and standard error stay those of the unbiased one."""
        own = Way(unit=unbiased.unit, estimator=self.name, confidence=unbiased.confidence)
        design = unbiased.design
        if unbiased.exact or design is None or design.value is None or design.standard_error is None:
            return own.certain(unbiased.bounds[0])
        most, error = np.float64(unbiased.bounds[1]), design.standard_error
        value = float(best(design.value, error, expected, self._model.spread, most))
        return own.leaning(unbiased, value, over=MODEL, note=NOTE)

"""`estimator="best"`: the unbiased answer where it is sure, one that leans on what the view tells where it is not.

The value comes from the model; the interval does not. It stays the unbiased answer's, over the publisher's coins, and
is widened to hold the value where it does not.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet.estimate.alphabeta.answer import UNBIASED, estimate_of
from discreet.estimate.alphabeta.model import Model
from discreet.estimate.alphabeta.release import AlphaBetaRelease
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way
from discreet.ground.arrays import Floats

NOTE = (
    "the value leans on a model of the table where noise is large; the interval holds over the publisher's coins, whatever the model"
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

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        model, weighed = self._release.learnt
        plain = Way(unit=self._release.unit, estimator=UNBIASED, confidence=confidence)
        found = self._release.found(asked, weighed)
        best = model.best(self._measured(model, asked), np.array([each.weights for each in found], dtype=np.float64))
        return [
            self._leaning(estimate_of(each.parts, each.bounds, plain), value)
            for each, value in zip(found, best.tolist(), strict=True)
        ]

    def _measured(self, model: Model, asked: Asked) -> Floats:
        """The filters' measures of each condition, without enumerating its tuples; all groups at once."""
        measures = model.filters.measures
        weights = [dict(zip(self._release.encodings, each, strict=True)) for each, _ in measures]
        by_group = self._release.weigh_groups_all(asked.groups, weights) if asked.groups else None
        if by_group is None:
            weighed = [self._release.weigh_all(condition, weights) for condition in asked.conditions]
        else:
            weighed = [list(each) for each in zip(*by_group, strict=True)]
        rows = [[float(own / unit) for own, (_, unit) in zip(each, measures, strict=True)] for each in weighed]
        return np.array(rows, dtype=np.float64)

    def _leaning(self, unbiased: Estimate, value: float) -> Estimate:
        """The best value for an unbiased answer; interval and standard error stay those of the unbiased one."""
        own = Way(unit=unbiased.unit, estimator=self.name, confidence=unbiased.confidence)
        if unbiased.exact:
            return own.certain(unbiased.bounds[0])
        return own.leaning(unbiased, value, over=MODEL, note=NOTE)

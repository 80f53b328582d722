"""`estimator="model"`: leaves where a condition names whole ones, and how tables spread people inside them elsewhere.

Every answer comes from both, so "unbiased", the word that all families know, is the same here. The model is in
`leaves.py`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import ClassVar

from discreet.errors import ReleaseError
from discreet.estimate.diffgen.leaves import LeafModel
from discreet.estimate.diffgen.release import DiffGenRelease
from discreet.estimate.estimate import COINS, MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Way
from discreet.schema.schema import MOST_ROWS

MOST_LEVELS = 1_001  # counts on a record's path
CUT = "the condition cuts leaves, so the answer rests on a model of how people are spread inside them"


class Model:
    """People inside leaves as the tables spread them, independently given the class."""

    name: ClassVar[str] = "model"

    def __init__(self, release: DiffGenRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: DiffGenRelease) -> bool:
        return True

    @cached_property
    def _leaves(self) -> LeafModel:
        guarantee, levels = self._release.guarantee, self._release.levels
        if not guarantee.counts_cost or not 1 <= levels <= MOST_LEVELS:
            raise ReleaseError("the guarantee must have parts that paid for what was counted; verify says more")
        return LeafModel(self._release.tables, guarantee, levels, weighed=self._release.weighed)

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        most = MOST_ROWS if self._release.schema.public_rows is None else self._release.schema.public_rows
        answers = []
        for condition in asked.conditions:
            found = self._leaves.count(self._release.factors(condition))
            error = math.hypot(found.noise, found.model)
            over, note = (MODEL, CUT) if found.model > 0 else (COINS, "")
            around = way.around(found.value, error)
            answers.append(way.estimate(found.value, error, around, (0, most), over=over, note=note))
        return answers


class Unbiased(Model):
    """The same answer, by the word that all families know."""

    name: ClassVar[str] = "unbiased"

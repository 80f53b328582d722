"""`estimator="model"`: leaves where a condition names whole ones, and how tables spread people inside them elsewhere.

Every answer comes from both, so "unbiased", the word that all families know, is the same here. The model is in
`leaves.py`.
"""

from __future__ import annotations

from typing import ClassVar

from discreet.estimate.diffgen.noisy import Known, NoisyRelease
from discreet.estimate.estimate import COINS, MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Spread, Way
from discreet.ground.most import MOST_ROWS


class Model:
    """People inside leaves as the tables spread them, independently given the class."""

    name: ClassVar[str] = "model"
    needs: ClassVar[str] = ""

    def __init__(self, release: NoisyRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: NoisyRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        most = MOST_ROWS if self._release.schema.public_rows is None else self._release.schema.public_rows
        answers, known = [], Known()
        for condition in asked.conditions:
            parts = self._release.parts(condition, known)
            if not all(part.possible for part in parts):
                answers.append(way.certain(0))
                continue
            found = self._release.model.count(parts)
            spread = Spread(noise=found.noise**2 + found.model**2)
            over = MODEL if found.note else COINS
            answers.append(way.estimate(found.value, spread, (0, most), over=over, note=found.note))
        return answers


class Unbiased(Model):
    """The same answer, by the word that all families know."""

    name: ClassVar[str] = "unbiased"

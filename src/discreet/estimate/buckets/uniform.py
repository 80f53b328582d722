"""`estimator="uniform"`, the papers': inside a bucket, every row is as likely as any other to have each of its values.

Paper: [WWFW] section 7.2.2.
A model: it is biased where quasi-identifiers and sensitive values are related, and its interval does not carry that
bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from discreet.estimate.buckets.matched import Matched
from discreet.estimate.buckets.release import BucketRelease
from discreet.estimate.buckets.unbiased import Unbiased, unbiased_estimate
from discreet.estimate.estimate import MODEL, Estimate
from discreet.estimate.estimator import Asked
from discreet.estimate.interval import Spread, Way
from discreet.ground.arrays import Floats, Ints


class Uniform:
    """Right only where rows of a bucket are alike; `design` is the unbiased answer."""

    name: ClassVar[str] = "uniform"
    needs: ClassVar[str] = ""

    def __init__(self, release: BucketRelease) -> None:
        self._release = release

    @classmethod
    def fits(cls, release: BucketRelease) -> bool:
        return True

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        way = Way(unit=self._release.unit, estimator=self.name, confidence=confidence)
        other = Way(unit=self._release.unit, estimator=Unbiased.name, confidence=confidence)
        composition, sizes = self._release.composition, self._release.composition.sizes
        answers = []
        for matched in self._release.matched(asked.conditions):
            unbiased = unbiased_estimate(self._release.regression, matched, way if matched.plain else other)
            if unbiased.exact:
                answers.append(replace(unbiased, estimator=self.name))
            else:
                held = [composition.having(values) for values in matched.chosen] if composition.fakes else matched.held
                answers.append(uniform_estimate(replace(matched, held=held), sizes, way, unbiased.design))
        return answers


def uniform_estimate(matched: Matched, sizes: Ints, way: Way, design: Estimate | None = None) -> Estimate:
    """The model's answer to one question."""
    value, variance = uniform(matched.matches, matched.held, sizes)
    return way.estimate(value, Spread(noise=variance), matched.limits, over=MODEL, design=design)


def uniform(matches: Sequence[Ints], held: Sequence[Ints | Floats], sizes: Ints) -> tuple[float, float]:
    """The estimate and its variance: matches a_gk of each part's condition, records c_gk of its values, sizes S_g; of
    a release with fakes the people that are expected among those records.

    For one part the variance is hypergeometric. For several it is that of a random matching with the rows' joint
    pattern left out, which can only make it larger.
    """
    size = sizes.astype(np.float64)
    expected = sum((a * c / size for a, c in zip(matches, held, strict=True)), np.zeros(len(size)))
    others = np.maximum(size - 1, 1)
    if len(matches) == 1:
        a, c = matches[0], held[0]
        variance = a * (size - a) * c * (size - c) / (size**2 * others)
    else:
        squares = sum((c * a.astype(np.float64) ** 2 for a, c in zip(matches, held, strict=True)), np.zeros(len(size)))
        variance = np.maximum(expected * size - squares / size, 0) / others
    return float(expected.sum()), float(variance.sum())

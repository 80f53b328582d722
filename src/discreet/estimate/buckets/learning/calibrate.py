"""How far what was learned is off, from the release alone: random questions that the unbiased estimator answers too.

Where only some windows of a near release determine what a question asks, it is asked of their rows alone.

Symbols, of one question: d = N_unbiased - N_learned, v_u and v their variances, i_m what is open (likely.py).
E d^2 = v_u + tau^2 i_m^2 if the model is off by a share of what is open beyond chance: tau^2 solves sum w (d^2 - v_u) =
    tau^2 sum w i_m^2 with w = i_m^2 / (v_u + v + tau^2 i_m^2)^2, and is never below 0. The mean of d^2 / (v_u + v + 1)
    is about one where the model is right, and far above it where it has settled on a wrong optimum or cannot fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.estimate.buckets.learning.cells import random_cells
from discreet.estimate.buckets.learning.effort import cells_for
from discreet.estimate.buckets.learning.knowledge import Knowledge
from discreet.estimate.buckets.learning.patterns import Patterns
from discreet.estimate.buckets.likely import Likely
from discreet.estimate.buckets.regression import Regressed, Weighted
from discreet.ground.arrays import Floats
from discreet.ground.progress import Tell

_ROUNDS = 40


@dataclass(frozen=True, kw_only=True)
class Trials:
    """What both estimators said to the same questions."""

    distance: Floats
    unbiased: Floats
    learned: Floats
    missing: Floats

    @property
    def misfit(self) -> float:
        """The mean of d^2 / (v_u + v + 1); without end where no question could be answered without bias."""
        if not len(self.distance):
            return math.inf
        return float(np.mean(self.distance**2 / (self.unbiased + self.learned + 1)))

    @property
    def excess(self) -> float:
        """tau^2."""
        found = 0.0
        squares = self.missing**2
        for _ in range(_ROUNDS):
            weights = squares / np.maximum(self.unbiased + self.learned + found * squares, 1e-9) ** 2
            whole = float(weights @ squares)
            found = max(0.0, float(weights @ (self.distance**2 - self.unbiased)) / whole) if whole > 0 else 0.0
        return found


def calibrated(
    knowledge: Knowledge,
    likely: Likely,
    regression: Regressed,
    patterns: Patterns,
    seed: bytes,
    tell: Tell,
) -> Knowledge:
    """The same knowledge with how far it is off."""
    trials = _tried(likely, regression, patterns, np.random.default_rng([*seed, 1]), tell)
    return replace(knowledge, excess=trials.excess, misfit=trials.misfit)


def _tried(likely: Likely, regression: Regressed, patterns: Patterns, coins: np.random.Generator, tell: Tell) -> Trials:
    cells = cells_for(len(patterns.pattern))
    found = []
    for number, rows, own in random_cells(patterns, regression.composition.order, cells, coins):
        tell(number / cells)
        rows = rows[regression.determined(own)[likely.bucket[rows]]]
        if not len(rows):
            continue
        part = Weighted(values=own, weights=regression.weights(own), matches=likely.per_bucket(rows))
        cell = likely.cell(rows, own, regression.entangled(own, part.matches))
        unbiased = float((part.weights * part.matches).sum())
        found.append((unbiased - cell.value, regression.variance([part], {}), cell.variance, cell.missing))
    distance, spread, learned, missing = np.array(found, dtype=np.float64).reshape(-1, 4).T
    return Trials(distance=distance, unbiased=spread, learned=learned, missing=missing)

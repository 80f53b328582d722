"""How far what was learned is off, from the release alone: random questions that the unbiased estimator answers too.

Symbols, of one question: d = N_unbiased - N_learned, v_u and v their variances, i_m what is open (likely.py).
E d^2 = v_u + tau^2 i_m^2 if the model is off by a share of what is open beyond chance: tau^2 solves sum w (d^2 - v_u) =
    tau^2 sum w i_m^2 with w = i_m^2 / (v_u + v + tau^2 i_m^2)^2, and is never below 0. The mean of d^2 / (v_u + v + 1)
    is about one where the model is right, and far above it where it has settled on a wrong optimum or cannot fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.estimate.buckets.learning.effort import cells_for
from discreet.estimate.buckets.learning.knowledge import Knowledge
from discreet.estimate.buckets.learning.patterns import Patterns
from discreet.estimate.buckets.likely import Likely
from discreet.estimate.buckets.regression import Regression, Weighted
from discreet.ground.arrays import Floats, Ints
from discreet.ground.progress import Tell

_SHARES = (0.02, 0.1, 0.3)  # of the values of a column that a question takes
_MOST_COLUMNS = 3
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
    regression: Regression,
    patterns: Patterns,
    seed: bytes,
    tell: Tell,
) -> Knowledge:
    """The same knowledge with how far it is off."""
    trials = _tried(likely, regression, patterns, np.random.default_rng([*seed, 1]), tell)
    return replace(knowledge, excess=trials.excess, misfit=trials.misfit)


def _tried(
    likely: Likely, regression: Regression, patterns: Patterns, coins: np.random.Generator, tell: Tell
) -> Trials:
    columns, values = patterns.columns, regression.composition.order
    cells = cells_for(len(patterns.pattern)) if columns else 0
    found = []
    for number in range(cells):
        tell(number / cells)
        share = _SHARES[number % len(_SHARES)]
        asked = coins.choice(len(columns), min(len(columns), int(coins.integers(1, _MOST_COLUMNS + 1))), replace=False)
        meets = np.ones(len(patterns.codes), dtype=np.bool_)
        for column in asked.tolist():
            levels = int(columns[column].max()) + 1
            chosen = np.zeros(levels, dtype=np.bool_)
            chosen[_some(levels, share, coins)] = True
            meets &= chosen[columns[column]]
        own = tuple(sorted(values[_some(len(values), share, coins)].tolist()))
        if not meets.any() or not regression.identifies(own):
            continue
        rows = np.flatnonzero(meets[patterns.pattern])
        part = Weighted(values=own, weights=regression.weights(own), matches=likely.per_bucket(rows))
        cell = likely.cell(rows, own, regression.entangled(own))
        unbiased = float((part.weights * part.matches).sum())
        found.append((unbiased - cell.value, regression.variance([part], {}), cell.variance, cell.missing))
    distance, spread, learned, missing = np.array(found, dtype=np.float64).reshape(-1, 4).T
    return Trials(distance=distance, unbiased=spread, learned=learned, missing=missing)


def _some(number: int, share: float, coins: np.random.Generator) -> Ints:
    """A random share of so many, one at least."""
    return coins.choice(number, max(1, round(share * number)), replace=False)

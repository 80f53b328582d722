"""Refits: the same fit to other draws of the noise, so that a reader sees how far noise moves an answer.

Around what the model says, every measured table gets fresh noise of the size that was paid for. What is believed of a
table stays as it is. The coins are the same for every reader, so answers are too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.ground.arrays import Floats
from discreet.guarantee.epsilon import laplace_variance
from discreet.release.diffgen.pairs.course import Course
from discreet.release.diffgen.pairs.fit import Fit, refitted
from discreet.release.diffgen.pairs.model import Model
from discreet.release.diffgen.pairs.tables import pair_tables

NUMBER, _SWEEPS = 30, 3
_SEED = 0


def refits(fit: Fit, course: Course) -> list[Model]:
    """Models as other draws of the noise would have given them, if the truth were what the model says."""
    coins = np.random.default_rng(_SEED)
    tables = pair_tables(fit.model)
    total = laplace_variance(course.begin.shares.total)
    return [_refit(fit, tables, total, coins) for _ in range(NUMBER)]


def _refit(fit: Fit, tables: Sequence[Floats], total: float, coins: np.random.Generator) -> Model:
    """One draw: the people follow from the noisy sums, by inverse variance, as they did."""
    weight = 1 / total
    moved = weight * float(_noise((), total, coins))

    def drawn(counts: Floats, variance: float) -> Floats:
        nonlocal weight, moved
        noise = _noise(counts.shape, variance, coins)
        own = 1 / (counts.size * variance)
        weight, moved = weight + own, moved + own * float(noise.sum())
        return counts + noise

    ones = tuple(
        tuple((drawn(margin, variance), variance) for _, variance in own)
        for margin, own in zip(fit.model.margins, fit.ones, strict=True)
    )
    pairs = tuple(
        replace(each, counts=drawn(table, each.variance)) for each, table in zip(fit.pairs, tables, strict=True)
    )
    people = max(1, round(fit.model.people + moved / weight))
    return refitted(replace(fit, ones=ones, pairs=pairs), people, _SWEEPS).model


def _noise(shape: tuple[int, ...], variance: float, coins: np.random.Generator) -> Floats:
    """Laplace noise from even numbers, which every version of the library draws alike."""
    even = coins.random(shape) - (0.5 - 2.0**-54)  # never an end
    return np.asarray(-math.sqrt(variance / 2) * np.sign(even) * np.log1p(-2 * np.abs(even)))

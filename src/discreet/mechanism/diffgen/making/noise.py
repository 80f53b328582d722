"""Noise: where every random number of a release comes from, and nothing else.

`OpenDpNoise` is for releases: OpenDP's discrete Laplace law and its noisy max, safe in spite of floating point.
`SeededNoise` is for tests: anyone can draw the same numbers again.

Paper: [QSL] Theorem II.1 and section II-A.
Departs: the paper adds real Laplace noise, whose floating-point form gives away the low bits of the true count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import numpy as np

from discreet.ground.arrays import Ints


class Noise(Protocol):
    """A source of noise with a stated cost."""

    def laplace(self, counts: Ints, epsilon: Fraction) -> Ints:
        """Counts of which one record moves one by 1, each with discrete Laplace noise that costs at most epsilon."""

    def choose(self, scores: Sequence[float], epsilon: Fraction, sensitivity: float, *, monotone: bool) -> int:
        """A position, by the exponential mechanism's law, at a cost of at most epsilon.

        `monotone`: one more record can only raise scores, which halves the cost.
        """


class Flips(Noise, Protocol):
    """A source of noise that chooses by permute-and-flip too."""

    def highest(self, scores: Ints, epsilon: Fraction, unit: int) -> int:
        """A position, by permute-and-flip, at a cost of at most epsilon; one record moves each score by at most `unit`.

        Positions are tried in random order, and one is taken with probability exp((score - highest) / scale). That is
        never worse than the exponential mechanism, and the same as the highest score after exponential noise.
        """


class OpenDpNoise:
    """Noise for releases, from the operating system's entropy."""

    def laplace(self, counts: Ints, epsilon: Fraction) -> Ints:
        if not counts.size:
            return counts.copy()
        drawn = _laplace(scale_for(epsilon))(counts.ravel().tolist())
        return np.array(drawn, dtype=np.int64).reshape(counts.shape)

    def choose(self, scores: Sequence[float], epsilon: Fraction, sensitivity: float, *, monotone: bool) -> int:
        scale = _gumbel_scale(epsilon, sensitivity, monotone=monotone)
        return int(_noisy_max(scale, monotone)([float(score) for score in scores]))

    def highest(self, scores: Ints, epsilon: Fraction, unit: int) -> int:
        return int(_permute_and_flip(flip_scale(epsilon, unit))(scores.tolist()))


class SeededNoise:
    """The same laws from a generator that anyone can make again: for tests only."""

    def __init__(self, coins: np.random.Generator) -> None:
        self._coins = coins

    def laplace(self, counts: Ints, epsilon: Fraction) -> Ints:
        p = -math.expm1(-1 / scale_for(epsilon))
        one, other = (self._coins.geometric(p, size=counts.shape) for _ in range(2))
        return counts + one - other

    def choose(self, scores: Sequence[float], epsilon: Fraction, sensitivity: float, *, monotone: bool) -> int:
        scale = _gumbel_scale(epsilon, sensitivity, monotone=monotone)
        return int(np.argmax(np.asarray(scores) + self._coins.gumbel(0.0, scale, size=len(scores))))

    def highest(self, scores: Ints, epsilon: Fraction, unit: int) -> int:
        below = (scores - scores.max()).astype(np.float64)
        return int(np.argmax(below + self._coins.exponential(flip_scale(epsilon, unit), size=len(scores))))


def scale_for(epsilon: Fraction) -> float:
    """The least scale, as a float, at which a count's noise costs no more than epsilon, in exact arithmetic."""
    scale = float(1 / epsilon)
    while Fraction(scale) * epsilon < 1:
        scale = math.nextafter(scale, math.inf)
    return scale


def flip_scale(epsilon: Fraction, unit: int) -> float:
    """The least scale, as a float, at which permute-and-flip costs no more than epsilon, in exact arithmetic.

    It costs 2 unit / scale: with one record more, a score rises by a unit at most while the others fall by as much.
    """
    return scale_for(epsilon / (2 * unit))


def _gumbel_scale(epsilon: Fraction, sensitivity: float, *, monotone: bool) -> float:
    """Noisy max costs 2 Delta / scale, and Delta / scale where scores are monotone."""
    return math.nextafter(scale_for(epsilon) * sensitivity * (1 if monotone else 2), math.inf)


@cache
def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


@cache
def _laplace(scale: float) -> Any:
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=scale)


@cache
def _noisy_max(scale: float, monotone: bool) -> Any:
    """Gumbel noise: OpenDP states it under zero-concentrated divergence; its pure cost is in `_gumbel_scale`."""
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="f64", nan=False)), dp.linf_distance(T="f64", monotonic=monotone)
    return dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)


@cache
def _permute_and_flip(scale: float) -> Any:
    """OpenDP's noisy max under pure differential privacy: exponential noise, in whole numbers without rounding."""
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)

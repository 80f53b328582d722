"""The quotient of two noisy counts: how near Y/X comes to y/x where both have Laplace noise.

Paper: [WWFW] section 2.1, Theorem 2 and Corollary 1.
Symbols: X = x + noise, Y = y + noise, the noise of each of scale 1/epsilon and drawn on its own; both cost 2 epsilon.
Departs: the paper gives the mean and the variance of Y/X by a Taylor expansion. X can be 0, so neither is finite; here
    are quantiles, which are. Its claim, that the quotient is near for large x, holds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Floats

_GRID = 40_001  # quantiles of the noise of X over which the law is summed
_STEPS = 80


def below(quotient: float, *, epsilon: float, x: float, y: float) -> float:
    """Pr(Y/X <= quotient)."""
    _check(epsilon, x)
    drawn = (np.arange(_GRID) + 0.5) / _GRID
    noise = np.where(drawn < 0.5, 1, -1) * np.log(2 * np.minimum(drawn, 1 - drawn)) / epsilon
    shown = x + noise
    own = _laplace((quotient * shown - y) * epsilon)
    return float(np.where(shown > 0, own, 1 - own).mean())


def quantile(share: float, *, epsilon: float, x: float, y: float) -> float:
    """The quotient below which Y/X stays with this probability."""
    if not 0 < share < 1:
        raise PolicyError(f"share ({share}) must be between 0 and 1; say 0.025 for the lower end of a 95 % interval")
    low, high = -1.0, 1.0
    while below(low, epsilon=epsilon, x=x, y=y) > share:
        low *= 2
    while below(high, epsilon=epsilon, x=x, y=y) < share:
        high *= 2
    return _root(lambda each: below(each, epsilon=epsilon, x=x, y=y) - share, low, high)


def success(tolerance: float, *, epsilon: float, x: float, y: float) -> float:
    """Pr(|Y/X - y/x| <= tolerance)."""
    true = y / x
    top, bottom = (below(true + off, epsilon=epsilon, x=x, y=y) for off in (tolerance, -tolerance))
    return top - bottom


def enough(tolerance: float, *, epsilon: float, confidence: float = 0.95) -> float:
    """The x from which on Y/X is within the tolerance of y/x with this probability: 4.1/(tolerance epsilon) at 95 %.

    By the law of the difference of two such noises, e^(-t) (1 + t/2) beyond t scales, for a rule that always holds; for
    others less x is enough. What X's own noise does to the tolerance is left out: it matters where x is near the noise.
    """
    if not 0 < confidence < 1 or not 0 < tolerance < 1:
        raise PolicyError("tolerance and confidence must be between 0 and 1; say 0.05 and 0.95")
    return _root(lambda t: (1 - confidence) - np.exp(-t) * (1 + t / 2), 0.0, 800.0) / (tolerance * epsilon)


def _laplace(scales: Floats) -> Floats:
    """The distribution function of Laplace noise of scale 1."""
    tail = np.exp(-np.abs(scales)) / 2
    return np.where(scales < 0, tail, 1 - tail)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def _check(epsilon: float, x: float) -> None:
    if epsilon <= 0 or x <= 0:
        raise PolicyError("epsilon and x must be above 0; a rule that nobody matches has no confidence")

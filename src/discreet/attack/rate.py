"""How often an attack succeeded, with an interval that covers: exact for independent attempts, wider where they hang
together.

Symbols: H hits in n attempts, p = H / n; clusters g with h_g hits in s_g attempts. The design effect is
    sum (h_g - p s_g)^2 G / (G - 1) over n p (1 - p), at least 1: n attempts tell as much as n over it.
Paper: Clopper and Pearson's interval; Korn and Graubard take it with n and H divided by the design effect.
Departs: where few clusters have a hit, or a miss, their spread is too small more often than not, and 4 % of intervals
    of 99.9 % missed. There the design effect is at least that of clusters which all go alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.confidence import why_not

_FEW = 20  # clusters: how unlike fewer are does not say how unlike clusters are


@dataclass(frozen=True, kw_only=True)
class Rate:
    """A measured rate and its interval. What was computed and not sampled has `low` and `high` at the rate itself."""

    rate: float
    low: float
    high: float
    attempts: int

    def as_json(self) -> dict[str, Any]:
        return {"rate": self.rate, "low": self.low, "high": self.high, "attempts": self.attempts}


def computed(rate: Fraction | float, cases: int) -> Rate:
    """A number that follows from the files without chance, of so many cases.

    A fraction is rounded down, so that what is equal to its bound does not beat it.
    """
    found = float(rate)
    if isinstance(rate, Fraction) and Fraction(found) > rate:
        found = math.nextafter(found, -math.inf)
    return Rate(rate=found, low=found, high=found, attempts=cases)


def rate_of(hits: float, attempts: int, confidence: float, spread: float = 1.0) -> Rate:
    """The rate of so many hits, and an interval that covers with `confidence` at least; `spread` is a design effect."""
    if wrong := why_not(confidence):
        raise PolicyError(wrong)
    if attempts < 1:
        raise PolicyError("attempts (0) must be at least 1; an attack without a target has no rate")
    from scipy.special import betaincinv  # it takes a while to load, and whoever only lists attacks needs none

    beyond = (1 - confidence) / 2
    n, k = attempts / max(spread, 1.0), hits / max(spread, 1.0)
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, beyond))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - beyond))
    return Rate(rate=hits / attempts, low=low, high=high, attempts=attempts)


def clustered(hit: Bools | Floats, cluster: Ints, confidence: float) -> Rate:
    """The rate over attempts of which some hang together: `cluster` says which, by any number."""
    _, inverse = np.unique(cluster, return_inverse=True)
    sizes = np.bincount(inverse).astype(np.float64)
    hits = np.bincount(inverse, np.asarray(hit, dtype=np.float64)).astype(np.float64)
    return rate_of(float(hits.sum()), len(cluster), confidence, design_effect(hits, sizes))


def design_effect(hits: Floats, sizes: Floats) -> float:
    """By how much fewer independent attempts would tell as much.

    Where all went alike, or hits or misses are in a few clusters only, the spread tells too little: at least as if
    every cluster went alike, sum s_g^2 / n.
    """
    attempts, clusters = float(sizes.sum()), len(sizes)
    share, alike = float(hits.sum()) / attempts, float((sizes**2).sum()) / attempts
    if clusters < 2 or not 0 < share < 1:
        return alike
    spread = float(((hits - share * sizes) ** 2).sum()) * clusters / (clusters - 1)
    found = max(1.0, spread / (attempts * share * (1 - share)))
    few = min(int((hits > 0).sum()), int((hits < sizes).sum())) < _FEW
    return max(found, alike) if few else found

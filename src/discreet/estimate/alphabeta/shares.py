"""Shares of an attribute's values from noisy counts: posterior means under a law that the counts themselves tell.

The term of art is empirical Bayes: the prior is a mixture over a grid of counts, fitted to all values of the attribute
by maximum likelihood. Where most values are rare it says so, and what is noise there is no longer taken for people.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats

_LEAST, _POINTS = 1e-3, 24  # the grid of counts, as shares of the total
_NOBODY = 1e-5
_ROUNDS = 100
_STEPS = 8  # to a standard error: counts as near as that are treated alike
_FAR = 40.0  # standard errors


def shares_of(counts: Floats, errors: Floats, total: float) -> Floats:
    """Shares above 0 that sum to 1, for unbiased counts with their standard errors, of `total` in all.

    One more value, of an exponential law with the mean of all, stands beside those of the attribute: so that few values
    are not taken for the whole truth.
    """
    errors = np.maximum(errors, 1e-6 * total)
    levels, places, alike = np.unique(_alike(counts, errors), return_inverse=True, return_counts=True)
    number = len(levels)
    count, error = (np.bincount(places, each, number) / alike for each in (counts, errors))
    grid: Floats = np.concatenate([[_NOBODY], np.geomspace(_LEAST, 1.0, _POINTS)]) * total
    ends = np.concatenate([[0.0], np.sqrt(grid[:-1] * grid[1:]), [np.inf]])
    even = np.maximum(np.diff(-np.exp(-ends * len(counts) / total)), 1e-12)
    gap = np.clip((count[:, None] - grid) / error[:, None], -_FAR, _FAR)
    close = -0.5 * gap**2
    likely = np.exp(close - close.max(axis=1, keepdims=True))
    law = even
    for _ in range(_ROUNDS):
        weight = likely * law
        weight /= weight.sum(axis=1, keepdims=True)
        law = (alike @ weight + even) / (len(counts) + 1)
    weight = likely * law
    means = (weight @ grid) / weight.sum(axis=1)
    found: Floats = means[places] / means[places].sum()
    return found


def _alike(counts: Floats, errors: Floats) -> Floats:
    """A number for each count, the same for those that lie near and have about the same error."""
    found: Floats = np.rint(counts / errors * _STEPS) * 4_096 + np.rint(np.log(errors) * 50)
    return found

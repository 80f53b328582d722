"""How far one way to count strays from another, learned from gaps between both, at the scale of the question.

Two values of the same count differ by noise, whose variance is known, and by what the model behind one of them gets
wrong. With x the share of tuples that the model expects, that stray has the variance N^2 (linear x + square x^2): for
narrow questions it goes with their size, as sampling does; for wide ones with their square, as a rate that is wrong
everywhere does. Both numbers are posterior means on a grid, so stray that the view cannot tell is not taken for none.

Single questions may stray far more than most do. So the law of the stray is Student's, with few degrees of freedom: a
gap that is many times what was to be expected is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Floats

_GRID = tuple(np.array([0.0, *np.geomspace(*ends)]) for ends in ((1e-7, 1e-1, 19), (1e-5, 1.0, 16)))
_DEGREES = 3.0
_ROUNDS = 6


@dataclass(frozen=True, kw_only=True)
class Stray:
    """The variance of a stray, by the share of tuples that the model expects."""

    linear: float
    square: float

    def variance(self, share: Floats, total: float) -> Floats:
        found: Floats = total**2 * (self.linear * share + self.square * share**2)
        return found


UNKNOWN = Stray(linear=0.0, square=1.0)


def fit_stray(gaps: Floats, noise: Floats, share: Floats, total: float, alone: float) -> Stray:
    """The stray behind gaps with known noise; together they say as much as `alone` gaps that do not overlap."""
    if not len(gaps):
        return UNKNOWN
    linear, square = (each.ravel() for each in np.meshgrid(*_GRID, indexing="ij"))
    own = np.maximum(noise, 1e-9 * total)
    variance = own + total**2 * (linear[:, None] * share + square[:, None] * share**2)
    likely = -0.5 * (np.log(variance) + gaps**2 / variance).sum(axis=1) * min(1.0, alone / len(gaps))
    weight = np.exp(likely - likely.max())
    weight /= weight.sum()
    return Stray(linear=float(weight @ linear), square=float(weight @ square))


def lean(values: Floats, noise: Floats, strays: Floats) -> tuple[Floats, Floats]:
    """The best linear mean of several values of each count, the first without stray, and its variance.

    `values` has a row for each count; `noise` their covariances; `strays` the variance of each further value's stray
    from the one before it.
    """
    gaps = np.diff(values, axis=1)
    spread = np.maximum(np.diff(np.diff(noise, axis=1), axis=2).diagonal(axis1=1, axis2=2), 0.0)
    wide = strays.copy()
    for _ in range(_ROUNDS):
        share = wide / np.maximum(wide + spread, 1e-300)
        square = (share * gaps) ** 2 + share * spread
        wide = np.maximum(strays, (_DEGREES * strays + square) / (_DEGREES + 1))
    off = np.concatenate([np.zeros((len(values), 1)), np.cumsum(wide, axis=1)], axis=1)
    places = np.arange(values.shape[1])
    both = noise + off[:, np.minimum.outer(places, places)]
    ridge = 1e-9 * both.diagonal(axis1=1, axis2=2).max(axis=1) + 1e-12
    both = both + ridge[:, None, None] * np.eye(len(places))
    weight = np.linalg.solve(both, np.ones((*values.shape, 1)))[:, :, 0]
    whole = weight.sum(axis=1)
    return (weight * values).sum(axis=1) / whole, 1 / whole


def stacked(strays: Sequence[Stray], share: Floats, total: float) -> Floats:
    """The variances of several strays, a column each."""
    return np.stack([each.variance(share, total) for each in strays], axis=1)

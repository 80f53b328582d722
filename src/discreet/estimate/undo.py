"""Undoing insertion and deletion for many counts at once: the unbiased estimates of a view and their variances.

Paper: [RSH] Algorithm 3.
Symbols: n_V tuples of the view meet a condition, n_D tuples of the domain do; s = alpha + beta.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from discreet.estimate.independence import Floats, Independence, Noisy, fit_independence
from discreet.estimate.margins import Margins
from discreet.guarantee.dgamma import DGammaPrivacy


def undo(seen: ArrayLike, possible: ArrayLike, promise: DGammaPrivacy) -> Noisy:
    """(n_V - beta n_D) / alpha and its variance at that count, cut to what is possible."""
    keep, insert = float(promise.keep), float(promise.insert)
    alpha = keep - insert
    most = np.asarray(possible, dtype=np.float64)
    value: Floats = (np.asarray(seen, dtype=np.float64) - insert * most) / alpha
    more = keep * (1 - keep) - insert * (1 - insert)
    variance: Floats = (most * insert * (1 - insert) + more * np.clip(value, 0.0, most)) / alpha**2
    return value, np.maximum(variance, 0.0)


def model_of(margins: Margins, promise: DGammaPrivacy) -> Independence:
    """The model of independent attributes that a view's one- and two-way tables give."""
    sizes = [len(table) for table in margins.ones]
    domain = math.prod(sizes)
    total, _ = undo(int(margins.ones[0].sum()), float(domain), promise)
    ones = [undo(table, float(domain // len(table)), promise) for table in margins.ones]
    pairs = {
        (one, two): undo(table, float(domain // (sizes[one] * sizes[two])), promise)
        for (one, two), table in margins.pairs.items()
    }
    return fit_independence(float(total), ones, pairs)

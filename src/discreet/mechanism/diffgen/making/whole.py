"""Counts that can be people: parts of a total, none negative, and whole numbers that add up.

Paper: [QSL] section III-C gives consistency only; negative counts stay in its tables.
Departs: clipping leaves at zero before summing is ruinous for sums (it adds what it cuts off). Here each parent is
    split among its children by the nearest split, in squares weighted by the variances, that has no negative part.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints


def nearest_split(wanted: Floats, total: float, weights: Floats | None = None) -> Floats:
    """The parts of `total`, none negative, nearest to the wanted ones: sum (part - wanted)^2 / weight is least.

    The parts are max(0, wanted - weight * t) for the one t at which they add up.
    """
    if not len(wanted) or total <= 0:
        return np.zeros_like(wanted)
    spread = np.ones_like(wanted) if weights is None else weights
    order = np.argsort(-wanted / spread, kind="stable")
    excess = np.cumsum(wanted[order]) - total
    t = excess / np.cumsum(spread[order])
    positive = np.flatnonzero(wanted[order] - spread[order] * t > 0)
    parts = np.maximum(wanted - spread * t[positive[-1] if len(positive) else 0], 0.0)
    return np.asarray(parts * (total / parts.sum()) if parts.any() else spread * (total / spread.sum()))


def rounded_split(parts: Floats, total: int) -> Ints:
    """Whole parts that add up to the total, each the part rounded down or up: the largest remainders go up.

    `parts` must add up to `total` but for rounding; ties go to the first.
    """
    low = np.floor(parts + 1e-9).astype(np.int64)
    rest = total - int(low.sum())
    if rest > 0:
        order = np.argsort(-(parts - low), kind="stable")
        low += np.bincount(order[np.arange(rest) % len(order)], minlength=len(low))
    elif rest < 0:
        order = np.argsort(parts - low + np.where(low > 0, 0, np.inf), kind="stable")
        low[order[:-rest]] -= 1
    return low

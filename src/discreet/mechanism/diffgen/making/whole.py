"""Counts that can be people: consistent, none negative, and whole numbers that add up.

Paper: [QSL] section III-C gives consistency only; negative counts stay in its tables.
Departs: clipping leaves at zero before summing is ruinous for sums (it adds what it cuts off). Here each parent is
    split among its children by the nearest split, in squares weighted by the variances, that has no negative part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.mechanism.diffgen.making.consistency import checked_counts, subtree_estimates
from discreet.mechanism.diffgen.making.tree import Floats, Ints, Tree, tree_of


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


def non_negative(
    parents: Sequence[int] | Ints, counts: Sequence[float] | NDArray[np.generic], variances: object = None
) -> Floats:
    """Consistent counts without a negative one; where least squares has none, they are the least-squares counts."""
    tree = tree_of(parents)
    found, spread = checked_counts(tree, counts, variances)
    if found.ndim > 1:
        columns = found.reshape(len(tree), -1).T
        return np.stack([_non_negative(tree, each, spread) for each in columns], axis=-1).reshape(found.shape)
    return _non_negative(tree, found, spread)


def whole_counts(
    parents: Sequence[int] | Ints, counts: Sequence[float] | NDArray[np.generic], variances: object = None
) -> Ints:
    """Whole consistent counts without a negative one."""
    tree = tree_of(parents)
    smooth = non_negative(parents, counts, variances).reshape(len(tree), -1)
    whole = np.zeros(smooth.shape, dtype=np.int64)
    for column in range(smooth.shape[1]):
        whole[tree.root, column] = round(smooth[tree.root, column])
        for node, below in _families(tree):
            parts, total = smooth[below, column], int(whole[node, column])
            scale = total / parts.sum() if parts.sum() > 0 else 0.0
            even = np.full(len(parts), total / len(parts))
            whole[below, column] = rounded_split(parts * scale if scale else even, total)
    return whole.reshape(np.shape(counts))


def _non_negative(tree: Tree, counts: Floats, variances: Floats) -> Floats:
    up = subtree_estimates(tree, counts, variances)
    value = up.value.copy()
    value[tree.root] = max(0.0, float(value[tree.root]))
    for node, below in _families(tree):
        spread = up.variance[below]
        if np.isinf(spread).any():  # what the measured children leave over goes to the unmeasured ones
            spread = np.where(np.isinf(spread), up.loose[below], 0.0)
        if not spread.any():
            spread = np.ones(len(below))
        known, free = below[spread == 0], below[spread > 0]
        kept = nearest_split(value[known], min(float(np.maximum(value[known], 0).sum()), float(value[node])))
        value[known] = kept
        value[free] = nearest_split(value[free], float(value[node]) - float(kept.sum()), spread[spread > 0])
    return value


def _families(tree: Tree) -> list[tuple[int, Ints]]:
    """Each inner node with its children, parents before children."""
    families = []
    for level in tree.levels[1:]:
        above = tree.parents[level]
        starts = np.flatnonzero(np.diff(above, prepend=-2))
        families += [(int(above[start]), part) for start, part in zip(starts, np.split(level, starts[1:]), strict=True)]
    return families

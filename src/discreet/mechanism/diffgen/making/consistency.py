"""Consistency: noisy counts of a tree's nodes, moved as little as possible until every parent is its children's sum.

Paper: [QSL] Algorithm 2.
Symbols: x~ a noisy count and s2 its variance; z and v the best estimate of a node from its own subtree and its
    variance; S and V the sums of z and v over its children.
Departs: the paper's weights hold for complete trees with one number of children and equal noise; `consistent` is
    generalized least squares for any tree and any variances, in one pass up and one down. The paper's formula is in
    `discreet.mechanism.diffgen.papers.consistency`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import PolicyError
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.mechanism.diffgen.planning.tree import Tree, tree_of

_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Estimates:
    """What each subtree says of its node: z, v, and how many leaves below nothing has measured."""

    value: Floats
    variance: Floats
    loose: Floats
    below: Floats  # S
    spread: Floats  # V


def consistent(
    parents: Sequence[int] | Ints | Tree, counts: Sequence[float] | NDArray[np.generic], variances: object = None
) -> Floats:
    """The least-squares counts: every parent is the sum of its children.

    `parents[i]` is the parent of node i, -1 for the root. Variances are all equal by default; inf is a node that was
    not measured, whose count is not looked at. What nothing measured is as close to zero as the rest allows: what is
    left over is spread evenly over leaves without any count. `counts` may have further axes, one tree each.
    """
    tree = tree_of(parents)
    found, spread = checked_counts(tree, counts, variances)
    return _down(tree, subtree_estimates(tree, found, spread))


def checked_counts(tree: Tree, counts: object, variances: object) -> tuple[Floats, Floats]:
    """The counts and variances of a tree as numbers; raises PolicyError where they do not fit it."""
    found = np.array(counts, dtype=np.float64)
    if found.ndim < 1 or len(found) != len(tree):
        raise PolicyError(f"counts ({np.size(found)}) must be as many as parents ({len(tree)}); give one for each node")
    spread = np.ones(len(tree)) if variances is None else np.array(variances, dtype=np.float64)
    if spread.shape != (len(tree),):
        raise PolicyError(f"variances ({spread.size}) must be as many as parents ({len(tree)}); inf is not measured")
    if np.isnan(spread).any() or (spread < 0).any():
        raise PolicyError("variances must be 0 or more; inf is a node that was not measured")
    found[np.isinf(spread)] = 0.0
    if not np.isfinite(found).all():
        raise PolicyError("counts must be finite where they were measured; say variance inf where they were not")
    return found, spread


def widened(row: NDArray[np.generic], like: Floats) -> Floats:
    """One number a node, ready to meet counts that may have more axes."""
    return np.asarray(row, dtype=np.float64).reshape(-1, *[1] * (like.ndim - 1))


def subtree_estimates(tree: Tree, counts: Floats, variances: Floats) -> Estimates:
    """z and v of every node, from the leaves up."""
    value, variance = counts.copy(), variances.copy()
    loose = np.where(np.isinf(variances) & tree.leaf, 1.0, 0.0)
    below, spread = np.zeros_like(counts), np.zeros(len(tree))
    for level in reversed(tree.levels):
        inner = level[~tree.leaf[level]]
        if len(inner):
            own, sums = variances[inner], spread[inner]
            if ((own == 0) & (sums == 0) & _far(counts[inner], below[inner])).any():
                raise PolicyError("counts with variance 0 must not contradict each other; one is not its parts' sum")
            # the weight of the node's own count: V / (V + s2)
            with np.errstate(invalid="ignore"):
                weight = np.where(np.isinf(sums), 1.0, np.where(np.isinf(own), 0.0, sums / (sums + own)))
            weight = np.where(own == 0, 1.0, np.where(np.isinf(own), 0.0, weight))
            own_part = widened(weight, counts)
            value[inner] = own_part * counts[inner] + (1 - own_part) * below[inner]
            variance[inner] = np.where(np.isinf(own), sums, weight * np.where(np.isinf(own), 0.0, own))
            loose[inner] = np.where(np.isinf(variance[inner]), loose[inner], 0.0)
        if level[0] != tree.root:
            above = tree.parents[level]
            np.add.at(below, above, value[level])
            np.add.at(spread, above, variance[level])
            np.add.at(loose, above, loose[level])
    return Estimates(value, variance, loose, below, spread)


def _far(one: Floats, other: Floats) -> Bools:
    far = np.abs(one - other) > _CLOSE * (1 + np.abs(one))
    return np.asarray(far.reshape(len(one), -1).any(axis=1))


def _down(tree: Tree, up: Estimates) -> Floats:
    value = up.value.copy()
    loose = np.zeros(len(tree))  # of a node's children; `up.loose` was cleared where the node itself was measured
    known = tree.parents >= 0
    np.add.at(loose, tree.parents[known], np.where(np.isinf(up.variance), up.loose, 0.0)[known])
    for level in tree.levels[1:]:
        above = tree.parents[level]
        missing = value[above] - up.below[above]
        with np.errstate(invalid="ignore", divide="ignore"):
            measured = np.where(up.spread[above] > 0, up.variance[level] / up.spread[above], 0.0)
            unmeasured = np.where(np.isinf(up.variance[level]), up.loose[level] / loose[above], 0.0)
        share = np.where(np.isinf(up.spread[above]), unmeasured, measured)
        value[level] += widened(share, value) * missing
    return value

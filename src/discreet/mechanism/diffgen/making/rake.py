"""Raking (iterative proportional fitting, IPF): leaves that agree with the tables, none negative, near those measured.

Noisy leaves are shrunk, by empirical Bayes, towards what pairs of attributes say, and those towards independence given
the class: the less a deviation stands out from the known noise, the less of it is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from discreet.ground.arrays import Floats
from discreet.mechanism.diffgen.making.tables import along

PASSES = 15


def independent(sums: Sequence[Floats], totals: Floats) -> Floats:
    """Leaves as if attributes were independent given the class; `sums` are values x classes, one for each axis."""
    leaves = np.asarray(totals, dtype=np.float64).reshape([1] * len(sums) + [-1])
    for axis, part in enumerate(sums):
        share = np.divide(part, totals, out=np.zeros_like(part), where=totals > 0)
        shape = [1] * len(sums) + [len(totals)]
        shape[axis] = len(part)
        leaves = leaves * share.reshape(shape)
    return leaves


def rake(leaves: Floats, sums: Sequence[Floats], passes: int = PASSES) -> Floats:
    """Scale the leaves axis by axis until their sums are those given (iterative proportional fitting)."""
    found = leaves
    for _ in range(passes):
        for axis, wanted in enumerate(sums):
            others = tuple(each for each in range(len(sums)) if each != axis)
            found = found * _ratio(wanted, found.sum(axis=others)).reshape(along(found, axis))
    return found


def shrink(leaves: Floats, variance: float, sums: Sequence[Floats], totals: Floats) -> Floats:
    """Non-negative leaves with the given sums, from noisy leaves of a known variance."""
    model = independent(sums, totals)
    pairs = []
    for one, other in combinations(range(len(sums)), 2):
        others = tuple(each for each in range(len(sums)) if each not in (one, other))
        expected, seen = model.sum(axis=others, keepdims=True), leaves.sum(axis=others, keepdims=True)
        pairs.append((others, _towards(expected, seen, variance * leaves.size / seen.size)))
    for _ in range(PASSES):
        for others, wanted in pairs:
            model = model * _ratio(wanted, model.sum(axis=others, keepdims=True))
        model = rake(model, sums, 1)
    return rake(_towards(model, leaves, variance), sums)


def _towards(expected: Floats, seen: Floats, variance: float) -> Floats:
    """What was seen, shrunk towards what is expected: deviations are taken as proportional to what is expected."""
    deviation = seen - expected
    size = float((expected**2).sum())
    relative = max(0.0, float((deviation**2 - variance).sum()) / size) if size else 0.0
    signal = relative * expected**2
    kept = np.divide(signal, signal + variance)
    return np.maximum(expected + kept * deviation, 0.0)


def _ratio(wanted: Floats, found: Floats) -> Floats:
    return np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)

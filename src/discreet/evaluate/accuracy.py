"""How well a classifier does that was trained on a release of leaves, beside one trained on the rows as they are.

Paper: [QSL] section IV-A.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.estimate.diffgen.release import DiffGenRelease
from discreet.evaluate.classify import encode, grow
from discreet.evaluate.labelled import Halves
from discreet.ground.arrays import Ints


def generalized_accuracy(release: DiffGenRelease, halves: Halves) -> float:
    """Percent right of a tree trained on the leaves, on test rows generalized to the same values ([QSL] IV-A)."""
    leaves, axes = release.model.leaves, release.model.axes
    weights = leaves.reshape(-1, leaves.shape[-1])
    if not axes or not weights.any():
        return majority_accuracy(weights.sum(axis=0), halves)
    places = np.unravel_index(np.arange(len(weights)), leaves.shape[:-1])
    leaf, own = np.nonzero(weights)
    ordered = [halves.source.taxonomies[axis].ordered for axis in axes]
    tree = grow(encode([column[leaf] for column in places], leaves.shape[:-1], ordered), own, weights[leaf, own])
    tests = [release.tables.groups[axis][halves.tests.cells[axis]] for axis in axes]
    return tree.accuracy(encode(tests, leaves.shape[:-1], ordered), halves.tests.classes)


def raw_accuracy(release: DiffGenRelease, halves: Halves, attributes: Sequence[int], seed: int) -> float:
    """Percent right of a tree trained on synthetic rows of the release, as many as were published, on rows as they are.

    `attributes` are those that it may look at.
    """
    leaves = release.model.leaves
    if not attributes or not leaves.any():
        return majority_accuracy(leaves.reshape(-1, leaves.shape[-1]).sum(axis=0), halves)
    rows = halves.source.coded(release.sample(len(halves.train), seed=seed))
    return _trained([rows.cells[each] for each in attributes], rows.classes, halves, attributes)


def baseline_accuracy(halves: Halves) -> float:
    """Percent right of a tree trained on the rows as they are: the baseline of [QSL]."""
    rows = halves.source.coded(halves.train)
    return _trained(rows.cells, rows.classes, halves, range(len(rows.cells)))


def majority_accuracy(
    totals: Sequence[float] | np.ndarray[tuple[int, ...], np.dtype[np.generic]], halves: Halves
) -> float:
    """Percent right of one who always names the largest class: the lower bound of [QSL]."""
    return float((halves.tests.classes == int(np.argmax(totals))).mean() * 100)


def _trained(cells: Sequence[Ints], classes: Ints, halves: Halves, attributes: Sequence[int]) -> float:
    known = [halves.source.taxonomies[each] for each in attributes]
    sizes, ordered = [len(each) for each in known], [each.ordered for each in known]
    tests = encode([halves.tests.cells[each] for each in attributes], sizes, ordered)
    return grow(encode(cells, sizes, ordered), classes).accuracy(tests, halves.tests.classes)

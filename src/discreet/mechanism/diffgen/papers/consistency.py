"""The paper's own formula for consistency, which a policy may ask for: consistency = "paper".

Paper: [QSL] Algorithm 2.
Departs: by the letter it divides by the children of a leaf and throws its first pass away. Here it is read as meant:
    z in both passes, the children counted at the parent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.diffgen.making.consistency import checked_counts, widened
from discreet.mechanism.diffgen.planning.tree import Tree, tree_of


def consistent_by_paper(parents: Sequence[int] | Ints | Tree, counts: Sequence[float] | NDArray[np.generic]) -> Floats:
    """The paper's formula as meant: least squares on complete k-ary trees with equal noise, consistent on any."""
    tree = tree_of(parents)
    found, _ = checked_counts(tree, counts, None)
    leaves = tree.sum_up(np.ones(len(tree)))
    nodes = np.ones(len(tree))
    value = found.copy()
    below = np.zeros_like(found)
    for level in reversed(tree.levels):
        inner = level[~tree.leaf[level]]
        share = widened(leaves[inner] / nodes[inner], found)
        value[inner] = share * found[inner] + (1 - share) * below[inner]
        if level[0] != tree.root:
            np.add.at(below, tree.parents[level], value[level])
            np.add.at(nodes, tree.parents[level], nodes[level])
    for level in tree.levels[1:]:
        above = tree.parents[level]
        value[level] += (value[above] - below[above]) / widened(tree.children[above], found)
    return value

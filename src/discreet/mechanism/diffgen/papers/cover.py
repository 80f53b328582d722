"""Covers: the fewest nodes of a tree whose leaves are exactly the wanted ones.

Paper: [QSL] Algorithm 1.
Departs: the printed algorithm never leaves its loop and collects leaves; a minimum cover is the set of maximal nodes
    all of whose leaves are wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Ints
from discreet.mechanism.diffgen.planning.tree import tree_of


def minimum_cover(parents: Sequence[int] | Ints, leaves: Iterable[int]) -> tuple[int, ...]:
    """The nodes of the cover in order; no leaves have the empty cover."""
    tree = tree_of(parents)
    wanted = np.zeros(len(tree), dtype=np.bool_)
    for leaf in leaves:
        if not 0 <= leaf < len(tree) or not tree.leaf[leaf]:
            raise PolicyError(f"leaves ({leaf}) must be nodes without children; name leaves of this tree")
        wanted[leaf] = True
    missed = tree.sum_up((~wanted).astype(np.float64))
    full = missed == 0
    above = np.where(tree.parents >= 0, full[tree.parents], False)
    return tuple(int(node) for node in np.flatnonzero(full & ~above))

"""A tree as the list of its nodes' parents: checked once, then walked level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Bools, Floats, Ints

Step = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Tree:
    """`parents[i]` is the parent of node i, -1 for the root; `levels` holds the nodes of each depth, the root first."""

    parents: Ints
    levels: tuple[Ints, ...]

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def children(self) -> Ints:
        """How many children each node has."""
        return np.bincount(self.parents[self.parents >= 0], minlength=len(self))

    @cached_property
    def leaf(self) -> Bools:
        return np.asarray(self.children == 0)

    @property
    def root(self) -> int:
        return int(self.levels[0][0])

    def sum_up(self, leaves: Floats) -> Floats:
        """For every node the sum over the leaves below it; what stands at inner nodes is not looked at."""
        total = np.where(self.leaf.reshape(-1, *[1] * (leaves.ndim - 1)), leaves, 0.0)
        for level in reversed(self.levels[1:]):
            np.add.at(total, self.parents[level], total[level])
        return total


def tree_of(parents: Sequence[int] | Ints | Tree) -> Tree:
    """The tree that the parents describe, or the one that is given; raises PolicyError where they describe none."""
    if isinstance(parents, Tree):
        return parents
    given = np.asarray(parents)
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iu":
        raise PolicyError("parents must be a list of whole numbers, one for each node; give the root the parent -1")
    own = given.astype(np.int64)
    roots = np.flatnonzero(own == -1)
    if len(roots) != 1:
        raise PolicyError(f"parents ({len(roots)} nodes with -1) must have one root; give it alone the parent -1")
    if own.min() < -1 or own.max() >= len(own):
        raise PolicyError(f"parents must be numbers of nodes, -1 to {len(own) - 1}; number the nodes from 0")
    below = np.argsort(own, kind="stable")[1:]  # every node but the root, by its parent
    first = np.searchsorted(own[below], np.arange(len(own) + 1))
    levels, level, reached = [], roots, 0
    while len(level):
        levels.append(level)
        reached += len(level)
        level = np.concatenate([below[first[node] : first[node + 1]] for node in level])
    if reached < len(own):
        raise PolicyError("parents must be a tree; some nodes lead back to themselves instead of to the root")
    return Tree(own, tuple(levels))

"""Cuts: at which generalized values each attribute stands, and how a list of specializations leads there.

Paper: [QSL] section III-B: every attribute starts at its topmost value, and a specialization replaces one value by its
    children in every leaf that holds it. So the leaves are all combinations of the attributes' current values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Ints
from discreet.mechanism.diffgen.planning.tree import Step, Tree, tree_of
from discreet.schema.taxonomy import Node, Taxonomy

# The attribute, the position of the value in its cut, and after how many cells it is cut (0: into its children).


@dataclass(frozen=True, eq=False)
class Cuts:
    """The current values of every attribute, in order."""

    taxonomies: tuple[Taxonomy, ...]
    values: tuple[tuple[Node, ...], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(map(len, self.values))

    @property
    def axes(self) -> tuple[int, ...]:
        """The attributes that were specialized at all."""
        return tuple(position for position, size in enumerate(self.shape) if size > 1)

    @property
    def leaves(self) -> int:
        return math.prod(self.shape)

    def groups(self, position: int) -> Ints:
        """For each cell of an attribute, the position of the value that holds it."""
        return self._groups[position]

    @cached_property
    def _groups(self) -> tuple[Ints, ...]:
        found = tuple(np.zeros(len(taxonomy), dtype=np.int64) for taxonomy in self.taxonomies)
        for own, cut in zip(found, self.values, strict=True):
            for number, node in enumerate(cut):
                own[list(node.cells)] = number
            own.setflags(write=False)
        return found

    def after(self, step: Step) -> Cuts:
        """The cuts after one more specialization; raises PolicyError where there is none such."""
        attribute, position, cells = step
        if not (0 <= attribute < len(self.values) and 0 <= position < len(self.values[attribute])):
            raise PolicyError("steps must name a value of an attribute's current cut")
        cut, taxonomy = self.values[attribute], self.taxonomies[attribute]
        node = cut[position]
        if taxonomy.ordered != (0 < cells < len(node.cells)) or not taxonomy.can_split(node):
            raise PolicyError("steps must specialize a value that its taxonomy can specialize")
        new = (*cut[:position], *taxonomy.split(node, cells or None), *cut[position + 1 :])
        return Cuts(self.taxonomies, (*self.values[:attribute], new, *self.values[attribute + 1 :]))


def topmost(taxonomies: Iterable[Taxonomy]) -> Cuts:
    """Every attribute at its topmost value."""
    own = tuple(taxonomies)
    return Cuts(own, tuple((taxonomy.root,) for taxonomy in own))


def replay(taxonomies: Iterable[Taxonomy], steps: Iterable[Step]) -> Cuts:
    """The cuts that the steps lead to."""
    cuts = topmost(taxonomies)
    for step in steps:
        cuts = cuts.after(step)
    return cuts


def most_steps(taxonomies: Iterable[Taxonomy]) -> int:
    """How many specializations the taxonomies allow at most."""
    return sum(
        len(each) - 1 if each.ordered else sum(1 for node in each.root.walk() if len(node.children) > 1)
        for each in taxonomies
    )


def diffgen_tree(taxonomies: Sequence[Taxonomy], steps: Sequence[Step]) -> tuple[Tree, Ints, Ints]:
    """The DiffGen tree: its nodes, which of them are leaves, and the place of each leaf among all combinations.

    A specialization adds children to every leaf that holds its value; places count the first attribute slowest.
    """
    cuts = topmost(taxonomies)
    parents: list[Ints] = [np.array([-1])]
    nodes, held = np.array([0]), np.zeros((1, len(cuts.values)), dtype=np.int64)
    number = 1
    for step in steps:
        attribute, position, _ = step
        new = cuts.after(step)
        fan = len(new.values[attribute]) - len(cuts.values[attribute]) + 1
        held[:, attribute] += np.where(held[:, attribute] > position, fan - 1, 0)
        hit = held[:, attribute] == position
        below = np.repeat(held[hit], fan, axis=0)
        below[:, attribute] += np.tile(np.arange(fan), int(hit.sum()))
        parents.append(np.repeat(nodes[hit], fan))
        nodes = np.concatenate([nodes[~hit], np.arange(number, number + len(below))])
        held = np.concatenate([held[~hit], below])
        number += len(below)
        cuts = new
    return tree_of(np.concatenate(parents)), nodes, places(held.T, cuts.shape)


def places(held: Iterable[Ints], shape: Sequence[int]) -> Ints:
    """Positions in each attribute's cut as one number, the first attribute slowest."""
    found = np.zeros(1, dtype=np.int64)
    for column, size in zip(held, shape, strict=True):
        found = found * size + column
    return found

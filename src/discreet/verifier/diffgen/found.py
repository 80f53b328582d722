"""What the files of a release of leaves hold, once they are read: the generalized values, and every count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discreet.ground.arrays import Ints
from discreet.schema.taxonomy import Node, Taxonomy
from discreet.verifier.diffgen.stated import Stated

MOST_TABLE_COUNTS, MOST_LEAF_COUNTS = 100_000, 250_000  # of a release; more are refused unread
ASKED_BY_DEFAULT = 10  # specializations, where each is paid for


@dataclass(frozen=True, eq=False)
class Cut:
    """An attribute: its taxonomy, the values that its cells were generalized to, and the place of each cell's value."""

    taxonomy: Taxonomy
    values: tuple[Node, ...]
    groups: Ints

    @cached_property
    def above(self) -> tuple[int, int]:
        """Of a tree: how many values were specialized, and how many times the deepest was."""
        return _above(self.taxonomy.root, {each.cells for each in self.values})

    @property
    def most(self) -> int:
        """How many specializations the taxonomy allows at most."""
        if self.taxonomy.ordered:
            return len(self.taxonomy) - 1
        return sum(len(node.children) > 1 for node in self.taxonomy.root.walk())

    @property
    def next(self) -> list[int]:
        """How many values each further specialization would put in the place of one."""
        known = [each for each in self.values if self.taxonomy.can_split(each)]
        return [2 if self.taxonomy.ordered else len(each.children) for each in known]


def _above(node: Node, ends: set[tuple[int, ...]]) -> tuple[int, int]:
    if node.cells in ends:
        return 0, 0
    below = [_above(each, ends) for each in node.children]
    return 1 + sum(number for number, _ in below), 1 + max(depth for _, depth in below)


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """What the files hold: leaves have an axis for each attribute, classes last, tables are cells x classes."""

    stated: Stated
    cuts: tuple[Cut, ...]
    leaves: Ints
    tables: tuple[Ints, ...]

    @property
    def classes(self) -> int:
        return int(self.leaves.shape[-1])

    @property
    def possible(self) -> int:
        """How many specializations the taxonomies allow at most."""
        return sum(each.most for each in self.cuts)

    @property
    def paid(self) -> int:
        """How many were paid for, where each is: as many as were asked for, or as there can be."""
        return max(1, min(self.stated.asked or ASKED_BY_DEFAULT, self.possible))

"""Taxonomies: how an attribute can be generalized, from its public domain alone, never from data.

A hierarchy gives a tree of labels. Numbers and dates without one are split in two between any neighbours. A list
without one is a flat tree: '*' above all values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Ints
from discreet.schema.domain import Domain, Integers, Listed, key_of
from discreet.schema.paths import ROOT
from discreet.schema.schema import Schema

MOST_CELLS = 256  # of an attribute; finer is even inside a cell. Part of the release format: never changed without it
MOST_VALUES = 1 << 22  # of a domain, each of which knows its cell
MISSING = "(missing)"


@dataclass(frozen=True)
class Node:
    """A generalized value: its label, the cells below it and the values that it specializes to."""

    label: str
    cells: tuple[int, ...]
    children: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """The cells of an attribute, the finest that is looked at, and the ways to join them.

    `cell_of` gives the cell of each code of the domain. Where `ordered`, cells are joined to intervals and split
    between neighbours; otherwise `root` is a fixed tree.
    """

    name: str
    labels: tuple[str, ...]
    cell_of: Ints
    ordered: bool
    root: Node
    ends: tuple[tuple[str, str], ...] = ()  # the first and the last value of each cell, where they are ordered
    joint: str = "-"  # what stands between the two ends of an interval

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def sizes(self) -> Ints:
        """How many values of the domain each cell holds."""
        return np.bincount(self.cell_of, minlength=len(self))

    def split(self, node: Node, after: int | None = None) -> tuple[Node, ...]:
        """What a node specializes to; an interval is cut after so many of its cells."""
        if not self.ordered:
            return node.children
        if after is None:
            return ()
        return self.interval(node.cells[:after]), self.interval(node.cells[after:])

    def interval(self, cells: Sequence[int]) -> Node:
        """Neighbouring cells of an ordered attribute as one value."""
        known = [cell for cell in cells if cell < len(self.ends)]  # a missing cell stands last
        text = _range(self.ends[known[0]][0], self.ends[known[-1]][1], self.joint) if known else ""
        rest = [self.labels[cell] for cell in cells[len(known) :]]
        return Node(" or ".join(filter(None, [text, *rest])), tuple(cells))

    def can_split(self, node: Node) -> bool:
        return len(node.cells) > 1 if self.ordered else len(node.children) > 1

    def named(self, cells: Iterable[int]) -> Node:
        """The node with exactly these cells; raises PolicyError where there is none."""
        wanted = tuple(cells)
        if self.ordered and wanted and wanted == tuple(range(wanted[0], wanted[-1] + 1)):
            return self.interval(wanted) if len(wanted) < len(self) else self.root
        for node in () if self.ordered else self.root.walk():
            if node.cells == wanted:
                return node
        raise PolicyError(f"cells of {self.name} must be those of a value of its taxonomy")


def taxonomy_of(schema: Schema, name: str) -> Taxonomy:
    """The taxonomy of one column; raises PolicyError where its domain is too large to have cells."""
    domain = schema.domains[name]
    if len(domain) > MOST_VALUES:
        raise PolicyError(
            f"domain of {name} ({len(domain):,} values) must have at most {MOST_VALUES:,} to be generalized; use "
            "coarser numbers, such as thousands",
            key=("domains", name),
        )
    if domain.paths:
        labels, cell_of, root = _from_paths(name, domain)
        return Taxonomy(name, labels, cell_of, False, root)
    ends: tuple[tuple[str, str], ...] = ()
    joint = "-" if isinstance(domain, Integers) else " to "
    if not isinstance(domain, Listed):
        values, number = domain.encoding, len(domain.encoding.values)
        width = -(-number // MOST_CELLS)
        spans = [(at, min(at + width, number) - 1) for at in range(0, number, width)]
        ends = tuple((key_of(values[first]), key_of(values[last])) for first, last in spans)
        texts = [_range(first, last, joint) for first, last in ends]
        cell_of = np.arange(number) // width
    else:
        texts = [str(value) for value in domain.values]
        cell_of = np.arange(len(texts))
        if len(texts) > MOST_CELLS:
            raise PolicyError(
                f"values of {name} ({len(texts):,}) must have a hierarchy to be generalized; declare one with a "
                f"level of at most {MOST_CELLS} labels",
                key=("domains", name, "values"),
            )
    if domain.missing:
        texts, cell_of = [*texts, _free(MISSING, texts)], np.append(cell_of, len(texts))
    labels, cells = tuple(texts), tuple(range(len(texts)))
    children = () if ends else tuple(Node(label, (cell,)) for cell, label in enumerate(labels))
    return Taxonomy(name, labels, cell_of.astype(np.int64), bool(ends), Node(ROOT, cells, children), ends, joint)


def _from_paths(name: str, domain: Domain) -> tuple[tuple[str, ...], Ints, Node]:
    """The tree of a hierarchy above its finest level that has few enough labels."""
    depth = len(domain.paths[0])
    level = next(
        each for each in range(depth) if each == depth - 1 or len({p[each] for p in domain.paths}) <= MOST_CELLS
    )
    if level == depth - 1 and len(domain.paths) > 1 and depth > 1:
        raise PolicyError(
            f"hierarchy of {name} must have a level of at most {MOST_CELLS} labels; add one above the leaves",
            key=("domains", name, "hierarchy"),
        )
    cells: dict[str, int] = {}
    cell_of = np.fromiter((cells.setdefault(path[level], len(cells)) for path in domain.paths), dtype=np.int64)
    ways = {cells[path[level]]: path[level:] for path in domain.paths}
    taken: set[str] = {ROOT}
    children = _children(ways, tuple(ways), depth - level - 1, taken)
    labels = list(cells)
    if domain.missing:
        own = _free(MISSING, taken)
        cell_of, children = np.append(cell_of, len(labels)), (*children, Node(own, (len(labels),)))
        labels.append(own)
    return tuple(labels), cell_of, Node(ROOT, tuple(range(len(labels))), children)


def _children(
    ways: dict[int, tuple[str, ...]], cells: tuple[int, ...], level: int, taken: set[str]
) -> tuple[Node, ...]:
    """The values one level down that differ; a label that stands for several values is told apart by its level."""
    groups: dict[str, list[int]] = {}
    while level > 0 and len(groups) < 2:
        level -= 1
        groups = {}
        for cell in cells:
            groups.setdefault(ways[cell][level], []).append(cell)
    if len(groups) < 2:
        return ()
    found = []
    for label, members in groups.items():
        own = _free(label, taken)
        taken.add(own)
        found.append(Node(own, tuple(members), _children(ways, tuple(members), level, taken)))
    return tuple(found)


def _free(label: str, taken: Iterable[str]) -> str:
    """The label, or the label with signs behind it until nothing else is called so."""
    known = set(taken)
    while label in known:
        label += "'"
    return label


def _range(first: str, last: str, joint: str) -> str:
    return first if first == last else f"{first}{joint}{last}"

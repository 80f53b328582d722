"""Reading the leaves and tables of a release as numbers: bytes from a stranger, so everything is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.engine.columns import cells_of
from discreet.errors import PolicyError, ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.diffgen.columns import NUMBERS, TEXTS, Columns, Types, columns_of, types_of
from discreet.release.diffgen.manifest import LEAVES, TABLES, DiffGenManifest
from discreet.schema.taxonomy import Node, Taxonomy, taxonomy_of

MOST_TABLE_COUNTS, MOST_LEAF_COUNTS = 100_000, 250_000  # of a release; more are refused unread


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafTables:
    """Leaves (an axis for each attribute, classes last) and tables (cells x classes), in units of 1 / UNIT records."""

    target: str
    taxonomies: tuple[Taxonomy, ...]
    values: tuple[tuple[Node, ...], ...]
    groups: tuple[Ints, ...]  # for each cell of an attribute, the position of its value
    leaves: Ints
    tables: tuple[Ints, ...]


def read_leaves(manifest: DiffGenManifest) -> LeafTables:
    """Both tables of a release; raises ReleaseError with what is wrong."""
    schema, target = manifest.schema, manifest.statement.mechanism.target_of(manifest.schema)
    try:
        taxonomies = tuple(taxonomy_of(schema, name) for name in schema.columns if name != target)
    except PolicyError as error:
        raise ReleaseError(str(error)) from None
    classes = len(schema.domains[target])
    values, groups, tables = _tables(manifest, target, taxonomies, classes)
    leaves = _leaves(manifest, target, taxonomies, values, classes)
    return LeafTables(target=target, taxonomies=taxonomies, values=values, groups=groups, leaves=leaves, tables=tables)


def _tables(
    manifest: DiffGenManifest, target: str, taxonomies: Sequence[Taxonomy], classes: int
) -> tuple[tuple[tuple[Node, ...], ...], tuple[Ints, ...], tuple[Ints, ...]]:
    """The values that each attribute's cells are generalized to, the place of each cell's, and the counts."""
    sizes = [len(each) for each in taxonomies]
    rows = sum(sizes) * classes
    if rows > MOST_TABLE_COUNTS:
        raise ReleaseError(f"{TABLES} must have at most {MOST_TABLE_COUNTS:,} counts")
    types = dict.fromkeys(("ATTRIBUTE", "VALUE", "CELL"), TEXTS)
    found = _opened(manifest, TABLES, types, target, rows)
    places, cells = np.repeat(np.arange(len(sizes)), sizes), [label for each in taxonomies for label in each.labels]
    found.check("ATTRIBUTE", [each.name for each in taxonomies], np.repeat(places, classes))
    found.check("CELL", cells, np.repeat(np.arange(len(cells)), classes))
    ends = np.cumsum(sizes)[:-1]
    alike = np.split(found.alike("VALUE")[::classes], ends)
    cuts = [_cut(taxonomy, own) for taxonomy, own in zip(taxonomies, alike, strict=True)]
    labels = [cut[place].label for cut, own in cuts for place in own]
    found.check("VALUE", labels, np.repeat(np.arange(len(labels)), classes))
    tables = np.split(found.counts().reshape(-1, classes), ends)
    return tuple(cut for cut, _ in cuts), tuple(own for _, own in cuts), tuple(tables)


def _opened(manifest: DiffGenManifest, name: str, types: Mapping[str, Types], target: str, rows: int) -> Columns:
    """A table whose classes stand in order."""
    encoding = manifest.schema.domains[target].encoding
    own = {**types, target: types_of(encoding), "COUNT": NUMBERS}
    found = columns_of(manifest.folder, name, own, rows)
    if not found.has(target, cells_of(encoding), np.arange(rows) % len(encoding)):
        raise ReleaseError(f"{name} must have a row for each class, in order")
    return found


def _cut(taxonomy: Taxonomy, alike: Ints) -> tuple[tuple[Node, ...], Ints]:
    """The values that an attribute's cells are generalized to: each must be one of its taxonomy."""
    cells: dict[int, list[int]] = {}
    for cell, own in enumerate(alike.tolist()):
        cells.setdefault(own, []).append(cell)
    try:
        nodes = tuple(taxonomy.named(own) for own in cells.values())
    except PolicyError as error:
        raise ReleaseError(str(error)) from None
    place = {own: number for number, own in enumerate(cells)}
    return nodes, np.array([place[own] for own in alike.tolist()], dtype=np.int64)


def _leaves(
    manifest: DiffGenManifest,
    target: str,
    taxonomies: Sequence[Taxonomy],
    values: Sequence[tuple[Node, ...]],
    classes: int,
) -> Ints:
    """The counts of the leaves, whose rows must be all combinations of the values, in order."""
    rows = prod(map(len, values)) * classes
    if rows > MOST_LEAF_COUNTS or rows != manifest.statement.numbers.leaves:
        raise ReleaseError(f"{LEAVES} must have as many counts as are stated, and at most {MOST_LEAF_COUNTS:,}")
    found = _opened(manifest, LEAVES, {each.name: TEXTS for each in taxonomies}, target, rows)
    behind = rows
    for taxonomy, nodes in zip(taxonomies, values, strict=True):
        behind //= len(nodes)
        found.check(taxonomy.name, [node.label for node in nodes], np.arange(rows) // behind % len(nodes))
    return found.counts().reshape([*(size for size in map(len, values) if size > 1), classes])

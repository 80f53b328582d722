"""Reading the leaves and tables of a release as numbers: bytes from a stranger, so everything is checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.columns import cells_of, column_of, numbers, texts_of
from discreet.errors import PolicyError, ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.manifest import LEAVES, TABLES, DiffGenManifest, fields_of
from discreet.release.plain import plain_file
from discreet.schema.taxonomy import Node, Taxonomy, taxonomy_of

MOST_ROWS = 2_000_000
MOST_COUNT = 2**52


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
    if sum(map(len, taxonomies)) * classes > MOST_ROWS:
        raise ReleaseError(f"{TABLES} would have more than {MOST_ROWS:,} rows")
    found = _read(manifest, TABLES)
    values, groups, tables = [], [], []
    start = 0
    for taxonomy in taxonomies:
        size = len(taxonomy) * classes
        part = found.slice(start, size)
        start += size
        cut, own = _cut(taxonomy, part, classes)
        values.append(cut)
        groups.append(own)
        tables.append(counts_of(part, TABLES).reshape(-1, classes))
    if found.num_rows != start or not _has_classes(found, manifest, target):
        raise ReleaseError(f"{TABLES} must have a row for each cell of each attribute and class, in order")
    leaves = _leaves(manifest, target, taxonomies, values)
    return LeafTables(
        target=target,
        taxonomies=taxonomies,
        values=tuple(values),
        groups=tuple(groups),
        leaves=leaves,
        tables=tuple(tables),
    )


def _read(manifest: DiffGenManifest, name: str) -> pa.Table:
    path: Path = plain_file(manifest.folder, name)
    fields = fields_of(manifest.statement, name)
    try:
        file = pq.ParquetFile(path)
        if file.metadata.num_rows > MOST_ROWS or file.metadata.metadata:
            raise ReleaseError(f"{name} must have at most {MOST_ROWS:,} rows and no metadata")
        table = file.read()
        table.validate(full=True)  # also that texts are UTF-8
    except (pa.ArrowException, OSError, ValueError):
        raise ReleaseError(f"{name} must be a Parquet file that can be read") from None
    kinds = {"string": (pa.string(), pa.large_string()), "integer": (pa.int64(),), "number": (pa.float64(),)}
    target = manifest.statement.mechanism.target_of(manifest.schema)
    classes = cells_of(manifest.schema.domains[target].encoding).type
    classes_as = kinds["string"] if classes in kinds["string"] else (classes,)
    if table.column_names != [field["name"] for field in fields] or any(
        column.type not in (classes_as if field["name"] == target else kinds[field["type"]])
        for column, field in zip(table.columns, fields, strict=True)
    ):
        raise ReleaseError(f"{name} must have exactly the columns {', '.join(field['name'] for field in fields)}")
    return table


def _cut(taxonomy: Taxonomy, part: pa.Table, classes: int) -> tuple[tuple[Node, ...], Ints]:
    """The values that an attribute's cells are generalized to: each must be one of its taxonomy."""
    wanted = [label for label in taxonomy.labels for _ in range(classes)]
    if part["ATTRIBUTE"].to_pylist() != [taxonomy.name] * len(wanted) or part["CELL"].to_pylist() != wanted:
        raise ReleaseError(f"{TABLES} must have a row for each cell of {taxonomy.name} and class, in order")
    labels = part["VALUE"].to_pylist()
    cells: dict[str, list[int]] = {}
    for cell, label in enumerate(labels[::classes]):
        cells.setdefault(str(label), []).append(cell)
    if labels != [label for label in labels[::classes] for _ in range(classes)]:
        raise ReleaseError(f"{TABLES} must give each cell of {taxonomy.name} one generalized value")
    try:
        nodes = tuple(taxonomy.named(own) for own in cells.values())
    except PolicyError as error:
        raise ReleaseError(str(error)) from None
    if [node.label for node in nodes] != list(cells):
        raise ReleaseError(f"{TABLES} must name the generalized values of {taxonomy.name} as its taxonomy does")
    order = {label: place for place, label in enumerate(cells)}
    return nodes, np.array([order[str(label)] for label in labels[::classes]], dtype=np.int64)


def _leaves(
    manifest: DiffGenManifest, target: str, taxonomies: tuple[Taxonomy, ...], values: list[tuple[Node, ...]]
) -> Ints:
    """The counts of the leaves, whose rows must be all combinations of the values, in order."""
    found = _read(manifest, LEAVES)
    shape = (*map(len, values), len(manifest.schema.domains[target]))
    rows = int(np.prod([float(size) for size in shape]))
    if rows != found.num_rows or not _has_classes(found, manifest, target):
        raise ReleaseError(f"{LEAVES} must have a row for each combination of values and class, in order")
    behind = rows
    for taxonomy, nodes in zip(taxonomies, values, strict=True):
        behind //= len(nodes)
        at = (np.arange(rows) // behind) % len(nodes)
        labels = texts_of([node.label for node in nodes]).take(column_of(at))
        if not found[taxonomy.name].combine_chunks().cast(labels.type).equals(labels):
            raise ReleaseError(f"{LEAVES} must have a row for each combination of values and class, in order")
    return counts_of(found, LEAVES).reshape([size for size in shape[:-1] if size > 1] + [shape[-1]])


def _has_classes(table: pa.Table, manifest: DiffGenManifest, target: str) -> bool:
    domain: list[Any] = list(manifest.schema.domains[target])
    if table.num_rows % len(domain):
        return False
    return bool(table[target].to_pylist() == domain * (table.num_rows // len(domain)))


def counts_of(table: pa.Table, name: str) -> Ints:
    """Counts in units; none missing, none negative, none finer than a unit."""
    column = table["COUNT"]
    if column.null_count:
        raise ReleaseError(f"COUNT in {name} must not be missing")
    units = numbers(column) * UNIT
    if not np.isfinite(units).all() or (units < 0).any() or (units > MOST_COUNT).any():
        raise ReleaseError(f"COUNT in {name} must not be negative")
    if (units != np.floor(units)).any():
        raise ReleaseError(f"COUNT in {name} must be whole multiples of 1/{UNIT}")
    return np.asarray(units, dtype=np.int64)

"""Writing the two tables of a DiffGen release: leaves, and the tables of each attribute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.engine.columns import column_of, decoded
from discreet.engine.parquet import write_parquet
from discreet.ground.arrays import Ints
from discreet.mechanism.diffgen.making.fit import Fitted
from discreet.mechanism.diffgen.planning.cuts import Cuts
from discreet.release.copies import write_copies
from discreet.release.diffgen.leaves import UNIT
from discreet.release.diffgen.manifest import LEAVES, TABLES
from discreet.schema.schema import Schema
from discreet.table.table import Table


def write_leaves(table: Table, fitted: Fitted, target: str, folder: Path, *, csv: bool) -> None:
    """Fill `folder` with both tables."""
    (folder / "data").mkdir()
    schema, found = table.schema, in_order(fitted)
    for name, content in ((LEAVES, leaf_rows(found, schema, target)), (TABLES, table_rows(found, schema, target))):
        write_parquet([content], folder / name)
    if csv:
        write_copies(folder, (LEAVES, TABLES))


def in_order(fitted: Fitted) -> Fitted:
    """The values of each cut in the order of their first cells, so that the order says nothing of how they came."""
    values, leaves = list(fitted.cuts.values), fitted.leaves
    for axis, position in enumerate(fitted.cuts.axes):
        order = sorted(range(len(values[position])), key=lambda place: values[position][place].cells[0])
        leaves = leaves.take(order, axis=axis)
        values[position] = tuple(values[position][place] for place in order)
    return Fitted(Cuts(fitted.cuts.taxonomies, tuple(values)), leaves, fitted.tables)


def leaf_rows(fitted: Fitted, schema: Schema, target: str) -> pa.Table:
    """A row for each combination of values and class, the first attribute slowest."""
    cuts, classes = fitted.cuts, fitted.leaves.shape[-1]
    place = np.unravel_index(np.arange(fitted.leaves.size), fitted.leaves.shape)
    columns: dict[str, pa.Array] = {}
    for position, taxonomy in enumerate(cuts.taxonomies):
        labels = [node.label for node in cuts.values[position]]
        at = place[cuts.axes.index(position)] if position in cuts.axes else np.zeros(fitted.leaves.size, dtype=np.int64)
        columns[taxonomy.name] = pa.array(labels, pa.string()).take(pa.array(at))
    columns[target] = _classes(schema, target, np.tile(np.arange(classes), fitted.leaves.size // classes))
    return pa.table({**columns, "COUNT": _counts(fitted.leaves)})


def table_rows(fitted: Fitted, schema: Schema, target: str) -> pa.Table:
    """A row for each cell of each attribute and class."""
    names: list[str] = []
    values: list[str] = []
    cells: list[str] = []
    for position, taxonomy in enumerate(fitted.cuts.taxonomies):
        groups, cut = fitted.cuts.groups(position), fitted.cuts.values[position]
        classes = fitted.tables[position].shape[1]
        for cell, label in enumerate(taxonomy.labels):
            names += [taxonomy.name] * classes
            values += [cut[groups[cell]].label] * classes
            cells += [label] * classes
    codes = np.concatenate([np.tile(np.arange(each.shape[1]), len(each)) for each in fitted.tables])
    content = {
        "ATTRIBUTE": pa.array(names, pa.string()),
        "VALUE": pa.array(values, pa.string()),
        "CELL": pa.array(cells, pa.string()),
        target: _classes(schema, target, codes),
        "COUNT": _counts(np.concatenate([each.ravel() for each in fitted.tables])),
    }
    return pa.table(content)


def _classes(schema: Schema, target: str, codes: Ints) -> pa.Array:
    return decoded(schema.domains[target].encoding, codes)


def _counts(units: Ints) -> pa.Array:
    """Counts as decimal numbers: whole multiples of 1 / UNIT, so that they add up exactly."""
    return column_of(units.ravel() / UNIT)

"""Writing tables of tuples: the view, and those that earlier views showed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.mechanism.alphabeta.making.codes import Ints, Radix
from discreet.release.alphabeta.manifest import SLOT
from discreet.schema.schema import Schema
from discreet.table.table import Table

_ROWS = 1 << 20


def write_tables(tables: Mapping[str, Ints], radix: Radix, table: Table, folder: Path, *, csv: bool) -> None:
    """Fill `folder` with tables of packed tuples, by their paths."""
    (folder / "data").mkdir()
    for name, tuples in tables.items():
        _write_tuples(tuples, radix, table.schema, folder / name)
        if csv:
            table.engine.write_csv(folder / name, (folder / name).with_suffix(".csv"))


def _write_tuples(tuples: Ints, radix: Radix, schema: Schema, to: Path) -> None:
    """The tuples in the order of their codes, which says nothing of which are noise."""
    values = {name: pa.array(list(schema.domains[name])) for name in schema.columns}
    if len(radix.sizes) > len(schema.columns):
        values[SLOT] = pa.array(range(radix.sizes[-1]))
    layout = pa.schema([(name, column.type) for name, column in values.items()])
    with pq.ParquetWriter(to, layout, compression="zstd", store_schema=False) as writer:
        for start in range(0, max(1, tuples.shape[1]), _ROWS):
            columns = radix.unpack(tuples[:, start : start + _ROWS])
            cells = [column.take(pa.array(codes)) for column, codes in zip(values.values(), columns, strict=True)]
            writer.write_table(pa.Table.from_arrays(cells, schema=layout), row_group_size=_ROWS)

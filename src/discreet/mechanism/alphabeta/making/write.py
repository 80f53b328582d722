"""Writing tables of tuples: the view, and those that earlier views showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from discreet.engine.columns import decoded
from discreet.engine.encoding import Encoding
from discreet.engine.parquet import GROUP, write_parquet
from discreet.ground.arrays import Ints
from discreet.mechanism.alphabeta.making.codes import Radix
from discreet.release.alphabeta.manifest import SLOT
from discreet.release.copies import write_copies
from discreet.schema.schema import Schema
from discreet.table.table import Table


def write_tables(tables: Mapping[str, Ints], radix: Radix, table: Table, folder: Path, *, csv: bool) -> None:
    """Fill `folder` with tables of packed tuples, by their paths."""
    (folder / "data").mkdir()
    for name, tuples in tables.items():
        _write_tuples(tuples, radix, table.schema, folder / name)
    if csv:
        write_copies(folder, tables)


def _write_tuples(tuples: Ints, radix: Radix, schema: Schema, to: Path) -> None:
    """The tuples in the order of their codes, which says nothing of which are noise."""
    encodings = {name: schema.domains[name].encoding for name in schema.columns}
    if len(radix.sizes) > len(schema.columns):
        encodings[SLOT] = Encoding(range(radix.sizes[-1]))

    def groups() -> Iterator[pa.Table]:
        for start in range(0, max(1, tuples.shape[1]), GROUP):
            codes = radix.unpack(tuples[:, start : start + GROUP])
            cells = [decoded(encoding, own) for encoding, own in zip(encodings.values(), codes, strict=True)]
            yield pa.Table.from_arrays(cells, names=[*encodings])

    write_parquet(groups(), to)

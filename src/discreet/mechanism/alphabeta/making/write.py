"""Writing a release of tuples: the view, those that earlier views showed, the manifest and a README."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.alphabeta.making.codes import Ints, Radix
from discreet.mechanism.alphabeta.making.make import Made
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.mechanism.alphabeta.policy.frapp import Frapp
from discreet.release.manifest import EARLIER, SLOT, VIEW, view_fields_of, write_manifest
from discreet.release.readme import view_readme_of
from discreet.schema.schema import Schema
from discreet.table.table import Table

_ROWS = 1 << 20


def write_view(
    table: Table, mechanism: AlphaBeta | Frapp, made: Made, folder: Path, *, csv: bool, continued: bool, seeded: bool
) -> None:
    """Fill `folder` with the release."""
    (folder / "data").mkdir()
    several = isinstance(mechanism, AlphaBeta) and mechanism.views > 1
    tables = {VIEW: made.view, **({EARLIER: made.earlier} if several else {})}
    for name, tuples in tables.items():
        _write_tuples(tuples, made.radix, table.schema, folder / name)
        if csv:
            table.engine.write_csv(folder / name, (folder / name).with_suffix(".csv"))
    numbers = {"tuples": made.view.shape[1]}
    if several:
        numbers |= {"view": made.number, "earlier": made.earlier.shape[1]}
    _write_manifest(table.schema, mechanism, made, numbers, folder, csv=csv, continued=continued, seeded=seeded)


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


def _write_manifest(
    schema: Schema,
    mechanism: AlphaBeta | Frapp,
    made: Made,
    numbers: dict[str, int],
    folder: Path,
    *,
    csv: bool,
    continued: bool,
    seeded: bool,
) -> None:
    facts = made.promise.facts(continued=continued)
    slots = made.promise.slots if isinstance(made.promise, DGammaPrivacy) else 1
    tables = (VIEW, EARLIER) if "earlier" in numbers else (VIEW,)
    write_manifest(
        folder,
        schema,
        mechanism=mechanism.as_json(),
        guarantee=made.promise.as_json(),
        facts=facts,
        numbers=numbers,
        tables=dict.fromkeys(tables, view_fields_of(schema, slots)),
        readme=view_readme_of(schema, facts, made.promise, numbers, seeded=seeded),
        csv=csv,
        continued=continued,
        seeded=seeded,
    )

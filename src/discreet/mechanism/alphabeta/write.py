"""Writing an alpha-beta release: the view, the manifest and a README for the analyst."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.progress import Steps
from discreet.mechanism.alphabeta.alphabeta import AlphaBeta
from discreet.mechanism.alphabeta.codes import Ints, Radix, distinct, merged, without
from discreet.mechanism.alphabeta.noise import every_tuple_with
from discreet.mechanism.alphabeta.parameters import UNIT
from discreet.release.manifest import FORMAT, MANIFEST, PROFILE, README, VIEW, dump, fields_of, resource_of, sha256
from discreet.release.readme import view_readme_of
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.table.table import Table

_READ, _NOISE, _WRITE = "collecting distinct tuples", "inserting other tuples", "writing the view"
SHARES = {_READ: 0.3, _NOISE: 0.3, _WRITE: 0.4}
_ROWS = 1 << 20


def write_view(
    table: Table, mechanism: AlphaBeta, coins: Coins, folder: Path, *, csv: bool, continued: bool, steps: Steps
) -> bytes:
    """Fill `folder` with the release; returns a digest of the view."""
    (folder / "data").mkdir()
    promise = mechanism.guarantee(table.schema)
    radix = Radix(sizes=tuple(len(table.schema.domains[name]) for name in table.schema.columns))
    with steps.step(_READ) as tell:
        own = distinct_tuples(table, radix, tell)
    with steps.step(_NOISE):
        keep = int(promise.keep * UNIT)
        kept = own[:, coins.stream("keep").integers(0, UNIT, size=own.shape[1]) < keep]
        noise = without(every_tuple_with(promise.insert, radix, coins.stream("noise")), own)
        view = merged(kept, noise)
    with steps.step(_WRITE) as tell:
        _write_tuples(view, radix, table.schema, folder / VIEW)
        if csv:
            table.engine.write_csv(folder / VIEW, (folder / VIEW).with_suffix(".csv"))
        _write_manifest(table, mechanism, view.shape[1], folder, csv=csv, continued=continued, seeded=coins.seeded)
    return hashlib.blake2b(view.tobytes(), digest_size=16).digest()


def distinct_tuples(table: Table, radix: Radix, tell: object = None) -> Ints:
    """The table as a set, packed and in order."""
    found = np.zeros((len(radix.words), 0), dtype=np.int64)
    waiting: list[Ints] = []
    for codes in table.codes():
        waiting.append(distinct(radix.pack(codes)))
        if len(waiting) == 16:
            found, waiting = distinct(np.concatenate([found, *waiting], axis=1)), []
    return distinct(np.concatenate([found, *waiting], axis=1))


def _write_tuples(view: Ints, radix: Radix, schema: Schema, to: Path) -> None:
    """The tuples in the order of their codes, which says nothing of which are noise."""
    values = {name: pa.array(list(schema.domains[name])) for name in schema.columns}
    layout = pa.schema([(name, column.type) for name, column in values.items()])
    with pq.ParquetWriter(to, layout, compression="zstd", store_schema=False) as writer:
        for start in range(0, max(1, view.shape[1]), _ROWS):
            columns = radix.unpack(view[:, start : start + _ROWS])
            cells = [column.take(pa.array(codes)) for column, codes in zip(values.values(), columns, strict=True)]
            writer.write_table(pa.Table.from_arrays(cells, schema=layout), row_group_size=_ROWS)


def _write_manifest(
    table: Table, mechanism: AlphaBeta, tuples: int, folder: Path, *, csv: bool, continued: bool, seeded: bool
) -> None:
    schema, promise = table.schema, mechanism.guarantee(table.schema)
    facts = promise.facts(continued=continued)
    (folder / README).write_text(view_readme_of(schema, facts, promise, tuples=tuples, seeded=seeded), encoding="utf-8")
    paths = [VIEW, *([str(Path(VIEW).with_suffix(".csv"))] if csv else [])]
    manifest = {
        "$schema": PROFILE,
        "name": "release",
        "resources": [resource_of(folder, path, fields_of(schema, "view")) for path in paths],
        "discreet": {
            "format": FORMAT,
            "version": version("discreet"),
            "mechanism": mechanism.as_json(),
            "schema": schema.as_json(),
            "guarantee": promise.as_json(),
            "facts": facts,
            "tuples": tuples,
            "continued": continued,
            "randomness": "seeded" if seeded else "secure",
            "readme": f"sha256:{sha256(folder / README)}",
        },
    }
    (folder / MANIFEST).write_text(dump(manifest), encoding="utf-8")

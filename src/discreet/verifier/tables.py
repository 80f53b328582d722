"""Tables of a release as an engine shows them: columns, domains, and the order of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code, text, type_of
from discreet.engine.encoding import Encoding
from discreet.release.bounds import check_cells
from discreet.verifier.files import Files

WHOLE = Encoding(range(1, 2**53))  # of columns that hold whole numbers from 1
_INTEGERS = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a table must look like: its columns in order, those that are not the schema's own with what they may hold,
    and how many rows it may have as far as the manifest states: a small file may hold billions.
    """

    columns: tuple[str, ...]
    most: int
    added: Mapping[str, Encoding] = field(default_factory=dict)


def check_tables(files: Files, shapes: Mapping[str, Shape]) -> str | None:
    """The tables have exactly the columns of their shapes, every cell lies in its domain, and nothing else is there.

    `shapes` are by the name of the file; each is a relation named after it from here on.
    """
    for name, shape in shapes.items():
        path, relation = files.path(name), Path(name).stem
        rows = check_cells(path, files.manifest.folder, files.memory)
        if rows > shape.most:
            return f"{name} has {rows:,} rows, more than the manifest states"
        files.engine.rows(
            f"CREATE OR REPLACE VIEW {relation} AS SELECT * FROM read_parquet({text(str(path.resolve()))})"
        )
        if broken := _check_table(files, relation, name, shape):
            return broken
    return None


def _check_table(files: Files, relation: str, name: str, shape: Shape) -> str | None:
    domains = files.schema.domains
    found = files.engine.columns(relation)
    if tuple(found) != shape.columns:
        return f"{name} must have exactly the columns {', '.join(shape.columns)}"
    own = {column: shape.added.get(column) or domains[column].encoding for column in shape.columns}
    for column, encoding in own.items():
        if found[column] not in _types(encoding):
            return f"{column} in {name} must be of type {_types(encoding)[0]}"
    files.engine.encode(f"{relation}_in_domain", relation, {column: (column, each) for column, each in own.items()})
    for column, (nulls, outside) in files.engine.misfits(f"{relation}_in_domain")[1].items():
        wrong = outside if own[column].missing else nulls + outside
        if wrong:
            return f"{column} in {name} is outside its domain in {wrong:,} rows"
    return None


def _types(encoding: Encoding) -> tuple[str, ...]:
    """The types of DuckDB's that a column may have."""
    if encoding.kind == "text":
        return ("VARCHAR",)
    return (type_of(encoding),) if encoding.scale else _INTEGERS


def in_order(files: Files, relation: str, columns: Sequence[tuple[str, Encoding]]) -> bool:
    """Whether no row of a checked table is below the row before it, by some columns."""
    codes = ", ".join(f"{code(name, encoding)}::BIGINT" for name, encoding in columns)
    last: list[int] | None = None
    for batch in files.engine.batches(f"SELECT {codes} FROM {relation}_in_domain"):
        keys = [numbers(column) for column in batch.columns]
        if last is not None:
            keys = [np.concatenate([[before], key]) for before, key in zip(last, keys, strict=True)]
        tied = np.ones(max(len(keys[0]) - 1, 0), dtype=np.bool_)
        for key in keys:
            step = np.diff(key)
            if (tied & (step < 0)).any():
                return False
            tied &= step == 0
        last = [int(key[-1]) for key in keys] if len(keys[0]) else last
    return True

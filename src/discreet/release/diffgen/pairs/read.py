"""Reading both tables of a release of pairs as numbers: bytes from a stranger, so everything is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.columns import numbers
from discreet.errors import PolicyError, ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.diffgen.pairs.groups import groups_of
from discreet.release.diffgen.pairs.layout import labelled_columns, labelled_pairs, shape_of, taxonomies_of
from discreet.release.diffgen.pairs.manifest import COLUMNS, PAIRS, Chosen, PairManifest, fields_of
from discreet.release.diffgen.pairs.measured import Candidate, Level, Measured, Round
from discreet.release.diffgen.tables import MOST_COUNT, counts_of
from discreet.release.plain import plain_file
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy

MOST_ROWS = 2_000_000
_TYPES = {"string": (pa.string(), pa.large_string()), "integer": (pa.int64(),), "number": (pa.float64(),)}


@dataclass(frozen=True, eq=False, kw_only=True)
class PairTables:
    """What was measured, the group of each cell as it is stated, and the counts, in units of 1 / UNIT people."""

    taxonomies: tuple[Taxonomy, ...]
    measured: Measured
    groups: tuple[Ints, ...]
    columns: tuple[Ints, ...]
    pairs: tuple[Ints, ...]  # of the rounds that chose one


def read_pairs(manifest: PairManifest) -> PairTables:
    """Both tables of a release; raises ReleaseError with what is wrong."""
    schema, stated = manifest.schema, manifest.statement.numbers
    try:
        taxonomies = taxonomies_of(schema)
    except PolicyError as error:
        raise ReleaseError(str(error)) from None
    chosen = [None if each is None else _candidate(schema, each) for each in stated.rounds]
    shapes = [shape_of(taxonomies, each) for each in chosen if each is not None]
    sizes = [len(each) for each in taxonomies]
    if sum(sizes) > MOST_ROWS or sum(one * two for one, two in shapes) > MOST_ROWS:
        raise ReleaseError(f"{COLUMNS} and {PAIRS} must have at most {MOST_ROWS:,} rows")
    columns, pairs = _read(manifest, COLUMNS), _read(manifest, PAIRS)
    ones = _parts(_whole(columns, COLUMNS, "MEASURED"), sizes)
    groups = [groups_of(noisy, ordered=each.ordered) for noisy, each in zip(ones, taxonomies, strict=True)]
    _check_labels(columns, labelled_columns(taxonomies, groups), COLUMNS)
    _check_labels(pairs, labelled_pairs(taxonomies, chosen), PAIRS)
    tables = iter(_shaped(_whole(pairs, PAIRS, "MEASURED"), shapes))
    return PairTables(
        taxonomies=taxonomies,
        measured=Measured(
            total=stated.total,
            ones=tuple(ones),
            rounds=tuple(Round() if each is None else Round(each, next(tables)) for each in chosen),
            again=_again(columns, sizes),
        ),
        groups=tuple(groups),
        columns=tuple(_parts(counts_of(columns, COLUMNS), sizes)),
        pairs=tuple(_shaped(counts_of(pairs, PAIRS), shapes)),
    )


def _candidate(schema: Schema, stated: Chosen) -> Candidate:
    """A choice by the places of its columns, which stand in the order of the schema."""
    if not set(stated.columns) <= set(schema.columns):
        raise ReleaseError("rounds must name published columns")
    first, second = (schema.columns.index(name) for name in stated.columns)
    if first > second:
        raise ReleaseError("rounds must name columns in the order of the schema")
    one, two = (Level(level) for level in stated.levels)
    return Candidate(first, second, (one, two))


def _read(manifest: PairManifest, name: str) -> pa.Table:
    fields = fields_of(manifest.statement, name)
    try:
        file = pq.ParquetFile(plain_file(manifest.folder, name))
        if file.metadata.num_rows > MOST_ROWS or file.metadata.metadata:
            raise ReleaseError(f"{name} must have at most {MOST_ROWS:,} rows and no metadata")
        table = file.read()
        table.validate(full=True)  # also that texts are UTF-8
    except (pa.ArrowException, OSError, ValueError):
        raise ReleaseError(f"{name} must be a Parquet file that can be read") from None
    if table.column_names != [field["name"] for field in fields] or any(
        column.type not in _TYPES[field["type"]] for column, field in zip(table.columns, fields, strict=True)
    ):
        raise ReleaseError(f"{name} must have exactly the columns {', '.join(field['name'] for field in fields)}")
    return table


def _check_labels(found: pa.Table, expected: pa.Table, name: str) -> None:
    for column in expected.column_names:
        own = found[column].cast(expected[column].type)
        if own.null_count or not own.equals(expected[column]):
            raise ReleaseError(f"{name} must have a row for each cell of each table, in order: {column} is another")


def _whole(table: pa.Table, name: str, column: str) -> Ints:
    if table[column].null_count:
        raise ReleaseError(f"{column} in {name} must be whole numbers")
    found = numbers(table[column].combine_chunks())
    if len(found) and np.abs(found).max() > MOST_COUNT:
        raise ReleaseError(f"{column} in {name} must be counts of people with noise")
    return found


def _again(columns: pa.Table, sizes: Sequence[int]) -> tuple[Ints, ...] | None:
    if columns["AGAIN"].null_count == len(columns):
        return None
    return tuple(_parts(_whole(columns, COLUMNS, "AGAIN"), sizes))


def _parts(found: Ints, sizes: Sequence[int]) -> list[Ints]:
    if len(found) != sum(sizes):
        raise ReleaseError(f"{COLUMNS} must have a row for each cell of each column")
    return np.split(found, np.cumsum(sizes)[:-1])


def _shaped(found: Ints, shapes: Sequence[tuple[int, int]]) -> list[Ints]:
    sizes = [one * two for one, two in shapes]
    if len(found) != sum(sizes):
        raise ReleaseError(f"{PAIRS} must have a row for each cell of each table of a round")
    parts = np.split(found, np.cumsum(sizes)[:-1]) if shapes else []
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

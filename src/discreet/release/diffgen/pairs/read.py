"""Reading both tables of a release of pairs as numbers: bytes from a stranger, so everything is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.errors import PolicyError, ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.diffgen.columns import NUMBERS, TEXTS, WHOLE, Columns, Types, columns_of
from discreet.release.diffgen.pairs.groups import GROUPS, groups_of
from discreet.release.diffgen.pairs.layout import shape_of, taxonomies_of
from discreet.release.diffgen.pairs.manifest import COLUMNS, PAIRS, Chosen, PairManifest
from discreet.release.diffgen.pairs.measured import Candidate, Level, Measured, Round
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy

MOST_COLUMN_COUNTS, MOST_PAIR_COUNTS = 500_000, 1_000_000  # of a release; more are refused unread
COLUMN_TYPES: dict[str, Types] = {
    **dict.fromkeys(("ATTRIBUTE", "CELL"), TEXTS),
    **dict.fromkeys(("GROUP", "MEASURED", "AGAIN"), WHOLE),
    "COUNT": NUMBERS,
}
PAIR_TYPES: dict[str, Types] = {
    "ROUND": WHOLE,
    **dict.fromkeys(("FIRST", "FIRST_VALUE", "SECOND", "SECOND_VALUE"), TEXTS),
    "MEASURED": WHOLE,
    "COUNT": NUMBERS,
}


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
    columns = _opened(manifest, COLUMNS, COLUMN_TYPES, sum(sizes), MOST_COLUMN_COUNTS)
    pairs = _opened(manifest, PAIRS, PAIR_TYPES, sum(one * two for one, two in shapes), MOST_PAIR_COUNTS)
    ones = _parts(columns.whole("MEASURED"), sizes)
    groups = [groups_of(noisy, ordered=each.ordered) for noisy, each in zip(ones, taxonomies, strict=True)]
    _check_columns(columns, taxonomies, groups)
    _check_pairs(pairs, taxonomies, chosen)
    tables = iter(_shaped(pairs.whole("MEASURED"), shapes))
    return PairTables(
        taxonomies=taxonomies,
        measured=Measured(
            total=stated.total,
            ones=tuple(ones),
            rounds=tuple(Round() if each is None else Round(each, next(tables)) for each in chosen),
            again=None if columns.empty("AGAIN") else tuple(_parts(columns.whole("AGAIN"), sizes)),
        ),
        groups=tuple(groups),
        columns=tuple(_parts(columns.counts(), sizes)),
        pairs=tuple(_shaped(pairs.counts(), shapes)),
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


def _opened(manifest: PairManifest, name: str, types: Mapping[str, Types], rows: int, most: int) -> Columns:
    if rows > most:
        raise ReleaseError(f"{name} must have at most {most:,} counts")
    return columns_of(manifest.folder, name, types, rows)


def _check_columns(found: Columns, taxonomies: Sequence[Taxonomy], groups: Sequence[Ints]) -> None:
    sizes = [len(each) for each in taxonomies]
    found.check("ATTRIBUTE", [each.name for each in taxonomies], np.repeat(np.arange(len(sizes)), sizes))
    found.check("CELL", [label for each in taxonomies for label in each.labels], np.arange(sum(sizes)))
    if not np.array_equal(found.whole("GROUP"), np.concatenate(groups) + 1):
        raise ReleaseError(f"{COLUMNS} must have the groups that follow from MEASURED")


def _check_pairs(found: Columns, taxonomies: Sequence[Taxonomy], chosen: Sequence[Candidate | None]) -> None:
    """Each row of the tables of two columns is of the round, the columns and the values that it should be of."""
    names, labels = [each.name for each in taxonomies], [label for each in taxonomies for label in each.labels]
    coarse = len(labels) + np.arange(GROUPS)
    cells = np.split(np.arange(len(labels)), np.cumsum([len(each) for each in taxonomies])[:-1])
    parts = [[np.zeros(0, dtype=np.int64)] for _ in range(5)]
    for number, each in enumerate(chosen, start=1):
        if each is None:
            continue
        one, two = (
            cells[place] if level is Level.CELLS else coarse[: len(cells[place])]
            for place, level in zip(each.columns, each.levels, strict=True)
        )
        size = len(one) * len(two)
        places = (
            *(np.full(size, each) for each in (number, *each.columns)),
            np.repeat(one, len(two)),
            np.tile(two, len(one)),
        )
        for part, own in zip(parts, places, strict=True):
            part.append(own)
    rounds, first, second, one, two = map(np.concatenate, parts)
    if not np.array_equal(found.whole("ROUND"), rounds):
        raise ReleaseError(f"{PAIRS} must have a row for each cell of each table, in order: ROUND is another")
    values = [*labels, *(f"group {number}" for number in range(1, GROUPS + 1))]
    for column, texts, wanted in (
        ("FIRST", names, first),
        ("SECOND", names, second),
        ("FIRST_VALUE", values, one),
        ("SECOND_VALUE", values, two),
    ):
        found.check(column, texts, wanted)


def _parts(found: Ints, sizes: Sequence[int]) -> list[Ints]:
    return np.split(found, np.cumsum(sizes)[:-1])


def _shaped(found: Ints, shapes: Sequence[tuple[int, int]]) -> list[Ints]:
    parts = np.split(found, np.cumsum([one * two for one, two in shapes])[:-1]) if shapes else []
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

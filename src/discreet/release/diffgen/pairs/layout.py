"""Pairs and a schema: what is public beforehand, and the rows of both tables, in order: what each number is of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.engine.columns import column_of, texts_of
from discreet.ground.arrays import Ints
from discreet.release.diffgen.pairs.groups import GROUPS
from discreet.release.diffgen.pairs.measured import Candidate, Level
from discreet.release.diffgen.pairs.walk import Setting
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy, taxonomy_of


def taxonomies_of(schema: Schema) -> tuple[Taxonomy, ...]:
    """The cells of every published column; raises PolicyError where one has too many values."""
    return tuple(taxonomy_of(schema, name) for name in schema.columns)


def setting_of(epsilon: Fraction, taxonomies: Sequence[Taxonomy]) -> Setting:
    """What is public beforehand, of columns with these cells."""
    sizes, ordered = tuple(map(len, taxonomies)), tuple(each.ordered for each in taxonomies)
    return Setting(epsilon=epsilon, sizes=sizes, ordered=ordered)


def labelled_columns(taxonomies: Sequence[Taxonomy], groups: Sequence[Ints]) -> pa.Table:
    """A row for each cell of each column, with its group, from 1."""
    names = [each.name for each in taxonomies for _ in each.labels]
    cells = [label for each in taxonomies for label in each.labels]
    return pa.table(
        {
            "ATTRIBUTE": texts_of(names),
            "CELL": texts_of(cells),
            "GROUP": column_of(np.concatenate(groups) + 1),
        }
    )


def labelled_pairs(taxonomies: Sequence[Taxonomy], chosen: Sequence[Candidate | None]) -> pa.Table:
    """A row for each two cells or groups of each round that chose a pair, the first column slowest."""
    parts = [_labelled(taxonomies, number, each) for number, each in enumerate(chosen, 1) if each is not None]
    return pa.concat_tables([pa.Table.from_batches([], _LABELS), *parts])


_LABELS = pa.schema(
    [
        ("ROUND", pa.int64()),
        *((name, pa.large_string()) for name in ("FIRST", "FIRST_VALUE", "SECOND", "SECOND_VALUE")),
    ]
)


def _labelled(taxonomies: Sequence[Taxonomy], number: int, chosen: Candidate) -> pa.Table:
    own = [taxonomies[place] for place in chosen.columns]
    values = [_values(each, level) for each, level in zip(own, chosen.levels, strict=True)]
    rows = len(values[0]) * len(values[1])
    return pa.table(
        {
            "ROUND": column_of(np.full(rows, number)),
            "FIRST": texts_of([own[0].name] * rows),
            "FIRST_VALUE": texts_of([one for one in values[0] for _ in values[1]]),
            "SECOND": texts_of([own[1].name] * rows),
            "SECOND_VALUE": texts_of(values[1] * len(values[0])),
        },
        schema=_LABELS,
    )


def _values(taxonomy: Taxonomy, level: Level) -> list[str]:
    if level is Level.CELLS:
        return list(taxonomy.labels)
    return [f"group {number}" for number in range(1, min(GROUPS, len(taxonomy)) + 1)]


def shape_of(taxonomies: Sequence[Taxonomy], chosen: Candidate) -> tuple[int, int]:
    one, two = (
        len(taxonomies[place]) if level is Level.CELLS else min(GROUPS, len(taxonomies[place]))
        for place, level in zip(chosen.columns, chosen.levels, strict=True)
    )
    return one, two

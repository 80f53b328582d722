"""Leaves and tables as the verifier reads them: the generalized values of each attribute, and every count, in order."""

from __future__ import annotations

import math

import numpy as np

from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.schema.taxonomy import Taxonomy, taxonomy_of
from discreet.verifier.diffgen.found import MOST_LEAF_COUNTS, MOST_TABLE_COUNTS, Cut, Found
from discreet.verifier.diffgen.rows import COUNTS, TEXTS, Rows, rows_of, types_of
from discreet.verifier.diffgen.stated import Stated, stated_of
from discreet.verifier.files import Files

LEAVES, TABLES = "data/leaves.parquet", "data/tables.parquet"


def found_in(files: Files) -> Found:
    """Both tables of a release, of which every row and cell follows but the counts and the generalized values."""
    stated = stated_of(files.block, files.schema)
    taxonomies = [taxonomy_of(files.schema, name) for name in files.schema.columns if name != stated.target]
    cuts, tables = _tables(files, stated, taxonomies)
    return Found(stated=stated, cuts=tuple(cuts), leaves=_leaves(files, stated, cuts), tables=tuple(tables))


def _tables(files: Files, stated: Stated, taxonomies: list[Taxonomy]) -> tuple[list[Cut], list[Ints]]:
    encoding = files.schema.domains[stated.target].encoding
    classes, sizes = len(encoding), [len(each) for each in taxonomies]
    number = sum(sizes) * classes
    if number > MOST_TABLE_COUNTS:
        raise ReleaseError(f"{TABLES} would have {number:,} counts; a release has at most {MOST_TABLE_COUNTS:,}")
    labels = {"ATTRIBUTE": TEXTS, "VALUE": TEXTS, "CELL": TEXTS}
    rows = rows_of(files, TABLES, {**labels, stated.target: types_of(encoding), "COUNT": COUNTS}, number)
    _check(rows, "ATTRIBUTE", [each.name for each in taxonomies for _ in each.labels], classes)
    _check(rows, "CELL", [label for each in taxonomies for label in each.labels], classes)
    _check_classes(rows, stated.target, encoding)
    ends = np.cumsum(sizes)[:-1]
    alike = rows.alike("VALUE").reshape(-1, classes)
    cuts = [_cut(each, own) for each, own in zip(taxonomies, np.split(alike[:, 0], ends), strict=True)]
    _check(rows, "VALUE", [each.values[place].label for each in cuts for place in each.groups], classes)
    return cuts, np.split(rows.counts().reshape(-1, classes), ends)


def _cut(taxonomy: Taxonomy, alike: Ints) -> Cut:
    """The values of an attribute, in the order of their first cells: those of its taxonomy with these cells."""
    _, first, place = np.unique(alike, return_index=True, return_inverse=True)
    groups = np.argsort(np.argsort(first))[place]
    values = tuple(taxonomy.named(np.flatnonzero(groups == each).tolist()) for each in range(len(first)))
    return Cut(taxonomy, values, groups)


def _leaves(files: Files, stated: Stated, cuts: list[Cut]) -> Ints:
    encoding = files.schema.domains[stated.target].encoding
    number = math.prod(len(each.values) for each in cuts) * len(encoding)
    if number != stated.leaves:
        raise ReleaseError(f"{LEAVES} must have {number:,} counts, the manifest states {stated.leaves:,}")
    if number > MOST_LEAF_COUNTS:
        raise ReleaseError(f"{LEAVES} would have {number:,} counts; a release has at most {MOST_LEAF_COUNTS:,}")
    labels = {each.taxonomy.name: TEXTS for each in cuts}
    rows = rows_of(files, LEAVES, {**labels, stated.target: types_of(encoding), "COUNT": COUNTS}, number)
    _check_classes(rows, stated.target, encoding)
    behind = number
    for each in cuts:
        behind //= len(each.values)
        own = rows.codes(each.taxonomy.name, Encoding(tuple(node.label for node in each.values)))
        if not np.array_equal(own, np.arange(number) // behind % len(each.values)):
            raise ReleaseError(f"{LEAVES} must have a row for each combination of values and class, in order")
    return rows.counts().reshape([*(len(each.values) for each in cuts if len(each.values) > 1), len(encoding)])


def _check(rows: Rows, column: str, texts: list[str], classes: int) -> None:
    """A column has these texts in order, each once for every class."""
    known = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    wanted = np.repeat([known[text] for text in texts], classes)
    if not np.array_equal(rows.codes(column, Encoding(tuple(known))), wanted):
        raise ReleaseError(f"{rows.name} must have a row for each count, in order: {column} is another")


def _check_classes(rows: Rows, target: str, encoding: Encoding) -> None:
    if not np.array_equal(rows.codes(target, encoding), np.arange(rows.number) % len(encoding)):
        raise ReleaseError(f"{rows.name} must have a row for each count, in order: {target} is another")

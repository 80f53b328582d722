"""Both tables of a release of pairs as the verifier reads them: of every number it is known which one it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.schema.taxonomy import Taxonomy, taxonomy_of
from discreet.verifier.diffgen.pairs.found import COLUMNS, PAIRS, Found, shape_of
from discreet.verifier.diffgen.pairs.groups import GROUPS, grouped
from discreet.verifier.diffgen.pairs.stated import Choice, stated_of
from discreet.verifier.diffgen.rows import COUNTS, TEXTS, WHOLE, Rows, Types, rows_of
from discreet.verifier.files import Files

MOST_COLUMN_COUNTS, MOST_PAIR_COUNTS = 500_000, 1_000_000  # of a release; more are refused unread
_LABELS: dict[str, Types] = {
    "ATTRIBUTE": TEXTS,
    "CELL": TEXTS,
    "GROUP": WHOLE,
    "MEASURED": WHOLE,
    "AGAIN": WHOLE,
    "COUNT": COUNTS,
}
_CHOSEN: dict[str, Types] = {
    "ROUND": WHOLE,
    **dict.fromkeys(("FIRST", "FIRST_VALUE", "SECOND", "SECOND_VALUE"), TEXTS),
    "MEASURED": WHOLE,
    "COUNT": COUNTS,
}


def found_in(files: Files) -> Found:
    """Both tables of a release, of which every row and cell follows but the numbers."""
    stated = stated_of(files.block, files.schema)
    taxonomies = tuple(taxonomy_of(files.schema, name) for name in files.schema.columns)
    sizes = [len(each) for each in taxonomies]
    columns = _rows(files, COLUMNS, _LABELS, sum(sizes), MOST_COLUMN_COUNTS)
    ends = np.cumsum(sizes)[:-1]
    _check(columns, "ATTRIBUTE", [each.name for each in taxonomies], [np.repeat(np.arange(len(sizes)), sizes)])
    labels = list(dict.fromkeys(label for each in taxonomies for label in each.labels))
    own = _places(labels, taxonomies)
    _check(columns, "CELL", labels, own)
    ones = np.split(columns.whole("MEASURED"), ends)
    groups = [grouped(noisy, ordered=each.ordered) for noisy, each in zip(ones, taxonomies, strict=True)]
    if not np.array_equal(columns.whole("GROUP"), np.concatenate(groups) + 1):
        raise ReleaseError(f"{COLUMNS} must have the groups that follow from MEASURED")
    again = None if columns.empty("AGAIN") else tuple(np.split(columns.whole("AGAIN"), ends))
    chosen = [each for each in stated.rounds if each is not None]
    shapes = [shape_of(sizes, each) for each in chosen]
    pairs = _rows(files, PAIRS, _CHOSEN, sum(one * two for one, two in shapes), MOST_PAIR_COUNTS)
    _check_pairs(pairs, stated.rounds, taxonomies, labels, own)
    measured = iter(_shaped(pairs.whole("MEASURED"), shapes))
    return Found(
        stated=stated,
        taxonomies=taxonomies,
        ones=tuple(ones),
        groups=tuple(groups),
        again=again,
        rounds=tuple(None if each is None else next(measured) for each in stated.rounds),
        columns=tuple(np.split(columns.counts(), ends)),
        pairs=tuple(_shaped(pairs.counts(), shapes)),
    )


def _rows(files: Files, name: str, columns: dict[str, Types], number: int, most: int) -> Rows:
    if number > most:
        raise ReleaseError(f"{name} would have {number:,} counts; a release has at most {most:,}")
    return rows_of(files, name, columns, number)


def _check_pairs(
    rows: Rows, rounds: Sequence[Choice | None], taxonomies: Sequence[Taxonomy], labels: list[str], own: list[Ints]
) -> None:
    """What each row of the tables of pairs is of: its round, its columns, and their values."""
    known = [*labels, *(f"group {number}" for number in range(1, GROUPS + 1) if f"group {number}" not in labels)]
    coarse = np.array([known.index(f"group {number}") for number in range(1, GROUPS + 1)])
    number, first, second, one, two = ([np.zeros(0, dtype=np.int64)] for _ in range(5))
    for at, chosen in enumerate(rounds):
        if chosen is None:
            continue
        a, b = (
            coarse[: len(own[place])] if groups else own[place]
            for place, groups in zip(chosen.places, chosen.grouped, strict=True)
        )
        size = len(a) * len(b)
        for column, place in zip((number, first, second), (at, *chosen.places), strict=True):
            column.append(np.full(size, place))
        one.append(np.repeat(a, len(b)))
        two.append(np.tile(b, len(a)))
    names = [each.name for each in taxonomies]
    if not np.array_equal(rows.whole("ROUND"), np.concatenate(number) + 1):
        raise ReleaseError(f"{PAIRS} must have a row for each cell of each table, in order: ROUND is another")
    _check(rows, "FIRST", names, first)
    _check(rows, "FIRST_VALUE", known, one)
    _check(rows, "SECOND", names, second)
    _check(rows, "SECOND_VALUE", known, two)


def _check(rows: Rows, column: str, texts: list[str], wanted: list[Ints]) -> None:
    if not np.array_equal(rows.codes(column, Encoding(tuple(texts))), np.concatenate(wanted)):
        raise ReleaseError(f"{rows.name} must have a row for each cell of each table, in order: {column} is another")


def _places(labels: list[str], taxonomies: Sequence[Taxonomy]) -> list[Ints]:
    known = {label: place for place, label in enumerate(labels)}
    return [np.array([known[label] for label in each.labels]) for each in taxonomies]


def _shaped(numbers: Ints, shapes: Sequence[tuple[int, int]]) -> list[Ints]:
    ends = np.cumsum([0, *(one * two for one, two in shapes)])
    return [numbers[start:end].reshape(shape) for start, end, shape in zip(ends, ends[1:], shapes, strict=False)]

"""One- and two-way tables of a release's tuples: plain counts, and counts with weights, in one pass over its codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError, ReleaseError
from discreet.ground.arrays import Floats, Ints

MOST_VALUES = 10**7  # of one attribute
MOST_PAIRS = 16
_MOST_CELLS = 10**6  # of one two-way table


@dataclass(frozen=True, kw_only=True)
class Margins:
    """What tuples with each value weigh together, and with each pair of values (the second attribute fastest).

    Every table has a row of plain counts first, then one for each way to weigh.
    """

    ones: tuple[Floats, ...]
    pairs: Mapping[tuple[int, int], Floats]


def count_ones(engine: Database, relation: str, encodings: Mapping[str, Encoding]) -> tuple[Ints, ...]:
    """How many tuples of an encoded relation have each value."""
    sizes = [len(encoding) for encoding in encodings.values()]
    if max(sizes) > MOST_VALUES:
        raise QueryError(
            f"estimator (best) must have attributes of at most {MOST_VALUES:,} values, this release has one of "
            f"{max(sizes):,}; use unbiased"
        )
    found = tuple(np.zeros(size, dtype=np.int64) for size in sizes)
    for columns in _coded(engine, relation, encodings):
        for column, table in zip(columns, found, strict=True):
            table += np.bincount(column, minlength=len(table))
    return found


def count_margins(
    engine: Database, relation: str, encodings: Mapping[str, Encoding], ways: Sequence[Sequence[Floats]]
) -> Margins:
    """The tables, of some pairs; a way to weigh has for each attribute the factors of its values."""
    sizes = [len(encoding) for encoding in encodings.values()]
    ones = [np.zeros((1 + len(ways), size)) for size in sizes]
    pairs = {pair: np.zeros((1 + len(ways), sizes[pair[0]] * sizes[pair[1]])) for pair in chosen_pairs(sizes)}
    for columns in _coded(engine, relation, encodings):
        weights: list[Floats | None] = [None]
        for way in ways:
            weight = way[0][columns[0]]
            for factors, column in zip(way[1:], columns[1:], strict=True):
                weight *= factors[column]
            weights.append(weight)
        for column, tables in zip(columns, ones, strict=True):
            _add(tables, column, weights)
        for (one, two), tables in pairs.items():
            _add(tables, columns[one] * sizes[two] + columns[two], weights)
    return Margins(ones=tuple(ones), pairs=pairs)


def chosen_pairs(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of attributes whose tables are small enough; of too many, some spread over all."""
    fit = [pair for pair in combinations(range(len(sizes)), 2) if sizes[pair[0]] * sizes[pair[1]] <= _MOST_CELLS]
    number = min(len(fit), MOST_PAIRS)
    return [fit[place * len(fit) // number] for place in range(number)]


def _coded(engine: Database, relation: str, encodings: Mapping[str, Encoding]) -> Iterator[list[Ints]]:
    """The codes of the tuples, a batch at a time; refused where one is outside its domain."""
    codes = [f"coalesce({code(name, encoding)}::BIGINT, -1)" for name, encoding in encodings.items()]
    for batch in engine.batches(f"SELECT {', '.join(codes)} FROM {relation}"):
        columns = [numbers(column) for column in batch.columns]
        if min((int(column.min()) for column in columns if len(column)), default=0) < 0:
            raise ReleaseError("the release has tuples outside its domains; verify says more")
        yield columns


def _add(tables: Floats, cells: Ints, weights: Sequence[Floats | None]) -> None:
    for table, weight in zip(tables, weights, strict=True):
        table += np.bincount(cells, weight, len(table))

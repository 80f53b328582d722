"""One- and two-way tables of a release's tuples, all in one pass over its codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import code
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError, ReleaseError
from discreet.ground.arrays import Ints

MOST_VALUES = 10**7  # of one attribute
_MOST_CELLS = 10**6  # of one two-way table
_MOST_PAIRS = 60


@dataclass(frozen=True, kw_only=True)
class Margins:
    """How many tuples have each value, and each pair of values (the second attribute fastest)."""

    ones: tuple[Ints, ...]
    pairs: Mapping[tuple[int, int], Ints]


def count_margins(engine: Database, relation: str, encodings: Mapping[str, Encoding]) -> Margins:
    """The tables of an encoded relation; two-way tables of up to a million cells, at most 60 of them."""
    sizes = [len(encoding) for encoding in encodings.values()]
    if max(sizes) > MOST_VALUES:
        raise QueryError(
            f"estimator (best) must have attributes of at most {MOST_VALUES:,} values, this release has one of "
            f"{max(sizes):,}; use unbiased"
        )
    codes = [f"coalesce({code(name, encoding)}::BIGINT, -1)" for name, encoding in encodings.items()]
    ones = [np.zeros(size, dtype=np.int64) for size in sizes]
    pairs = {pair: np.zeros(sizes[pair[0]] * sizes[pair[1]], dtype=np.int64) for pair in chosen_pairs(sizes)}
    for batch in engine.batches(f"SELECT {', '.join(codes)} FROM {relation}"):
        columns = [numbers(column) for column in batch.columns]
        if min((int(column.min()) for column in columns if len(column)), default=0) < 0:
            raise ReleaseError("the release has tuples outside its domains; verify says more")
        for column, table in zip(columns, ones, strict=True):
            table += np.bincount(column, minlength=len(table))
        for (one, two), table in pairs.items():
            table += np.bincount(columns[one] * sizes[two] + columns[two], minlength=len(table))
    return Margins(ones=tuple(ones), pairs=pairs)


def chosen_pairs(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of attributes whose tables are small enough; of too many, some spread over all."""
    fit = [pair for pair in combinations(range(len(sizes)), 2) if sizes[pair[0]] * sizes[pair[1]] <= _MOST_CELLS]
    step = -(-len(fit) // _MOST_PAIRS)
    return fit[:: max(1, step)]

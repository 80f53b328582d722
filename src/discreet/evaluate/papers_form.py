"""The papers' random count queries. Paper: [WWFW] section 7.2, [W14] section 7.2.2.

Each asks for 1 to 7 quasi-identifiers and the sensitive attribute, each by a random subset of its values, such that 1 %
of the combinations match. The papers do not say how a number of values is rounded.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.evaluate.conditions import among, between
from discreet.ground.arrays import Bools, Ints
from discreet.schema.valued import Value

ONE_IN, MOST_ATTRIBUTES = 100, 7  # combinations of which one matches; quasi-identifiers that a query asks for
QUERY_SEED = 1
MOST_LISTED = 500  # values of one attribute that a question lists; beyond, neighbours are asked for


def nearest(size: int, columns: int) -> int:
    """How many of an attribute's values are asked for where so many columns are: |D| .01^(1/columns), rounded."""
    return max(1, round(math.pow(ONE_IN, -1 / columns) * size))


def at_least(size: int, columns: int) -> int:
    """The same, rounded up and exactly: the fewest k with 100 k^columns >= |D|^columns."""
    return bisect_left(range(size), size**columns, key=lambda fewest: ONE_IN * fewest**columns)


@dataclass(frozen=True, eq=False)
class Column:
    """The values that occur, and the place of each row's among them."""

    values: Sequence[Value]
    places: NDArray[np.integer[Any]]
    in_order: bool = False


@dataclass(frozen=True, eq=False)
class Drawn:
    """A query: for each column that it asks for, which of its values."""

    wanted: Mapping[str, Bools]
    columns: Mapping[str, Column]

    def matching(self, rows: slice | Ints = slice(None)) -> Bools:
        """Which rows match, of all or of some."""
        found: Bools | None = None
        for name, wanted in self.wanted.items():
            own = wanted[self.columns[name].places[rows]]
            found = own if found is None else found & own
        if found is None:
            raise ValueError("a query must ask for a column")
        return found

    @property
    def text(self) -> str:
        """The query as an analyst writes it."""
        return " AND ".join(self._part(name, np.flatnonzero(wanted)) for name, wanted in self.wanted.items())

    def _part(self, name: str, picked: Ints) -> str:
        column = self.columns[name]
        if len(picked) > MOST_LISTED and column.in_order:
            return between(name, column.values[int(picked[0])], column.values[int(picked[-1])])
        return among(name, [column.values[place] for place in picked.tolist()])


def drawn_queries(
    columns: Mapping[str, Column],
    sensitive: str,
    coins: np.random.Generator,
    values_of: Callable[[int, int], int] = at_least,
) -> Iterator[Drawn]:
    """Queries without end, whoever matches them.

    Of an attribute of which more than MOST_LISTED values would be listed, as many neighbours are asked for where its
    values are in order, and otherwise that many.
    """
    others = [name for name in columns if name != sensitive]
    most = min(MOST_ATTRIBUTES, len(others))
    while True:
        chosen = [*coins.choice(others, coins.integers(1, most + 1), replace=False), sensitive]
        yield Drawn({str(name): _picked(columns[name], len(chosen), coins, values_of) for name in chosen}, columns)


def _picked(column: Column, columns: int, coins: np.random.Generator, values_of: Callable[[int, int], int]) -> Bools:
    size = len(column.values)
    number = values_of(size, columns)
    wanted = np.zeros(size, dtype=np.bool_)
    if number > MOST_LISTED and column.in_order:
        first = int(coins.integers(size - number + 1))
        wanted[first : first + number] = True
    else:
        wanted[coins.choice(size, min(number, MOST_LISTED), replace=False)] = True
    return wanted


def random_queries(
    table: pa.Table,
    sensitive: str,
    number: int,
    seed: int = QUERY_SEED,
    values_of: Callable[[int, int], int] = nearest,
) -> tuple[list[str], Ints]:
    """Queries of a table with a true count above 0, and those counts.

    RE divides by the true count, so a query that matches nobody is drawn again.
    """
    columns = {}
    for name in table.column_names:
        encoded = table[name].combine_chunks().dictionary_encode()
        columns[name] = Column(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())
    queries: list[str] = []
    counts: list[int] = []
    for query in drawn_queries(columns, sensitive, np.random.default_rng(seed), values_of):
        if count := int(query.matching().sum()):
            queries.append(query.text)
            counts.append(count)
        if len(queries) == number:
            break
    return queries, np.array(counts, dtype=np.int64)

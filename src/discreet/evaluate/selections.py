"""All selection queries of up to three attributes at once: every cell of every table of up to three attributes.

Paper: [RSH] section 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.estimate.alphabeta.independence import Independence
from discreet.estimate.alphabeta.margins import Margins, chosen_pairs
from discreet.mechanism.alphabeta.making.codes import Radix, distinct

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Selections:
    """The queries `a = x [AND b = y [AND c = z]]` over attributes with these numbers of values, in one long array."""

    sizes: tuple[int, ...]
    attributes: int = 3

    @cached_property
    def subsets(self) -> tuple[tuple[int, ...], ...]:
        numbers = range(len(self.sizes))
        return tuple(each for k in range(1, self.attributes + 1) for each in combinations(numbers, k))

    @cached_property
    def _places(self) -> dict[tuple[int, ...], slice]:
        ends = np.cumsum([self._cells(each) for each in self.subsets]).tolist()
        return {each: slice(end - self._cells(each), end) for each, end in zip(self.subsets, ends, strict=True)}

    def _cells(self, subset: Sequence[int]) -> int:
        return math.prod(self.sizes[i] for i in subset)

    def __len__(self) -> int:
        return sum(map(self._cells, self.subsets))

    @cached_property
    def possible(self) -> Floats:
        """n_D of every query."""
        domain = math.prod(self.sizes)
        parts = [np.full(self._cells(each), float(domain // self._cells(each))) for each in self.subsets]
        return np.concatenate(parts)

    def count(self, columns: Sequence[Ints]) -> Ints:
        """How many tuples, given by the codes of their values, meet every query."""
        found = np.zeros(len(self), dtype=np.int64)
        for subset, place in self._places.items():
            keys = columns[subset[0]]
            for i in subset[1:]:
                keys = keys * self.sizes[i] + columns[i]
            found[place] = np.bincount(keys, minlength=self._cells(subset))
        return found

    def margins(self, counts: Ints) -> Margins:
        """The one- and two-way tables among the counts."""
        ones = tuple(counts[self._places[(i,)]] for i in range(len(self.sizes)))
        return Margins(ones=ones, pairs={pair: counts[self._places[pair]] for pair in chosen_pairs(self.sizes)})

    def expected(self, model: Independence) -> Floats:
        """What a model of independent attributes expects for every query."""
        return np.concatenate([model.cells(*each) for each in self.subsets])


@dataclass(frozen=True, kw_only=True)
class Tuples:
    """The distinct tuples of a table, packed, over the domain of the values that occur in it."""

    own: Ints
    radix: Radix

    @property
    def rows(self) -> int:
        return int(self.own.shape[1])


def coded(table: pa.Table) -> Tuples:
    """A table as a set of tuples. For experiments only: what occurs in a table is no public domain."""
    columns = [table[name].combine_chunks().dictionary_encode() for name in table.column_names]
    radix = Radix(sizes=tuple(len(column.dictionary) for column in columns))
    codes = [column.indices.to_numpy(zero_copy_only=False).astype(np.int64) for column in columns]
    return Tuples(own=distinct(radix.pack(codes)), radix=radix)

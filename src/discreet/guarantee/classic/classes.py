"""Rows in classes: how many rows of each sensitive value each class holds. The order of rows changes nothing.

A class is whatever an outsider cannot tell people apart in: rows with the same quasi-identifiers, or a bucket.
Symbols: c_gx rows of value x in class g, S_g rows of the class, n_x rows of the value, n all rows, m values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import TableError
from discreet.ground.arrays import Ints
from discreet.ground.keys import keys_of

Counts = NDArray[Any]  # whole numbers: of 64 bits where that is enough, else Python's own
MOST = 2**53  # rows that are counted exactly
_WIDE = 2**62


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """One entry for each class and value that meet, sorted by class and then by value, both by position from 0.

    `numbers` are what the classes are called, `kind` and `note` say in words what they are. Values are in their order,
    where they have one; a value that does not occur has no place among them. `ordered`: their order means something.
    Of every class so many rows are `fakes`, which nobody has and nobody can tell from the others.
    """

    starts: Ints  # the first entry of each class
    value: Ints
    count: Ints
    numbers: Ints
    kind: str = "classes"
    note: str = ""
    ordered: bool = False
    fakes: int = 0

    @cached_property
    def owner(self) -> Ints:
        """The class of each entry."""
        return np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.count)))

    @cached_property
    def sizes(self) -> Ints:
        return np.add.reduceat(self.count, self.starts)

    @property
    def people(self) -> Ints:
        """How many people each class has."""
        return self.sizes - self.fakes

    @cached_property
    def totals(self) -> Ints:
        return np.bincount(self.value, self.count).astype(np.int64)

    @cached_property
    def rows(self) -> int:
        return int(self.count.sum())

    @property
    def values(self) -> int:
        """How many values occur."""
        return len(self.totals)

    def __len__(self) -> int:
        return len(self.starts)

    def exactly(self, *arrays: Ints) -> list[Counts]:
        """The same numbers, so that products of two counts, summed over all values, cannot overflow."""
        if self.rows * self.rows * self.values < _WIDE:
            return list(arrays)
        return [each.astype(object) for each in arrays]


def classes_of(
    group: Ints | Sequence[int],
    value: Ints | Sequence[int],
    count: Ints | Sequence[int] | None = None,
    *,
    kind: str = "classes",
    note: str = "",
    ordered: bool = False,
    fakes: int = 0,
) -> Classes:
    """Classes of rows by the number of each row's class and value, or of counts; the same pair may come again.

    Raises TableError where nothing is counted.
    """
    groups, values = np.asarray(group, dtype=np.int64), np.asarray(value, dtype=np.int64)
    counts = np.ones(len(groups), dtype=np.int64) if count is None else np.asarray(count, dtype=np.int64)
    if not len(groups) == len(values) == len(counts):
        raise ValueError("every row must have a class, a value and a count")
    if (counts < 0).any() or counts.sum(dtype=np.float64) >= MOST:
        raise TableError("counts must be whole numbers from 0 on, below 2^53 together")
    if not counts.any():
        raise TableError("the table must have rows to be measured; of nobody nothing can be said")
    held = counts > 0
    numbers, groups = np.unique(groups[held], return_inverse=True)
    occurring, values = np.unique(values[held], return_inverse=True)
    entries, place = np.unique(groups * len(occurring) + values, return_inverse=True)
    owner, own = np.divmod(entries, len(occurring))
    return Classes(
        starts=np.searchsorted(owner, np.arange(len(numbers))).astype(np.int64),
        value=own.astype(np.int64),
        count=np.bincount(place, counts[held]).astype(np.int64),
        numbers=numbers,
        kind=kind,
        note=note,
        ordered=ordered,
        fakes=fakes,
    )


def numbered(columns: Sequence[NDArray[np.integer[Any]]]) -> Ints:
    """A number for each row that is the same for the same cells of all columns, whole numbers from 0 on.

    Numbers are dense and ascend with the cells, so they do not hang on the order of rows.
    """
    if not columns:
        raise TableError("quasi_identifiers ([]) must name a column at least; without any all rows are one class")
    named = {str(place): column for place, column in enumerate(columns)}
    (found,) = keys_of(named, names=tuple(named))
    return found

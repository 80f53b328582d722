"""Counting for Pairs: exact tables of one and of two columns, which nobody sees before noise is added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.release.diffgen.pairs.groups import GROUPS
from discreet.release.diffgen.pairs.measured import Candidate, Level
from discreet.schema.taxonomy import Taxonomy
from discreet.table.table import Table

Cells = NDArray[np.uint32]


class Counted:
    """The rows as cells of their columns; tables of two columns are counted when they are first asked for."""

    def __init__(self, rows: Sequence[Cells], sizes: Sequence[int]) -> None:
        self.number = len(rows[0])
        self.sizes = tuple(sizes)
        self._rows = tuple(rows)
        self._full: dict[tuple[int, int], Ints] = {}

    def one(self, column: int) -> Ints:
        """How many rows each cell of a column has."""
        return np.bincount(self._rows[column], minlength=self.sizes[column])

    def pair(self, chosen: Candidate, groups: Sequence[Ints]) -> Ints:
        """How many rows each cell of a table of two columns has, at its levels: every row is in one cell."""
        found = self._whole(*chosen.columns)
        for axis, (column, level) in enumerate(zip(chosen.columns, chosen.levels, strict=True)):
            if level is Level.GROUPS:
                found = _joined(found, groups[column], axis)
        return found

    def _whole(self, first: int, second: int) -> Ints:
        found = self._full.get((first, second))
        if found is None:
            found = _crossed(self._rows[first], self._rows[second], [self.sizes[first], self.sizes[second]])
            self._full[first, second] = found
        return found


def counted(table: Table, taxonomies: Sequence[Taxonomy], tell: Tell | None = None) -> Counted:
    """The rows of a table, read once."""
    batches = table.codes(*(each.name for each in taxonomies), tell=tell)
    cells: Iterable[list[Cells]] = (
        [each.cell_of[own].astype(np.uint32) for each, own in zip(taxonomies, codes, strict=True)] for codes in batches
    )
    columns = [np.concatenate(each) for each in zip(*cells, strict=True)]
    empty = [np.zeros(0, dtype=np.uint32)] * len(taxonomies)
    return Counted(columns or empty, [len(each) for each in taxonomies])


def _crossed(first: NDArray[np.integer], second: NDArray[np.integer], shape: Sequence[int]) -> Ints:
    place = first.astype(np.int64) * shape[1] + second
    return np.bincount(place, minlength=shape[0] * shape[1]).reshape(shape[0], shape[1])


def _joined(table: Ints, groups: Ints, axis: int) -> Ints:
    """The sums of a table over groups of one column."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(GROUPS))
    return np.add.reduceat(table.take(order, axis=axis), starts, axis=axis)

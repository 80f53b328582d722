"""A sketch of rows by some of their columns: the least digests of what they hold, apart by how often it occurs.

The term of art is a bottom-k, or coordinated, sample: two tables keep the same digests of what they share, so two
sketches tell how much that is. It is made in memory, batch by batch; nothing of it is kept without a key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Ints
from discreet.series.words import Words, mix

MOST = 65_536  # digests that a sketch keeps
ALL = 1 << 64  # the limit of a sketch that has every row


@dataclass(frozen=True, eq=False, kw_only=True)
class Sketch:
    """Rows of a table by the digests of `columns`: all that are below `limit`, ascending, and how many rows have each.

    `exact`: the columns name persons.
    """

    columns: tuple[str, ...]
    exact: bool
    rows: int
    limit: int
    digests: Words
    counts: Ints

    @property
    def unique(self) -> float:
        """The share of rows that differ from every other in these columns."""
        return int((self.counts == 1).sum()) / max(1, int(self.counts.sum()))


class Sketching:
    """Feed batches of digests, one array for each column; ask for the sketch at the end."""

    def __init__(self, columns: Sequence[str], *, exact: bool = False, most: int = MOST) -> None:
        self._columns, self._exact = tuple(columns), exact
        self._names = [_name_word(name) for name in columns]
        self._most, self._limit, self._rows = most, ALL, 0
        self._waiting: list[Words] = []
        self._held = 0

    def update(self, digests: Sequence[Words]) -> None:
        """Add the next rows."""
        found = row_digests(self._names, digests)
        self._rows += len(found)
        if self._limit < ALL:
            found = found[found < np.uint64(self._limit)]
        self._waiting.append(found)
        self._held += len(found)
        if self._held > 8 * self._most:
            self._shrink()

    def sketch(self) -> Sketch:
        """What is known of the rows so far."""
        values, counts = self._shrink()
        return Sketch(
            columns=self._columns,
            exact=self._exact,
            rows=self._rows,
            limit=self._limit,
            digests=values,
            counts=counts,
        )

    def _shrink(self) -> tuple[Words, Ints]:
        """Keep the least digests, with every row that has one of them."""
        held = np.concatenate([np.zeros(0, dtype=np.uint64), *self._waiting])
        values, counts = np.unique(held, return_counts=True)
        if len(values) > self._most:
            self._limit = int(values[self._most])
            values, counts = values[: self._most], counts[: self._most]
            held = held[held < np.uint64(self._limit)]
        self._waiting, self._held = [held], len(held)
        return values, counts


def row_digests(names: Sequence[np.uint64], digests: Sequence[Words]) -> Words:
    """One digest for each row, from those of its cells; the order of the columns does not matter."""
    total = np.zeros(len(digests[0]), dtype=np.uint64)
    for name, column in zip(names, digests, strict=True):
        total += mix(column ^ name)
    return mix(total)


def _name_word(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little"))

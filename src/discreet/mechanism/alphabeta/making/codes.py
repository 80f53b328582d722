"""Tuples of the domain as numbers: mixed-radix codes in one or several 62-bit words, first attribute most significant.

The order of codes is the order of the published columns, value by value of each domain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from discreet.ground.arrays import Ints

WORD = 1 << 62


@dataclass(frozen=True, kw_only=True)
class Radix:
    """The sizes of the attributes' domains, and which attributes share a word."""

    sizes: tuple[int, ...]

    @cached_property
    def domain(self) -> int:
        """m: how many tuples there are."""
        return prod(self.sizes)

    @cached_property
    def words(self) -> tuple[tuple[int, ...], ...]:
        """The positions of the attributes in each word, as many as fit."""
        found: list[list[int]] = [[]]
        for position, size in enumerate(self.sizes):
            if found[-1] and prod(self.sizes[i] for i in found[-1]) * size > WORD:
                found.append([])
            found[-1].append(position)
        return tuple(tuple(each) for each in found)

    def pack(self, columns: Sequence[Ints]) -> Ints:
        """One row of words for each word of the tuples (words x tuples)."""
        packed = np.zeros((len(self.words), len(columns[0])), dtype=np.int64)
        for row, word in zip(packed, self.words, strict=True):
            for position in word:
                row *= self.sizes[position]
                row += columns[position]
        return packed

    def unpack(self, packed: Ints) -> list[Ints]:
        """The attributes' codes, in the order of the attributes."""
        columns: dict[int, Ints] = {}
        for row, word in zip(packed, self.words, strict=True):
            rest = row
            for position in reversed(word):
                rest, columns[position] = np.divmod(rest, self.sizes[position])
        return [columns[position] for position in range(len(self.sizes))]


def distinct(packed: Ints) -> Ints:
    """The tuples in order, each once."""
    if packed.shape[0] == 1:
        return np.unique(packed[0])[None, :]
    ordered = packed[:, np.lexsort(packed[::-1])]
    first = np.ones(ordered.shape[1], dtype=np.bool_)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    return ordered[:, first]


def without(packed: Ints, others: Ints) -> Ints:
    """The tuples of one ordered set that are not in another ordered set."""
    if not others.shape[1]:
        return packed
    if packed.shape[0] == 1:
        place = np.searchsorted(others[0], packed[0])
        known = place < others.shape[1]
        known[known] = others[0][place[known]] == packed[0][known]
        return packed[:, ~known]
    both = np.concatenate([others, packed], axis=1)
    mine = np.concatenate([np.zeros(others.shape[1], dtype=np.bool_), np.ones(packed.shape[1], dtype=np.bool_)])
    order = np.lexsort((mine, *both[::-1]))
    ordered, mine = both[:, order], mine[order]
    repeated = np.zeros(len(mine), dtype=np.bool_)
    repeated[1:] = (ordered[:, 1:] == ordered[:, :-1]).all(axis=0)
    return ordered[:, mine & ~repeated]


def merged(packed: Ints, others: Ints) -> Ints:
    """Two sets without common tuples as one, in order."""
    if not packed.shape[1] or not others.shape[1]:
        return packed if packed.shape[1] else others
    both = np.concatenate([packed, others], axis=1)
    if both.shape[0] == 1:
        both.sort(axis=1, kind="stable")
        return both
    return both[:, np.lexsort(both[::-1])]


def digest_of(view: Ints, earlier: Ints) -> bytes:
    """What a series remembers of a view and of those before it."""
    return hashlib.blake2b(view.tobytes() + earlier.tobytes(), digest_size=16).digest()


def no_tuples(radix: Radix) -> Ints:
    """The empty set."""
    return np.zeros((len(radix.words), 0), dtype=np.int64)

"""The curve along which near buckets take their rows, and the windows into which it is cut.

Departs: no paper has it. Rows are ordered by a reflected (boustrophedon) mixed-radix number over the quasi-identifiers:
    columns from the lowest entropy on, values by their place in the domain (those of a list without an order by how
    often they occur, the most frequent first), and each column counted backwards where the number before it is odd.
    Neighbours then differ in one column by one place, as far as rows are there. Equal rows stand in random order, by
    the publisher's coins: who of them falls to which side of a cut is nobody's choice.
Symbols: D_j values of column j in its order, r_j the place as it is counted, p_j the parity of the number so far.
    Entropies are compared by sum_v c_v floor(1024 log2 c_v), in whole numbers: c_v rows have value v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.release.buckets.windows import by_frequency
from discreet.series.coins import Coins
from discreet.table.table import Table

_WORD = 1 << 62  # keys below this are compared as one number
_LISTED = 1 << 20  # values of a domain that are counted in a list
Whole = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Along:
    """Rows by window, in row order: the window of each, and its sensitive value by position."""

    windows: int
    window: NDArray[np.int32]
    value: Whole
    values: int  # in the domain

    @property
    def cells(self) -> tuple[Ints, Ints]:
        """Which values occur in which window, as window x values + value, ascending, and how often."""
        codes = self.window.astype(np.int64)
        codes *= self.values
        codes += self.value
        found, often = np.unique(codes, return_counts=True)
        return found, often.astype(np.int64)


def lay_along(table: Table, window: int, coins: Coins, tell: Tell = lambda done: None) -> Along:
    """Every row's window, `window` consecutive rows of the curve each; the last has the rest too."""
    columns = columns_along(table, lambda done: tell(done / 2))
    sizes = [len(table.schema.domains[name]) for name in columns]
    values = len(table.schema.domains[table.schema.sensitive])
    ranks, groups = list(columns.values()), _words(sizes)
    words = [np.empty(table.rows, dtype=np.int64) for _ in groups]
    secret = np.empty(table.rows, dtype=np.min_scalar_type(values))
    done = 0
    for *codes, hidden in table.codes(*columns, table.schema.sensitive, tell=lambda done: tell((1 + done) / 2)):
        stop = done + len(hidden)
        secret[done:stop] = hidden
        places = [own if rank is None else rank[own] for own, rank in zip(codes, ranks, strict=True)]
        _spell(places, sizes, groups, [word[done:stop] for word in words])
        done = stop
    number = max(1, table.rows // window)
    cut = cut_windows(_one_key(words), number, window, coins)
    return Along(windows=number, window=cut, value=secret, values=values)


def columns_along(table: Table, tell: Tell = lambda done: None) -> dict[str, Ints | None]:
    """The quasi-identifiers, the lowest entropy first, ties in the order of the schema; each with the place of its
    values along the curve, where that is not their place in the domain.
    """
    names = table.schema.quasi_identifiers
    domains = [table.schema.domains[name] for name in names]
    counted: list[list[tuple[Ints, Ints]]] = [[] for _ in names]
    for codes in table.codes(*names, tell=tell):
        for own, column, domain in zip(counted, codes, domains, strict=True):
            own.append(_often(column, len(domain)))
    found = [_added(several) for several in counted]
    regular = {name: _regular(often) for name, (_, often) in zip(names, found, strict=True)}
    ranks = {
        name: _ranked(*own, len(domain)) if by_frequency(domain) else None
        for name, own, domain in zip(names, found, domains, strict=True)
    }
    return {name: ranks[name] for name in sorted(names, key=lambda name: -regular[name])}


def _often(column: Ints, size: int) -> tuple[Ints, Ints]:
    """Which values occur in a batch, ascending, and how often."""
    if size > _LISTED:
        return np.unique(column, return_counts=True)
    counts = np.bincount(column, minlength=size)
    values = np.flatnonzero(counts)
    return values, counts[values]


def _added(several: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Which values occur, ascending, and how often, from every batch."""
    values, places = np.unique(np.concatenate([value for value, _ in several]), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, places, np.concatenate([often for _, often in several]))
    return values, counts


def _ranked(values: Ints, often: Ints, size: int) -> Ints:
    """The place of every value of the domain: the most frequent first, ties in the order of the domain."""
    counts = np.zeros(size, dtype=np.int64)
    counts[values] = often
    ranks = np.empty(size, dtype=np.int64)
    ranks[np.argsort(-counts, kind="stable")] = np.arange(size)
    return ranks


def _regular(counts: Ints) -> int:
    """The larger, the lower the entropy: exact, so that every machine finds the same order."""
    distinct, often = np.unique(counts[counts > 0], return_counts=True)
    pairs = zip(distinct.tolist(), often.tolist(), strict=True)
    return sum(number * count * (pow(count, 1024).bit_length() - 1) for count, number in pairs)


def _words(sizes: Sequence[int]) -> list[slice]:
    """Which columns spell a number of 64 bits together."""
    starts, room = [0], 1
    for place, size in enumerate(sizes):
        if room * size >= _WORD and place > starts[-1]:
            starts, room = [*starts, place], 1
        room *= size
    return [slice(start, stop) for start, stop in pairwise([*starts, len(sizes)])]


def _spell(codes: Sequence[Ints], sizes: Sequence[int], groups: Sequence[slice], words: Sequence[Ints]) -> None:
    """Write the key of each row, a number in every word."""
    odd = np.zeros(len(words[0]), dtype=np.int64)
    for group, word in zip(groups, words, strict=True):
        word[:] = 0
        for place, size in zip(codes[group], sizes[group], strict=True):
            counted = place + odd * (size - 1 - 2 * place)
            word *= size
            word += counted
            odd = (odd * (size & 1) + counted) & 1


def _one_key(words: list[Ints]) -> Ints:
    """One number for each row, in the order of its words one after the other."""
    key = words[0]
    for word in words[1:]:
        own, place = np.unique(word, return_inverse=True)
        key = np.unique(key, return_inverse=True)[1].reshape(-1) * len(own) + place.reshape(-1)
    return key


def cut_windows(key: Ints, number: int, window: int, coins: Coins) -> NDArray[np.int32]:
    """The window of each row; equal rows on both sides of a cut are dealt by coins."""
    if number == 1:
        return np.zeros(len(key), dtype=np.int32)
    ordered = np.sort(key)
    cuts = ordered[window : window * number : window]
    found = np.searchsorted(cuts, key, side="right").astype(np.int32)
    tied = np.flatnonzero((found > 0) & (cuts[found - 1] == key))
    tied = tied[coins.stream("equal rows").permutation(len(tied))]
    tied = tied[np.argsort(key[tied], kind="stable")]
    equal = key[tied]
    before = np.searchsorted(ordered, equal) + np.arange(len(tied)) - np.searchsorted(equal, equal)
    found[tied] = np.minimum(before // window, number - 1)
    return found

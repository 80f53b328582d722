"""Where the rows and values of every bucket stand: what learning walks over again and again.

Symbols: rows by bucket, u the pattern of a row (its quasi-identifiers), c_gx the ST's counts; W has an entry for each
    row and each value of its bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.estimate.buckets.learning.compiled import compiled
from discreet.estimate.buckets.learning.posterior import STATES, match_large, match_small, scale_to_counts
from discreet.ground.arrays import Floats, Ints

Singles = NDArray[np.float32]
Small = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Places:
    """A release as arrays: rows in the order of their buckets, their patterns, and the ST by bucket."""

    codes: Small  # of each pattern, by attribute: a number among all attributes' values
    number: Singles  # rows of each pattern
    pattern: Small  # of each row
    rows: Ints  # where each bucket's rows begin, and where the last ends
    entries: Ints  # where each bucket's values begin in the two arrays that follow
    value: Small
    count: Small
    values: int
    levels: int  # values of all attributes together

    @property
    def weights(self) -> Ints:
        """Where each bucket's part of W begins: rows by values."""
        return np.concatenate([[0], np.cumsum(np.diff(self.rows) * np.diff(self.entries))])

    def start(self) -> Singles:
        """W before anything is learned: c_gx / S_g."""
        sizes, kinds = np.diff(self.rows), np.diff(self.entries)
        shares = (self.count / np.repeat(sizes, kinds)).astype(np.float32)
        begins = np.repeat(self.entries[:-1], sizes)
        return shares[_ranges(begins, np.repeat(kinds, sizes))]

    def totals(self, weights: Singles) -> Singles:
        """T_ux: what the rows of each pattern are thought to have, together."""
        found = np.zeros((len(self.number), self.values), dtype=np.float32)
        _add(weights, self.weights, self.rows, self.entries, self.value, self.pattern, found)
        return found

    def match(self, logs: Singles) -> Singles:
        """W given the log of every pattern's probabilities: the E-step."""
        begins = self.weights
        found = np.empty(int(begins[-1]), dtype=np.float32)
        largest = int(np.diff(self.rows).max()), int(np.diff(self.entries).max())
        _match(logs, begins, self.rows, self.entries, self.value, self.count, self.pattern, largest, found)
        return found


def _ranges(begins: Ints, lengths: Ints) -> Ints:
    """begin, begin + 1, ... for each pair, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(int(ends[-1])) - np.repeat(ends - lengths - begins, lengths)


@compiled
def _add(w: Singles, begins: Ints, rows: Ints, entries: Ints, value: Small, pattern: Small, found: Singles) -> None:
    for g in range(len(rows) - 1):
        at = begins[g]
        for i in range(rows[g], rows[g + 1]):
            u = pattern[i]
            for e in range(entries[g], entries[g + 1]):
                found[u, value[e]] += w[at]
                at += 1


@compiled
def _match(
    logs: Singles,
    begins: Ints,
    rows: Ints,
    entries: Ints,
    value: Small,
    count: Small,
    pattern: Small,
    largest: Any,
    found: Singles,
) -> None:
    most, kinds = largest
    p_all, w_all, k_all = np.empty(most * kinds), np.empty(most * kinds), np.empty(most * kinds)
    c_all = np.empty(kinds)
    forward, backward = np.empty((STATES + 1, STATES)), np.empty((STATES + 1, STATES))
    for g in range(len(rows) - 1):
        size, own, at = rows[g + 1] - rows[g], entries[g + 1] - entries[g], begins[g]
        if own == 1:
            found[at : at + size] = 1.0
            continue
        p = p_all[: size * own].reshape(size, own)
        w = w_all[: size * own].reshape(size, own)
        c = c_all[:own]
        states = 1.0
        for x in range(own):
            c[x] = count[entries[g] + x]
            states *= c[x] + 1.0
        for i in range(size):
            u = pattern[rows[g] + i]
            top = -np.inf
            for x in range(own):
                top = max(top, logs[u, value[entries[g] + x]])
            for x in range(own):
                p[i, x] = max(np.exp(logs[u, value[entries[g] + x]] - top), 1e-30)
        if states <= STATES:
            match_small(p, c, w, forward, backward)
        else:
            match_large(p, c, w, k_all[: size * own].reshape(size, own))
        scale_to_counts(w, c)
        for i in range(size):
            for x in range(own):
                found[at] = w[i, x]
                at += 1

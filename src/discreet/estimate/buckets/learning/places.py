"""Where the rows and values of every bucket stand: what learning walks over again and again.

Symbols: rows by bucket, u the pattern of a row (its quasi-identifiers), c_gx the ST's counts. W has a number for each
    row and each value of its bucket: bucket after bucket, within it value after value, within that row after row.
Where buckets have fakes, c_gx counts them too, and W is of the rows alone (made.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.estimate.buckets.learning.made import Made, Odds
from discreet.estimate.buckets.learning.posterior import STATES, match_exactly, match_nearly, scale_to_counts
from discreet.estimate.buckets.learning.softmax import Singles, Small, exponentials
from discreet.ground.arrays import Floats, Ints
from discreet.ground.compiled import compiled

_LEAST = 1e-30  # a probability is no less, so that every matching has a weight


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
    made: Made | None = None  # the fakes, where there are any

    @property
    def expected(self) -> Floats | Small:
        """How many people are expected to have each bucket's values."""
        return self.count if self.made is None else self.made.expected

    @property
    def totals(self) -> Floats:
        """How many people have each value."""
        return np.bincount(self.value, self.expected, minlength=self.values).astype(np.float64)

    @property
    def begins(self) -> Ints:
        """Where each bucket's part of W begins, and where the last ends."""
        return np.concatenate([[0], np.cumsum(np.diff(self.rows) * np.diff(self.entries))])

    def start(self) -> Singles:
        """W before anything is learned: c_gx / S_g, or c~_gx / S_g with fakes."""
        sizes = np.repeat(np.diff(self.rows), np.diff(self.entries))
        return np.repeat((self.expected / sizes).astype(np.float32), sizes)

    def thought(self, weights: Singles) -> Singles:
        """T_ux: what the rows of each pattern are thought to have, together."""
        found = np.zeros((len(self.number), self.values), dtype=np.float32)
        _add(weights, self.begins, self.rows, self.entries, self.value, self.pattern, found)
        return found

    def match(self, logs: Singles, scalings: int = 3, rounds: int = 1) -> Singles:
        """W given the log of every pattern's probabilities: the E-step. More scalings make sums hold more exactly, and
        more rounds those of fakes.
        """
        if self.made is None:
            return self._matched(logs, scalings, (0, np.zeros(0, np.int64), np.zeros((0, 0), np.float32)))
        odds = Odds(self.made, self.entries, self.value, self.count, self.values)
        sizes = np.repeat(np.diff(self.rows), np.diff(self.entries))
        for each in range(1, rounds + 1):
            found = self._matched(logs, scalings, (self.made.fakes, self.made.kind, odds.logs))
            if each == rounds or not odds.moved(np.add.reduceat(found, np.cumsum(sizes) - sizes, dtype=np.float64)):
                break
        return found

    def _matched(self, logs: Singles, scalings: int, beside: tuple[int, Ints, Singles]) -> Singles:
        begins = self.begins
        found = np.empty(int(begins[-1]), dtype=np.float32)
        most = int(np.diff(self.rows).max()) + beside[0], int(np.diff(self.entries).max())
        where = begins, self.rows, self.entries
        _match(logs, where, self.value, self.count, self.pattern, beside, most, scalings, found)
        return found

    def part(self, chosen: Ints) -> Places:
        """Some buckets alone, in order, with the patterns that occur in them."""
        rows, entries = _ranges(self.rows, chosen), _ranges(self.entries, chosen)
        own, pattern, number = np.unique(self.pattern[rows], return_inverse=True, return_counts=True)
        return replace(
            self,
            codes=self.codes[own],
            number=number.astype(np.float32),
            pattern=pattern.astype(np.int32),
            rows=_bounds(np.diff(self.rows)[chosen]),
            entries=_bounds(np.diff(self.entries)[chosen]),
            value=self.value[entries],
            count=self.count[entries],
            made=None if self.made is None else self.made.part(chosen, entries),
        )


def _bounds(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)])


def _ranges(bounds: Ints, chosen: Ints) -> Ints:
    """All places of some stretches, one stretch after the other."""
    lengths = np.diff(bounds)[chosen]
    ends = np.cumsum(lengths)
    return np.asarray(np.arange(int(ends[-1])) + np.repeat(bounds[:-1][chosen] - ends + lengths, lengths))


@compiled
def _add(w: Singles, begins: Ints, rows: Ints, entries: Ints, value: Small, pattern: Small, found: Singles) -> None:
    for g in range(len(rows) - 1):
        size = rows[g + 1] - rows[g]
        for i in range(size):
            own, at = found[pattern[rows[g] + i]], begins[g] + i
            for e in range(entries[g], entries[g + 1]):
                own[value[e]] += w[at]
                at += size


@compiled
def _match(
    logs: Singles,
    where: Any,
    value: Small,
    count: Small,
    pattern: Small,
    beside: Any,
    most: Any,
    scalings: int,
    found: Singles,
) -> None:
    (begins, rows, entries), (fakes, kind, made), (largest, kinds) = where, beside, most
    near, bits, tops = np.empty(largest * kinds, np.float32), np.empty(largest * kinds, np.int32), np.empty(largest)
    p, w, m = np.empty(largest * kinds), np.empty(largest * kinds), np.empty(largest * kinds)
    c, totals = np.empty(kinds), np.empty(largest)
    step, digit, level = np.empty(kinds, np.int64), np.zeros((STATES, kinds), np.int64), np.empty(STATES, np.int64)
    forward, backward = np.empty(STATES), np.empty(STATES)
    for g in range(len(rows) - 1):
        first, people = rows[g], rows[g + 1] - rows[g]
        start, own, at = entries[g], entries[g + 1] - entries[g], begins[g]
        if own == 1:
            found[at : at + people] = np.float32(1.0)
            continue
        size = people + fakes
        states = 1.0
        for x in range(own):
            c[x] = count[start + x]
            states *= c[x] + 1.0
        for i in range(size):
            known = logs[pattern[first + i]] if i < people else made[kind[g]]
            for x in range(own):
                near[x * size + i] = known[value[start + x]]
        for i in range(size):
            tops[i] = near[i]
        for x in range(1, own):
            for i in range(size):
                tops[i] = max(tops[i], near[x * size + i])
        for x in range(own):
            for i in range(size):
                near[x * size + i] -= tops[i]
        exponentials(near, bits, size * own)
        for k in range(size * own):
            p[k] = near[k] + _LEAST
        if states <= STATES:
            match_exactly(p, c[:own], w, size, step, digit, level, forward, backward)
        else:
            match_nearly(p, c[:own], w, size, m, totals)
        scale_to_counts(w, c[:own], size, totals, scalings)
        for x in range(own):
            for i in range(people):
                found[at + x * people + i] = w[x * size + i]

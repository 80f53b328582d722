"""Fakes as learning takes them: rows beside a bucket's people, of which their class is all that is known.

Paper: none; [WWFW] section 6 has no estimator. Given the ST, real and fake are as if the people of a class had drawn
    their values, each by his quasi-identifiers u, and its fakes theirs by what fakes are in the class. People go into
    classes by their values alone, so in class j a row has x with odds p_ux v_xj / v_x, and a fake with odds that make
    the fakes of the class add up: m_xj where p is right on average. Dividing by v_xj / v_x, which all rows of a bucket
    share, leaves p_ux for rows and lambda_xj = m_xj v_x / v_xj for fakes. Nothing is learned from fakes.
Symbols: v_xj people and m_xj fakes with value x in all buckets of class j together, v_x all people with x; c~ as in
    composition.py.
Departs: the posterior given the exact totals is that of the odds which meet them on average, a saddle point.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.estimate.buckets.learning.softmax import NOWHERE, Singles, Small
from discreet.ground.arrays import Floats, Ints

_LONGEST = 2.0  # step of log lambda, in units of how far fakes are from adding up
_LEAST = 0.01  # of the fakes of a value, that are taken to be thought so
_NEAR = 1e-4  # of the people: how far their sum may be from what is published


@dataclass(frozen=True, kw_only=True)
class Made:
    """The fakes of a release: so many in every bucket, beside the people that are expected of each entry."""

    fakes: int
    kind: Ints  # the class of each bucket
    expected: Floats  # c~ of each entry

    def part(self, buckets: Ints, entries: Ints) -> Made:
        """Of some buckets alone, whose entries these are."""
        return replace(self, kind=self.kind[buckets], expected=self.expected[entries])


class Odds:
    """log lambda, which is moved until the fakes of every class and value are as many as there are."""

    def __init__(self, made: Made, entries: Ints, value: Small, count: Small, values: int) -> None:
        """`entries` says where each bucket's begin; `values` is how many there are."""
        classes = int(made.kind.max()) + 1
        self._shape = classes, values
        self._cell = np.repeat(made.kind, np.diff(entries)) * values + value
        self._people = self._summed(made.expected)
        self._fakes = np.maximum(self._summed(count - made.expected), 0)
        held = self._people > 0
        share = np.divide(self._people.sum(axis=0), self._people, out=np.ones(self._shape), where=held)
        self._logs = np.full(self._shape, float(NOWHERE))
        np.log(self._fakes * share, out=self._logs, where=held & (self._fakes > _NEAR * self._people))

    @property
    def logs(self) -> Singles:
        """Classes by values."""
        return self._logs.astype(np.float32)

    def moved(self, thought: Floats) -> bool:
        """Whether they had to be moved, for so many people were thought to be in each entry."""
        off = self._summed(thought) - self._people
        if (np.abs(off) <= _NEAR * np.maximum(self._people, 1)).all():
            return False
        made = self._logs > float(NOWHERE)
        people, fakes = self._people[made], self._fakes[made]
        found = np.maximum(fakes - off[made], _LEAST * fakes)  # what people leave, fakes have
        self._logs[made] += np.minimum(_LONGEST, 1 + fakes / people) * np.log(fakes / found)
        return True

    def _summed(self, entries: Floats) -> Floats:
        found = np.bincount(self._cell, entries, minlength=self._shape[0] * self._shape[1])
        return np.asarray(found.reshape(self._shape), dtype=np.float64)

"""What the ST says: how many records of each value each bucket holds.

Symbols: c_gx records of value x in bucket g, S_g the bucket's people, n_x all people with x. With sigma fakes in every
    bucket, sum_x c_gx = S_g + sigma, and which records are fakes is not published, but of each value how many people
    are in the buckets of each size. Then c~_gx, the people with x that are expected in g, are c_gx scaled so that
    buckets have S_g and values these numbers of people (the term of art is iterative proportional fitting); without
    fakes they are c_gx.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.engine.encoding import Encoding
from discreet.estimate.learned import learned
from discreet.ground.arrays import Floats, Ints
from discreet.schema.valued import Value

_ROUNDS, _NEAR = 200, 1e-9  # of scaling, which ends where sums are so near
_DENSE = 1 << 18  # cells of a table of buckets by values that are held one by one: 2 MB


@dataclass(frozen=True, kw_only=True)
class Composition:
    """The ST as arrays, sorted by bucket: one entry for each bucket and value that meet, both by position."""

    ids: Ints  # the buckets' ids, ascending
    encoding: Encoding  # the values that occur, as an engine takes them
    bucket: Ints
    value: Ints
    count: Ints
    fakes: int = 0  # in every bucket
    people: Ints | Floats | None = (
        None  # with fakes: of each value (rows) in the buckets of each size (columns), ascending
    )

    @learned
    def values(self) -> tuple[Value, ...]:
        """The values that occur."""
        return tuple(self.encoding)

    @learned
    def slots(self) -> Ints:
        """How many records each bucket has, fakes included."""
        return np.bincount(self.bucket, self.count, minlength=len(self.ids)).astype(np.int64)

    @learned
    def sizes(self) -> Ints:
        """How many people each bucket has."""
        return self.slots - self.fakes

    @learned
    def totals(self) -> Ints:
        """How many people have each value."""
        if self.people is not None:
            whole: Ints = self.people.sum(axis=1)  # of a forecast, parts of people too
            return whole
        return np.bincount(self.value, self.count, minlength=len(self.values)).astype(np.int64)

    @learned
    def kind(self) -> Ints:
        """The place of each bucket's size among all sizes."""
        return np.unique(self.sizes, return_inverse=True)[1].astype(np.int64)

    @learned
    def expected(self) -> Floats:
        """c~ of each entry."""
        found = self.count.astype(np.float64)
        if self.people is None:
            return found
        kinds, number = self.kind[self.bucket], self.people.shape[1]
        cell = self.value * number + kinds
        wanted = self.people.ravel().astype(np.float64)
        for _ in range(_ROUNDS):
            found *= _ratio(wanted, np.bincount(cell, found, minlength=len(wanted)))[cell]
            sums = np.bincount(self.bucket, found, minlength=len(self.ids))
            found *= _ratio(self.sizes, sums)[self.bucket]
            if np.abs(sums - self.sizes).max() < _NEAR:
                break
        return found

    @learned
    def marks(self) -> Ints:
        """A number of each bucket that says how frequent its values are, whatever they are called."""
        return np.bincount(self.bucket, self.count * self.totals[self.value], minlength=len(self.ids)).astype(np.int64)

    @learned
    def order(self) -> Ints:
        """The values from the most frequent on, whatever they are called; of those as frequent, by their buckets."""
        beside = np.bincount(self.value, self.count * self.marks[self.bucket], minlength=len(self.values))
        return np.lexsort((beside, -self.totals))

    @learned
    def _matrix(self) -> Any:
        """c_gx, buckets by values: dense while that is small, else sparse, and only then scipy is loaded."""
        shape = (len(self.ids), len(self.values))
        if math.prod(shape) <= _DENSE:
            place = np.ravel_multi_index((self.bucket, self.value), shape)
            return np.bincount(place, self.expected, minlength=math.prod(shape)).reshape(shape)
        from scipy.sparse import csr_array

        return csr_array((self.expected, (self.bucket, self.value)), shape=shape)

    @learned
    def _transposed(self) -> Any:
        return self._matrix.T if isinstance(self._matrix, np.ndarray) else self._matrix.T.tocsr()

    @learned
    def moments(self) -> Floats:
        """sum_g c_g c_g^T / S_g, dense."""
        found = (self._transposed * (1 / self.sizes)) @ self._matrix
        return np.asarray(found if isinstance(found, np.ndarray) else found.toarray(), dtype=np.float64)

    def per_bucket(self, weights: Floats) -> Floats:
        """sum_x c_gx weights_x for each bucket g."""
        return _product(self._matrix, weights)

    def per_value(self, weights: Floats) -> Floats:
        """sum_g c_gx weights_g for each value x."""
        return _product(self._transposed, weights)

    def among(self, values: tuple[int, ...]) -> Floats:
        """1 for each of these values, 0 for the others."""
        chosen = np.zeros(len(self.values))
        chosen[list(values)] = 1
        return chosen

    def held(self, values: tuple[int, ...]) -> Ints:
        """How many records of these values each bucket holds, fakes included."""
        chosen = self.among(values)
        if self.fakes:
            found = np.bincount(self.bucket, self.count * chosen[self.value], minlength=len(self.ids))
            return found.astype(np.int64)
        return self.per_bucket(chosen).astype(np.int64)

    def having(self, values: tuple[int, ...]) -> Floats:
        """How many people with these values each bucket is expected to hold."""
        return self.per_bucket(self.among(values))

    def slot_mean(self, weights: Floats) -> Floats:
        """The mean of weights_x over the slots of each bucket, fakes included."""
        found = np.bincount(self.bucket, self.count * weights[self.value], minlength=len(self.ids))
        return np.asarray(found / self.slots)

    def kind_mean(self, weights: Floats) -> Floats:
        """For each bucket the mean of weights_g over the buckets of its size."""
        sums, number = np.bincount(self.kind, weights), np.bincount(self.kind)
        return np.asarray((sums / number)[self.kind])


def _ratio(wanted: Floats | Ints, found: Any) -> Floats:
    return np.asarray(np.divide(wanted, found, out=np.ones(len(found)), where=found > 0), dtype=np.float64)


def _product(matrix: Any, weights: Floats) -> Floats:
    """A matrix times weights, in one thread: libraries of linear algebra keep others busy for nothing."""
    return np.einsum("ij,j->i", matrix, weights) if isinstance(matrix, np.ndarray) else np.asarray(matrix @ weights)

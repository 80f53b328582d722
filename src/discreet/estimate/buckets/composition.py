"""What the ST says: how many records of each value each bucket holds.

Symbols: c_gx records of value x in bucket g, S_g the bucket's size, n_x all records of x.
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

_DENSE = 1 << 18  # cells of a table of buckets by values that are held one by one: 2 MB


@dataclass(frozen=True, kw_only=True)
class Composition:
    """The ST as arrays, sorted by bucket: one entry for each bucket and value that meet, both by position."""

    ids: Ints  # the buckets' ids, ascending
    encoding: Encoding  # the values that occur, as an engine takes them
    bucket: Ints
    value: Ints
    count: Ints

    @learned
    def values(self) -> tuple[Value, ...]:
        """The values that occur."""
        return tuple(self.encoding)

    @learned
    def sizes(self) -> Ints:
        return np.bincount(self.bucket, self.count, minlength=len(self.ids)).astype(np.int64)

    @learned
    def totals(self) -> Ints:
        return np.bincount(self.value, self.count, minlength=len(self.values)).astype(np.int64)

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
            return np.bincount(place, self.count, minlength=math.prod(shape)).reshape(shape)
        from scipy.sparse import csr_array

        return csr_array((self.count.astype(np.float64), (self.bucket, self.value)), shape=shape)

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

    def held(self, values: tuple[int, ...]) -> Ints:
        """How many records of these values each bucket holds."""
        chosen = np.zeros(len(self.values))
        chosen[list(values)] = 1
        return self.per_bucket(chosen).astype(np.int64)


def _product(matrix: Any, weights: Floats) -> Floats:
    """A matrix times weights, in one thread: libraries of linear algebra keep others busy for nothing."""
    return np.einsum("ij,j->i", matrix, weights) if isinstance(matrix, np.ndarray) else np.asarray(matrix @ weights)

"""What the ST says: how many records of each value each bucket holds.

Symbols: c_gx records of value x in bucket g, S_g the bucket's size, n_x all records of x.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from discreet.engine.encoding import Encoding
from discreet.schema.domain import Value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Composition:
    """The ST as arrays, sorted by bucket: one entry for each bucket and value that meet, both by position."""

    ids: Ints  # the buckets' ids, ascending
    values: tuple[Value, ...]  # the values that occur
    bucket: Ints
    value: Ints
    count: Ints

    @property
    def encoding(self) -> Encoding:
        """The values that occur, as an engine takes them."""
        present = tuple(value for value in self.values if value is not None)
        return Encoding(cast("tuple[int, ...] | tuple[str, ...]", present), None in self.values)

    @cached_property
    def sizes(self) -> Ints:
        return np.bincount(self.bucket, self.count, minlength=len(self.ids)).astype(np.int64)

    @cached_property
    def totals(self) -> Ints:
        return np.bincount(self.value, self.count, minlength=len(self.values)).astype(np.int64)

    @cached_property
    def _matrix(self) -> csr_array:
        shape = (len(self.ids), len(self.values))
        return csr_array((self.count.astype(np.float64), (self.bucket, self.value)), shape=shape)

    @cached_property
    def _transposed(self) -> csr_array:
        return self._matrix.T.tocsr()

    @cached_property
    def moments(self) -> Floats:
        """sum_g c_g c_g^T / S_g, dense."""
        scaled = self._transposed @ diags_array(1 / self.sizes) @ self._matrix
        return np.asarray(scaled.toarray(), dtype=np.float64)

    def per_bucket(self, weights: Floats) -> Floats:
        """sum_x c_gx weights_x for each bucket g."""
        return np.asarray(self._matrix @ weights)

    def per_value(self, weights: Floats) -> Floats:
        """sum_g c_gx weights_g for each value x."""
        return np.asarray(self._transposed @ weights)

    def held(self, values: tuple[int, ...]) -> Ints:
        """How many records of these values each bucket holds."""
        chosen = np.zeros(len(self.values))
        chosen[list(values)] = 1
        return self.per_bucket(chosen).astype(np.int64)

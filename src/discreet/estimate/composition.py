"""What the ST says: how many records of each value each bucket holds.

Symbols: c_gx records of value x in bucket g, S_g the bucket's size, n_x all records of x.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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

    @cached_property
    def sizes(self) -> Ints:
        return np.bincount(self.bucket, self.count, minlength=len(self.ids)).astype(np.int64)

    @cached_property
    def _starts(self) -> Ints:
        return np.searchsorted(self.bucket, np.arange(len(self.ids)))

    @cached_property
    def totals(self) -> Ints:
        return np.bincount(self.value, self.count, minlength=len(self.values)).astype(np.int64)

    def per_bucket(self, weights: Floats) -> Floats:
        """sum_x c_gx weights_x for each bucket g."""
        return np.add.reduceat(self.count * weights[self.value], self._starts)

    def per_value(self, weights: Floats) -> Floats:
        """sum_g c_gx weights_g for each value x."""
        sums = np.bincount(self.value, self.count * weights[self.bucket], minlength=len(self.values))
        return np.asarray(sums, dtype=np.float64)

    def held(self, values: tuple[int, ...]) -> Ints:
        """How many records of these values each bucket holds."""
        chosen = np.zeros(len(self.values))
        chosen[list(values)] = 1
        return self.per_bucket(chosen).astype(np.int64)

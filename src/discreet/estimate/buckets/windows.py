"""Windows of a near release: stretches of buckets whose rows were planned and composed by themselves.

Symbols: k a window, its cells are the values that occur in it; n_kx records of value x in window k, c_gx as in
    composition.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import ReleaseError
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.learned import learned
from discreet.ground.arrays import Floats, Ints

_FEW = 1 << 18  # entries of an ST that are summed one by one


@dataclass(frozen=True, kw_only=True)
class Windows:
    """The ST window by window: one cell for each window and value that meet, in the order of windows and values."""

    composition: Composition
    ends: Ints  # the position after each window's last bucket

    def __post_init__(self) -> None:
        steps = np.diff(self.ends, prepend=0)
        if not len(self.ends) or (steps < 1).any() or self.ends[-1] != len(self.composition.ids):
            raise ReleaseError("windows must hold every bucket once, in their order; verify says more")

    @learned
    def of_bucket(self) -> Ints:
        """The window of each bucket."""
        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=0))

    @learned
    def _met(self) -> tuple[Ints, Ints]:
        """The cells, as window times the number of values and value; and the cell of each entry of the ST."""
        own = self.composition
        return np.unique(self.of_bucket[own.bucket] * len(own.values) + own.value, return_inverse=True)

    @property
    def cell(self) -> Ints:
        """The cell of each entry of the ST."""
        return self._met[1]

    @learned
    def window(self) -> Ints:
        """The window of each cell."""
        return self._met[0] // len(self.composition.values)

    @learned
    def value(self) -> Ints:
        """The value of each cell."""
        return self._met[0] % len(self.composition.values)

    @learned
    def records(self) -> Ints:
        """n_kx of each cell."""
        return np.bincount(self.cell, self.composition.count, minlength=len(self.value)).astype(np.int64)

    @learned
    def kinds(self) -> Ints:
        """How many values occur in each window."""
        return np.bincount(self.window, minlength=len(self.ends))

    @learned
    def begins(self) -> Ints:
        """The first cell of each window."""
        return np.cumsum(self.kinds) - self.kinds

    @learned
    def rows(self) -> Ints:
        return self.sums(self.composition.sizes).astype(np.int64)

    def sums(self, buckets: Floats | Ints) -> Floats:
        """The sum of something over each window's buckets."""
        return np.asarray(np.bincount(self.of_bucket, buckets, minlength=len(self.ends)), dtype=np.float64)

    def totals(self, cells: Floats | Ints) -> Floats:
        """The sum of something over each window's cells."""
        return np.asarray(np.bincount(self.window, cells, minlength=len(self.ends)), dtype=np.float64)

    def per_cell(self, weights: Floats) -> Floats:
        """sum over a window's buckets g of c_gx weights_g, for each cell."""
        own = self.composition
        if self._matrix is not None:
            return np.asarray(self._transposed @ weights)
        found = np.bincount(self.cell, own.count * weights[own.bucket], minlength=len(self.value))
        return np.asarray(found, dtype=np.float64)

    def per_bucket(self, weights: Floats) -> Floats:
        """sum_x c_gx weights_kx for each bucket g of window k."""
        own = self.composition
        if self._matrix is not None:
            return np.asarray(self._matrix @ weights)
        found = np.bincount(own.bucket, own.count * weights[self.cell], minlength=len(own.ids))
        return np.asarray(found, dtype=np.float64)

    @learned
    def _matrix(self) -> Any:
        """c_gx, buckets by cells, where the ST is large; only then scipy is loaded."""
        own = self.composition
        if len(own.bucket) <= _FEW:
            return None
        from scipy.sparse import csr_array

        shape = (len(own.ids), len(self.value))
        return csr_array((own.count.astype(np.float64), (own.bucket, self.cell)), shape=shape)

    @learned
    def _transposed(self) -> Any:
        return self._matrix.T.tocsr()

    def having(self, chosen: tuple[int, ...]) -> Floats:
        """1 for each cell of these values, 0 for the others."""
        return self.composition.among(chosen)[self.value]


def windows_of(composition: Composition, stated: Sequence[tuple[int, int]]) -> Windows:
    """Windows as a release states them: each one's first and last bucket id, in their order."""
    wanted = np.array(stated, dtype=np.int64).reshape(-1, 2)
    ends = np.searchsorted(composition.ids, wanted[:, 1], side="right")
    firsts = np.searchsorted(composition.ids, wanted[:, 0])
    if not np.array_equal(firsts[1:], ends[:-1]) or firsts[:1].any():
        raise ReleaseError("windows must hold every bucket once, in their order; verify says more")
    return Windows(composition=composition, ends=ends)

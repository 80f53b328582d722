"""Cuts: the linear conditions on the numbers of buckets that every valid setting keeps.

The term of art is cutting planes, separated by a minimum cut.

Paper: [WWFW] Theorem 3 for two sizes; here for every set A of values and every set J of sizes:
    sum_{j in J} (S_j - sum_{i not in A} floor(f'_i S_j)) b_j <= sum_{i in A} o_i.
Together they are all that validity asks for (maximum flow = minimum cut). There are exponentially many; a minimum cut
at a point that breaks one finds it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.mechanism.buckets.planning.caps import Ints, most_buckets
from discreet.mechanism.buckets.planning.flow import Mask, fill, route

Floats = NDArray[np.float64]
_UNITS = 1 << 29  # a point with fractions is looked at as this many records
_AT_ONCE = 16  # values whose own condition is added in one round
_SLACK = 1e-9  # of the rows: what a solver in floating point may be off


class Cuts:
    """A pool of cuts over one table: the coefficients of the numbers of buckets, the right sides, and the values A."""

    def __init__(self, caps: Ints, counts: Ints, sizes: Ints) -> None:
        self.caps, self.counts, self.sizes = caps, counts, sizes
        self.rows = int(counts.sum())
        self.coefficients: list[Ints] = []
        self.limits: list[int] = []
        self.values: list[Mask] = []
        self._caps_of_all = caps.sum(axis=0)
        for column, most in enumerate(most_buckets(caps, counts, sizes).tolist()):
            self._add(caps[:, column] * (most + 1) >= counts, np.arange(len(sizes)) == column)
        self._add_privacy(self.rows / (sizes * len(sizes)))

    def separate(self, buckets: Floats) -> bool:
        """Add cuts that a point with fractions breaks; whether there were any."""
        buckets = np.maximum(buckets, 0)
        if self._add_privacy(buckets):
            return True
        used = buckets * self.sizes > _SLACK * self.rows
        unit = _UNITS / self.rows
        counts = np.ceil(self.counts * unit).astype(np.int64)
        most = np.ceil(self.caps[:, used] * (buckets[used] * unit)).astype(np.int64)
        needs = np.floor(self.sizes[used] * buckets[used] * unit).astype(np.int64)
        flow = route(np.minimum(most, counts[:, None]), counts, needs)
        sizes = _among(used, flow.sizes)
        coefficients, limit = self._cut(flow.values, sizes)
        if coefficients @ buckets <= limit + _SLACK * self.rows:
            return False
        self._add(flow.values, sizes)
        return True

    def separate_exactly(self, buckets: Ints) -> bool:
        """Add the cut that a setting breaks; False where the setting is valid."""
        used = buckets > 0
        flow = fill(self.caps[:, used], self.counts, self.sizes[used], buckets[used])
        if int(flow.records.sum()) == self.rows:
            return False
        self._add(flow.values, _among(used, flow.sizes))
        return True

    def _add_privacy(self, buckets: Floats) -> bool:
        """The conditions sum_j floor(f'_i S_j) b_j >= o_i of the values that break theirs most."""
        short = self.counts - self.caps @ buckets
        worst = np.argsort(-short, kind="stable")[:_AT_ONCE]
        worst = worst[short[worst] > _SLACK * self.rows]
        everything = np.ones(len(self.sizes), dtype=np.bool_)
        for value in worst.tolist():
            self._add(np.arange(len(self.counts)) != value, everything)
        return len(worst) > 0

    def _add(self, values: Mask, sizes: Mask) -> None:
        """The cut of these values and sizes: true of every valid setting, however the sets were found."""
        coefficients, limit = self._cut(values, sizes)
        self.coefficients.append(coefficients)
        self.limits.append(limit)
        self.values.append(values)

    def _cut(self, values: Mask, sizes: Mask) -> tuple[Ints, int]:
        few = values.sum() * 2 < len(values)
        others = self._caps_of_all - self.caps[values].sum(axis=0) if few else self.caps[~values].sum(axis=0)
        return np.where(sizes, self.sizes - others, 0), int(self.counts[values].sum())


def _among(used: Mask, chosen: Mask) -> Mask:
    sizes = np.zeros(len(used), dtype=np.bool_)
    sizes[np.flatnonzero(used)] = chosen
    return sizes

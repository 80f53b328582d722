"""Shrinking: how far the noisy table of two columns is believed against what was implied without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.measured import Candidate

LEAST = 0.02  # of what is implied: no cell falls further
_PASSES = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class Shrunk:
    """A measured table, at its levels: what was `implied` before it, and how much each cell believes of the rest.

    Symbols: theta = max(0, sum ((y - implied)^2 - s2) / sum implied), how far true counts stray from implied ones, as
    a variance for each person; a cell believes theta implied / (theta implied + s2).
    """

    chosen: Candidate
    counts: Floats  # y
    variance: float  # s2, of the noise on a cell
    implied: Floats
    theta: float

    @property
    def cells(self) -> int:
        return self.counts.size

    @property
    def believed(self) -> Floats:
        stray = self.theta * self.implied
        return np.asarray(stray / (stray + self.variance))

    def wanted(self, counts: Floats) -> Floats:
        """The table that these counts lead to."""
        return np.maximum(self.implied + (counts - self.implied) * self.believed, LEAST * self.implied)


def shrunk(chosen: Candidate, counts: Floats, variance: float, implied: Floats) -> Shrunk:
    """A measured table against what is implied; implied counts are above 0."""
    theta = max(0.0, float(((counts - implied) ** 2 - variance).sum() / implied.sum()))
    return Shrunk(chosen=chosen, counts=counts, variance=variance, implied=implied, theta=theta)


def raked(table: Floats, rows: Floats, columns: Floats, passes: int = _PASSES) -> Floats:
    """A table above 0, scaled to these sums of rows and of columns, which are above 0."""
    for _ in range(passes):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))
    return table

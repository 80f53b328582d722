"""The moments of every window, decomposed side by side: windows with about as many values in one batch.

Symbols: G_k = sum over a window's buckets of c_g c_g^T / S_g, D_k = diag(n_k). Held are the eigenvalues and vectors of
    D^-1/2 G D^-1/2: all between 0 and 1, the largest of each window is 1. Where a window has fewer values than its
    batch, rows of the identity fill it up: they touch nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.estimate.buckets.windows import Windows
from discreet.ground.arrays import Floats, Ints

NULL = 1e-9  # an eigenvalue up to this counts as 0
_STEP = 8  # the numbers of values of a batch's windows are no further apart
_AT_ONCE = 1 << 22  # numbers of one batch


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some windows and, for each of its places, the cell that stands there: one past the last where none does."""

    windows: Ints
    cells: Ints
    values: Floats
    vectors: Floats

    @property
    def inverse(self) -> Floats:
        """1 over each eigenvalue, and 0 where it counts as 0."""
        return np.where(self.values > NULL, 1 / np.maximum(self.values, NULL), 0)


@dataclass(frozen=True, kw_only=True)
class Spectra:
    """The decomposition of all windows. Vectors are over cells, in units of sqrt(n)."""

    batches: tuple[Batch, ...]
    cells: int
    windows: int

    def solved(self, wanted: Floats) -> Floats:
        """The least solution in every window; what lies in no direction of its moments is left out."""
        found = np.zeros(self.cells + 1)
        for batch, turned in self._turned(wanted):
            found[batch.cells] = np.einsum("kij,kj->ki", batch.vectors, turned * batch.inverse)
        return found[:-1]

    def shrunk(self, wanted: Floats, ridge: Floats) -> Floats:
        """The solution where so much is added to each window's eigenvalues."""
        found = np.zeros(self.cells + 1)
        for batch, turned in self._turned(wanted):
            kept = np.maximum(batch.values, 0) + ridge[batch.windows, None]
            found[batch.cells] = np.einsum("kij,kj->ki", batch.vectors, turned / kept)
        return found[:-1]

    def measured(self, wanted: Floats) -> tuple[Floats, Floats]:
        """For each window the square of what lies in no direction of its moments, and t G^-1 t of the rest."""
        lost, whole = np.zeros(self.windows), np.zeros(self.windows)
        for batch, turned in self._turned(wanted):
            squares = turned**2
            lost[batch.windows] = (squares * (batch.values <= NULL)).sum(axis=1)
            whole[batch.windows] = (squares * batch.inverse).sum(axis=1)
        return lost, whole

    def _turned(self, wanted: Floats) -> Iterator[tuple[Batch, Floats]]:
        """Each batch, and what is wanted of its cells in the directions of its moments."""
        padded = np.append(wanted, 0.0)
        for batch in self.batches:
            yield batch, np.einsum("kij,ki->kj", batch.vectors, padded[batch.cells])


def numbers_of(windows: Windows) -> int:
    """How many numbers the spectra of some windows hold."""
    return int((_padded(windows.kinds) ** 2).sum())


def spectra_of(windows: Windows) -> Spectra:
    """Each window's moments, decomposed."""
    wide = _padded(windows.kinds)
    batches = []
    for width in np.unique(wide).tolist():
        own = np.flatnonzero(wide == width)
        step = max(1, _AT_ONCE // width**2)
        batches += [_decomposed(windows, own[start : start + step], width) for start in range(0, len(own), step)]
    return Spectra(batches=tuple(batches), cells=len(windows.value), windows=len(windows.ends))


def _decomposed(windows: Windows, own: Ints, width: int) -> Batch:
    kinds, begins = windows.kinds, windows.begins
    places = np.arange(width)
    cells = np.where(places < kinds[own, None], begins[own, None] + places, len(windows.value))
    moments = np.zeros((len(own), width, width))
    moments[:, places, places] = 1
    for number, k in enumerate(own.tolist()):
        moments[number, : kinds[k], : kinds[k]] = _moments(windows, k)
    values, vectors = np.linalg.eigh(moments)
    return Batch(windows=own, cells=cells, values=values, vectors=vectors)


def _moments(windows: Windows, k: int) -> Floats:
    """D^-1/2 G D^-1/2 of one window."""
    own, last = windows.composition, int(windows.ends[k])
    first, begin, kinds = int(windows.ends[k - 1]) if k else 0, int(windows.begins[k]), int(windows.kinds[k])
    entries = slice(*np.searchsorted(own.bucket, [first, last]).tolist())
    counts = np.zeros((last - first, kinds))
    counts[own.bucket[entries] - first, windows.cell[entries] - begin] = own.count[entries]
    counts /= np.sqrt(own.sizes[first:last, None] * windows.records[None, begin : begin + kinds])
    return np.asarray(counts.T @ counts, dtype=np.float64)


def _padded(kinds: Ints) -> Ints:
    return np.asarray(-(-kinds // _STEP) * _STEP)

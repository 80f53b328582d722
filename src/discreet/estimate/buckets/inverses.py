"""The moments of every window, inverted side by side: windows with about as many values in one batch.

Symbols: G_k = sum over a window's buckets of c_g c_g^T / S_g, D_k = diag(n_k). Inverted is M = D^-1/2 G D^-1/2, whose
    eigenvalues lie between 0 and 1. Where a window has fewer values than its batch, rows of the identity fill it up:
    they touch nothing. A window whose M has an eigenvalue that counts as 0 is loose: it does not tell all of its values
    apart, and M is inverted without those directions.
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
_LITTLE = 1e-12  # added to M first, so that one without an inverse stops no other's


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some windows and, for each of its places, the cell that stands there: one past the last where none does."""

    windows: Ints
    cells: Ints
    inverse: Floats
    shrunk: Floats  # the inverse of M and a ridge
    loose: Ints  # which of the windows are
    null: Floats  # for each of those, what projects on its directions that count as 0


@dataclass(frozen=True, kw_only=True)
class Inverses:
    """The inverses of all windows. Vectors are over cells, in units of sqrt(n)."""

    batches: tuple[Batch, ...]
    cells: int
    windows: int

    def solved(self, wanted: Floats) -> Floats:
        """The least solution in every window; what lies in no direction of its moments is left out."""
        found = np.zeros(self.cells + 1)
        for batch, own in self._in_batches(wanted):
            found[batch.cells] = np.einsum("kij,kj->ki", batch.inverse, own)
        return found[:-1]

    def shrunk(self, wanted: Floats) -> Floats:
        """The solution where the ridge is added to the moments."""
        found = np.zeros(self.cells + 1)
        for batch, own in self._in_batches(wanted):
            found[batch.cells] = np.einsum("kij,kj->ki", batch.shrunk, own)
        return found[:-1]

    def lost(self, wanted: Floats) -> Floats:
        """For each window the square of what lies in no direction of its moments."""
        found = np.zeros(self.windows)
        for batch, own in self._in_batches(wanted):
            left = np.einsum("kij,kj->ki", batch.null, own[batch.loose])
            found[batch.windows[batch.loose]] = (left**2).sum(axis=1)
        return found

    def _in_batches(self, wanted: Floats) -> Iterator[tuple[Batch, Floats]]:
        """Each batch, and what is wanted of its cells."""
        padded = np.append(wanted, 0.0)
        for batch in self.batches:
            yield batch, padded[batch.cells]


def numbers_of(windows: Windows) -> int:
    """How many numbers the inverses of some windows hold."""
    return 2 * int((_padded(windows.kinds) ** 2).sum())


def inverses_of(windows: Windows, ridge: Floats) -> Inverses:
    """Each window's moments, inverted; and with so much added to each window's eigenvalues."""
    wide = _padded(windows.kinds)
    batches = []
    for width in np.unique(wide).tolist():
        own = np.flatnonzero(wide == width)
        step = max(1, _AT_ONCE // width**2)
        for start in range(0, len(own), step):
            batches.append(_batch(windows, own[start : start + step], width, ridge))
    return Inverses(batches=tuple(batches), cells=len(windows.value), windows=len(windows.ends))


def _batch(windows: Windows, own: Ints, width: int, ridge: Floats) -> Batch:
    kinds, begins = windows.kinds, windows.begins
    places = np.arange(width)
    cells = np.where(places < kinds[own, None], begins[own, None] + places, len(windows.value))
    moments = np.zeros((len(own), width, width))
    moments[:, places, places] = 1
    for number, k in enumerate(own.tolist()):
        moments[number, : kinds[k], : kinds[k]] = _moments(windows, k)
    one = np.eye(width)
    inverse = np.linalg.inv(moments + _LITTLE * one)
    inverse = inverse @ (2 * one - moments @ inverse)  # Newton's step takes what was added out again
    loose = np.flatnonzero(~((inverse**2).sum(axis=(1, 2)) < NULL**-2))
    null = np.zeros((len(loose), width, width))
    if len(loose):
        values, vectors = np.linalg.eigh(moments[loose])
        known = values[:, None, :] > NULL
        inverse[loose] = (vectors * np.where(known, 1 / np.maximum(values, NULL)[:, None, :], 0)) @ vectors.mT
        null = (vectors * ~known) @ vectors.mT
    shrunk = np.asarray(np.linalg.inv(moments + ridge[own, None, None] * one), dtype=np.float64)
    return Batch(windows=own, cells=cells, inverse=inverse, shrunk=shrunk, loose=loose, null=null)


def _moments(windows: Windows, k: int) -> Floats:
    """M of one window, in one thread: libraries of linear algebra keep others busy for nothing."""
    own, last = windows.composition, int(windows.ends[k])
    first, begin, kinds = int(windows.ends[k - 1]) if k else 0, int(windows.begins[k]), int(windows.kinds[k])
    entries = slice(*np.searchsorted(own.bucket, [first, last]).tolist())
    counts = np.zeros((last - first, kinds))
    counts[own.bucket[entries] - first, windows.cell[entries] - begin] = own.count[entries]
    counts /= np.sqrt(own.sizes[first:last, None] * windows.records[None, begin : begin + kinds])
    return np.asarray(np.einsum("gi,gj->ij", counts, counts), dtype=np.float64)


def _padded(kinds: Ints) -> Ints:
    return np.asarray(-(-kinds // _STEP) * _STEP)

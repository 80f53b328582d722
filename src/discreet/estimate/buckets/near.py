"""The unbiased estimator of near releases: the regression of regression.py, window by window.

The rows of a value are dealt at random over its slots within their window only, so its share of matching records may be
another in every window: p_kx. Given the slots, E[a_g] = sum_x c_gx p_kx for the buckets g of window k, and each window
is regressed by itself. What the windows say of a question adds up, and so do their variances: their coins are apart.

A regression of all buckets at once would be biased, for windows differ in their rows and in their counts alike.

Symbols: k a window, cells (k, x) as in windows.py, w_gX = sum_{x in X} n_kx (G_k^-1 c_g)_x / S_g. Where a window does
    not determine X, w is the least solution: sum_g c_gy w_gX = e_y with e_y/n_ky not quite 1(y in X), and the answer is
    off by sum_y p_ky (e_y - n_ky 1(y in X)), of which the counts say how far from 0 it may be at most.
Var = sum over cells of n/(n - 1) p (1 - p) [sum_g c_gy w_gX^2 - e_y^2/n], which is the formula of regression.py where
    e_y is n_ky or 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.inverses import NULL, Inverses, inverses_of, numbers_of
from discreet.estimate.buckets.regression import MOST_VALUES, SPREAD, Answer, Weighted, per_record
from discreet.estimate.buckets.windows import Windows
from discreet.estimate.learned import learned
from discreet.ground.arrays import Bools, Floats, Ints

_MOST_NUMBERS = 1 << 28  # that inverses may hold: 2 GB
_LEAST = 1e-12
_KNOTTED = 250.0  # how entangled the values of one window count at most


@dataclass(frozen=True, kw_only=True)
class NearRegression:
    """The regression on the ST of a near release; its inverses are made once and serve every question."""

    windows: Windows

    @property
    def composition(self) -> Composition:
        return self.windows.composition

    @property
    def fits(self) -> bool:
        """Whether the windows' moments are not too much to be inverted."""
        return int(self.windows.kinds.max()) <= MOST_VALUES and numbers_of(self.windows) <= _MOST_NUMBERS

    @learned
    def _inverses(self) -> Inverses:
        own = self.windows
        return inverses_of(own, own.kinds / (SPREAD * own.rows))

    @learned
    def _scale(self) -> Floats:
        return np.sqrt(self.windows.records)

    def answer(
        self,
        chosen: Sequence[tuple[int, ...]],
        matches: Sequence[Ints],
        joint: Mapping[tuple[int, int], Ints],
    ) -> Answer | None:
        """The answer over all windows, and how far off it may be where some windows do not determine their part."""
        if not self.fits:
            return None
        parts = [
            Weighted(values=values, weights=self.weights(values), matches=found)
            for values, found in zip(chosen, matches, strict=True)
        ]
        value = sum(float((part.weights * part.matches).sum()) for part in parts)
        return Answer(value=value, variance=self.variance(parts, joint), off=sum(map(self._off, parts)))

    def determined(self, chosen: tuple[int, ...]) -> Bools:
        """The buckets of the windows that determine the matching share of these values together."""
        return np.asarray(self._determined(chosen)[self.windows.of_bucket])

    def entangled(self, chosen: tuple[int, ...], matches: Ints) -> float:
        """How many times the variance of these values' share is what it were if the buckets' other values were one, in
        the windows where some rows match and some do not.
        """
        if not self.fits:
            return math.inf
        own = self.windows
        having, held = own.having(chosen), own.composition.held(chosen)
        records = own.totals(own.records * having)
        wanted = self._scale * having
        whole = own.totals(wanted * self._inverses.solved(wanted))
        alone = records**2 / np.maximum(own.sums(held * (held / own.composition.sizes)), _LEAST)
        whole = np.where(self._determined(chosen), np.minimum(whole, _KNOTTED * alone), _KNOTTED * alone)
        share = own.sums(matches) / own.rows
        weights = share * (1 - share)
        return max(1.0, float(weights @ whole) / max(float(weights @ alone), _LEAST))

    def weights(self, chosen: tuple[int, ...]) -> Floats:
        """w_gX for every bucket: in each window z solves G z = n 1_X, and w_gX = c_g z / S_g."""
        return self.solved(self.composition.among(chosen))

    def solved(self, target: Floats) -> Floats:
        """The same with any numbers in the place of 1_X."""
        solution = self._inverses.solved(self._scale * target[self.windows.value]) / self._scale
        return self.windows.per_bucket(solution) / self.composition.sizes

    def determines(self, target: Floats) -> bool:
        """Whether every window has weights with these means over the slots of each value."""
        if not self.fits:
            return False
        wanted = target[self.windows.value]
        lost = self._inverses.lost(self._scale * wanted)
        return bool((lost <= NULL * self.windows.totals(self.windows.records * wanted**2)).all())

    @property
    def records(self) -> Ints:
        return self.windows.records

    def per_cell(self, weights: Floats) -> Floats:
        return self.windows.per_cell(weights)

    def shares(self, matches: Ints | Floats) -> Floats:
        """p of every cell, for the variance alone, as in regression.py: shrunk to the share of its window."""
        own = self.windows
        matching = own.sums(matches)
        overall = (matching / own.rows)[own.window]
        moved = (own.per_cell(matches / self.composition.sizes) - overall * own.records) / self._scale
        shares = overall + self._inverses.shrunk(moved) / self._scale
        shares = np.clip(shares, 0, 1)
        right = matching / np.maximum(own.totals(shares * own.records), _LEAST)
        return np.asarray(np.clip(shares * right[own.window], 0, 1), dtype=np.float64)

    def variance(self, parts: Sequence[Weighted], joint: Mapping[tuple[int, int], Ints]) -> float:
        """Var of sum_k sum_g w_gk a_gk over the coins, as in regression.py, cell by cell."""
        own = self.windows
        shares = [self.shares(part.matches) for part in parts]
        means = [own.per_cell(part.weights) for part in parts]
        drawn = per_record(own.records)
        total = 0.0
        for one, two in combinations_with_replacement(range(len(parts)), 2):
            products = own.per_cell(parts[one].weights * parts[two].weights)
            spread = products - means[one] * means[two] / own.records
            p, q = shares[one], shares[two]
            if one == two:
                total += float(drawn * p * (1 - p) @ spread)
            elif (one, two) in joint:
                both = np.minimum(self.shares(joint[one, two]), np.minimum(p, q))
                total += 2 * float(drawn * (both - p * q) @ spread)
            else:
                most = np.sqrt(p * (1 - p) * q * (1 - q))
                total += 2 * float(drawn * most @ np.abs(spread))
        return max(total, 0.0)

    def _determined(self, chosen: tuple[int, ...]) -> Bools:
        """Which windows determine the matching share of these values together."""
        if not self.fits:
            return np.zeros(len(self.windows.ends), dtype=np.bool_)
        having = self.windows.having(chosen)
        lost = self._inverses.lost(self._scale * having)
        return np.asarray(lost <= NULL * self.windows.totals(self.windows.records * having))

    def _off(self, part: Weighted) -> float:
        """How far from the truth the part's mean may be at most: |sum p (e - n 1_X)| where the shares p of a window lie
        in [0, 1] and its matching rows are sum n p, for sum (e - n 1_X) = 0 in every window.
        """
        own = self.windows
        matching = own.sums(part.matches)
        left = ~self._determined(part.values) & (matching > 0) & (matching < own.rows)
        if not left.any():
            return 0.0
        beyond = np.where(left[own.window], own.per_cell(part.weights) - own.records * own.having(part.values), 0.0)
        each = beyond / own.records
        more, less = (np.maximum.reduceat(side * each, own.begins) for side in (1, -1))
        moved = own.totals(np.maximum(beyond, 0))
        above = np.minimum(moved, np.minimum(matching * more, (own.rows - matching) * less)).sum()
        below = np.minimum(moved, np.minimum(matching * less, (own.rows - matching) * more)).sum()
        return float(max(above, below, 0.0))

"""The unbiased estimator: regress the buckets' matches on the ST's rows.

The term of art is ecological regression by weighted least squares, a method of moments over the publisher's coins.

Paper: none; beyond [WWFW], whose estimator (see uniform.py) is biased where quasi-identifiers and sensitive values are
related. Given the slots, each value's records are spread over its slots uniformly at random, so E[a_g] = sum_x c_gx
    p_x, whatever the relation between quasi-identifiers and values is. Weighted least squares gives p without bias.
Symbols: a_g rows of bucket g that match, p_x the share of x's records that match, G = sum_g c_g c_g^T / S_g,
    w_gX = sum_{x in X} n_x (G^-1 c_g)_x / S_g, so that sum_g c_gy w_gX = n_y 1(y in X) and N(X) = sum_g w_gX a_g.
Variance: y's matching records are a random subset of its slots, so for one condition, exactly,
    Var N = sum_y n_y/(n_y - 1) p_y (1 - p_y) sum_g c_gy (w_gX - 1(y in X))^2; for several, covariances add likewise.
With sigma fakes in every bucket c_gx are the people that are expected there (composition.py). Which slots are fakes is
    a draw too: it adds sum_g (w_gX - their mean over buckets of this size)^2 sigma S_g/(S_g + sigma - 1) times the
    variance of p over the bucket's slots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Protocol

import numpy as np

from discreet.estimate.buckets.composition import Composition
from discreet.estimate.learned import learned
from discreet.ground.arrays import Bools, Floats, Ints

MOST_VALUES = 2_000  # the moments are dense: beyond this they would take minutes
SPREAD = 0.04  # how much the shares of different values may differ, in units of p (1 - p)
_NULL = 1e-9


@dataclass(frozen=True, kw_only=True)
class Weighted:
    """One part of a question: its values, their weights in every bucket, and the rows of each bucket that match."""

    values: tuple[int, ...]
    weights: Floats
    matches: Ints


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The value of a question, its variance over the coins, and how far from the truth its mean may be at most: 0 where
    the ST determines what is asked.
    """

    value: float
    variance: float
    off: float = 0.0


class Regressed(Protocol):
    """A regression on one ST that serves every question."""

    @property
    def composition(self) -> Composition: ...

    @property
    def fits(self) -> bool:
        """Whether its moments are not too much to be solved."""

    def answer(
        self,
        chosen: Sequence[tuple[int, ...]],
        matches: Sequence[Ints],
        joint: Mapping[tuple[int, int], Ints],
    ) -> Answer | None:
        """The unbiased answer to a question in parts; None where the ST does not determine anything of it."""

    def determined(self, chosen: tuple[int, ...]) -> Bools:
        """For which buckets the ST determines the matching share of these values together."""

    def entangled(self, chosen: tuple[int, ...], matches: Ints) -> float:
        """How many times the variance of these values' share is what it were if all other values were one."""

    def weights(self, chosen: tuple[int, ...]) -> Floats:
        """w_gX for every bucket."""

    @property
    def records(self) -> Ints:
        """How many people have each value; of a near release, in each window."""

    def per_cell(self, weights: Floats) -> Floats:
        """sum_g c_gx weights_g, as many numbers as there are records."""

    def solved(self, target: Floats) -> Floats:
        """w_g for every bucket, such that its mean over the slots of each value x is target_x."""

    def determines(self, target: Floats) -> bool:
        """Whether there are such weights."""

    def shares(self, matches: Ints | Floats) -> Floats:
        """p of each value, or cell, for variances alone: what matches, or how much of it, lies in [0, 1] a row."""

    def variance(self, parts: Sequence[Weighted], joint: Mapping[tuple[int, int], Ints]) -> float:
        """Var of sum_k sum_g w_gk a_gk over the coins; where a pair is missing, as large as it can be."""


@dataclass(frozen=True, kw_only=True)
class Regression:
    """The regression on one ST; its decomposition is made once and serves every question."""

    composition: Composition

    @property
    def fits(self) -> bool:
        """Whether the moments are not too much to be decomposed."""
        return len(self.composition.values) <= MOST_VALUES

    @learned
    def _spectrum(self) -> tuple[Floats, Floats]:
        """Eigenvalues and vectors of D^-1/2 G D^-1/2 with D = diag(n): all between 0 and 1, the largest is 1."""
        scale = 1 / np.sqrt(self.composition.totals)
        values, vectors = np.linalg.eigh(self.composition.moments * scale[:, None] * scale[None, :])
        return values, vectors

    @property
    def spread(self) -> Floats:
        """A_x = n_x (G^-1)_xx - 1 for every value: n_x p (1 - p) A_x is the variance of an answer about x where the
        same share p of every value matches; infinite where the ST does not tell x from others.
        """
        values, vectors = self._spectrum
        known = values > _NULL
        found = vectors[:, known] ** 2 @ (1 / values[known]) - 1
        lost = (vectors[:, ~known] ** 2).sum(axis=1)
        return np.where(lost <= _NULL, found, np.inf)

    def answer(
        self,
        chosen: Sequence[tuple[int, ...]],
        matches: Sequence[Ints],
        joint: Mapping[tuple[int, int], Ints],
    ) -> Answer | None:
        """The unbiased answer; None where the ST does not determine the matching share of all parts."""
        if not all(self.identifies(values) for values in chosen):
            return None
        parts = [
            Weighted(values=values, weights=self.weights(values), matches=found)
            for values, found in zip(chosen, matches, strict=True)
        ]
        value = sum(float((part.weights * part.matches).sum()) for part in parts)
        return Answer(value=value, variance=self.variance(parts, joint))

    def determined(self, chosen: tuple[int, ...]) -> Bools:
        """All buckets or none: values are told apart over the whole table."""
        return np.full(len(self.composition.ids), self.identifies(chosen))

    def identifies(self, chosen: tuple[int, ...]) -> bool:
        """Whether the ST determines the matching share of these values together."""
        return self.determines(self.composition.among(chosen))

    def determines(self, target: Floats) -> bool:
        """Whether there are weights with these means over the slots of each value."""
        if not self.fits:
            return False
        values, vectors = self._spectrum
        wanted = np.sqrt(self.composition.totals) * target
        lost = vectors[:, values <= _NULL].T @ wanted
        return bool(lost @ lost <= _NULL * (wanted @ wanted))

    def entangled(self, chosen: tuple[int, ...], matches: Ints | None = None) -> float:
        """How many times the variance of these values' share is what it were if the buckets' other values were one: one
        where they stand apart, much where they nearly always come with the same others; without end where the ST does
        not determine the share. It is the same whatever matches.

        The term of art is the variance inflation factor: u G^-1 u times 1 G 1 over n_X^2, with u = n 1_X.
        """
        if not self.identifies(chosen):
            return math.inf
        values, vectors = self._spectrum
        places, totals = list(chosen), self.composition.totals
        wanted = np.zeros(len(values))
        wanted[places] = np.sqrt(totals[places])
        turned = vectors.T @ wanted
        inside = float(self.composition.moments[np.ix_(places, places)].sum())
        inverse = np.where(values > _NULL, 1 / np.maximum(values, _NULL), 0)
        return max(1.0, float((turned**2 * inverse).sum()) * inside / float(totals[places].sum()) ** 2)

    def weights(self, chosen: tuple[int, ...]) -> Floats:
        """w_gX for every bucket: z solves G z = n 1_X, and w_gX = c_g z / S_g."""
        return self.solved(self.composition.among(chosen))

    def solved(self, target: Floats) -> Floats:
        """The same with any numbers in the place of 1_X."""
        values, vectors = self._spectrum
        scale = np.sqrt(self.composition.totals)
        inverse = np.where(values > _NULL, 1 / np.maximum(values, _NULL), 0)
        solution = vectors @ (inverse * (vectors.T @ (scale * target))) / scale
        return self.composition.per_bucket(solution) / self.composition.sizes

    @property
    def records(self) -> Ints:
        return self.composition.totals

    def per_cell(self, weights: Floats) -> Floats:
        return self.composition.per_value(weights)

    def shares(self, matches: Ints | Floats) -> Floats:
        """p_x for every value, for the variance alone: shrunk to the overall share, within [0, 1], right in total.

        Unshrunk shares of rare values are so noisy that p (1 - p) vanishes when they are clipped, and intervals fail to
        cover. A direction of the moments is kept as far as its eigenvalue exceeds m / (SPREAD n): values that the
        buckets can hardly tell apart get the share that they have together.
        """
        totals = self.composition.totals
        matching, rows = float(matches.sum()), int(totals.sum())
        overall = matching / rows
        moved = self.composition.per_value(matches / self.composition.sizes) - overall * totals  # G 1 = n
        values, vectors = self._spectrum
        scale = np.sqrt(totals)
        kept = np.maximum(values, 0) + len(totals) / (SPREAD * rows)
        shares = np.clip(overall + vectors @ ((vectors.T @ (moved / scale)) / kept) / scale, 0, 1)
        return np.asarray(np.clip(shares * (matching / max(float(shares @ totals), 1e-12)), 0, 1), dtype=np.float64)

    def variance(self, parts: Sequence[Weighted], joint: Mapping[tuple[int, int], Ints]) -> float:
        """Var of sum_k sum_g w_gk a_gk over the coins; `joint` has the matches of both conditions for pairs of parts.

        Where a pair is missing, its covariance is taken as large as it can be.
        """
        totals = self.composition.totals
        shares = [self.shares(part.matches) for part in parts]
        own = np.zeros((len(parts), len(totals)))
        for number, part in enumerate(parts):
            own[number, list(part.values)] = 1
        total = 0.0
        for one, two in combinations_with_replacement(range(len(parts)), 2):
            if self.composition.fakes:
                total += (1 if one == two else 2) * self._by_fakes(parts[one], parts[two], shares[one], shares[two])
            products = self.composition.per_value(parts[one].weights * parts[two].weights)
            spread = products - totals * own[one] * own[two]  # the weights' means over y's slots are 1(y in X)
            p, q = shares[one], shares[two]
            if one == two:
                total += float(per_record(totals) * p * (1 - p) @ spread)
            elif (one, two) in joint:
                both = np.minimum(self.shares(joint[one, two]), np.minimum(p, q))
                total += 2 * float(per_record(totals) * (both - p * q) @ spread)
            else:
                most = np.sqrt(p * (1 - p) * q * (1 - q))
                total += 2 * float(per_record(totals) * most @ np.abs(spread))
        return max(total, 0.0)

    def _by_fakes(self, one: Weighted, two: Weighted, p: Floats, q: Floats) -> float:
        """What the draw of fakes adds to the covariance of two parts, with shares p and q of every value."""
        own = self.composition
        means = [own.slot_mean(each) for each in (p, q)]
        within = own.slot_mean(p * q) - means[0] * means[1]
        drawn = own.fakes * own.sizes / np.maximum(own.slots - 1, 1)
        beyond = [each.weights - own.kind_mean(each.weights) for each in (one, two)]
        return float((beyond[0] * beyond[1] * drawn * within).sum())


def per_record(totals: Ints) -> Floats:
    """n / (n - 1): drawing without replacement."""
    return np.asarray(totals / np.maximum(totals - 1, 1), dtype=np.float64)

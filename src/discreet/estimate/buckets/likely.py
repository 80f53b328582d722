"""What is learned of a release says about a question: how many rows match, and how sure that is.

Symbols: W_iX the probability that row i has a value in X given its bucket, p_iX before its bucket is looked at, Q the
    rows that a question asks for. h = W (1 - W); h_A and h_B its sums over a bucket's rows inside and outside of Q.
N = sum of W_iX over Q. The bucket's count of X is known, so what is left open in it is about S/(S - 1) h_A h_B /
    (h_A + h_B), and i_m is the sum of that. Were the whole table one bucket it would be i_c, the same with p for W.
    What the model itself is unsure of adds by the information that is missing: v = i_m + k i_m^2 / (i_c - i_m). A value
    that hides among S rows leaves i_m near (1 - 1/S) i_c. Where buckets have fakes, these are part of what is open
    (open.py). k is more than 1 where values nearly always come with the
    same others: a fifth of how entangled they are (regression.py), as measured in docs/intervals.md.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.learning.knowledge import Knowledge, Singles
from discreet.estimate.buckets.open import Fakes, left_open
from discreet.ground.arrays import Floats, Ints

_KEPT = 1 << 27  # bytes of what is remembered of sets of values
_MOST = 0.995  # of the information may be missing: the largest buckets have 200 rows
_FIFTH, _KNOTTED = 5.0, 50.0  # of how entangled values are counts so much, and no more than so many times
_FEW = 30  # rows whose prior is known: from fewer, i_c is not estimated


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The answer to one part of a question, the variance v and what is open, i_m."""

    value: float
    variance: float
    missing: float


@dataclass(kw_only=True)
class _Having:
    """For each row the probability of having one of some values, and what that leaves open; also by the second model,
    where somebody asked for it.
    """

    own: Floats
    open: Floats
    per_bucket: Floats
    fakes: Fakes | None  # of each bucket, where there are any
    prior_open: Floats  # p (1 - p) of each pattern whose prior is known
    prior_total: float  # its sum over all rows
    second: Floats | None = None


class Likely:
    """Sums over what was learned; the arrays that they need are made once."""

    def __init__(self, composition: Composition, bucket: NDArray[np.int32], knowledge: Knowledge) -> None:
        """`bucket` is the bucket of each row, by position."""
        sizes = composition.sizes
        self._composition, self.bucket, self._knowledge = composition, bucket, knowledge
        lengths = sizes[composition.bucket]
        self._length, self._place = lengths, np.cumsum(lengths) - lengths
        self._first = (np.cumsum(sizes) - sizes)[composition.bucket]
        self._order = np.argsort(composition.value, kind="stable")
        self._ends = np.cumsum(np.bincount(composition.value, minlength=len(composition.values)))
        kept = knowledge.kept[knowledge.kept >= 0]
        self._known_rows = np.bincount(kept, minlength=knowledge.prior.shape[1]).astype(np.float64)
        self._known: OrderedDict[tuple[int, ...], _Having] = OrderedDict()

    def cell(self, rows: Ints, values: tuple[int, ...], entangled: float = 1.0) -> Cell:
        """How many of some rows have one of some values, which are so entangled with others."""
        having, buckets = self._having(values), len(self._composition.ids)
        inside = having.open[rows]
        within = np.bincount(self.bucket[rows], inside, minlength=buckets).astype(np.float64)
        missing = left_open(within, having.per_bucket, self._composition.sizes, having.fakes)
        complete = self._complete(having, rows)
        share = _MOST if complete <= 0 else min(_MOST, missing / complete)
        return Cell(
            value=float(having.own[rows].sum()),
            variance=missing * (1 + max(1.0, min(_KNOTTED, entangled / _FIFTH)) * share / (1 - share)),
            missing=missing,
        )

    def second(self, rows: Ints, values: tuple[int, ...]) -> float:
        """What the second model says to the same question as `cell`."""
        having = self._having(values)
        if having.second is None:
            having.second = self._summed(self._knowledge.second, *self._entries(values))
        return float(having.second[rows].sum())

    def per_bucket(self, rows: Ints) -> Ints:
        """How many of some rows each bucket has."""
        return np.bincount(self.bucket[rows], minlength=len(self._composition.ids))

    def _complete(self, having: _Having, rows: Ints) -> float:
        """i_c: from the rows whose prior is known, where that is only some of them; 0 where it is of too few."""
        columns = self._knowledge.kept[rows]
        known = columns[columns >= 0]
        if len(known) < max(1, min(_FEW, len(rows))):
            return 0.0
        inside = float(having.prior_open[known].sum()) * len(rows) / len(known)
        outside = max(0.0, having.prior_total - inside)
        return inside * outside / having.prior_total if having.prior_total > 0 else 0.0

    def _having(self, values: tuple[int, ...]) -> _Having:
        found = self._known.pop(values, None) or self._computed(values)
        self._known[values] = found
        while len(self._known) * 3 * found.own.nbytes > _KEPT and len(self._known) > 1:
            self._known.popitem(last=False)
        return found

    def _computed(self, values: tuple[int, ...]) -> _Having:
        number = len(self.bucket)
        own = self._summed(self._knowledge.weights, *self._entries(values))
        left = own * (1 - own)
        prior = np.minimum(self._knowledge.prior[list(values)].sum(axis=0, dtype=np.float64), 1.0)
        per_bucket = np.bincount(self.bucket, left, minlength=len(self._composition.ids))
        return _Having(
            own=own,
            open=left,
            per_bucket=per_bucket.astype(np.float64),
            fakes=self._fakes(own, values),
            prior_open=prior * (1 - prior),
            prior_total=float((prior * (1 - prior)) @ self._known_rows)
            * number
            / max(1.0, float(self._known_rows.sum())),
        )

    def _fakes(self, own: Floats, values: tuple[int, ...]) -> Fakes | None:
        """What a bucket's count of some values has beyond what its rows are thought to have, its fakes have."""
        composition = self._composition
        if not composition.fakes:
            return None
        rows = np.bincount(self.bucket, own, minlength=len(composition.ids))
        share = np.clip((composition.held(values) - rows) / composition.fakes, 0, 1)
        return Fakes(number=composition.fakes, open=composition.fakes * share * (1 - share), kind=composition.kind)

    def _summed(self, weights: Singles, places: Ints, rows: Ints) -> Floats:
        """The sum of some numbers of W for each row."""
        return np.minimum(np.bincount(rows, weights[places], minlength=len(self.bucket)), 1.0)

    def _entries(self, values: tuple[int, ...]) -> tuple[Ints, Ints]:
        """Where the numbers of some values stand in W, and the row that each is of."""
        stretches = [self._order[(self._ends[x - 1] if x else 0) : self._ends[x]] for x in values]
        entries = np.concatenate(stretches) if stretches else np.zeros(0, dtype=np.int64)
        lengths = self._length[entries]
        ends = np.cumsum(lengths)
        steps = np.arange(int(ends[-1]) if len(ends) else 0)
        shift = ends - lengths
        return steps + np.repeat(self._place[entries] - shift, lengths), steps + np.repeat(
            self._first[entries] - shift, lengths
        )

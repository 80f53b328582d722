"""What matching leaves open of a question, i_m: the variance of its answer if what was learned is right.

Symbols: h_A, h_B the sums of W (1 - W) over a bucket's rows inside and outside of the question, S the bucket's rows,
    with sigma fakes h_F = sigma q (1 - q), q the share of the fakes that have the values.
The bucket's count of the values is known, so of independent draws with these variances the sum is fixed: what is left
    open is S/(S - 1) h_A h_B / (h_A + h_B). With fakes the sum of all three is fixed, and of the fakes of a class the
    sum over its buckets too (its people's totals are published): with k = (S + sigma)/(S + sigma - 1) and h = h_A + h_B
    + h_F, Var A = k h_A (h - h_A) / h, Cov(A, F) = -k h_A h_F / h, Var F = k h_F (h - h_F) / h, and what is open of a
    class is sum Var A - (sum Cov(A, F))^2 / sum Var F, as of normal laws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Floats, Ints


@dataclass(frozen=True, kw_only=True)
class Fakes:
    """The fakes of each bucket: how many, h_F, and the class of the bucket."""

    number: int
    open: Floats
    kind: Ints


def left_open(inside: Floats, both: Floats, sizes: Ints, fakes: Fakes | None = None) -> float:
    """i_m from h_A and h_A + h_B of every bucket."""
    if fakes is None:
        spread = _shared(inside, both - inside, both)
        return max(0.0, float((spread * (sizes / np.maximum(sizes - 1, 1))).sum()))
    slots, whole = sizes + fakes.number, both + fakes.open
    factor = slots / (slots - 1)
    own = factor * _shared(inside, whole - inside, whole)
    across = np.bincount(fakes.kind, factor * _shared(inside, fakes.open, whole)).astype(np.float64)
    among = np.bincount(fakes.kind, factor * _shared(fakes.open, both, whole)).astype(np.float64)
    known = _shared(across, across, among)
    return max(0.0, float(own.sum() - known.sum()))


def _shared(one: Floats, other: Floats, whole: Floats) -> Floats:
    """one other / whole, and 0 where that is nothing."""
    found: Floats = np.divide(one * other, whole, out=np.zeros(len(whole)), where=whole > 0)
    return found

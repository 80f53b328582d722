"""Who in a bucket has which of its values, given how probable each value is for each row: all matchings weighed.

Row i of a bucket has value x with a probability proportional to p_ix before the bucket's counts are known. Given the
counts c_x, a matching of rows to values weighs the product of its p; W_ix is the weight of those in which i has x.

Symbols: m_ix and k_ix messages from rows to values and back, e_j elementary symmetric sums of the other rows' m.
Small buckets (prod (c_x + 1) <= 64) are summed exactly over the counts used so far. In larger ones W is the fixed point
    of Bethe messages, k_ix = e_(c-1)/e_c of the others: exact sums for c of 1 and 2, a saddle point for more. Last,
    rows and columns are scaled in turn, columns last: a bucket's counts hold.
"""

from __future__ import annotations

import numpy as np

from discreet.estimate.buckets.learning.compiled import compiled
from discreet.ground.arrays import Floats

STATES = 64  # counts used so far, of a bucket that is summed exactly
_ROUNDS = 6
_NEWTON = 6
_SCALINGS = 3
_TINY = 1e-300


@compiled
def match_small(p: Floats, c: Floats, w: Floats, forward: Floats, backward: Floats) -> None:
    """W of a small bucket, exactly: sums over the counts used by the rows before and after each."""
    rows, kinds = p.shape
    states = 1
    step = np.empty(kinds, dtype=np.int64)
    for x in range(kinds):
        step[x] = states
        states *= int(c[x]) + 1
    forward[: rows + 1, :states] = 0.0
    backward[: rows + 1, :states] = 0.0
    forward[0, 0] = 1.0
    backward[rows, states - 1] = 1.0
    for i in range(rows):
        for s in range(states):
            f = forward[i, s]
            if f > 0.0:
                for x in range(kinds):
                    if (s // step[x]) % (int(c[x]) + 1) < int(c[x]):
                        forward[i + 1, s + step[x]] += f * p[i, x]
    for i in range(rows - 1, -1, -1):
        for s in range(states):
            found = 0.0
            for x in range(kinds):
                if (s // step[x]) % (int(c[x]) + 1) < int(c[x]):
                    found += p[i, x] * backward[i + 1, s + step[x]]
            backward[i, s] = found
    for i in range(rows):
        total = 0.0
        for x in range(kinds):
            found = 0.0
            for s in range(states):
                if (s // step[x]) % (int(c[x]) + 1) < int(c[x]):
                    found += forward[i, s] * backward[i + 1, s + step[x]]
            w[i, x] = found * p[i, x]
            total += w[i, x]
        for x in range(kinds):
            w[i, x] /= max(total, _TINY)


@compiled
def match_large(p: Floats, c: Floats, w: Floats, k: Floats) -> None:
    """W of a larger bucket by Bethe messages; `w` serves as their memory."""
    rows, kinds = p.shape
    for x in range(kinds):
        total = _TINY
        for i in range(rows):
            total += p[i, x]
        for i in range(rows):
            k[i, x] = c[x] / total
    for _ in range(_ROUNDS):
        for i in range(rows):
            total = 0.0
            for x in range(kinds):
                total += p[i, x] * k[i, x]
            for x in range(kinds):
                w[i, x] = p[i, x] / max(total - p[i, x] * k[i, x], 1e-12 * total + _TINY)
        for x in range(kinds):
            _answer(w, k, x, c[x])
    for i in range(rows):
        for x in range(kinds):
            w[i, x] = p[i, x] * k[i, x] + _TINY


@compiled
def _answer(m: Floats, k: Floats, x: int, count: float) -> None:
    """The messages of one value to every row: e_(c-1)/e_c of the other rows' messages to it."""
    rows = m.shape[0]
    total = 0.0
    squares = 0.0
    for i in range(rows):
        total += m[i, x]
        squares += m[i, x] * m[i, x]
    if count < 1.5:
        for i in range(rows):
            k[i, x] = 1.0 / max(total - m[i, x], 1e-12 * total + _TINY)
        return
    if count < 2.5:
        for i in range(rows):
            others = total - m[i, x]
            pairs = (others * others - (squares - m[i, x] * m[i, x])) / 2
            k[i, x] = others / max(pairs, 1e-12 * others * others + _TINY)
        return
    log_l = np.log(count / max(total, _TINY))
    for _ in range(_NEWTON):
        scale = np.exp(log_l)
        value = 0.0
        slope = _TINY
        for i in range(rows):
            t = m[i, x] * scale
            value += t / (1 + t)
            slope += t / ((1 + t) * (1 + t))
        log_l += max(-4.0, min(4.0, (count - 0.5 - value) / slope))
    scale = np.exp(log_l)
    slope = _TINY
    for i in range(rows):
        t = m[i, x] * scale
        slope += t / ((1 + t) * (1 + t))
    for i in range(rows):
        t = m[i, x] * scale
        k[i, x] = scale * np.exp(min(1.0, t / (1 + t) / slope))


@compiled
def scale_to_counts(w: Floats, c: Floats) -> None:
    """Rows to one and columns to their counts, in turn, columns last."""
    rows, kinds = w.shape
    for _ in range(_SCALINGS):
        for i in range(rows):
            total = _TINY
            for x in range(kinds):
                total += w[i, x]
            for x in range(kinds):
                w[i, x] /= total
        for x in range(kinds):
            total = _TINY
            for i in range(rows):
                total += w[i, x]
            for i in range(rows):
                w[i, x] *= c[x] / total

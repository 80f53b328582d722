"""Who in a bucket has which of its values, given how probable each value is for each row: all matchings weighed.

Row i of a bucket has value x with a probability proportional to p_ix before the bucket's counts are known. Given the
counts c_x, a matching of rows to values weighs the product of its p; W_ix is the weight of those in which i has x.

Symbols: m_ix and k_ix messages from rows to values and back, e_j elementary symmetric sums of the other rows' m. All of
    them, p and W stand value after value: p_ix at x size + i.
Small buckets are summed exactly: the first i rows have used i values, so a state (how often each value was used) stands
    for a row, and each state is visited once. In larger ones W is the fixed point of Bethe messages, k_ix =
    e_(c-1)/e_c of the others: exact sums for c of 1 and 2, a saddle point for more. Last, rows and columns are
    scaled in turn, columns last: a bucket's counts hold.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.ground.compiled import compiled

STATES = 1024  # prod (c_x + 1): a bucket with no more of them is summed exactly
_ROUNDS = 6
_NEWTON = 6
_EVEN = 1e-7  # how far from one the sum of a row may be
_TINY = 1e-300
_LEFT = 1e-12  # of a sum, that is left at least when one part is taken away


@compiled
def match_exactly(
    p: Floats, c: Floats, w: Floats, size: int, step: Ints, digit: Ints, level: Ints, forward: Floats, backward: Floats
) -> None:
    """W of a small bucket, up to a factor: sums over the ways to fill the rows before and after each."""
    kinds, states = len(c), 1
    for x in range(kinds):
        step[x] = states
        states *= int(c[x]) + 1
        digit[0, x] = 0
    level[0], forward[0], backward[states - 1] = 0, 1.0, 1.0
    for s in range(1, states):
        carry, used, found = True, 0, 0.0
        for x in range(kinds):
            d = digit[s - 1, x]
            if carry:
                carry = d >= c[x]
                d = 0 if carry else d + 1
            digit[s, x] = d
            used += d
        for x in range(kinds):
            if digit[s, x] > 0:
                found += forward[s - step[x]] * p[x * size + used - 1]
        level[s], forward[s] = used, found
    for at in range(size * kinds):
        w[at] = 0.0
    for s in range(states - 2, -1, -1):
        i, found = level[s], 0.0
        for x in range(kinds):
            if digit[s, x] < c[x]:
                onward = p[x * size + i] * backward[s + step[x]]
                found += onward
                w[x * size + i] += forward[s] * onward
        backward[s] = found


@compiled
def match_nearly(p: Floats, c: Floats, w: Floats, size: int, m: Floats, totals: Floats) -> None:
    """W of a larger bucket by Bethe messages, up to a factor for each row; `w` serves as their memory."""
    kinds = len(c)
    for x in range(kinds):
        total = _TINY
        for i in range(size):
            total += p[x * size + i]
        for i in range(size):
            w[x * size + i] = c[x] / total
    for _ in range(_ROUNDS):
        for i in range(size):
            totals[i] = 0.0
        for x in range(kinds):
            for i in range(size):
                totals[i] += p[x * size + i] * w[x * size + i]
        for x in range(kinds):
            for i in range(size):
                own = p[x * size + i]
                left = totals[i] - own * w[x * size + i]
                m[x * size + i] = own / max(left, _LEFT * totals[i] + _TINY)
        for x in range(kinds):
            _answer(m[x * size : (x + 1) * size], w[x * size : (x + 1) * size], c[x])
    for at in range(size * kinds):
        w[at] = p[at] * w[at] + _TINY


@compiled
def _answer(m: Floats, k: Floats, count: float) -> None:
    """The messages of one value to every row: e_(c-1)/e_c of the other rows' messages to it."""
    total, squares = 0.0, 0.0
    for i in range(len(m)):
        total += m[i]
        squares += m[i] * m[i]
    if count < 1.5:
        for i in range(len(m)):
            k[i] = 1.0 / max(total - m[i], _LEFT * total + _TINY)
        return
    if count < 2.5:
        for i in range(len(m)):
            others = total - m[i]
            pairs = (others * others - (squares - m[i] * m[i])) * 0.5
            k[i] = others / max(pairs, _LEFT * others * others + _TINY)
        return
    scale = count / max(total, _TINY)
    for _ in range(_NEWTON):
        value, slope = 0.0, _TINY
        for i in range(len(m)):
            t = m[i] * scale
            part = 1.0 / (1.0 + t)
            value += t * part
            slope += t * part * part
        scale *= np.exp(max(-4.0, min(4.0, (count - 0.5 - value) / slope)))
    slope = _TINY
    for i in range(len(m)):
        t = m[i] * scale
        slope += t / ((1.0 + t) * (1.0 + t))
    for i in range(len(m)):
        t = m[i] * scale
        k[i] = scale * np.exp(min(1.0, t / (1.0 + t) / slope))


@compiled
def scale_to_counts(w: Floats, c: Floats, size: int, totals: Floats, rounds: int) -> None:
    """Rows to one and columns to their counts, in turn, columns last; so many rounds, or until both hold."""
    kinds = len(c)
    for turn in range(rounds):
        for i in range(size):
            totals[i] = _TINY
        for x in range(kinds):
            for i in range(size):
                totals[i] += w[x * size + i]
        off = 0.0
        for i in range(size):
            off = max(off, abs(totals[i] - 1.0))
            totals[i] = 1.0 / totals[i]
        if turn and off < _EVEN:
            return
        for x in range(kinds):
            total = _TINY
            for i in range(size):
                w[x * size + i] *= totals[i]
                total += w[x * size + i]
            total = c[x] / total
            for i in range(size):
                w[x * size + i] *= total

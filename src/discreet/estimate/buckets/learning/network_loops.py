"""One pass of training over a network, and its probabilities: loops that are compiled.

Symbols as in networks.py; g a gradient of the same shape as what it is of. Four units or values are taken together, so
that a number is read once for four products. Units that are off (h = 0) are passed over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.estimate.buckets.learning.softmax import LANES, Singles, Small, softmax
from discreet.ground.arrays import Ints
from discreet.ground.compiled import compiled

UNITS = 64
_FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8  # of Adam
_RIDGE = 5.0


@compiled
def _hidden(code: Small, e: Singles, b: Singles, h: Singles, active: Ints) -> int:
    """h before the relu, the units that are on, and how many those are."""
    for k in range(UNITS):
        h[k] = b[k]
    for j in range(len(code)):
        row = e[code[j]]
        for k in range(UNITS):
            h[k] += row[k]
    on = 0
    for k in range(UNITS):
        active[on] = k
        on += int(h[k] > np.float32(0.0))
    return on


@compiled
def _outputs(h: Singles, active: Ints, on: int, v: Singles, c: Singles, z: Singles) -> None:
    """z = c + relu(h) V."""
    for x in range(len(c)):
        z[x] = c[x]
    at = 0
    while at + 4 <= on:
        k, n, p, q = active[at], active[at + 1], active[at + 2], active[at + 3]
        hk, hn, hp, hq = h[k], h[n], h[p], h[q]
        vk, vn, vp, vq = v[k], v[n], v[p], v[q]
        for x in range(len(c)):
            z[x] += (hk * vk[x] + hn * vn[x]) + (hp * vp[x] + hq * vq[x])
        at += 4
    while at < on:
        own, row = h[active[at]], v[active[at]]
        for x in range(len(c)):
            z[x] += own * row[x]
        at += 1


@compiled
def _back(z: Singles, turned: Singles, h: Singles, dh: Singles) -> None:
    """dh = V z for the units that are on, with V turned: its rows are values."""
    for k in range(UNITS):
        dh[k] = np.float32(0.0)
    for x in range(0, len(z), 4):
        zx, zy, zp, zq = z[x], z[x + 1], z[x + 2], z[x + 3]
        vx, vy, vp, vq = turned[x], turned[x + 1], turned[x + 2], turned[x + 3]
        for k in range(UNITS):
            dh[k] += (zx * vx[k] + zy * vy[k]) + (zp * vp[k] + zq * vq[k])
    for k in range(UNITS):
        if h[k] <= np.float32(0.0):
            dh[k] = np.float32(0.0)


@compiled
def _adam(w: Singles, g: Singles, first: Singles, second: Singles, step: np.float32, ridge: np.float32) -> None:
    a, b = np.float32(_FIRST), np.float32(_SECOND)
    one, small = np.float32(1.0), np.float32(_EPSILON)
    for k in range(len(w)):
        slope = g[k] + ridge * w[k]
        first[k] = a * first[k] + (one - a) * slope
        second[k] = b * second[k] + (one - b) * slope * slope
        w[k] -= step * first[k] / (np.sqrt(second[k]) + small)
        g[k] = np.float32(0.0)


@compiled
def train(
    order: Small,
    codes: Small,
    number: Singles,
    thought: Singles,
    e: Singles,
    b: Singles,
    v: Singles,
    c: Singles,
    e1: Singles,
    e2: Singles,
    b1: Singles,
    b2: Singles,
    v1: Singles,
    v2: Singles,
    c1: Singles,
    c2: Singles,
    rate: float,
    part: Any,
    done: int,
    batch: int,
    values: int,
    rows: int,
) -> None:
    """The part of the patterns in this order that begins and ends there, in batches; `done` batches came before."""
    wide, patterns, zero = len(c), len(order), np.float32(0.0)
    h, dh, active = np.empty(UNITS, np.float32), np.empty(UNITS, np.float32), np.empty(UNITS + 1, np.int64)
    z, bits, lanes = np.empty(wide, np.float32), np.empty(wide, np.int32), np.empty(LANES, np.float32)
    turned = np.empty((wide, UNITS), np.float32)
    ge, gb, gv, gc = np.zeros_like(e), np.zeros_like(b), np.zeros_like(v), np.zeros_like(c)
    touched, seen = np.empty(len(e), np.int32), np.zeros(len(e), np.bool_)
    for start in range(part[0], part[1], batch):
        stop, met = min(part[1], start + batch), 0
        scale = np.float32(patterns / ((stop - start) * float(rows)))
        for k in range(UNITS):
            for x in range(wide):
                turned[x, k] = v[k, x]
        for at in range(start, stop):
            u = order[at]
            on = _hidden(codes[u], e, b, h, active)
            _outputs(h, active, on, v, c, z)
            _, total = softmax(z, bits, lanes)
            many, known = number[u] / total, thought[u]
            for x in range(values):
                z[x] = (z[x] * many - known[x]) * scale
            for x in range(wide):
                gc[x] += z[x]
            _back(z, turned, h, dh)
            for i in range(on):
                own, row = h[active[i]], gv[active[i]]
                for x in range(wide):
                    row[x] += own * z[x]
            for k in range(UNITS):
                gb[k] += dh[k]
            for level in codes[u]:
                if not seen[level]:
                    seen[level] = True
                    touched[met] = level
                    met += 1
                row = ge[level]
                for k in range(UNITS):
                    row[k] += dh[k]
        done += 1
        step = np.float32(rate * np.sqrt(1.0 - _SECOND**done) / (1.0 - _FIRST**done))
        ridge = np.float32(_RIDGE / rows)
        for i in range(met):
            level = touched[i]
            seen[level] = False
            _adam(e[level], ge[level], e1[level], e2[level], step, ridge)
        for k in range(UNITS):
            _adam(v[k], gv[k], v1[k], v2[k], step, ridge)
        _adam(b, gb, b1, b2, step, zero)
        _adam(c, gc, c1, c2, step, zero)


@compiled
def score(codes: Small, e: Singles, b: Singles, v: Singles, c: Singles, scores: Singles) -> None:
    """z of every pattern: its softmax is p."""
    h, active, z = np.empty(UNITS, np.float32), np.empty(UNITS + 1, np.int64), np.empty(len(c), np.float32)
    for u in range(len(codes)):
        on = _hidden(codes[u], e, b, h, active)
        _outputs(h, active, on, v, c, z)
        row = scores[u]
        for x in range(len(row)):
            row[x] = z[x]

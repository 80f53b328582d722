"""Small networks, averaged: what a linear model cannot say, that two quasi-identifiers together mean something else.

Symbols: h_u = relu(b + sum_j E[u_j]) with 64 units, z_u = c + h_u V, p_u = softmax z_u; n_u rows, T_u what they are
    thought to have. All members share one T. Each passes over the patterns in its own random order, in batches, with
    Adam; after every epoch the mean of the members' log p matches each bucket's rows to its values anew.
Departs: Adam moves the rows of E that a batch touches, so that an attribute of many values costs no more than one of few.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.estimate.buckets.learning.compiled import compiled
from discreet.estimate.buckets.learning.linear import normalize
from discreet.estimate.buckets.learning.places import Places, Singles, Small
from discreet.ground.arrays import Ints

EPOCHS = 32
UNITS = 64
_LANES = 16  # values are padded to a multiple of it
_STEP, _FIRST, _SECOND, _EPSILON = 0.004, 0.9, 0.999, 1e-8
_RIDGE = 5.0


@dataclass(frozen=True, kw_only=True)
class Member:
    """One network: a row for each value of each quasi-identifier, a bias, and a row for each unit."""

    embedding: Singles
    bias: Singles
    output: Singles
    prior: Singles

    @property
    def arrays(self) -> tuple[Singles, ...]:
        return self.embedding, self.bias, self.output, self.prior


def new_member(places: Places, totals: Ints, seed: int) -> Member:
    """A network before training; its coins are fixed."""
    coins = np.random.default_rng([20, seed])
    wide = -(-places.values // _LANES) * _LANES
    prior = np.zeros(wide, dtype=np.float32)
    prior[: places.values] = np.log(totals / totals.sum())
    output = np.zeros((UNITS, wide))
    output[:, : places.values] = coins.normal(0, 0.1 / np.sqrt(UNITS), (UNITS, places.values))
    columns = places.codes.shape[1]
    return Member(
        embedding=coins.normal(0, 1 / np.sqrt(max(1, columns)), (places.levels, UNITS)).astype(np.float32),
        bias=coins.normal(0, 0.1, UNITS).astype(np.float32),
        output=output.astype(np.float32),
        prior=prior,
    )


def learn_networks(places: Places, totals: Ints, members: int, coins: np.random.Generator, tell: Any) -> list[Member]:
    """So many trained networks."""
    found = [new_member(places, totals, seed) for seed in range(members)]
    states = [[(np.zeros_like(a), np.zeros_like(a)) for a in each.arrays] for each in found]
    streams = coins.spawn(members)
    patterns = len(places.number)
    batch = int(np.clip(patterns // 100, 32, 256))
    matched = places.start()
    with ThreadPoolExecutor(2) as pool:
        for epoch in range(EPOCHS):
            target = places.totals(matched)
            step = _STEP * (0.52 + 0.5 * np.cos(np.pi * epoch / EPOCHS))
            done = epoch * -(-patterns // batch)

            def train(k: int, target: Singles = target, step: float = step, done: int = done) -> Singles:
                order = streams[k].permutation(patterns).astype(np.int32)
                flat = [array for pair in states[k] for array in pair]
                sizes = (batch, places.values, done, int(totals.sum()))
                _pass(order, places.codes, places.number, target, *found[k].arrays, *flat, step, *sizes)
                return member_logs(places, found[k])

            matched = places.match(mean_of(pool.map(train, range(members))))
            tell((epoch + 1) / EPOCHS)
    return found


def network_logs(places: Places, members: list[Member]) -> Singles:
    """The log of every pattern's probabilities: the mean of the members' logs, made probabilities again."""
    return mean_of(member_logs(places, each) for each in members)


def mean_of(logs: Any) -> Singles:
    """The mean of several models' logs, made probabilities again."""
    total: Singles | None = None
    number = 0
    for each in logs:
        total = each if total is None else np.add(total, each, out=total)
        number += 1
    assert total is not None  # noqa: S101 - there is at least one member
    total /= np.float32(number)
    normalize(total)
    return total


def member_logs(places: Places, member: Member) -> Singles:
    found = np.empty((len(places.number), places.values), dtype=np.float32)
    _forward(places.codes, *member.arrays, found)
    normalize(found)
    return found


@compiled
def _forward(codes: Small, e: Singles, b: Singles, v: Singles, c: Singles, found: Singles) -> None:
    h, z = np.empty(UNITS, dtype=np.float32), np.empty(len(c), dtype=np.float32)
    for u in range(len(codes)):
        _hidden(codes[u], e, b, h)
        _outputs(h, v, c, z)
        found[u] = z[: found.shape[1]]


@compiled
def _hidden(code: Small, e: Singles, b: Singles, h: Singles) -> None:
    for k in range(UNITS):
        h[k] = b[k]
    for j in range(len(code)):
        row = e[code[j]]
        for k in range(UNITS):
            h[k] += row[k]
    for k in range(UNITS):
        h[k] = max(h[k], np.float32(0.0))


@compiled
def _outputs(h: Singles, v: Singles, c: Singles, z: Singles) -> None:
    wide = len(c)
    for x in range(wide):
        z[x] = c[x]
    for k in range(UNITS):
        if h[k] > np.float32(0.0):
            row, own = v[k], h[k]
            for x in range(wide):
                z[x] += own * row[x]


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
def _pass(
    order: Small,
    codes: Small,
    number: Singles,
    target: Singles,
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
    batch: int,
    values: int,
    done: int,
    rows: int,
) -> None:
    wide, columns, patterns = len(c), codes.shape[1], len(order)
    zero = np.float32(0.0)
    h, z = np.empty(UNITS, dtype=np.float32), np.zeros(wide, dtype=np.float32)
    dh, vt = np.empty(UNITS, dtype=np.float32), np.empty((wide, UNITS), dtype=np.float32)
    ge, gb, gv, gc = np.zeros_like(e), np.zeros_like(b), np.zeros_like(v), np.zeros_like(c)
    touched, seen = np.empty(len(e), dtype=np.int32), np.zeros(len(e), dtype=np.bool_)
    for start in range(0, patterns, batch):
        stop, met = min(patterns, start + batch), 0
        scale = np.float32(patterns / ((stop - start) * float(rows)))
        for k in range(UNITS):
            for x in range(wide):
                vt[x, k] = v[k, x]
        for at in range(start, stop):
            u = order[at]
            _hidden(codes[u], e, b, h)
            _outputs(h, v, c, z)
            top = z[:values].max()
            total = zero
            for x in range(values):
                z[x] = np.exp(z[x] - top)
                total += z[x]
            many = number[u] / total
            for x in range(values):
                z[x] = (z[x] * many - target[u, x]) * scale
            for x in range(values, wide):
                z[x] = zero
            for k in range(UNITS):
                dh[k] = zero
            for x in range(values):
                slope, row = z[x], vt[x]
                gc[x] += slope
                for k in range(UNITS):
                    dh[k] += slope * row[k]
            for k in range(UNITS):
                if h[k] > zero:
                    own, row = h[k], gv[k]
                    for x in range(wide):
                        row[x] += own * z[x]
                else:
                    dh[k] = zero
            for k in range(UNITS):
                gb[k] += dh[k]
            for j in range(columns):
                at_row = codes[u, j]
                if not seen[at_row]:
                    seen[at_row] = True
                    touched[met] = at_row
                    met += 1
                row = ge[at_row]
                for k in range(UNITS):
                    row[k] += dh[k]
        done += 1
        step = np.float32(rate * np.sqrt(1.0 - _SECOND**done) / (1.0 - _FIRST**done))
        ridge = np.float32(_RIDGE / rows)
        for i in range(met):
            row_at = touched[i]
            seen[row_at] = False
            _adam(e[row_at], ge[row_at], e1[row_at], e2[row_at], step, ridge)
        for k in range(UNITS):
            _adam(v[k], gv[k], v1[k], v2[k], step, ridge)
        _adam(b, gb, b1, b2, step, zero)
        _adam(c, gc, c1, c2, step, zero)

"""Small networks, averaged: what a linear model cannot say, that two quasi-identifiers together mean something else.

Symbols: h_u = relu(b + sum_j E[u_j]) with 64 units, z_u = c + h_u V, p_u = softmax z_u; n_u rows, T_u what they are
    thought to have. All members share one T. Each passes over the patterns in its own random order, in batches, with
    Adam; three times in every epoch the mean of the members' z matches each bucket's rows to its values anew, which
    takes fewer passes to the same answers than matching once.
Departs: Adam moves the rows of E that a batch touches: an attribute of many values costs no more than one of few.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from discreet.estimate.buckets.learning.network_loops import UNITS, score, train
from discreet.estimate.buckets.learning.places import Places
from discreet.estimate.buckets.learning.softmax import NOWHERE, Singles, Small, normalize, padded
from discreet.ground.progress import Tell

EPOCHS = 20
_PARTS = 3  # of an epoch: after each, rows and values are matched anew
_STEP = 0.004
_SMALLEST, _LARGEST, _BATCHES = 32, 64, 100  # patterns of a batch, and batches of an epoch at least
_THREADS = 2

Moments = tuple[Singles, Singles, Singles, Singles, Singles, Singles, Singles, Singles]


@dataclass(frozen=True, kw_only=True)
class Member:
    """One network: a row for each value of each quasi-identifier, a bias, a row for each unit, and a prior."""

    embedding: Singles
    bias: Singles
    output: Singles
    prior: Singles

    @property
    def arrays(self) -> tuple[Singles, Singles, Singles, Singles]:
        return self.embedding, self.bias, self.output, self.prior

    def blank(self) -> Moments:
        """What Adam remembers of each array before the first batch: two of its shape, of zeros."""
        e, b, v, c = (np.zeros_like(array) for array in self.arrays)
        return e, e.copy(), b, b.copy(), v, v.copy(), c, c.copy()


def new_member(places: Places, seed: int) -> Member:
    """A network before training; its coins are fixed."""
    coins, wide, totals = np.random.default_rng([20, seed]), padded(places.values), places.totals
    prior = np.full(wide, NOWHERE, dtype=np.float32)
    prior[: places.values] = np.log(np.maximum(totals, 0.5) / totals.sum())
    output = np.zeros((UNITS, wide), dtype=np.float32)
    output[:, : places.values] = coins.normal(0, 0.1 / np.sqrt(UNITS), (UNITS, places.values))
    columns = max(1, places.codes.shape[1])
    return Member(
        embedding=coins.normal(0, 1 / np.sqrt(columns), (places.levels, UNITS)).astype(np.float32),
        bias=coins.normal(0, 0.1, UNITS).astype(np.float32),
        output=output,
        prior=prior,
    )


def learn_networks(places: Places, members: int, coins: np.random.Generator, tell: Tell) -> tuple[Member, ...]:
    """So many trained networks."""
    found = tuple(new_member(places, seed) for seed in range(members))
    moments = [each.blank() for each in found]
    streams, patterns = coins.spawn(members), len(places.number)
    batch = int(np.clip(patterns // _BATCHES, _SMALLEST, _LARGEST))
    sizes = (batch, places.values, int(places.number.sum()))
    ends = [patterns * part // _PARTS for part in range(_PARTS + 1)]
    matched, done = places.start(), 0
    with ThreadPoolExecutor(_THREADS) as pool:
        for turn in range(EPOCHS * _PARTS):
            if turn % _PARTS == 0:
                orders = [stream.permutation(patterns).astype(np.int32) for stream in streams]
            part = ends[turn % _PARTS], ends[turn % _PARTS + 1]
            rate = _STEP * (0.52 + 0.5 * np.cos(np.pi * turn / (EPOCHS * _PARTS)))
            run = partial(_trained, places, places.thought(matched), rate, part, done, sizes)
            matched = places.match(_mean(list(pool.map(run, orders, found, moments))))
            done += -(-(part[1] - part[0]) // batch)
            tell((turn + 1) / (EPOCHS * _PARTS))
    return found


def _trained(
    places: Places,
    thought: Singles,
    rate: float,
    part: tuple[int, int],
    done: int,
    sizes: tuple[int, int, int],
    order: Small,
    member: Member,
    moments: Moments,
) -> Singles:
    """Train one member on a part of its order, and hear what it says of every pattern."""
    train(order, places.codes, places.number, thought, *member.arrays, *moments, rate, part, done, *sizes)
    return scored(places.codes, member, places.values)


def network_logs(codes: Small, members: Sequence[Member], values: int) -> Singles:
    """The log of every pattern's probabilities: the mean of the members' logs, made probabilities again."""
    found = _mean([scored(codes, each, values) for each in members])
    normalize(found)
    return found


def scored(codes: Small, member: Member, values: int) -> Singles:
    """z of every pattern."""
    found = np.empty((len(codes), values), dtype=np.float32)
    score(codes, *member.arrays, found)
    return found


def _mean(scores: Sequence[Singles]) -> Singles:
    """The mean of several: matching does not mind what is added to all values of a pattern."""
    found = scores[0].copy()
    for each in scores[1:]:
        found += each
    found *= np.float32(1 / len(scores))
    return found

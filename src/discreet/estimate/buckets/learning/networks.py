"""Small networks, averaged: what a linear model cannot say, that two quasi-identifiers together mean something else.

Symbols: h_u = relu(b + sum_j E[u_j]) with 64 units, z_u = c + h_u V, p_u = softmax z_u; n_u rows, T_u what they are
    thought to have. All members share one T. Each passes over the patterns in its own random order, in batches, with
    Adam; after every epoch the mean of the members' log p matches each bucket's rows to its values anew.
Departs: Adam moves the rows of E that a batch touches: an attribute of many values costs no more than one of few.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from discreet.estimate.buckets.learning.network_loops import UNITS, add_logs, train
from discreet.estimate.buckets.learning.places import Places
from discreet.estimate.buckets.learning.softmax import NOWHERE, Singles, Small, normalize, padded
from discreet.ground.progress import Tell

EPOCHS = 32
_STEP = 0.004
_SMALLEST, _LARGEST, _BATCHES = 32, 256, 100  # patterns of a batch, and batches of an epoch at least
_THREADS = 2


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

    def blank(self) -> tuple[Singles, Singles, Singles, Singles, Singles, Singles, Singles, Singles]:
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
    matched = places.start()
    with ThreadPoolExecutor(_THREADS) as pool:
        for epoch in range(EPOCHS):
            thought = places.thought(matched)
            rate = _STEP * (0.52 + 0.5 * np.cos(np.pi * epoch / EPOCHS))
            done = epoch * -(-patterns // batch)

            def one(k: int, thought: Singles = thought, rate: float = rate, done: int = done) -> None:
                order = streams[k].permutation(patterns).astype(np.int32)
                train(order, places.codes, places.number, thought, *found[k].arrays, *moments[k], rate, done, *sizes)

            list(pool.map(one, range(members)))
            matched = places.match(network_logs(places.codes, found, places.values))
            tell((epoch + 1) / EPOCHS)
    return found


def network_logs(codes: Small, members: Sequence[Member], values: int) -> Singles:
    """The log of every pattern's probabilities: the mean of the members' logs, made probabilities again."""
    found = np.zeros((len(codes), values), dtype=np.float32)
    for each in members:
        add_logs(codes, *each.arrays, np.float32(1 / len(members)), found)
    normalize(found)
    return found

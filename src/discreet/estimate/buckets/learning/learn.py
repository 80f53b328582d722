"""Learning from a bucket release: networks and a linear model, and what they say of every row.

The order in which patterns are visited is seeded by what the release holds, so that everybody learns the same from it.
What is learned is applied bucket by bucket, some at a time: a table of patterns by values would not fit for a large
release.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.estimate.buckets.learning.effort import Effort, effort_for
from discreet.estimate.buckets.learning.knowledge import Knowledge
from discreet.estimate.buckets.learning.linear import learn_linear, linear_logs
from discreet.estimate.buckets.learning.networks import learn_networks, network_logs
from discreet.estimate.buckets.learning.places import Places
from discreet.estimate.buckets.learning.softmax import Singles, Small
from discreet.ground.arrays import Ints
from discreet.ground.progress import Steps

LINEAR, NETWORKS, MATCHING = "learning, simply", "learning", "matching rows and values"
SHARES = {LINEAR: 0.15, NETWORKS: 0.6, MATCHING: 0.1}
_SCALINGS = 200  # at the end, so that counts by value add up to the rows
_ROUNDS = 20  # at the end, so that fakes add up too
_CELLS = 1 << 24  # patterns by values that are held at a time
_PRIOR = 1 << 26  # patterns by values whose probabilities are kept

Logs = Callable[[Small], Singles]


def learn(places: Places, seed: bytes, steps: Steps) -> Knowledge:
    """All that is learned from a release but how far off it is."""
    effort = effort_for(int(places.rows[-1]), len(places.number), places.values)
    coins = np.random.default_rng(list(seed))
    part = _drawn(places, effort, coins)
    with steps.step(LINEAR) as tell:
        weights = learn_linear(part, coins, tell)
    with steps.step(NETWORKS) as tell:
        members = learn_networks(part, effort.members, coins, tell)

    def simply(codes: Small) -> Singles:
        return linear_logs(codes, weights, places.values)

    def well(codes: Small) -> Singles:
        return network_logs(codes, members, places.values)

    with steps.step(MATCHING) as tell:
        own, second = _applied(places, well), _applied(places, simply)
        kept, prior = _prior(places, well, coins)
    return Knowledge(weights=own, second=second, kept=kept, prior=prior, members=effort.members)


def _drawn(places: Places, effort: Effort, coins: np.random.Generator) -> Places:
    """A random part of the buckets with about so many rows."""
    rows, buckets = int(places.rows[-1]), len(places.rows) - 1
    if effort.rows >= rows:
        return places
    wanted = max(1, round(buckets * effort.rows / rows))
    return places.part(np.sort(coins.choice(buckets, wanted, replace=False)))


def _applied(places: Places, logs: Logs) -> Singles:
    """W of all buckets, some at a time."""
    found = np.empty(int(places.begins[-1]), dtype=np.float32)
    done = 0
    for chosen in _stretches(places):
        part = places.part(chosen) if len(chosen) < len(places.rows) - 1 else places
        weights = part.match(logs(part.codes), _SCALINGS, _ROUNDS)
        found[done : done + len(weights)] = weights
        done += len(weights)
    return found


def _stretches(places: Places) -> list[Ints]:
    """Neighbouring buckets, so many together that their patterns fit."""
    most = max(int(np.diff(places.rows).max()), _CELLS // places.values)
    if len(places.number) <= most:
        return [np.arange(len(places.rows) - 1)]
    starts = np.searchsorted(places.rows, np.arange(0, int(places.rows[-1]), most))
    ends = np.append(starts[1:], len(places.rows) - 1)
    return [np.arange(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True) if b > a]


def _prior(places: Places, logs: Logs, coins: np.random.Generator) -> tuple[Small, Singles]:
    """The probabilities of each value (rows) for patterns (columns), before buckets are looked at; for how many rows
    of the release they are kept: -1 stands for those that are not.
    """
    most = _PRIOR // places.values
    patterns = len(places.number)
    chosen = np.arange(patterns) if patterns <= most else np.sort(coins.choice(patterns, most, replace=False))
    place = np.full(patterns, -1, dtype=np.int32)
    place[chosen] = np.arange(len(chosen), dtype=np.int32)
    prior = np.empty((places.values, len(chosen)), dtype=np.float32)
    step = max(1, _CELLS // places.values)
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        prior[:, start : start + len(some)] = np.exp(logs(places.codes[some])).T
    return place[places.pattern], prior

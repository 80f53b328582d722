"""Which slots are fakes: uniform over all choices with the totals of each value; each test also rejects a wrong law.

Statistics are compared with a bound that a chi-square variable exceeds with a chance below 1e-9 (Laurent and Massart
2000, Lemma 1), and seeds are fixed.
"""

from __future__ import annotations

from itertools import product
from math import comb, log, sqrt

import numpy as np
import pytest

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.making import flag_loops, flags
from discreet.series.coins import Coins

RARE = log(1e9)
DRAWS = 6000

Buckets = tuple[dict[str, int], ...]  # of one class: how often each bucket holds each value
Made = dict[str, int]

CASES: dict[str, tuple[Buckets, int, Made]] = {
    "distinct values": (
        ({"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1, "d": 1}, {"a": 1, "c": 1, "d": 1}, {"b": 1, "c": 1, "d": 1}),
        1,
        {"a": 1, "b": 1, "c": 1, "d": 1},
    ),
    "values that repeat": (
        ({"a": 3, "b": 1}, {"a": 1, "b": 3}, {"a": 2, "b": 2}),
        1,
        {"a": 2, "b": 1},
    ),
    "several fakes": (
        ({"a": 2, "b": 2, "c": 1}, {"a": 2, "b": 1, "c": 2}, {"a": 1, "b": 2, "c": 2}),
        2,
        {"a": 2, "b": 2, "c": 2},
    ),
}


def choices(buckets: Buckets, fakes: int, made: Made) -> dict[tuple[tuple[int, ...], ...], int]:
    """How many choices of slots there are for every way to have so many fakes of each value in each bucket."""
    names = sorted(made)
    every = []
    for bucket in buckets:
        held = [bucket.get(name, 0) for name in names]
        every.append([way for way in product(*(range(c + 1) for c in held)) if sum(way) == fakes])
    found = {}
    for ways in product(*every):
        if all(sum(way[x] for way in ways) == made[name] for x, name in enumerate(names)):
            pairs = zip(buckets, ways, strict=True)
            found[ways] = int(
                np.prod([comb(bucket.get(name, 0), way[x]) for bucket, way in pairs for x, name in enumerate(names)])
            )
    return found


def arrays(buckets: Buckets, made: Made) -> tuple[Ints, Ints, Ints, Ints]:
    """Entries value after value: the bucket of each, its count, how many each value has, and its fakes."""
    names = sorted(made)
    listed = [(g, bucket[name]) for name in names for g, bucket in enumerate(buckets) if name in bucket]
    held = [sum(name in bucket for bucket in buckets) for name in names]
    bucket, count = zip(*listed, strict=True)
    return (
        np.array(bucket, dtype=np.int32),
        np.array(count, dtype=np.uint8),
        np.array(held),
        np.array([made[name] for name in names]),
    )


def statistic(case: tuple[Buckets, int, Made]) -> tuple[float, float]:
    """Pearson's statistic of many draws against the uniform law over slots, and what it may be."""
    buckets, fakes, made = case
    bucket, count, held, wanted = arrays(buckets, made)
    value = np.repeat(np.arange(len(held)), held)
    weights = choices(buckets, fakes, made)
    seen = dict.fromkeys(weights, 0)
    for seed in range(DRAWS):
        found = flags.drawn_flags(bucket, count, held, wanted, len(buckets), fakes, Coins.from_seed(seed))
        assert found is not None
        table = np.zeros((len(buckets), len(held)), dtype=int)
        table[bucket, value] = found
        seen[tuple(map(tuple, table.tolist()))] += 1
    whole = sum(weights.values())
    found = sum((seen[way] - DRAWS * w / whole) ** 2 / (DRAWS * w / whole) for way, w in weights.items())
    freedom = len(weights) - 1
    return found, freedom + 2 * sqrt(freedom * RARE) + 2 * RARE


@pytest.mark.parametrize("name", CASES)
def test_fakes_are_uniform_over_all_choices_with_their_totals(name):
    """Every choice of slots with the right numbers is as likely as any other."""
    found, most = statistic(CASES[name])
    assert found < most


@pytest.mark.parametrize("name", ["values that repeat", "several fakes"])
def test_flags_that_are_not_exchanged_are_told_from_uniform_ones(name, monkeypatch):
    """What drawing and mending alone gives is another law."""
    monkeypatch.setattr(flags, "NEAR", 0)
    monkeypatch.setattr(flags, "FAR", 0)
    found, most = statistic(CASES[name])
    assert found > most


def test_exchanges_that_are_always_taken_are_told_from_uniform_ones(monkeypatch):
    """Without the ratio of ways there and back, values that repeat in a bucket are flagged too often."""
    fair = flag_loops.exchange_flags

    def always(starts, value, count, flag, fakes, pairs, words):
        fair(starts, value, count, flag, fakes, pairs, np.where([False, False, True], 0, words).astype(np.uint32))

    monkeypatch.setattr(flag_loops, "exchange_flags", always)
    found, most = statistic(CASES["values that repeat"])
    assert found > most


def test_there_is_a_choice_exactly_where_one_can_be_enumerated():
    """On random small classes flags are found if and only if some choice has the totals."""
    coins, some, none = np.random.default_rng(1), 0, 0
    for seed in range(400):
        fakes, number = int(coins.integers(1, 3)), int(coins.integers(2, 4))
        drawn = [coins.integers(0, 3, 3) for _ in range(number)]
        buckets = tuple({"abc"[x]: int(c) for x, c in enumerate(each) if c} for each in drawn)
        if any(sum(bucket.values()) < fakes for bucket in buckets):
            continue
        wanted = coins.multinomial(fakes * number, [1 / 3] * 3)
        made = {"abc"[x]: int(m) for x, m in enumerate(wanted)}
        entries = arrays(buckets, made)
        possible = bool(choices(buckets, fakes, made))
        found = flags.drawn_flags(*entries, number, fakes, Coins.from_seed(seed))
        assert (found is not None) == possible
        some, none = some + possible, none + (not possible)
    assert min(some, none) > 30

"""The law of compositions, bucket ids and slots over the publisher's coins; each test also rejects a wrong law.

Every chi-square statistic is compared with a bound that a chi-square variable exceeds with a chance below 1e-9
(Laurent and Massart 2000, Lemma 1; the bound has room for the error of the normal approximation), and no test looks at
more than 100 of them: a test of a right law fails for fewer than one in 10^7 choices of seeds. The seeds are fixed, so
that it never fails by chance.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest

from discreet import BucketPlan, Tolerance, plan_buckets
from discreet.ground.arrays import Bools, Ints
from discreet.mechanism.buckets.making import compose as composing
from discreet.mechanism.buckets.making.slots import draw_slots
from discreet.series.coins import Coins

RARE = log(1e9)


pytestmark = pytest.mark.slow  # thousands of compositions


def bound(freedom: int) -> float:
    """What a chi-square variable exceeds with a chance of at most e^-RARE = 1e-9."""
    return freedom + 2 * sqrt(freedom * RARE) + 2 * RARE


def pearson(drawn: Ints, categories: int) -> float:
    """Pearson's statistic of independent draws against equal chances."""
    expected = len(drawn) / categories
    return float(((np.bincount(drawn, minlength=categories) - expected) ** 2).sum() / expected)


# Inclusion

CLASSES = {
    "odd": (np.array([1, 2, 3, 5, 7, 10, 14]), 7, None),
    "even": (np.array([1, 3, 4, 6, 7, 11, 16]), 8, None),
    "mixed": (np.array([1, 4, 6, 7, 11, 17, 26]), 12, None),
    "in blocks": (np.array([1, 5, 6, 8, 12, 14, 19]), 13, 3),
}
SEEDS = 4000


def matrix_of(records: Ints, buckets: int, how: str, seed: int) -> Ints:
    matrix = np.zeros((len(records), buckets), dtype=np.int64)
    lengths = composing.meetings(records, buckets)
    ends = np.cumsum(lengths)
    which, count = np.empty(ends[-1], dtype=np.int32), np.empty(ends[-1], dtype=np.uint8)
    composing.compose(records, buckets, how, Coins.from_seed(seed).stream("test"), (which, count, ends - lengths))
    matrix[np.repeat(np.arange(len(records)), lengths), which] = count
    return matrix


def extras_statistics(records: Ints, buckets: int, how: Callable[[int], str]) -> list[float]:
    """For each value, where one of its records above v // b lies, drawn at random for each seed: Pearson's statistic.

    The chance of bucket g is (E[count in g] - v // b) / (v mod b): 1/b for all buckets if and only if every inclusion
    probability is v/b.
    """
    picks = np.random.default_rng(1)
    present = np.flatnonzero(records % buckets)
    found = np.empty((len(present), SEEDS), dtype=np.int64)
    for seed in range(SEEDS):
        extra = matrix_of(records, buckets, how(seed), seed) - (records // buckets)[:, None]
        order = (extra[present] * picks.random((len(present), buckets))).argmax(axis=1)
        found[:, seed] = order
    return [pearson(row, buckets) for row in found]


@pytest.mark.parametrize("name", CLASSES)
def test_a_random_composition_includes_each_value_in_each_bucket_with_probability_v_over_b(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For odd, even and mixed numbers of buckets, and for classes that are split into blocks."""
    records, buckets, block = CLASSES[name]
    if block:
        monkeypatch.setattr(composing, "BLOCK", block)
    statistics = extras_statistics(records, buckets, lambda _: "random")
    assert len(statistics) >= 5
    assert max(statistics) < bound(buckets - 1)


@pytest.mark.parametrize("every", [1, 4])
def test_the_inclusion_test_rejects_round_robin_even_if_it_is_one_composition_in_four(every: int) -> None:
    """Round robin puts a value into the same buckets whatever the coins."""
    records, buckets, _ = CLASSES["odd"]
    statistics = extras_statistics(records, buckets, lambda seed: "random" if seed % every else "round-robin")
    assert max(statistics) > 2 * bound(buckets - 1)


def pair_statistics(values: int, buckets: int, how: str) -> list[float]:
    """For each bucket, which two of its values, 3 records each, are picked at random for each seed: Pearson's."""
    numbers = {pair: number for number, pair in enumerate(combinations(range(values), 2))}
    picks = np.random.default_rng(2)
    met = np.empty((buckets, SEEDS // 2), dtype=np.int64)
    for seed in range(SEEDS // 2):
        matrix = matrix_of(np.full(values, 3), buckets, how, seed)
        for bucket, keys in enumerate(picks.random((buckets, values)) * matrix.T):
            one, other = sorted(np.argsort(-keys)[:2].tolist())
            met[bucket, seed] = numbers[one, other]
    return [pearson(row, len(numbers)) for row in met]


@pytest.mark.parametrize(("values", "buckets"), [(8, 6), (7, 7)])
def test_equally_frequent_values_meet_equally_often_in_every_bucket(values: int, buckets: int) -> None:
    """Which values share a bucket is as random as which bucket they are in; round robin seats neighbours together."""
    limit = bound(values * (values - 1) // 2 - 1)
    assert max(pair_statistics(values, buckets, "random")) < limit
    assert min(pair_statistics(values, buckets, "round-robin")) > 2 * limit


# Ids and slots


@pytest.fixture(scope="module")
def plan() -> BucketPlan:
    """[W14] Ex. 10: 6 buckets of 2 and 4 of 4; x4 and x5 have 6 records in small buckets and 2 in large ones."""
    counts = {"x1": 4, "x2": 4, "x3": 4, "x4": 8, "x5": 8}
    return plan_buckets(counts, Tolerance(theta=2).of(counts), sizes="two")


@pytest.fixture(scope="module")
def draws(plan: BucketPlan) -> Ints:
    """The bucket id of each slot, value by value, for each seed; round robin, so that all chance is in the slots."""
    values = tuple(plan.allocation)
    drawn = (draw_slots(plan, values, "round-robin", Coins.from_seed(seed)) for seed in range(SEEDS))
    return np.array([slots.shuffled() for slots in drawn]) - 1


def is_large(draws: Ints) -> Bools:
    """Whether each id (columns) is a large bucket, for each seed (rows)."""
    return np.array([np.bincount(ids, minlength=10) for ids in draws]) == 4


def id_statistic(large: Bools) -> float:
    """Chi-square of how often each id is a large bucket; a row of ids is a random permutation of 4 large and 6 small.

    Its covariance is p (1 - p) b / (b - 1) times the projection off the constants, so this has b - 1 degrees.
    """
    seeds, buckets = large.shape
    p = large.mean()
    return float(((large.sum(axis=0) - seeds * p) ** 2).sum() / (seeds * p * (1 - p)) * (buckets - 1) / buckets)


def test_a_buckets_id_says_nothing_of_its_size(draws: Ints) -> None:
    """Every id is a large bucket equally often; ids in order of size, even one time in ten, are rejected."""
    large = is_large(draws)
    assert large.sum(axis=1).tolist() == [4] * SEEDS
    assert id_statistic(large) < bound(9)
    leaking = large.copy()
    leaking[::10] = np.sort(large[::10], axis=1)
    assert id_statistic(leaking) > 2 * bound(9)


def test_a_buckets_id_says_nothing_of_its_values(draws: Ints, plan: BucketPlan) -> None:
    """The first slot of each value is any id equally often, though round robin fills the same buckets each time."""
    starts = np.cumsum([0, *(sum(shares.values()) for shares in plan.allocation.values())])[:-1]
    assert max(pearson(draws[:, start], 10) for start in starts) < bound(9)
    unnamed = draws[:, starts[0]].copy()
    unnamed[::4] = 9
    assert pearson(unnamed, 10) > 2 * bound(9)


def row_statistics(draws: Ints, first: int, last: int, share: float) -> list[float]:
    """For each of a value's slots, how often it is in a large bucket against the value's share there: chi-square, 1."""
    large = np.take_along_axis(is_large(draws), draws[:, first:last], axis=1)
    hits = large.sum(axis=0)
    return [float((hit - SEEDS * share) ** 2 / (SEEDS * share * (1 - share))) for hit in hits]


@pytest.mark.parametrize("value", ["x4", "x5"])
def test_a_rows_place_in_the_table_says_nothing_of_its_bucket(value: str, draws: Ints, plan: BucketPlan) -> None:
    """Each of a value's 8 slots is in a large bucket with probability 2/8; slots left in order are rejected."""
    first = {"x4": 12, "x5": 20}[value]
    assert plan.allocation[value] == {2: 6, 4: 2}
    assert max(row_statistics(draws, first, first + 8, 2 / 8)) < bound(1)
    ordered = draws.copy()
    large = np.take_along_axis(is_large(draws), draws[:, first : first + 8], axis=1)
    order = np.argsort(large, axis=1, kind="stable")
    ordered[:, first : first + 8] = np.take_along_axis(draws[:, first : first + 8], order, axis=1)
    assert max(row_statistics(ordered, first, first + 8, 2 / 8)) > 2 * bound(1)


# Collinearity


def smallest_eigenvalue(plan: BucketPlan, how: str, seed: int) -> float:
    """Of sum_g c_g c_g^T / S_g, scaled by 1 / sqrt(n_x n_y): 1 where buckets hold one value each, 0 where unbiased
    answers do not exist."""
    slots = draw_slots(plan, tuple(plan.allocation), how, Coins.from_seed(seed))
    counts = np.zeros((plan.buckets, len(plan.allocation)))
    counts[slots.bucket - 1, slots.value] = slots.count
    scaled = counts / np.sqrt(counts.sum(axis=1))[:, None] / np.sqrt(counts.sum(axis=0))[None, :]
    return float(np.linalg.eigvalsh(scaled.T @ scaled)[0])


def skewed_plan(ratio: float) -> BucketPlan:
    """20,000 rows, 20 values, each `ratio` times as frequent as the one before, f' = min(1, 8 f + 0.02)."""
    weights = ratio ** np.arange(20)
    counts = dict(enumerate(np.maximum(1, np.round(20_000 * weights / weights.sum())).astype(int).tolist()))
    return plan_buckets(counts, Tolerance(theta=8, floor="0.02").of(counts), sizes="two")


def test_random_composition_is_ten_times_further_from_collinear_than_round_robin() -> None:
    """At ratio 0.85 the smallest eigenvalue is 0.0033 to 0.0040 over the seeds, against 0.00016: 20 to 25 times."""
    plan = skewed_plan(0.85)
    random = min(smallest_eigenvalue(plan, "random", seed) for seed in range(10))
    assert random > 10 * smallest_eigenvalue(plan, "round-robin", 0)


def test_round_robin_can_be_exactly_collinear_where_random_composition_is_not() -> None:
    """At ratio 0.7 round robin's smallest eigenvalue is 0 to rounding: no unbiased answer exists; random keeps 1e-4."""
    plan = skewed_plan(0.7)
    assert abs(smallest_eigenvalue(plan, "round-robin", 0)) < 1e-12
    assert min(smallest_eigenvalue(plan, "random", seed) for seed in range(10)) > 5e-5

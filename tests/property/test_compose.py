"""Compositions and slots: every bucket is full, every record has one slot, and the caps hold, for any coins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import BucketPlan, Tolerance, plan_buckets
from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.making import compose as composing
from discreet.mechanism.buckets.making import cut as cutting
from discreet.mechanism.buckets.making.slots import Slots, draw_slots, hand_out
from discreet.mechanism.buckets.planning.plan_buckets import plan_of_classes
from discreet.series.coins import Coins

HOWS = ("even", "round-robin")
ALL = ("free", *HOWS)

seeds = st.integers(0, 2**32)


def composed(records: Ints, buckets: int, how: str, seed: int, block: int | None = None) -> Ints:
    """The composition as a matrix of counts, values by buckets; `block` is how many buckets are composed together."""
    matrix = np.zeros((len(records), buckets), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        if block is not None:
            patch.setattr(composing, "BLOCK", block)
        lengths = composing.meetings(records, buckets)
        ends = np.cumsum(lengths)
        which, count = np.full(ends[-1], -1, dtype=np.int32), np.zeros(ends[-1], dtype=np.uint8)
        coins = Coins.from_seed(seed).stream("test")
        composing.compose(records, buckets, how, coins, (which, count, ends - lengths))
        for x, part in enumerate(np.split(np.arange(ends[-1]), ends[:-1])):
            assert len(set(which[part].tolist())) == len(part)
            matrix[x, which[part]] = count[part]
    return matrix


def check_composition(matrix: Ints, records: Ints) -> None:
    """Totals are right, buckets are equally full, and every cell is floor(v/b) or ceil(v/b)."""
    buckets = matrix.shape[1]
    assert matrix.sum(axis=1).tolist() == records.tolist()
    assert set(matrix.sum(axis=0).tolist()) == {int(records.sum()) // buckets}
    least = (records // buckets)[:, None]
    most = -(-records // buckets)[:, None]
    assert ((least <= matrix) & (matrix <= most)).all()


@st.composite
def classes(draw: st.DrawFn, most_buckets: int = 40) -> tuple[Ints, int]:
    """Records of each value that fill some number of buckets of some size; values may be absent or fill buckets."""
    buckets = draw(st.integers(1, most_buckets))
    size = draw(st.integers(1, 12))
    cuts = draw(st.lists(st.integers(0, buckets * size), max_size=10))
    return np.diff([0, *sorted(cuts), buckets * size]).astype(np.int64), buckets


@pytest.mark.parametrize("how", HOWS)
@given(drawn=classes(), seed=seeds)
@settings(max_examples=few(300), deadline=None)
def test_every_bucket_is_full_and_holds_floor_or_ceil_of_each_values_mean(
    how: str, drawn: tuple[Ints, int], seed: int
) -> None:
    """Whatever the numbers of records and buckets, odd or even, one or many."""
    records, buckets = drawn
    check_composition(composed(records, buckets, how, seed), records)


@given(drawn=classes(most_buckets=200), seed=seeds, block=st.integers(1, 9))
@settings(max_examples=few(300), deadline=None)
def test_splitting_into_blocks_keeps_every_bucket_full(drawn: tuple[Ints, int], seed: int, block: int) -> None:
    """Classes of more buckets than are composed together, halved until they are few enough, odd ones peeled."""
    records, buckets = drawn
    check_composition(composed(records, buckets, "random", seed, block), records)


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("buckets", [1, 2, 3, 255, 256, 257, 2**18, 2**18 + 1, 2**19 + 3])
def test_few_and_very_many_buckets_are_composed_alike(how: str, buckets: int) -> None:
    """Sizes of 5 up to half a million buckets, beyond the real block, with a rare, a common and a full value."""
    rare, common = 1, buckets // 3
    records = np.array([rare, common, buckets, 2 * buckets + 1, 2 * buckets - rare - common - 1])
    check_composition(composed(records, buckets, how, seed=buckets), records)


@given(drawn=classes(), seed=seeds)
@settings(max_examples=few(100), deadline=None)
def test_round_robin_needs_no_coins(drawn: tuple[Ints, int], seed: int) -> None:
    """The paper's composition is a function of the plan alone."""
    records, buckets = drawn
    here, there = (composed(records, buckets, "round-robin", each) for each in (seed, seed + 1))
    assert (here == there).all()


@st.composite
def plans(draw: st.DrawFn) -> BucketPlan:
    """Plans for small tables; f' >= f + 0.1, so one bucket of up to 100 rows or some of 10 and 11 always do."""
    numbers = draw(st.lists(st.integers(0, 30), min_size=2, max_size=7).filter(any))
    counts = {f"x{i}": number for i, number in enumerate(numbers)}
    theta = draw(st.sampled_from(["1", "1.5", "3"]))
    shares = Tolerance(theta=theta, floor=draw(st.sampled_from(["0.1", "0.3", "0.5"]))).of(counts)
    return plan_buckets(counts, shares, sizes="two", max_size=100)


def check_slots(slots: Slots, plan: BucketPlan) -> None:
    """The published counts keep the tolerances and the classes; the slots are the counts, one by one."""
    values = list(plan.allocation)
    cells = {(int(g), int(x)): int(c) for g, x, c in zip(slots.bucket, slots.value, slots.count, strict=True)}
    assert len(cells) == len(slots.count)
    assert min(cells.values()) > 0
    sizes: Counter[int] = Counter()
    for (bucket, _), count in cells.items():
        sizes[bucket] += count
    assert sorted(sizes) == list(range(1, plan.buckets + 1))
    assert sorted(Counter(sizes.values()).items()) == sorted(plan.classes)
    records: Counter[object] = Counter()
    for (bucket, x), count in cells.items():
        assert count <= floor(plan.tolerance[values[x]] * sizes[bucket])
        records[values[x]] += count
    assert records == Counter(plan.counts)
    assert slots.starts.tolist() == [0, *np.cumsum([sum(shares.values()) for shares in plan.allocation.values()])]
    for x in range(len(values)):
        own = Counter(slots.shuffled()[slots.starts[x] : slots.starts[x + 1]].tolist())
        assert own == {bucket: count for (bucket, held), count in cells.items() if held == x}


@pytest.mark.parametrize("how", ALL)
@given(plan=plans(), seed=seeds)
@settings(max_examples=few(150), deadline=None)
def test_slots_keep_the_plan_and_every_tolerance(how: str, plan: BucketPlan, seed: int) -> None:
    """Ids run from 1 to the number of buckets, as many of each size as planned, and no share is above its tolerance."""
    check_slots(draw_slots(plan, tuple(plan.allocation), how, Coins.from_seed(seed)), plan)


@given(plan=plans(), seed=seeds, block=st.integers(1, 9))
@settings(max_examples=few(150), deadline=None)
def test_free_compositions_in_many_blocks_keep_the_plan_and_every_tolerance(
    plan: BucketPlan, seed: int, block: int
) -> None:
    """Blocks of so few buckets that a class is missing in some of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "BLOCK", block)
        check_slots(draw_slots(plan, tuple(plan.allocation), "free", Coins.from_seed(seed)), plan)


@pytest.mark.parametrize("how", HOWS)
@given(plan=plans(), seed=seeds)
@settings(max_examples=few(100), deadline=None)
def test_even_and_round_robin_keep_the_records_of_each_class(how: str, plan: BucketPlan, seed: int) -> None:
    """Only free compositions move records between sizes."""
    slots = draw_slots(plan, tuple(plan.allocation), how, Coins.from_seed(seed))
    sizes = np.bincount(slots.bucket, weights=slots.count).astype(np.int64)[slots.bucket]
    records: Counter[tuple[object, int]] = Counter()
    for x, size, count in zip(slots.value.tolist(), sizes.tolist(), slots.count.tolist(), strict=True):
        records[tuple(plan.allocation)[x], size] += count
    assert records == {(v, size): share for v, shares in plan.allocation.items() for size, share in shares.items()}


def shuffled_rows(plan: BucketPlan, seed: int) -> Ints:
    """The codes of a table's rows, in some order."""
    records = [sum(shares.values()) for shares in plan.allocation.values()]
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(records)), records))


@given(plan=plans(), seed=seeds, cuts=st.lists(st.integers(0, 210), max_size=6))
@settings(max_examples=few(150), deadline=None)
def test_rows_get_each_slot_of_their_own_value_once_however_they_are_batched(
    plan: BucketPlan, seed: int, cuts: list[int]
) -> None:
    """Row by row the next slot of the row's value, in one batch, in many, or in empty ones."""
    slots = draw_slots(plan, tuple(plan.allocation), "random", Coins.from_seed(seed))
    codes = shuffled_rows(plan, seed)
    batches = np.split(codes, sorted(min(cut, len(codes)) for cut in cuts))
    handed = list(hand_out(slots.shuffled(), slots.starts, iter(batches)))
    assert [len(ids) for ids in handed] == [len(batch) for batch in batches]
    ids = np.concatenate(handed)
    for x in range(len(plan.allocation)):
        assert ids[codes == x].tolist() == slots.shuffled()[slots.starts[x] : slots.starts[x + 1]].tolist()


@pytest.fixture(scope="module")
def hospital() -> BucketPlan:
    """A plan of two classes and some hundred buckets with many values each: no two draws agree by chance."""
    counts = {f"x{i}": 20 + 10 * i for i in range(12)}
    return plan_buckets(counts, Tolerance(theta=2, floor="0.05").of(counts), sizes="two")


def everything(slots: Slots) -> tuple[bytes, ...]:
    return tuple(part.tobytes() for part in (slots.bucket, slots.value, slots.count, slots.shuffled(), slots.starts))


@pytest.mark.parametrize("how", ALL)
@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_the_same_coins_give_the_same_slots_and_other_coins_others(how: str, hospital: BucketPlan, seed: int) -> None:
    """A release can be made again from its key; another key gives other ids, other counts and another order."""
    values = tuple(hospital.allocation)
    first, again = (draw_slots(hospital, values, how, Coins.from_seed(seed)) for _ in range(2))
    other = draw_slots(hospital, values, how, Coins.from_seed(seed + 1))
    assert everything(first) == everything(again)
    assert first.shuffled().tobytes() != other.shuffled().tobytes()
    assert published(first) != published(other)


def published(slots: Slots) -> set[tuple[int, int, int]]:
    return set(zip(slots.bucket.tolist(), slots.value.tolist(), slots.count.tolist(), strict=True))


def test_random_compositions_differ_between_coins_and_not_only_their_ids(hospital: BucketPlan) -> None:
    """Which values meet in a bucket changes with the coins when random, and never with round robin."""

    def contents(how: str, seed: int) -> Counter[frozenset[tuple[int, int]]]:
        slots = draw_slots(hospital, tuple(hospital.allocation), how, Coins.from_seed(seed))
        held: dict[int, set[tuple[int, int]]] = {}
        for bucket, value, count in published(slots):
            held.setdefault(bucket, set()).add((value, count))
        return Counter(frozenset(cells) for cells in held.values())

    assert contents("random", 1) != contents("random", 2)
    assert contents("round-robin", 1) == contents("round-robin", 2)


def test_classes_are_composed_with_coins_of_their_own() -> None:
    """Two classes with the same extras: which values round up together in one says nothing of the other."""
    values = tuple(f"x{i}" for i in range(12))
    limits = dict.fromkeys(values, Fraction(1, 4))
    plan = plan_of_classes(dict.fromkeys(values, 100), limits, ((4, 60), (16, 60)), (4, 16))
    assert all(shares == {4: 20, 16: 80} for shares in plan.allocation.values())
    slots = draw_slots(plan, values, "random", Coins.from_seed(0))
    check_slots(slots, plan)
    matrix = np.zeros((plan.buckets, len(values)), dtype=np.int64)
    matrix[slots.bucket - 1, slots.value] = slots.count
    small, large = (matrix[matrix.sum(axis=1) == size] for size in (4, 16))
    assert Counter(map(bytes, small == 1)) != Counter(map(bytes, large == 2))


def test_values_without_records_get_no_slots_and_keep_their_code() -> None:
    """A value of the domain that does not occur leaves an empty range between its neighbours."""
    counts: Mapping[str, int] = {"a": 6, "absent": 0, "b": 6}
    plan = plan_buckets(counts, dict.fromkeys(counts, Fraction(1, 2)))
    slots = draw_slots(plan, tuple(counts), "random", Coins.from_seed(0))
    assert slots.starts.tolist() == [0, 6, 6, 12]
    assert set(slots.value.tolist()) == {0, 2}

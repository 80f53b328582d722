"""Plans against one who knows others, and with fakes: the best there are, within every cap, against brute force.

The brute force shares no code with the planner: it fills buckets one by one with whole people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from math import floor

import numpy as np
import pytest
from cases import few
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet import Infeasible, PolicyError, plan_buckets
from discreet.mechanism.buckets.making.fakes import balanced, compose_with_fakes
from discreet.mechanism.buckets.planning.caps import Defence
from discreet.mechanism.buckets.planning.gather import gathered
from discreet.mechanism.buckets.planning.price import price_of
from discreet.series.coins import Coins

LIMITS = [Fraction(top, bottom) for bottom in (2, 3, 4, 5, 7) for top in range(1, bottom)] + [Fraction(1)]


def most_of(limit: Fraction, size: int, known: int, fakes: int = 0) -> int:
    """How many records of a value a bucket may hold."""
    return size + fakes if limit == 1 else max(0, floor(limit * (size - known)))


@cache
def parted(rows: int, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """All ways to part rows into buckets of these sizes, largest first."""
    if not rows:
        return ((),)
    return tuple(
        (size, *rest)
        for size in sizes
        if size <= rows
        for rest in parted(rows - size, tuple(each for each in sizes if each <= size))
    )


def can_be_filled(buckets: tuple[int, ...], counts: tuple[int, ...], limits: tuple[Fraction, ...], known: int) -> bool:
    """Whether these people can be put into the buckets, one bucket after the other."""
    if not buckets:
        return not any(counts)
    size = buckets[0]
    return any(
        can_be_filled(buckets[1:], tuple(n - k for n, k in zip(counts, taken, strict=True)), limits, known)
        for taken in fillings(size, counts, tuple(most_of(limit, size, known) for limit in limits))
    )


def fillings(size: int, counts: tuple[int, ...], caps: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not counts:
        if not size:
            yield ()
        return
    for taken in range(min(size, counts[0], caps[0]) + 1):
        for rest in fillings(size - taken, counts[1:], caps[1:]):
            yield (taken, *rest)


def best_loss(counts: Mapping[str, int], limits: Mapping[str, Fraction], known: int, largest: int) -> int | None:
    rows, held = sum(counts.values()), tuple(counts.values())
    allowed = tuple(limits[value] for value in counts)
    ways = sorted(parted(rows, tuple(range(largest, 0, -1))), key=lambda way: sum((s - 1) ** 2 for s in way))
    for way in ways:
        if can_be_filled(way, held, allowed, known):
            return sum((size - 1) ** 2 for size in way)
    return None


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, Fraction], int, int]:
    values = draw(st.integers(2, 4))
    counts = {f"v{i}": draw(st.integers(1, 4)) for i in range(values)}
    limits = {value: draw(st.sampled_from(LIMITS)) for value in counts}
    return counts, limits, draw(st.integers(0, 2)), draw(st.integers(3, 8))


@settings(max_examples=few(150), deadline=None)
@given(problems())
@example(({"a": 1, "b": 1, "c": 1}, dict.fromkeys("abc", Fraction(1, 2)), 1, 3))
@example(({"a": 3, "b": 1}, {"a": Fraction(1), "b": Fraction(1, 2)}, 2, 4))
def test_the_best_setting_beside_known_others_is_that_of_brute_force(problem):
    """The loss of a proved plan is the least there is; where there is no setting, none is found."""
    counts, limits, known, largest = problem
    wanted = best_loss(counts, limits, known, largest)
    try:
        plan = plan_buckets(counts, limits, max_size=largest, gap=0, known=known)
    except Infeasible:
        assert wanted is None
        return
    assert wanted is not None
    assert plan.lower_bound <= wanted <= plan.loss
    assert plan.certificate.check(counts, limits) == plan.lower_bound
    if plan.proved_optimal:
        assert plan.loss == wanted


@settings(max_examples=few(150), deadline=None)
@given(problems(), st.integers(1, 2), st.sampled_from(["optimal", "two", "one", "multi"]))
@example(({f"v{i}": 7 for i in range(6)}, dict.fromkeys((f"v{i}" for i in range(6)), Fraction(1, 4)), 0, 4), 3, "one")
def test_a_plan_with_fakes_can_be_composed_within_every_cap(problem, fakes, sizes):
    """People and fakes add up in every bucket and in every class, and no bucket holds more of a value than its cap."""
    counts, limits, known, largest = problem
    try:
        plan = plan_buckets(counts, limits, sizes, max_size=largest, known=known, fakes=fakes)
    except Infeasible:
        return
    assert plan.counts == counts
    people = np.array([[plan.allocation[value].get(size, 0) for size, _ in plan.classes] for value in counts])
    names = np.arange(plan.buckets, dtype=np.int32)
    defence, coins = Defence(known=known, fakes=fakes), Coins.from_seed(3)
    allowed = [limits[value] for value in counts]
    try:
        bucket, count, real, held, _ = compose_with_fakes(plan.classes, people, allowed, "free", names, coins, defence)
    except Infeasible as refused:  # in some tiny classes no choice of fakes has the totals
        if refused.key != ("fakes",):
            raise
        return
    value = np.repeat(np.arange(len(counts)), held)
    place = 0
    for j, (size, buckets) in enumerate(plan.classes):
        own = (bucket >= place) & (bucket < place + buckets)
        inside = np.bincount(bucket[own] - place, real[own], buckets)
        assert (inside == size).all()
        assert (np.bincount(bucket[own] - place, count[own], buckets) == size + fakes).all()
        assert (np.bincount(value[own], real[own], len(counts)) == people[:, j]).all()
        for x, c in zip(value[own].tolist(), count[own].tolist(), strict=True):
            assert c <= most_of(allowed[x], size, known, fakes)
        place += buckets


@settings(max_examples=few(200), deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12).filter(any),
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(0, 5),
)
def test_fakes_are_in_proportion_to_people_and_rare_values_have_one(held, size, fakes, seed):
    """Each value's fakes are its share of them, rounded, where all shares are one at least; else rare ones have one."""
    people = np.array(held)
    people[0] += -int(people.sum()) % size  # full buckets
    total = int(people.sum()) // size * fakes
    made = balanced(people, size, fakes, np.random.default_rng(seed))
    assert made.sum() == total
    assert (made[people == 0] == 0).all()
    there = people[people > 0]
    if len(there) > total:
        assert made.max() == 1
        assert people[made == 1].min() >= people[(made == 0) & (people > 0)].max(initial=0)
    else:
        assert (made[people > 0] >= 1).all()
        shares = people * fakes / size
        if (shares[people > 0] >= 1).all():
            assert (np.abs(made - shares) < 1).all()
        assert ((made <= np.ceil(shares)) | (made == 1)).all()


def test_rounding_of_fakes_has_the_right_mean():
    """Each value is rounded up as often as its share says; always rounding the same ones up is told from it."""
    people = np.array([5, 5, 9, 9, 10, 10, 11, 11])  # in buckets of 7, of one fake each: 10 fakes
    draws = np.array([balanced(people, 7, 1, np.random.default_rng(seed)) for seed in range(4000)])
    rare = people < 7
    left = (10 - rare.sum()) / people[~rare].sum()
    wanted = np.where(rare, 1, people * left)
    assert np.abs(draws.mean(axis=0) - wanted).max() < 6 * 0.5 / np.sqrt(4000)
    assert np.abs(draws[0] - wanted).max() > 6 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize(("known", "fakes"), [(-1, 0), (0, 51), (True, 0), (0, 1.0), ("1", 0)])
def test_what_is_no_number_of_others_is_refused(known, fakes):
    """Known and fakes are whole numbers from 0 on."""
    with pytest.raises(PolicyError, match="must be a whole number between 0 and 50"):
        plan_buckets({"a": 2, "b": 2}, {"a": "1/2", "b": "1/2"}, known=known, fakes=fakes)


def test_shares_of_a_quarter_leave_room_for_a_fake_up_to_a_fifth():
    """With one fake beside four people a value of at most a fifth of the rows fits, and no more."""
    counts = {"a": 20, "b": 20, "c": 20, "d": 20, "e": 20}
    plan = plan_buckets(counts, dict.fromkeys(counts, "1/4"), max_size=4, fakes=1)
    assert plan.classes == ((4, 25),)
    more = {"a": 24, "b": 19, "c": 19, "d": 19, "e": 19}
    with pytest.raises(Infeasible, match="fakes 0 would do"):
        plan_buckets(more, dict.fromkeys(more, "1/4"), max_size=4, fakes=1)


@settings(max_examples=few(200), deadline=None)
@given(st.integers(2, 9), st.integers(2, 3), st.integers(1, 2), st.integers(0, 1000))
def test_gathering_keeps_rows_and_room_and_makes_no_value_rare(values, classes, fakes, seed):
    """Values and classes have as many people as before, within the room, and fewer values are rare somewhere."""
    coins = np.random.default_rng(seed)
    sizes = np.sort(coins.choice(np.arange(2, 9), classes, replace=False))
    shares = coins.integers(0, 60, (values, classes)) * (coins.random((values, classes)) < 0.8)
    room = shares + coins.integers(0, 30, shares.shape)
    found = gathered(shares, room, sizes, fakes)
    assert (found.sum(axis=0) == shares.sum(axis=0)).all()
    assert (found.sum(axis=1) == shares.sum(axis=1)).all()
    assert ((found >= 0) & (found <= room)).all()
    rare = [(each > 0) & (each < -(-5 * sizes // fakes)) for each in (shares, found)]
    assert rare[1].sum() <= rare[0].sum()


def test_certainty_of_a_fake_in_every_bucket_is_near_a_half_where_no_value_is_rare():
    """Of the rows that are left over a class is made that is broad, and in which nobody stands out."""
    counts = {f"v{i}": 700 + 150 * i for i in range(10)} | {"rare": 23}
    plan = plan_buckets(counts, dict.fromkeys(counts, "1/4"), slack="0.3", fakes=1)
    bare = plan_buckets(counts, dict.fromkeys(counts, "1/4"), slack="0.3")
    assert price_of(plan, bare).certainty < Fraction(3, 5)
    assert plan.loss < 1.03 * bare.loss

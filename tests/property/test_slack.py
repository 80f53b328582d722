"""Plans with slack: the inequality in exact fractions, the largest slack that can be kept, and the certificate."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import Infeasible, PolicyError
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.making.slots import draw_slots
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets
from discreet.mechanism.buckets.policy.buckets import Buckets
from discreet.series.coins import Coins
from discreet.verifier.buckets.slack import is_part_of, leaves_slack

QUICK = settings(deadline=None, max_examples=60)
PLANNERS = ("optimal", "multi", "two", "one")


@st.composite
def histograms(draw: st.DrawFn, most: int = 400) -> tuple[dict[object, int], dict[object, Fraction]]:
    """Counts, and tolerances of which each is at least its value's share."""
    counts = draw(st.lists(st.integers(1, most), min_size=2, max_size=7))
    rows = sum(counts)
    wide = st.fractions(0, 1, max_denominator=20)
    limits = {i: min(Fraction(1), Fraction(n, rows) + draw(wide)) for i, n in enumerate(counts)}
    return dict(enumerate(counts)), limits


def planned(counts: dict[object, int], limits: dict[object, Fraction], **options: object) -> BucketPlan | None:
    try:
        return plan_buckets(counts, limits, **{"max_size": 12, **options})  # type: ignore[arg-type]
    except Infeasible:
        return None


def own_slacks(counts: dict[object, int], limits: dict[object, Fraction], slack: Fraction) -> dict[object, Fraction]:
    rows = sum(counts.values())
    return {x: min(slack, (1 - Fraction(n, rows) / limits[x]) / 2) for x, n in counts.items()}


def within(plan: BucketPlan, x: object, size: int, buckets: int) -> Fraction:
    """What the class may hold of the value."""
    cap = plan.tolerance[x] * size // 1
    return cap * buckets * (1 - plan.slacks[x] if cap < size else 1)


@QUICK
@given(histograms(), st.sampled_from(PLANNERS), st.sampled_from(("0.3", "1/7", "0.9")))
def test_no_class_holds_more_than_the_slack_leaves_but_for_a_part_of_a_record(table, sizes, slack):
    """And less than that in sum, wherever whole numbers allow it: every class is full and every record has a place."""
    counts, limits = table
    plan = planned(counts, limits, sizes=sizes, slack=slack)
    if plan is None:
        return
    assert plan.slack == Fraction(slack)
    assert is_part_of(plan.kept_slack, plan.slack)
    for size, buckets in plan.classes:
        assert sum(shares.get(size, 0) for shares in plan.allocation.values()) == size * buckets
    assert plan.counts == counts
    if plan.kept_slack:
        scale = plan.kept_slack / plan.slack
        assert plan.slacks == {x: s * scale for x, s in own_slacks(counts, limits, plan.slack).items()}
        for x, shares in plan.allocation.items():
            for size, buckets in plan.classes:
                assert shares.get(size, 0) <= ceil(within(plan, x, size, buckets))


@QUICK
@given(histograms(), st.sampled_from(PLANNERS))
def test_slack_never_costs_a_plan_and_the_certificate_is_that_of_the_least_loss(table, sizes):
    """Where there is a plan without slack there is one with it; the bound is the same and still proves itself."""
    counts, limits = table
    plain, plan = (planned(counts, limits, sizes=sizes, slack=slack) for slack in (0, "0.3"))
    assert (plain is None) == (plan is None)
    if plain is None or plan is None:
        return
    assert plan.certificate == plain.certificate
    assert plan.certificate.check(counts, limits) == plan.lower_bound <= plan.loss
    if plan.kept_slack == 0:
        assert (plan.classes, plan.allocation) == (plain.classes, plain.allocation)


def allocations(counts: tuple[int, ...], classes: tuple[tuple[int, int], ...], most: list[list[Fraction]]) -> bool:
    """Whether records in halves, thirds or whole numbers fit: tried one by one, in sixths of a record."""
    needs = tuple(size * buckets * 6 for size, buckets in classes)
    left = {needs}
    for n, row in zip(counts, most, strict=True):
        ways = [w for w in product(*(range(int(6 * limit) + 1) for limit in row[:-1])) if sum(w) <= 6 * n]
        ends = [(*w, 6 * n - sum(w)) for w in ways if 6 * n - sum(w) <= 6 * row[-1]]
        left = {
            tuple(a - b for a, b in zip(need, end, strict=True))
            for need in left
            for end in ends
            if all(a >= b for a, b in zip(need, end, strict=True))
        }
    return tuple(0 for _ in needs) in left


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=3), st.integers(0, 3), st.sampled_from(("1/2", "1/3")))
def test_tiny_plans_are_those_that_trying_everything_finds(held, wider, slack):
    """One size: the smallest that leaves the slack, the largest slack first; by an oracle that shares no code."""
    counts, rows = dict(enumerate(held)), sum(held)
    limits = {x: min(Fraction(1), Fraction(n, rows) + Fraction(wider, 6)) for x, n in counts.items()}
    plan = planned(counts, limits, sizes="one", max_size=6, slack=slack)
    if plan is None:
        return
    for halved in range(5):
        found = []
        for size in (size for size in range(1, 7) if rows % size == 0):
            slacks = {x: s / 2**halved for x, s in own_slacks(counts, limits, Fraction(slack)).items()}
            caps = {x: limits[x] * size // 1 for x in counts}
            parts = {x: Fraction(ceil(slacks[x] * 10_000), 10_000) for x in counts}
            if all(n <= caps[x] * (rows // size) * (1 - parts[x] if caps[x] < size else 1) for x, n in counts.items()):
                found.append(size)
        if found:
            assert plan.kept_slack == Fraction(slack) / 2**halved
            assert plan.classes == ((found[0], rows // found[0]),)
            return
    assert plan.kept_slack == 0


def test_slack_is_halved_until_a_setting_keeps_it():
    """Of 11 records 6 may be of a value that half of all have: a twelfth of the cap is too much, half of that not."""
    counts = {"a": 550, "b": 550}
    plan = plan_buckets(counts, dict.fromkeys(counts, Fraction(3, 5)), min_size=11, max_size=11, slack="0.3")
    assert plan.kept_slack == Fraction(3, 20)
    assert plan.slacks == {"a": Fraction(1, 24), "b": Fraction(1, 24)}
    least = plan_buckets(counts, dict.fromkeys(counts, Fraction(3, 5)), max_size=4, slack="0.3")
    assert (least.kept_slack, least.slacks) == (0, {})


def test_one_frequent_value_at_its_tolerance_takes_nobody_elses_slack():
    """Its own slack is none, and the others keep theirs."""
    counts = {"often": 500, **{f"rare {i}": 50 for i in range(10)}}
    limits = {x: Fraction(1, 2) if x == "often" else Fraction(1, 5) for x in counts}
    plan = plan_buckets(counts, limits, slack="0.3")
    assert plan.kept_slack == Fraction(3, 10)
    assert plan.slacks["often"] == 0
    assert {plan.slacks[x] for x in counts if x != "often"} == {Fraction(3, 10)}


@pytest.mark.parametrize("slack", [-1, 1, "1.5", "much", None, "0." + "1" * 30])
def test_a_slack_that_is_no_share_is_refused(slack):
    """In the words of the policy."""
    with pytest.raises(PolicyError, match=r"slack \("):
        plan_buckets({"a": 1, "b": 1}, {"a": 1, "b": 1}, slack=slack)


@QUICK
@given(histograms(), st.integers(0, 3))
def test_free_compositions_of_plans_with_slack_keep_every_cap(table, seed):
    """The allocation is where the swaps begin; the caps are where they end."""
    counts, limits = table
    plan = planned(counts, limits, slack="0.3")
    if plan is None:
        return
    slots = draw_slots(plan, tuple(counts), "free", Coins.from_seed(seed))
    sizes = np.bincount(slots.bucket, slots.count)
    for bucket, value, count in zip(slots.bucket.tolist(), slots.value.tolist(), slots.count.tolist(), strict=True):
        assert count <= limits[value] * int(sizes[bucket])


@QUICK
@given(histograms(), st.sampled_from(PLANNERS))
def test_a_release_leaves_the_slack_that_its_plan_kept(table, sizes):
    """What verify asks of the sizes is true of every plan."""
    counts, limits = table
    plan = planned(counts, limits, sizes=sizes, slack="0.3")
    if plan is not None and plan.kept_slack:
        assert leaves_slack(counts, limits, plan.classes, plan.slack, plan.kept_slack)


@settings(deadline=None, max_examples=few(600))
@given(histograms(), st.sampled_from(PLANNERS), st.integers(0, 2), st.sampled_from(("3/10", "9/10")))
def test_no_plan_of_two_sizes_leaves_twice_the_slack_that_it_states(table, sizes, known, slack):
    """Its search would have found it with more, so verify may ask: none that was halved too often is taken."""
    counts, limits = table
    plan = planned(counts, limits, sizes=sizes, slack=slack, known=known)
    if plan is None or plan.kept_slack == plan.slack or len(plan.classes) > 2:
        return
    more = plan.kept_slack * 2 or plan.slack / 16
    assert not leaves_slack(counts, limits, plan.classes, plan.slack, more, known, surely=True)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 4), min_size=2, max_size=3),
    st.lists(st.integers(1, 5), min_size=2, max_size=2, unique=True),
    st.integers(1, 3),
    st.sampled_from(("1/2", "1/3")),
)
def test_verify_finds_an_allocation_exactly_where_trying_everything_does(held, sizes, wider, slack):
    """In whole records within the ceilings; settings that are far from any plan are among them."""
    rows = sum(held)
    counts = dict(enumerate(held))
    limits = {x: min(Fraction(1), Fraction(n, rows) + Fraction(wider, 6)) for x, n in counts.items()}
    one, two = sorted(sizes)
    for first in range(1, rows // one + 1):
        second, rest = divmod(rows - one * first, two)
        if rest or not second:
            continue
        classes = ((one, first), (two, second))
        slacks = own_slacks(counts, limits, Fraction(slack))
        most = [
            [
                Fraction(ceil(cap * b * (1 - slacks[x] if cap < size else 1)))
                for size, b in classes
                for cap in [limits[x] * size // 1]
            ]
            for x in counts
        ]
        found = leaves_slack(counts, limits, classes, Fraction(slack), Fraction(slack))
        assert found == allocations(tuple(held), classes, most)


@pytest.mark.parametrize(
    ("kept", "slack", "may"),
    [
        ("3/10", "3/10", True),
        ("3/160", "3/10", True),
        ("3/320", "3/10", False),
        ("0", "3/10", True),
        ("1/5", "0", False),
    ],
)
def test_what_is_kept_of_a_slack_is_that_halved_four_times_at_most_or_nothing(kept, slack, may):
    """Anything else was not made by a plan."""
    assert is_part_of(Fraction(kept), Fraction(slack)) is may


def test_values_of_twenty_records_are_known_where_there_are_as_many_buckets_as_values() -> None:
    """In tables of 100 to 30,000 rows no such value with slack is unknown, but where buckets are fewer than values."""
    coins = np.random.default_rng(3)
    judged = 0
    for _ in range(30):
        values = int(coins.integers(2, 40))
        shares = coins.dirichlet(np.full(values, coins.choice([0.3, 1, 3])))
        held = coins.multinomial(int(10 ** coins.uniform(2, 4.5)), shares)
        counts = {value: int(count) for value, count in enumerate(held)}
        mechanism = Buckets(tolerance=Tolerance(theta=int(coins.choice([2, 4, 8])), floor="0.02"))
        try:
            plan = mechanism.plan_of(counts)
        except Infeasible:
            continue
        if plan.buckets < sum(count > 0 for count in counts.values()):
            continue
        for outlook in plan.forecast.outlooks:
            if outlook.records >= 20 and plan.slacks[outlook.value] >= Fraction(1, 20):
                judged += 1
                assert outlook.off is not None, (counts, outlook.value)
    assert judged > 150

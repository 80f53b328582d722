"""Near buckets: the promise by enumeration of all worlds, the curve and its windows, and plans of windows.

The oracles share no code with the product: worlds are listed, posteriors are fractions, keys are whole numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.mechanism.buckets.making.curve import columns_along, lay_along
from discreet.mechanism.buckets.making.near import compose_window
from discreet.mechanism.buckets.planning.caps import caps_of
from discreet.mechanism.buckets.planning.near import Held
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.quick import quick_sizes
from discreet.mechanism.buckets.planning.slack import UNIT, scaled_caps, slacks_of
from discreet.mechanism.buckets.planning.window_plans import BucketWindows
from discreet.release.buckets.windows import sizes_of, window_by_rule
from discreet.schema.domain import Integers, Listed
from discreet.series.coins import Coins

VALUES = ("H", "N")
World = tuple[str, ...]  # the value of each row, in the order of the curve
Release = tuple[tuple[tuple[int, ...], tuple[tuple[str, int], ...]], ...]  # of each bucket its rows and its counts


# The promise, by enumeration


def policy_of(places: tuple[int, ...], **near: object) -> discreet.Policy:
    schema = discreet.Schema(
        quasi_identifiers=("place",),
        sensitive="value",
        domains={"place": Integers(low=0, high=max(places)), "value": Listed(values=VALUES)},
    )
    mechanism = discreet.Buckets(
        tolerance=discreet.Tolerance(values={"H": "1/2", "N": 1}), max_size=4, slack=0, composition="even", **near
    )
    return discreet.Policy(schema=schema, mechanism=mechanism)


def planned(world: World, places: tuple[int, ...], **near: object) -> BucketPlan | None:
    """The product's own plan of a world; None where it is refused."""
    policy = policy_of(places, **near)
    with discreet.read_table(pd.DataFrame({"place": places, "value": world}), policy) as table:
        try:
            return discreet.plan(table, policy)
        except discreet.Infeasible:
            return None


def buckets_of(plan: BucketPlan) -> list[list[tuple[list[tuple[str, int]], int]]]:
    """For each window its buckets with their counts and sizes, as the product composes them with fixed coins."""
    found = []
    for window in plan.windows:
        limits = [plan.tolerance[VALUES[value]] for value in window.values.tolist()]
        (bucket, value, count), _ = compose_window(window, limits, plan.composition, Coins.from_seed(1), plan.defence)
        held: dict[int, list[tuple[str, int]]] = {}
        for each, what, often in zip(bucket.tolist(), value.tolist(), count.tolist(), strict=True):
            held.setdefault(each, []).append((VALUES[what], often))
        found.append([(held[each], sum(often for _, often in held[each])) for each in sorted(held)])
    return found


def releases_of(world: World, plan: BucketPlan) -> Counter[Release]:
    """Every release of a world and its weight: each value's rows are dealt over its places in all orders alike."""
    windows, first = [], 0
    for window, buckets in zip(plan.windows, buckets_of(plan), strict=True):
        rows = range(first, first + window.rows)
        first += window.rows
        dealt = []
        for value in VALUES:
            own = [row for row in rows if world[row] == value]
            slots = [
                n
                for n, (counts, _) in enumerate(buckets)
                for what, often in counts
                if what == value
                for _ in range(often)
            ]
            assert len(own) == len(slots)
            dealt.append([tuple(zip(order, slots, strict=True)) for order in permutations(own)])
        outcomes: Counter[Release] = Counter()
        for parts in product(*dealt):
            inside: list[list[int]] = [[] for _ in buckets]
            for row, slot in (pair for part in parts for pair in part):
                inside[slot].append(row)
            held = zip(inside, buckets, strict=True)
            outcomes[tuple((tuple(sorted(own)), tuple(counts)) for own, (counts, _) in held)] += 1
        windows.append((outcomes, sum(outcomes.values())))
    found: Counter[Release] = Counter()
    for parts in product(*(outcomes.items() for outcomes, _ in windows)):
        weight = Fraction(1)
        for (_, often), (_, total) in zip(parts, windows, strict=True):
            weight *= Fraction(often, total)
        found[tuple(bucket for part, _ in parts for bucket in part)] += weight
    return found


def worlds(rows: int, having: int) -> Iterator[World]:
    for chosen in combinations(range(rows), having):
        yield tuple("H" if row in chosen else "N" for row in range(rows))


def beyond_the_share(rows: int, having: int, plan: Callable[[World], BucketPlan | None]) -> tuple[int, set[Fraction]]:
    """How many releases there are, and every posterior of H that is not the share of its bucket, over all of them.

    He who infers knows the histogram and how releases are made, and takes all worlds with that histogram as likely.
    """
    joint: dict[Release, Counter[World]] = {}
    for world in worlds(rows, having):
        if (made := plan(world)) is not None:
            for release, weight in releases_of(world, made).items():
                joint.setdefault(release, Counter())[world] += weight
    wrong = set()
    for release, likely in joint.items():
        total = sum(likely.values())
        for inside, counts in release:
            share = Fraction(dict(counts).get("H", 0), len(inside))
            for row in inside:
                posterior = sum(weight for world, weight in likely.items() if world[row] == "H") / Fraction(total)
                if posterior != share:
                    wrong.add(posterior)
    return len(joint), wrong


ALONG = tuple(range(8))


@pytest.mark.parametrize("having", [2, 3])
def test_the_posterior_is_the_share_of_the_bucket_with_a_declared_window(having):
    """Eight rows, H at most half: over all worlds and all that coins can give, no posterior is another one."""
    known = {world: planned(world, ALONG, assignment="near", window=4) for world in worlds(8, having)}
    number, wrong = beyond_the_share(8, having, known.__getitem__)
    assert number > 50
    assert not wrong
    plans = [plan for plan in known.values() if plan]
    assert any(plan.windows[0].classes != plan.windows[1].classes for plan in plans)
    assert (None in known.values()) == (having > 2)


def test_equal_rows_on_a_boundary_do_not_change_that():
    """Rows 3 to 5 are alike: who of them is in which window follows from no value."""
    places = (0, 1, 2, 3, 3, 3, 6, 7)
    policy = policy_of(places, assignment="near", window=4)
    with discreet.read_table(pd.DataFrame({"place": places, "value": list("HHHNNNNN")}), policy) as table:
        order = np.argsort(lay_along(table, 4, Coins.from_seed(0)).window, kind="stable").tolist()

    def plan(world: World) -> BucketPlan | None:
        there = dict(zip(order, world, strict=True))  # rows as they stand along the curve
        return planned(tuple(there[row] for row in range(8)), places, assignment="near", window=4)

    number, wrong = beyond_the_share(8, 3, plan)
    assert number > 50
    assert not wrong


def test_a_rule_that_joins_or_enlarges_gives_certainty():
    """The oracle sees it: where an infeasible window leads to one of eight rows, a row of some release has H for sure.

    With two windows of four rows, to join them and to try again with eight is the same.
    """

    def plan(world: World) -> BucketPlan | None:
        return planned(world, ALONG, assignment="near", window=4) or planned(world, ALONG, assignment="near", window=8)

    _, wrong = beyond_the_share(8, 3, plan)
    assert 1 in wrong
    assert planned(("H", "H", "H", *"NNNNN"), ALONG, assignment="near", window=4) is None
    assert len(plan(("H", "H", "H", *"NNNNN")).windows) == 1


def test_the_window_of_the_rule_depends_on_no_row():
    """Every world with the same histogram has the same window, so that it tells nothing."""
    plans = [planned(world, ALONG, assignment="near") for world in list(worlds(8, 3))[::9]]
    assert {plan.near for plan in plans} == {plans[0].near}


# The curve


COLUMNS = st.lists(st.sampled_from([1, 2, 3, 5, 2**20 + 3, 2**40]), min_size=1, max_size=4)


def weighed(column: list[int]) -> float:
    return sum(count * math.log2(count) for count in Counter(column).values())


def spelt(row: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """The reflected number of a row: each digit backwards where the number before it is odd."""
    number = 0
    for place, size in zip(row, sizes, strict=True):
        number = number * size + (size - 1 - place if number % 2 else place)
    return number


@settings(max_examples=few(100))
@given(data=st.data(), sizes=COLUMNS, rows=st.integers(2, 40), window=st.integers(2, 15))
def test_windows_are_runs_of_the_reflected_curve(data, sizes, rows, window):
    """Also where keys pass 64 bits: sizes are right, and no row stands in a window before one that comes before it."""
    table = [[data.draw(st.sampled_from([0, size // 2, size - 1])) for size in sizes] for _ in range(rows)]
    names = [f"c{place}" for place in range(len(sizes))]
    schema = discreet.Schema(
        quasi_identifiers=tuple(names),
        sensitive="value",
        domains={
            **{name: Integers(low=0, high=size - 1) for name, size in zip(names, sizes, strict=True)},
            "value": Listed(values=VALUES),
        },
    )
    frame = pd.DataFrame(table, columns=names).assign(value=[VALUES[row % 2] for row in range(rows)])
    policy = discreet.Policy(schema=schema, mechanism=discreet.Anatomy(l=2))
    with discreet.read_table(frame, policy) as opened:
        along = lay_along(opened, window, Coins.from_seed(data.draw(st.integers(0, 9))))
        order = columns_along(opened)
    weights = [weighed(frame[name].tolist()) for name in order]
    assert all(one >= two - rows * 0.002 for one, two in pairwise(weights))
    places = [names.index(name) for name in order]
    keys = [spelt(tuple(row[place] for place in places), tuple(sizes[place] for place in places)) for row in table]
    number = max(1, rows // window)
    held = [[key for key, own in zip(keys, along.window.tolist(), strict=True) if own == k] for k in range(number)]
    assert [len(each) for each in held] == [*[window] * (number - 1), rows - window * (number - 1)]
    assert all(max(one) <= min(two) for one, two in pairwise(held))
    assert [VALUES[each] for each in along.value.tolist()] == frame["value"].tolist()


@settings(max_examples=few(50), deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=6, max_size=60),
    shuffled=st.permutations(range(6)),
    window=st.integers(2, 15),
)
def test_a_list_without_an_order_counts_by_frequency(rows, shuffled, window):
    """The most frequent value first, ties as in the list; with an order or a hierarchy the list's own order counts."""
    names = [f"v{each}" for each in shuffled]
    frame = pd.DataFrame({"a": [f"v{one}" for one, _ in rows], "b": [two for _, two in rows]})
    frame = frame.assign(value=[VALUES[place % 2] for place in range(len(rows))])
    often = Counter(frame["a"])
    ranked = sorted(names, key=lambda name: (-often[name], names.index(name)))
    paths = tuple((name, (name[-1] in "012" and "low") or "high", "*") for name in names)
    for how, order in (({}, ranked), ({"ordered": True}, names), ({"paths": paths}, names)):
        a = Listed(values=tuple(names), **how)
        domains = {"a": a, "b": Integers(low=0, high=3), "value": Listed(values=VALUES)}
        schema = discreet.Schema(quasi_identifiers=("a", "b"), sensitive="value", domains=domains)
        policy = discreet.Policy(schema=schema, mechanism=discreet.Anatomy(l=2))
        with discreet.read_table(frame, policy) as opened:
            found = lay_along(opened, window, Coins.from_seed(1)).window.tolist()
            columns = list(columns_along(opened))
        digits = {"a": [order.index(each) for each in frame["a"]], "b": frame["b"].tolist()}
        sizes = {"a": 6, "b": 4}
        keys = [
            spelt(tuple(digits[name][row] for name in columns), tuple(sizes[name] for name in columns))
            for row in range(len(rows))
        ]
        held = [[key for key, own in zip(keys, found, strict=True) if own == each] for each in range(max(found) + 1)]
        assert all(max(one) <= min(two) for one, two in pairwise(held))


def test_neighbours_on_a_full_curve_differ_in_one_column_by_one_place():
    """That is what reflection is for: without it, a change of one column would take the others back to the start."""
    sizes = (3, 4, 5)
    rows = sorted(product(*map(range, sizes)), key=lambda row: spelt(row, sizes))
    steps = [[abs(a - b) for a, b in zip(one, two, strict=True)] for one, two in pairwise(rows)]
    assert all(sorted(step) == [0, 0, 1] for step in steps)


# Plans of windows


@st.composite
def histograms(draw: st.DrawFn) -> tuple[list[int], list[Fraction]]:
    counts = draw(st.lists(st.integers(1, 300), min_size=4, max_size=14))
    rows = sum(counts)
    limits = [min(Fraction(1), 3 * Fraction(count, rows) + Fraction(1, 10)) for count in counts]
    return counts, limits


@settings(max_examples=few(200))
@given(histogram=histograms(), slack=st.sampled_from([Fraction(0), Fraction(3, 10)]))
def test_what_is_planned_in_milliseconds_is_a_valid_setting(histogram, slack):
    """All rows have a place, every value within its caps, and the slack is kept."""
    counts, limits = np.array(histogram[0]), histogram[1]
    sizes = np.arange(2, 30)
    slacks = slacks_of(counts, limits, slack, slack) if slack else [Fraction(0)] * len(counts)
    found = quick_sizes(scaled_caps(caps_of(limits, sizes), sizes, slacks), counts * UNIT, sizes, UNIT)
    if found is None:
        return
    assert sum(size * buckets for size, buckets in found) == counts.sum()
    assert discreet.find_violation(dict(enumerate(counts.tolist())), dict(enumerate(limits)), found) is None


def test_many_windows_lose_little_more_than_planned_with_all_sizes():
    """Of 40 windows eight are planned with all sizes, and the others with what these use, rounded."""
    coins = np.random.default_rng(3)
    shares = 1 / np.arange(2, 22)
    totals = coins.multinomial(120_000, shares / shares.sum())
    limits = list(discreet.Tolerance(theta=8, floor="0.02").of(dict(enumerate(totals.tolist()))).values())
    whole = discreet.plan_buckets(dict(enumerate(totals.tolist())), dict(enumerate(limits)), slack="0.3")
    tilt = np.exp(np.linspace(-1, 1, 40)[:, None] * np.linspace(-1, 1, 20)[None, :])
    windows = [coins.multinomial(3_000, weights / weights.sum()) for weights in shares * tilt]
    held = [Held(counts=window, limits=limits) for window in windows]
    planner = BucketWindows(whole=whole, sizes="optimal", slack=Fraction(3, 10), defence=whole.defence)
    many = [setting for setting in planner(held) if setting is not None]
    alone = [next(iter(planner([window]))) for window in held]
    assert len(many) == 40
    for setting, window in zip(many, windows, strict=True):
        assert setting.kept_slack == Fraction(3, 10)
        assert setting.records.sum(axis=1).tolist() == window.tolist()
        assert setting.records.sum(axis=0).tolist() == [size * buckets for size, buckets in setting.classes]
    lost = [sum(b * (s - 1) ** 2 for each in plans for s, b in each.classes) for plans in (many, alone)]
    assert lost[1] <= lost[0] <= 1.05 * lost[1]


# The rule


@given(counts=st.lists(st.integers(0, 10_000), min_size=1, max_size=8).filter(any), floor=st.integers(1, 50))
def test_the_rule_is_that_of_the_formula(counts, floor):
    """In fractions: 320 f'(1 - f) / (f' - f)^2 rows for every value, within the other limits."""
    rows = sum(counts)
    limits = [min(Fraction(1), 2 * Fraction(count, rows) + Fraction(floor, 100)) for count in counts]
    wanted = max(500, rows // 400, min(5_000, rows // 6))
    for count, limit in zip(counts, limits, strict=True):
        share = Fraction(count, rows)
        if count and limit < 1:
            wanted = max(wanted, math.ceil(320 * limit * (1 - share) / (limit - share) ** 2))
    assert window_by_rule(rows, zip(counts, limits, strict=True)) == min(rows, wanted)


@given(rows=st.integers(1, 10**9), window=st.integers(1, 10**9))
def test_windows_hold_all_rows_and_only_the_last_takes_more(rows, window):
    """As many windows as there can be."""
    if rows // window > 10_000:
        return
    sizes = sizes_of(rows, window)
    assert sum(sizes) == rows
    assert len(sizes) == max(1, rows // window)
    assert all(each == window for each in sizes[:-1])
    assert sizes[-1] < 2 * window or len(sizes) == 1

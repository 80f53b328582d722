"""The verifier's rules for buckets, held against those who publish and against trying everything: both are written
apart, so that a fault in one is a difference.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from math import floor

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.guarantee.certainty import class_certainty
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.making.compose import compose, meetings
from discreet.mechanism.buckets.making.fakes import balanced
from discreet.mechanism.buckets.planning.anatomy import anatomy_classes
from discreet.mechanism.buckets.planning.caps import Defence, caps_of
from discreet.release.buckets.windows import sizes_of, window_by_rule
from discreet.schema.domain import Integers, Listed
from discreet.verifier.buckets.along import is_ruled, missized
from discreet.verifier.buckets.beside import belief, unbalanced
from discreet.verifier.buckets.composed import in_turn
from discreet.verifier.buckets.promised import within
from discreet.verifier.buckets.sized import are_diverse
from discreet.verifier.buckets.stated import Near, Rule, Window, in_order

SHARES = st.fractions(0, 1, max_denominator=12)
ABOVE = SHARES.filter(bool)


def quick(examples: int) -> settings:
    return settings(deadline=None, max_examples=few(examples))


# Tolerances


@given(st.fractions(0, 9, max_denominator=7), SHARES, ABOVE, st.none() | ABOVE, st.integers(0, 30), st.integers(0, 30))
@quick(600)
def test_a_tolerance_is_given_exactly_where_the_policy_gives_it(theta, lowest, ceiling, named, count, others):
    """Of all fractions near it no other one is."""
    rows = count + others or 1
    values = {} if named is None else {"x": named}
    policy = Tolerance(theta=theta, floor=lowest, ceiling=ceiling, values=values)
    rule = Rule(theta=theta, floor=lowest, ceiling=ceiling, named=values)
    right = min(ceiling, theta * Fraction(count, rows) + lowest) if named is None else named
    if right or not count:
        assert policy.of({"x": count, "y": rows - count} if lowest or theta else {"x": count})["x"] == right
    for other in {right, right + Fraction(1, 1000), right - Fraction(1, 1000), lowest, ceiling, Fraction(1)}:
        assert rule.gives(other, "x", count, rows) == (other == right)


@given(ABOVE, st.integers(1, 60), st.integers(0, 12))
@quick(300)
def test_a_count_is_within_its_tolerance_exactly_up_to_the_cap(limit, size, known):
    """The cap is that of plans, and the largest number of records that keeps the share."""
    (cap,) = caps_of([limit], np.array([size]), Defence(known=known))[0].tolist()
    left = size - known
    assert cap == (size if limit == 1 else max(0, floor(limit * left)))
    for often in range(1, size + 1):
        assert within(limit, often, left) == (often <= cap)


@given(st.permutations(range(5)), st.integers(0, 5))
@quick(200)
def test_values_are_in_order_exactly_if_they_are_a_part_of_their_domain(listed, many):
    """Each once; a stranger, and a number of another type, are none of them."""
    domain = Listed(values=(3, 1, 4, 0, 2), missing=True)
    named = [*listed[:many]]
    places = [domain.values.index(value) for value in named]
    assert in_order(domain, named) == (places == sorted(places))
    assert in_order(domain, [3, 1, 4, 0, 2, None])
    for wrong in ([3, 3], [None, 3], [3, 7], [3, "1"], [3, 1.0], [3, True]):
        assert not in_order(domain, wrong)
    assert not in_order(Integers(low=0, high=3), [None])


# Sizes


@given(st.integers(2, 6), st.lists(st.tuples(st.integers(1, 8), st.integers(1, 9)), min_size=1, max_size=3))
@quick(600)
def test_classes_are_anatomys_exactly_if_it_makes_them(l, classes):  # noqa: E741 - the paper's name
    """Of any classes, and of its own for every number of rows."""
    found = sorted(dict(classes).items())
    rows = sum(size * buckets for size, buckets in found)
    own = anatomy_classes(rows, l)
    assert are_diverse(l, found) == (own == tuple(found))
    assert own is None or are_diverse(l, list(own))


# Windows


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, list[tuple[int, Fraction]]]:
    """Rows, and how many have each value whose tolerance is below 1."""
    rows = draw(st.sampled_from([40, 700, 6_000, 90_000, 3_000_000]))
    below = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
    return rows, draw(st.lists(st.tuples(st.integers(1, rows // 3), below), min_size=0, max_size=3))


@given(tables(), st.integers(-3, 3))
@quick(600)
def test_a_window_is_that_of_the_rule_exactly_if_it_is_the_one_that_plans_take(table, other):
    """One row more or less is another one."""
    rows, held = table
    right = window_by_rule(rows, held)
    assert is_ruled(right + other, rows, held) == (other == 0)


@given(st.integers(1, 60), st.integers(1, 20), st.data())
@quick(300)
def test_windows_have_their_sizes_exactly_if_plans_cut_them_so(rows, window, data):
    """All ways to write few rows as a sum, too."""
    right = sizes_of(max(rows, window), window)
    wrong = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=4))
    for each in (right, wrong, [*right[:-1], right[-1] + 1], right[1:] or [rows + 1]):
        windows = tuple(Window(rows=number, first=1, last=1) for number in each)
        near = Near(window=window, declared=True, windows=windows)
        assert (missized(near, max(rows, window)) is None) == (each == right)


# Compositions


@st.composite
def full(draw: st.DrawFn) -> tuple[list[int], int]:
    """Records of some values that fill buckets of one size."""
    buckets, size = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    cuts = sorted(draw(st.lists(st.integers(0, buckets * size), max_size=4)))
    return [two - one for one, two in zip([0, *cuts], [*cuts, buckets * size], strict=True)], buckets


def composed(records: list[int], buckets: int, how: str, seed: int) -> np.ndarray:
    """What those who publish put into each bucket, as a row of values, in an order of buckets that says nothing."""
    held, coins = meetings(np.array(records), buckets), np.random.default_rng(seed)
    bucket, count = np.empty(held.sum(), dtype=np.int32), np.empty(held.sum(), dtype=np.uint8)
    compose(np.array(records), buckets, how, coins, (bucket, count, np.cumsum(held) - held))
    value = np.repeat(np.repeat(np.arange(len(records)), held), count)
    where = np.repeat(bucket, count)
    rows = value[np.lexsort((value, where))].reshape(buckets, -1)
    return rows[coins.permutation(buckets)]


@given(full(), st.integers(0, 3))
@quick(400)
def test_what_is_dealt_in_turn_is_found_to_be(table, seed):
    """In whatever order the buckets are; and of what is dealt otherwise, what happens to be the same."""
    records, buckets = table
    dealt, random = composed(records, buckets, "round-robin", seed), composed(records, buckets, "even", seed)
    assert in_turn(dealt)
    assert in_turn(random) == (sorted(random.tolist()) == sorted(dealt.tolist()))


def test_of_all_ways_to_fill_three_buckets_one_is_dealt_in_turn():
    """Tried one by one: 4, 3 and 2 records of three values in three buckets of 3."""
    cells = [0] * 4 + [1] * 3 + [2] * 2
    ways = {
        tuple(sorted(tuple(sorted(part)) for part in (each[:3], each[3:6], each[6:]))) for each in permutations(cells)
    }
    assert len(ways) > 5
    assert [way for way in sorted(ways) if in_turn(np.array(way))] == [((0, 0, 1), (0, 1, 2), (0, 1, 2))]


# Fakes


@given(st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(1, 5), st.integers(1, 3), st.integers(0, 9))
@quick(400)
def test_fakes_that_are_drawn_are_balanced_and_others_are_not(held, size, fakes, seed):
    """Whatever the coins. Of all ways to make so many fakes, those by two or more from a share are none."""
    people = np.array([*held[:-1], held[-1] + -sum(held) % size])
    if not people.any():
        return
    buckets = int(people.sum()) // size
    made = balanced(people, size, fakes, np.random.default_rng(seed))
    total, own = fakes * buckets, {x: n for x, n in enumerate(people.tolist()) if n}
    rows = int(people.sum())

    def verdict(made: dict[int, int]) -> bool:
        return unbalanced(total, rows, own, {x: (n + made[x], 1) for x, n in own.items()}) is None

    right = {x: int(made[x]) for x in own}
    assert verdict(right)
    if total > 12:
        return
    for ends in combinations_with_replacement(range(total + 1), len(own) - 1):
        edges = [0, *ends, total]
        other = {x: edges[place + 1] - edges[place] for place, x in enumerate(own)}
        if any(abs(other[x] - right[x]) > 1 for x in own):
            assert not verdict(other), (own, right, other)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4), st.integers(1, 6), st.booleans()), min_size=1, max_size=4),
    st.integers(1, 5),
)
@quick(600)
def test_what_one_can_be_certain_of_is_what_is_published(held, fakes):
    """The same number by odds, by values that have no fakes and by values that nobody protects."""
    people = {x: number for x, (number, _, _, _) in enumerate(held)}
    counted = {x: (number + made, most) for x, (number, made, most, _) in enumerate(held)}
    limits = {x: Fraction(1, 2) if protected else Fraction(1) for x, (_, _, _, protected) in enumerate(held)}
    most = max((most for _, _, most, protected in held if protected), default=0)
    expected = class_certainty(most, [(number, made) for number, made, _, _ in held], fakes)
    assert belief(fakes, people, counted, limits) == expected


@pytest.mark.parametrize(("count", "least"), [(1, Fraction(1, 3)), (2, Fraction(2, 3)), (3, Fraction(1))])
def test_where_fakes_are_as_frequent_as_people_every_slot_is_as_likely(count, least):
    """Two fakes and one unknown person: three slots, of which so many hold the value."""
    assert belief(2, {"x": 4, "y": 4}, {"x": (8, count), "y": (8, 1)}, dict.fromkeys("xy", Fraction(1, 2))) == least

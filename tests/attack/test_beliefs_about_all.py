"""Beliefs about everybody: permanents against every way to fill a bucket, and what a release gives to who has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.attack.attack import Finding
from discreet.attack.buckets.beliefs import general, weighed
from discreet.attack.buckets.beliefs_about_all import BeliefsAboutAll, differences, information, matched
from discreet.attack.buckets.permanents import posterior, states_of
from discreet.evaluate.scratch import opened, released, schema_of

QUARTER = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"))
ONE, ALL, QUICK = (
    "beliefs, frequencies by one quasi-identifier",
    "beliefs, frequencies by every quasi-identifier",
    "beliefs, quick and exact",
)


def by_hand(weights: list[list[Fraction]], counts: list[int]) -> list[list[Fraction]]:
    """Pr(i has x): every order of the bucket's slots, each as often as it weighs."""
    slots = [x for x, count in enumerate(counts) for _ in range(count)]
    found = [[Fraction(0)] * len(counts) for _ in slots]
    for way in permutations(slots):
        weight = Fraction(1)
        for i, x in enumerate(way):
            weight *= weights[i][x]
        for i, x in enumerate(way):
            found[i][x] += weight
    return [[cell / sum(row) for cell in row] for row in found]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=4).filter(lambda counts: sum(counts) <= 6), st.data())
def test_the_posterior_is_the_ratio_of_permanents(counts, data):
    """In fractions equal to every way summed; in decimal numbers to eleven digits."""
    weight = st.integers(1, 50)
    weights = [[Fraction(data.draw(weight), 50) for _ in counts] for _ in range(sum(counts))]
    exact = posterior(np.array(weights, dtype=object), counts)
    assert exact.tolist() == by_hand(weights, counts)
    assert posterior(np.array(weights, dtype=np.float64), counts).tolist() == [
        [pytest.approx(float(cell), rel=1e-11) for cell in row] for row in exact.tolist()
    ]


def test_who_believes_the_same_of_all_is_left_with_the_shares():
    """Beliefs that are alike for everybody, however uneven over the values, leave c_x / S."""
    usual = [Fraction(9, 10), Fraction(9, 100), Fraction(1, 100)]
    found = posterior(np.array([usual] * 6, dtype=object), [3, 2, 1])
    assert found.tolist() == [[Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]] * 6


def test_no_bound_below_one_holds():
    """One of four has H; three are believed not to have it, so the fourth has it, as nearly certain as one likes."""
    for doubt in (Fraction(1, 10), Fraction(1, 1000), Fraction(0)):
        weights = [[1 - doubt, doubt]] * 3 + [[Fraction(1, 2), Fraction(1, 2)]]
        found = posterior(np.array(weights, dtype=object), [3, 1])
        assert found[3][1] == (1 - doubt) / (1 - doubt + 3 * doubt) >= 1 - 4 * doubt
    assert found[3][1] == 1


def test_beliefs_that_no_way_fits_are_refused():
    """Who excludes all that a bucket may hold is told so."""
    with pytest.raises(ValueError, match="exclude every way"):
        posterior(np.array([[1.0, 0.0], [1.0, 0.0]]), [1, 1])


def test_a_large_bucket_neither_vanishes_nor_overflows():
    """Fourteen rows with beliefs of a millionth: rows still add up to one, and columns to the counts."""
    coins = np.random.default_rng(2)
    found = posterior(coins.random((14, 5)) * 1e-6, [4, 4, 3, 2, 1])
    assert states_of([4, 4, 3, 2, 1]) == 600
    assert found.sum(axis=1) == pytest.approx(np.ones(14))
    assert found.sum(axis=0) == pytest.approx([4, 4, 3, 2, 1])


def people(strength: float, seed: int, rows: int = 4_000, values: int = 8) -> pa.Table:
    """People whose value follows from two columns with some probability, and is else any."""
    coins = np.random.default_rng(seed)
    one, two, number = coins.integers(0, 4, rows), coins.integers(0, 2, rows), coins.integers(0, 20, rows)
    value = np.where(coins.random(rows) < strength, one * 2 + two, coins.integers(0, values, rows))
    columns = {"one": one, "two": two, "number": number, "value": value}
    return pa.table({name: [f"{name[0]}{each}" for each in codes.tolist()] for name, codes in columns.items()})


@contextmanager
def release_of(rows: pa.Table, mechanism: object = QUARTER) -> Iterator[tuple[discreet.Table, discreet.Release]]:
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        yield table, release


def found_in(rows: pa.Table, mechanism: object = QUARTER) -> dict[str, Finding]:
    with release_of(rows, mechanism) as (table, release):
        report = discreet.audit(release, table, attacks=[BeliefsAboutAll()])
        assert report.holds
        return {each.title: each for each in report.findings}


def test_frequencies_by_quasi_identifiers_pass_the_tolerance_where_they_tell_something():
    """Two columns say the value: one of them leaves two of eight, both together one; the promise says 1/4."""
    findings = found_in(people(1.0, 1))
    assert findings[ONE].rate.low > 0.5
    assert findings[ALL].rate.low > 0.99
    assert findings[ALL].rate.low > findings[ALL].bound
    assert not findings[ALL].covered
    assert findings[ALL].details["summed_exactly"] == 1


def test_a_quarter_of_the_relation_still_helps_and_none_does_not():
    """At a quarter of the strength he is right beyond the shares; where nothing is related he stays near them.

    Not at them: he has the exact frequencies of these people, which are off by chance, and so are their values.
    """
    findings = found_in(people(0.0, 3))
    assert 0.22 < findings[ONE].rate.rate < 0.28
    assert 0.22 < findings[ALL].rate.rate < 0.3
    assert found_in(people(0.25, 2))[ALL].rate.low > 0.38


def test_frequencies_of_single_people_are_not_taken_for_statistics():
    """A column that numbers people tells nothing: its frequencies would be the table itself."""
    rows = people(0.0, 4)
    rows = rows.append_column("person", pa.array([f"p{i:05d}" for i in range(len(rows))]))
    with release_of(rows.select(["person", "one", "value"])) as (table, release):
        report = discreet.audit(release, table, attacks=[BeliefsAboutAll()])
    assert ALL not in {each.title for each in report.findings}
    assert report[ONE].rate.rate < 0.3


def test_what_is_quickly_reckoned_is_near_the_exact_posterior():
    """Small buckets are summed exactly, to single precision; larger ones come within a few hundredths."""
    findings = found_in(people(0.8, 5))
    assert findings[QUICK].details["largest"] < 1e-5
    wide = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/8"), min_size=10, max_size=16)
    with release_of(people(0.8, 6, values=12), wide) as (_, release):
        release.learn()
        prior = general(release)
        quick = weighed(release, matched(release, prior))
        off, buckets, small = differences(release, prior, quick, np.random.default_rng(1))
        assert buckets == 100
        assert small < 1
        assert 0 < np.sqrt((off**2).mean()) < 0.03


def test_a_stranger_finds_how_far_the_quick_posterior_is_and_no_rates():
    """Frequencies come from the table; what is learned needs none."""
    with release_of(people(1.0, 7, 1_500)) as (_, release):
        report = discreet.audit(release, attacks=[BeliefsAboutAll()])
    assert [each.title for each in report.findings] == [QUICK]


def test_information_is_nothing_where_independent_and_the_entropy_where_one_says_the_other():
    """In nats, for many people; where there are few, what chance gives is taken off."""
    assert information(np.outer([3.0, 1.0], [2.0, 5.0]) * 1e6) == pytest.approx(0, abs=1e-6)
    assert information(np.eye(4) * 1e6) == pytest.approx(np.log(4), abs=1e-5)
    coins = np.random.default_rng(3)
    drawn = [information(coins.multinomial(2_000, [0.02] * 50).reshape(5, 10).astype(float)) for _ in range(200)]
    assert abs(np.mean(drawn)) < 5 * np.std(drawn) / 200**0.5 + 1e-4

"""Two releases about the same people: what they leave open together, exactly and in a whole audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pyarrow as pa
import pytest
from cases import SHARED, needs_shared

import discreet
from discreet.attack.attack import Finding
from discreet.attack.audit import audit
from discreet.attack.buckets import together as limits
from discreet.attack.buckets.intersection import Intersection
from discreet.attack.buckets.together import product_form
from discreet.attack.buckets.worlds import worlds
from discreet.attack.report import AuditReport
from discreet.errors import PolicyError
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.mechanism.buckets.making import write
from discreet.schema.domain import Integers, Listed
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema
from discreet.series.coins import Coins

DISEASES = ("asthma", "cold", "flu", "gout", "mumps", "rash")
EVEN = {x: Fraction(1, 6) for x in range(6)}
ROWS = 600


def schema(last: int = 10 * ROWS, values: tuple[str, ...] = DISEASES, sensitive: str = "disease") -> Schema:
    """People who are told apart by a number, with a disease."""
    return Schema(
        quasi_identifiers=("number",),
        sensitive=sensitive,
        domains={"number": Integers(low=0, high=last), sensitive: Listed(values=values)},
    )


def rows(numbers: np.ndarray, seed: int = 0, sensitive: str = "disease") -> pa.Table:
    """A disease for each number, the same whenever the number is the same."""
    drawn = np.random.default_rng(seed).choice(len(DISEASES), 10 * ROWS, p=[0.2, 0.2, 0.2, 0.15, 0.15, 0.1])
    return pa.table({"number": numbers, sensitive: [DISEASES[x] for x in drawn[numbers]]})


@contextmanager
def twice(
    first: pa.Table,
    second: pa.Table,
    seeds: tuple[int, int] = (1, 2),
    *,
    schemas: tuple[Schema, Schema] | None = None,
    against: bool = True,
) -> Iterator[AuditReport]:
    """The audit of one release beside a second one."""
    own, other = schemas or (schema(), schema())
    mechanism = discreet.Anatomy(l=3)
    with ExitStack() as stack:
        tables = [
            stack.enter_context(opened(each, Policy(schema=given, mechanism=mechanism)))
            for each, given in ((first, own), (second, other))
        ]
        one, two = (
            stack.enter_context(released(table, mechanism, seed)) for table, seed in zip(tables, seeds, strict=True)
        )
        yield audit(one, tables[0] if against else None, others=[two], attacks=[Intersection()])


def found(report: AuditReport, which: str = "") -> Finding:
    return report[f"intersection, {which}" if which else "intersection"]


def held(buckets: list[int], values: list[int]) -> dict[int, dict[int, int]]:
    return {g: dict(Counter(x for h, x in zip(buckets, values, strict=True) if h == g)) for g in set(buckets)}


def test_eight_people_in_two_releases_have_one_world_left_of_sixteen():
    """H H F F C C U U: ab:HF cd:CU ef:HU gh:FC, then ac:HC bd:FU eg:HF fh:CU."""
    h, f, c, u = range(4)
    first = {0: {h: 1, f: 1}, 1: {c: 1, u: 1}, 2: {h: 1, u: 1}, 3: {f: 1, c: 1}}
    second = {0: {h: 1, c: 1}, 1: {f: 1, u: 1}, 2: {h: 1, f: 1}, 3: {c: 1, u: 1}}
    one, two = (0, 0, 1, 1, 2, 2, 3, 3), (0, 1, 0, 1, 2, 3, 2, 3)
    prior = dict.fromkeys(range(4), Fraction(1, 4))
    alone = worlds([(g, 0) for g in one], first, {0: dict.fromkeys(range(4), 2)}, prior)
    assert alone.number == 16
    assert set(alone.beliefs[0].values()) == {Fraction(1, 2)}
    both = worlds(list(zip(one, two, strict=True)), first, second, prior)
    assert both.number == 1
    assert both.beliefs == tuple({x: Fraction(1)} for x in (h, f, c, u, h, u, f, c))


@pytest.mark.parametrize("seed", range(12))
def test_all_worlds_of_one_table_are_those_that_enumeration_finds(seed):
    """Everybody is in both releases: the worlds are the tables with these counts, all equally probable."""
    coins = np.random.default_rng(seed)
    values = coins.integers(0, 3, 7).tolist()
    one, two = coins.permutation([0, 0, 0, 0, 1, 1, 1]).tolist(), coins.permutation([0, 0, 1, 1, 1, 2, 2]).tolist()
    seen = held(one, values), held(two, values)
    fit = [each for each in product(range(3), repeat=7) if (held(one, each), held(two, each)) == seen]
    prior = {0: Fraction(1, 7), 1: Fraction(2, 7), 2: Fraction(4, 7)}  # no matter for one table
    got = worlds(list(zip(one, two, strict=True)), *seen, prior)
    assert got.number == len(fit)
    for person, belief in enumerate(got.beliefs):
        assert belief == {x: Fraction(n, len(fit)) for x, n in Counter(each[person] for each in fit).items()}


@pytest.mark.parametrize("seed", range(8))
def test_people_of_overlapping_tables_are_believed_as_by_enumeration_of_everybody(seed):
    """Three people in both releases, two in the first only and two in the second only, all drawn from known shares."""
    coins = np.random.default_rng(seed)
    prior = {0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)}
    values = coins.integers(0, 3, 7).tolist()  # 0-2 are in both, 3-4 in the first, 5-6 in the second
    one, two = coins.permutation([0, 0, 0, 1, 1]).tolist(), coins.permutation([0, 0, 1, 1, 1]).tolist()
    firsts, seconds = [0, 1, 2, 3, 4], [0, 1, 2, 5, 6]

    def shown(world: list[int]) -> tuple[object, object]:
        return held(one, [world[i] for i in firsts]), held(two, [world[i] for i in seconds])

    weight: list[Counter[int]] = [Counter() for _ in range(3)]
    for world in product(range(3), repeat=7):
        if shown(list(world)) == shown(values):
            for person in range(3):
                weight[person][world[person]] += Fraction(np.prod([prior[x] for x in world]))
    got = worlds(list(zip(one[:3], two[:3], strict=True)), *shown(values), prior)
    for person in range(3):
        whole = sum(weight[person].values())
        assert got.beliefs[person] == {x: each / whole for x, each in weight[person].items()}


def test_the_product_form_is_exact_for_one_person():
    """c1_x c2_x / p_x, normalized."""
    first, second = {0: {0: 2, 1: 1, 2: 1}}, {5: {0: 1, 1: 3}}
    prior = {0: Fraction(1, 2), 1: Fraction(1, 3), 2: Fraction(1, 6)}
    exact = worlds([(0, 5)], first, second, prior).beliefs[0]
    assert exact == {0: Fraction(4, 13), 1: Fraction(9, 13)}
    rough = product_form(np.array([[2.0, 1, 1]]), np.array([[1.0, 3, 0]]), np.array([1 / 2, 1 / 3, 1 / 6]))
    assert rough[0] == pytest.approx([4 / 13, 9 / 13, 0])


def test_people_for_whom_there_is_no_world_are_believed_nothing_of():
    """Two people who would share one record cannot both be who they seem to be."""
    got = worlds([(0, 0), (0, 0)], {0: {0: 1}}, {0: {0: 1}}, EVEN)
    assert (got.number, got.beliefs) == (0, ({}, {}))


def test_how_far_the_product_form_is_from_exact_on_small_tables():
    """Twelve people, six values, buckets of three: .03 to .3 apart, and in the mean it believes the truth less."""
    gaps, exact_truth, rough_truth = [], [], []
    for seed in range(60):
        coins = np.random.default_rng(seed)
        values = np.repeat(np.arange(6), 2)
        sides = []
        while len(sides) < 2:
            order = coins.permutation(12)
            if all(len(set(values[order[g : g + 3]])) == 3 for g in range(0, 12, 3)):
                sides.append(np.argsort(order) // 3)
        seen = [held(side.tolist(), values.tolist()) for side in sides]
        beliefs = worlds(list(zip(*map(np.ndarray.tolist, sides), strict=True)), *seen, EVEN).beliefs
        dense = [np.array([[each[g].get(x, 0) for x in range(6)] for g in side.tolist()], dtype=float)
                 for each, side in zip(seen, sides, strict=True)]  # fmt: skip
        rough = product_form(*dense, np.full(6, 1 / 6))
        exact = np.array([[float(belief.get(x, 0)) for x in range(6)] for belief in beliefs])
        gaps.append(np.abs(rough - exact).sum(axis=1).mean() / 2)
        exact_truth.append(exact[np.arange(12), values].mean())
        rough_truth.append(rough[np.arange(12), values].mean())
    assert 0.03 < np.mean(gaps) < 0.3
    assert np.mean(exact_truth) > np.mean(rough_truth) + 0.02


def test_two_releases_with_fresh_coins_are_intersected():
    """Far more right guesses than the promise of either release allows, and most people believed beyond it."""
    table = rows(np.arange(ROWS))
    with twice(table, table) as report:
        assert found(report, "people found in both").rate.rate == 1
        assert found(report).rate.low > 0.4 > float(found(report).bound)
        assert found(report, "believed beyond the tolerance").rate.low > 0.6
        assert found(report, "believed beyond the tolerance").baseline == 0
        assert found(report, "one value left").rate.rate > 0.1
        assert report.holds
        assert not any(each.covered for each in report.findings)


def test_two_releases_of_the_same_coins_give_nothing():
    """One release twice: nobody is believed beyond the tolerance, and guesses are at chance, though some are alike."""
    for numbers in (np.arange(ROWS), np.concatenate([np.arange(ROWS), np.repeat(np.arange(ROWS, 2 * ROWS), 2)])):
        table = rows(numbers)
        with twice(table, table, seeds=(1, 1)) as report:
            assert safe(report)


def test_a_publisher_who_keeps_everybodys_bucket_gives_nothing(monkeypatch):
    """With other coins for all else, as bucket ids: the same people stand together with the same values."""
    real, slots = write.draw_slots, Coins.from_seed(9)

    def kept(plan, values, composition, coins, *further):
        return real(plan, values, composition, slots, *further)

    monkeypatch.setattr(write, "draw_slots", kept)
    table = rows(np.arange(ROWS))
    with twice(table, table) as report:
        assert safe(report)


def safe(report: AuditReport) -> bool:
    """Whether a second release taught nothing."""
    chance = found(report).rate
    return (
        found(report, "people found in both").details["in_the_same_bucket_again"] == 1
        and found(report, "one value left").rate.rate == 0
        and found(report, "believed beyond the tolerance").rate.rate == 0
        and chance.low <= found(report).baseline <= chance.high
    )


def test_overlap_of_a_quarter_of_the_people_is_enough():
    """Those who are in both tables are found, and guessed far better than one release allows."""
    with twice(rows(np.arange(4 * ROWS)), rows(np.arange(3 * ROWS, 7 * ROWS))) as report:
        assert found(report, "people found in both").rate.rate == 0.25
        assert found(report).rate.low > 0.4 > float(found(report).bound)
        assert found(report, "one value left").details["without_approximation"] > 0.5
        assert found(report, "one value left").rate.rate > 0.1
        assert found(report).details["right_where_one_is_left"] == 1


def test_beliefs_are_true_as_often_as_they_say():
    """In small groups, where they are exact: what is believed of guesses is how often they are right."""
    with twice(rows(np.arange(4 * ROWS)), rows(np.arange(3 * ROWS, 7 * ROWS))) as report:
        rate = found(report).rate
        assert rate.low < found(report).details["believed"] < rate.high


def test_people_are_found_by_values_and_not_by_their_places():
    """The second release has another range of numbers and its diseases in another order."""
    table = rows(np.arange(20, 20 + ROWS))
    other = schema(last=9 * ROWS, values=DISEASES[::-1])
    with twice(table, table) as same, twice(table, table, schemas=(schema(), other)) as report:
        assert found(report, "people found in both").rate.rate == 1
        assert found(report).rate.low > found(same).rate.low - 0.1


def test_a_stranger_learns_of_how_many_people_one_value_is_left():
    """No table: what follows from the files of both releases, and nothing that needs the truth."""
    table = rows(np.arange(ROWS))
    with twice(table, table, against=False) as report, twice(table, table) as known:
        assert [each.title for each in report.findings] == [
            "intersection, people found in both",
            "intersection, one value left",
        ]
        assert found(report, "one value left").rate == found(known, "one value left").rate


def test_two_tables_of_other_people_have_nobody_in_common():
    """Then that is all there is to say."""
    with twice(rows(np.arange(ROWS)), rows(np.arange(ROWS, 2 * ROWS))) as report:
        (only,) = report.findings
        assert only.rate.rate == 0


def test_without_a_release_to_compare_it_says_why():
    """None handed in, or one about another thing."""
    table, mechanism = rows(np.arange(ROWS)), discreet.Anatomy(l=3)
    with opened(table, Policy(schema=schema(), mechanism=mechanism)) as people, released(people, mechanism, 1) as one:
        report = audit(one, people, attacks=[Intersection()])
        assert report.left_out == (("intersection", "no further release about these people was handed in"),)
    other = rows(np.arange(ROWS), sensitive="illness")
    with twice(table, other, schemas=(schema(), schema(sensitive="illness"))) as report:
        assert report.left_out == (
            ("intersection", "no further release is one of buckets with the same sensitive column"),
        )


def test_further_releases_are_numbered_as_they_were_handed_in():
    """One about another thing is left out, and the next one keeps its place."""
    table, mechanism = rows(np.arange(ROWS)), discreet.Anatomy(l=3)
    ill = Policy(schema=schema(sensitive="illness"), mechanism=mechanism)
    with (
        opened(table, Policy(schema=schema(), mechanism=mechanism)) as people,
        opened(rows(np.arange(ROWS), sensitive="illness"), ill) as others,
        released(people, mechanism, 1) as one,
        released(people, mechanism, 2) as two,
        released(others, mechanism, 3) as apart,
    ):
        for handed, numbers in (([apart, two], {"2"}), ([two, apart, two], {"1", "3"}), ([two], {""})):
            report = audit(one, people, others=handed, attacks=[Intersection()])
            assert {each.variant.partition("further release ")[2][:1] for each in report.findings} == numbers


def by_product_form_alone(patch: pytest.MonkeyPatch) -> None:
    """From now on he looks at nobody but the person."""
    patch.setattr(limits, "MOST_PEOPLE", 1)


def test_who_shares_a_bucket_tells_more_than_the_product_form(monkeypatch):
    """What neighbours leave over: more is guessed right, and beliefs are still as often true as they say."""
    table = rows(np.arange(ROWS))
    with twice(table, table) as near:
        assert found(near, "one value left").details["without_approximation"] == 0  # all hang together
        rate = found(near).rate
        assert rate.low < found(near).details["believed"] < rate.high
    by_product_form_alone(monkeypatch)
    with twice(table, table) as rough:
        assert found(near).rate.rate > found(rough).rate.rate + 0.1
        assert found(near, "one value left").rate.rate > found(rough, "one value left").rate.rate + 0.1


def test_a_few_of_the_people_stand_for_all():
    """Where he attacks a sample, rates have an interval that the rate of all lies in."""
    table, mechanism = rows(np.arange(ROWS)), discreet.Anatomy(l=3)
    with (
        opened(table, Policy(schema=schema(), mechanism=mechanism)) as people,
        released(people, mechanism, 1) as one,
        released(people, mechanism, 2) as two,
    ):
        some, everybody = (audit(one, people, others=[two], attacks=[Intersection(most=most)]) for most in (200, ROWS))
    for which in ("", "one value left", "believed beyond the tolerance"):
        sample = found(some, which).rate
        assert sample.attempts == 200
        assert sample.low < found(everybody, which).rate.rate < sample.high


@needs_shared("adult_full.parquet")
@pytest.mark.parametrize(
    ("composition", "above", "left", "right"), [("round-robin", 0.777, 0.093, 0.51), ("free", 0.945, 0.2, 0.66)]
)
def test_adult_published_twice(composition, above, left, right, monkeypatch):
    """By the product form 77.7 % are believed beyond 1/4 and 9.3 % have one value left; more in buckets of today."""
    table, mechanism = Sources(folder=SHARED, quick=False).adult(), discreet.Anatomy(l=4, composition=composition)
    with ExitStack() as stack:
        people = stack.enter_context(opened(table, Policy(schema=schema_of(table, "occupation"), mechanism=mechanism)))
        one, two = (stack.enter_context(released(people, mechanism, seed)) for seed in (1, 2))
        report = audit(one, people, others=[two], attacks=[Intersection()])
        assert found(report, "people found in both").rate.rate * len(table) == pytest.approx(8_841)
        assert found(report).rate.low > right - 0.01
        assert found(report, "one value left").rate.rate > left + 0.02
        by_product_form_alone(monkeypatch)
        rough = audit(one, people, others=[two], attacks=[Intersection()])
        assert found(rough, "one value left").rate.rate == pytest.approx(left, abs=0.012)
        assert found(rough, "believed beyond the tolerance").rate.rate == pytest.approx(above, abs=0.012)


def test_chance_of_the_same_bucket_by_accident_is_small():
    """Of ROWS people in buckets of three, two releases with fresh coins share next to no bucket."""
    table = rows(np.arange(ROWS))
    assert ROWS / 3 / comb(ROWS, 3) < 1e-4
    with twice(table, table) as report:
        assert found(report, "people found in both").details["in_the_same_bucket_again"] == 0


def test_somebody_must_be_attacked():
    """Said when the attack is made."""
    with pytest.raises(PolicyError, match=r"most \(0\) must be at least 1"):
        Intersection(most=0)

"""Estimates against brute force: bounds that always hold and are reached, and an estimator without bias.

Everything that is called the truth here is counted: over all ways to match rows with values that two published tables
allow, or over all permutations that the publisher's coins may choose.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from pathlib import Path
from statistics import NormalDist
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import few
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import discreet
from discreet.datasets.hospital import write_hospital
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError
from discreet.estimate.buckets import release as releases
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.matched import bounds, matched_of
from discreet.estimate.buckets.regression import Regression, Weighted
from discreet.estimate.buckets.unbiased import unbiased_estimate
from discreet.estimate.buckets.uniform import uniform, uniform_estimate
from discreet.estimate.interval import Spread, Way
from discreet.ground.arrays import Floats, Ints
from discreet.schema.domain import Integers, Listed

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
Buckets = list[list[int]]  # for each bucket, the value of each of its records


def composed(buckets: Buckets) -> Composition:
    """The ST of these buckets; values are numbered from 0 without gaps."""
    held = [(g, x, bucket.count(x)) for g, bucket in enumerate(buckets) for x in sorted(set(bucket))]
    bucket, value, count = (np.array(column, dtype=np.int64) for column in zip(*held, strict=True))
    ids = np.arange(1, len(buckets) + 1, dtype=np.int64)
    return Composition(ids=ids, encoding=Encoding(range(int(value.max()) + 1)), bucket=bucket, value=value, count=count)


@st.composite
def bucketed(draw: st.DrawFn, most_values: int = 4, most_buckets: int = 5, most_rows: int = 4) -> Buckets:
    """A few small buckets of values that occur, numbered without gaps."""
    drawn = draw(
        st.lists(
            st.lists(st.integers(0, most_values - 1), min_size=1, max_size=most_rows), min_size=1, max_size=most_buckets
        )
    )
    number = {value: place for place, value in enumerate(sorted({value for bucket in drawn for value in bucket}))}
    return [[number[value] for value in bucket] for bucket in drawn]


def estimated(
    buckets: Buckets,
    matches: Sequence[Sequence[int]],
    chosen: Sequence[tuple[int, ...]],
    joint: dict[tuple[int, int], Ints] | None = None,
    estimator: str = "unbiased",
) -> discreet.Estimate:
    composition = composed(buckets)
    way = Way(unit="people", estimator=estimator, confidence=0.95)
    found = matched_of(composition, chosen, [np.array(each, dtype=np.int64) for each in matches], joint or {})
    if estimator == "unbiased":
        return unbiased_estimate(Regression(composition=composition), found, way)
    return uniform_estimate(found, composition.sizes, way)


def subsets(values: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, values + 1):
        yield from combinations(range(values), size)


# --- Hard bounds ---------------------------------------------------------------------------------------------------


@settings(SLOW, max_examples=few(200))
@given(buckets=bucketed(), data=st.data())
def test_the_truth_is_within_the_bounds_whatever_the_parts(buckets: Buckets, data: st.DataObject) -> None:
    """Up to three parts, each with its own values and its own condition on the rows."""
    values = max(map(max, buckets)) + 1
    part_of = data.draw(st.lists(st.integers(-1, 2), min_size=values, max_size=values), "the part of each value")
    chosen = [tuple(x for x in range(values) if part_of[x] == part) for part in range(3)]
    used = [part for part in range(3) if chosen[part]]
    assume(used)
    meets = [[data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans())) for _ in bucket] for bucket in buckets]
    truth = sum(
        row[part_of[x]]
        for bucket, rows in zip(buckets, meets, strict=True)
        for x, row in zip(bucket, rows, strict=True)
        if part_of[x] >= 0
    )
    matches = [[sum(row[part] for row in rows) for rows in meets] for part in used]
    for estimator in ("unbiased", "uniform"):
        found = estimated(buckets, matches, [chosen[part] for part in used], estimator=estimator)
        assert found.bounds[0] <= truth <= found.bounds[1]
        assert found.bounds[0] <= found.low <= found.high <= found.bounds[1]
        assert found.exact == (found.bounds[0] == found.bounds[1])


@settings(SLOW, max_examples=few(100))
@given(buckets=bucketed(3, 3, 3), data=st.data())
@example(buckets=[[0, 1, 1], [0, 0, 1], [1, 2, 2]], data=None)
def test_the_bounds_of_one_part_are_reached(buckets: Buckets, data: st.DataObject | None) -> None:
    """Some matching of rows and values that the two tables allow has the lower bound, and some has the upper."""
    values = max(map(max, buckets)) + 1
    matches = [data.draw(st.integers(0, len(bucket))) if data else 2 for bucket in buckets]
    for chosen in subsets(values):
        counts = {
            sum(
                x in chosen
                for a, bucket in zip(matches, matching, strict=True)
                for x in bucket[:a]  # the first a rows of the bucket meet the condition
            )
            for matching in product(*(set(permutations(bucket)) for bucket in buckets))
        }
        found = estimated(buckets, [matches], [chosen])
        assert found.bounds == (min(counts), max(counts))


# --- Published tables ----------------------------------------------------------------------------------------------

AGES, SEXES, ILLS = range(5), ("F", "M"), ("a", "b", "c", "d")
SCHEMA = discreet.Schema(
    quasi_identifiers=("age", "sex", "tag"),
    sensitive="ill",
    domains={
        "age": Integers(low=0, high=4),
        "sex": Listed(values=SEXES),
        "tag": Listed(values=ILLS),
        "ill": Listed(values=ILLS),
    },
)
Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """A condition in SQL and in Python, and whether the rows alone or the values alone decide it."""

    sql: str
    meets: Callable[[Row], bool]
    kinds: frozenset[str]


def asked(sql: str, meets: Callable[[Row], bool], *kinds: str) -> Asked:
    return Asked(sql, meets, frozenset(kinds))


ATOMS = (
    asked("age < 2", lambda row: row["age"] < 2, "rows"),
    asked("age % 2 = 1", lambda row: row["age"] % 2 == 1, "rows"),
    asked("sex = 'F'", lambda row: row["sex"] == "F", "rows"),
    asked("tag IN ('a', 'c')", lambda row: row["tag"] in "ac", "rows"),
    asked("ill = 'a'", lambda row: row["ill"] == "a", "values"),
    asked("ill <> 'b'", lambda row: row["ill"] != "b", "values"),
    asked("ill IN ('b', 'd')", lambda row: row["ill"] in "bd", "values"),
    asked("ill LIKE 'c%'", lambda row: row["ill"] == "c", "values"),
    asked("ill = tag", lambda row: row["ill"] == row["tag"], "rows", "values"),
    asked("ill <> tag", lambda row: row["ill"] != row["tag"], "rows", "values"),
)


def joined(word: str, parts: list[Asked]) -> Asked:
    gather = all if word == "AND" else any
    sql = "(" + f" {word} ".join(part.sql for part in parts) + ")"
    return Asked(
        sql, lambda row: gather(part.meets(row) for part in parts), frozenset().union(*(p.kinds for p in parts))
    )


QUESTIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda part: st.one_of(
        st.builds(joined, st.sampled_from(("AND", "OR")), st.lists(part, min_size=2, max_size=3)),
        part.map(lambda each: Asked(f"NOT {each.sql}", lambda row: not each.meets(row), each.kinds)),
    ),
    max_leaves=5,
)


def policy_for(tolerance: str, composition: str = "random") -> discreet.Policy:
    buckets = discreet.Buckets(
        tolerance=discreet.Tolerance(floor=tolerance), sizes="one", max_size=12, composition=composition
    )
    return discreet.Policy(schema=SCHEMA, mechanism=buckets)


def publish(rows: list[Row], policy: discreet.Policy, seed: int, folder: Path) -> discreet.Release:
    parquet.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    table = discreet.read_table(folder / "rows.parquet", policy)
    try:
        return discreet.publish(table, policy, to=folder / "release", seed=seed)
    finally:
        table.close()


@st.composite
def releasable(draw: st.DrawFn) -> list[Row]:
    """Up to 12 people; every value has at most half of the records."""
    pairs = draw(st.lists(st.lists(st.sampled_from(ILLS), min_size=2, max_size=2, unique=True), min_size=1, max_size=6))
    drawn = st.fixed_dictionaries(
        {"age": st.sampled_from(AGES), "sex": st.sampled_from(SEXES), "tag": st.sampled_from(ILLS)}
    )
    return [{**draw(drawn), "ill": ill} for pair in pairs for ill in pair]


def two_tables(release: discreet.Release) -> tuple[dict[int, list[Row]], dict[int, list[str]]]:
    """The published rows and the published values of each bucket, and nothing else."""
    rows, values = defaultdict(list), defaultdict(list)
    for row in parquet.read_table(release.path / "data/qit.parquet").to_pylist():
        rows[row["BID"]].append(row)
    for entry in parquet.read_table(release.path / "data/st.parquet").to_pylist():
        values[entry["BID"]] += [entry["ill"]] * entry["COUNT"]
    return rows, values


def extremes(release: discreet.Release, question: Asked) -> tuple[int, int]:
    """The least and the largest count over all matchings of rows with values that the two tables allow.

    Buckets are matched independently, so the sum of the least counts is the least sum.
    """
    rows, values = two_tables(release)
    low = high = 0
    for bucket, people in rows.items():
        counts = [
            sum(question.meets({**row, "ill": ill}) for row, ill in zip(people, order, strict=True))
            for order in set(permutations(values[bucket]))
        ]
        low, high = low + min(counts), high + max(counts)
    return low, high


@settings(SLOW, max_examples=25)
@given(
    rows=releasable(),
    questions=st.lists(QUESTIONS, min_size=4, max_size=8),
    seed=st.integers(0, 2**31),
    tolerance=st.sampled_from(("1/2", "2/3")),
    composition=st.sampled_from(("random", "round-robin")),
)
def test_a_published_tables_bounds_hold_the_truth_and_only_what_the_tables_allow(
    rows: list[Row], questions: list[Asked], seed: int, tolerance: str, composition: str
) -> None:
    """The truth, and every count that some matching gives, is within; a condition of one part reaches both ends."""
    with TemporaryDirectory() as folder:
        release = publish(rows, policy_for(tolerance, composition), seed, Path(folder))
        try:
            found = release.count_many([question.sql for question in questions])
            for question, estimate in zip(questions, found, strict=True):
                truth = sum(map(question.meets, rows))
                low, high = extremes(release, question)
                assert estimate.bounds[0] <= low <= truth <= high <= estimate.bounds[1], question.sql
                if len(question.kinds) == 1:
                    assert estimate.bounds == (truth, truth), question.sql
                    assert estimate.value == truth, question.sql
            pairs = [joined("AND", [one, other]) for one, other in product(ATOMS[:4], ATOMS[4:8])]
            for both, estimate in zip(pairs, release.count_many([pair.sql for pair in pairs]), strict=True):
                assert estimate.bounds == extremes(release, both), both.sql
        finally:
            release.close()


@pytest.fixture(scope="module")
def people() -> list[Row]:
    """400 people whose illness depends on age and sex."""
    coins = np.random.default_rng(20)
    rows = []
    for _ in range(400):
        age, sex = int(coins.integers(5)), SEXES[coins.integers(2)]
        weights = np.array([1 + 2 * (age < 2), 1 + 2 * (sex == "F"), 1.5, 0.5 + 0.4 * age])
        ill = ILLS[coins.choice(4, p=weights / weights.sum())]
        rows.append({"age": age, "sex": sex, "tag": ILLS[coins.integers(4)], "ill": ill})
    return rows


@pytest.fixture(scope="module")
def release(people: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Release]:
    release = publish(people, policy_for("3/5"), 11, tmp_path_factory.mktemp("people"))
    yield release
    release.close()


@settings(SLOW, max_examples=few(40))
@given(
    questions=st.lists(QUESTIONS, min_size=1, max_size=6),
    estimator=st.sampled_from(("unbiased", "learned", "uniform")),
)
def test_asking_many_is_asking_one_by_one(questions: list[Asked], estimator: str, release: discreet.Release) -> None:
    """Shared work changes no digit, and a repeated question has one answer."""
    texts = [question.sql for question in questions]
    found = release.count_many([*texts, *texts], estimator=estimator)
    assert found == [release.count(text, estimator=estimator) for text in texts] * 2
    assert release.count_many([]) == []


SINGLE = {"unbiased": 1e-10, "learned": 1e-6}  # what was learned is kept in single precision


@pytest.mark.parametrize("where", ["", "sex = 'F'", "age % 2 = 1", "age < 2 AND sex = 'M'", "tag <> 'a'"])
@pytest.mark.parametrize("estimator", SINGLE)
def test_the_counts_of_the_sensitive_values_sum_to_the_exact_whole(
    estimator: str, where: str, release: discreet.Release
) -> None:
    """The counts of all values are the number of rows that match, to the last digit."""
    groups = release.count_by("ill", where=where, estimator=estimator)
    assert [group for group, _ in groups] == [(ill,) for ill in ILLS]
    whole = release.count(where).value
    assert math.isclose(sum(each.value for _, each in groups), whole, rel_tol=SINGLE[estimator])


@pytest.mark.parametrize("where", ["ill = 'a'", "ill IN ('b', 'd')", "ill <> 'c'"])
@pytest.mark.parametrize("column", ["sex", "age", "tag"])
@pytest.mark.parametrize("estimator", SINGLE)
def test_the_counts_of_the_rows_groups_sum_to_the_exact_whole(
    estimator: str, column: str, where: str, release: discreet.Release
) -> None:
    """Whatever the quasi-identifier, its groups share out the people who have the values."""
    groups = release.count_by(column, where=where, estimator=estimator)
    whole = release.count(where).value
    assert math.isclose(sum(each.value for _, each in groups), whole, rel_tol=SINGLE[estimator])


@settings(SLOW, max_examples=few(300))
@given(buckets=bucketed(), data=st.data())
@example(buckets=[[0, 1], [0, 0, 1], [1, 1]], data=None)
def test_the_designs_of_a_partition_add_up_also_where_the_coins_made_a_count_exact(
    buckets: Buckets, data: st.DataObject | None
) -> None:
    """Over the values of matching rows: the number of these rows, as long as every part has a design."""
    values = max(map(max, buckets)) + 1
    matches = [data.draw(st.integers(0, len(bucket))) if data else 2 for bucket in buckets]
    parts = [estimated(buckets, [matches], [(value,)]) for value in range(values)]
    if all(part.design is not None for part in parts):
        assert math.isclose(sum(part.design.value for part in parts), sum(matches), abs_tol=1e-6)
    for part in parts:
        assert part.design is None or part.design.bounds == part.bounds
        assert (part.low == part.high) == part.exact


def test_a_count_that_the_coins_made_exact_keeps_its_raw_design() -> None:
    """Rows that match are in a bucket without the value: nobody, for sure; and yet the estimate over coins is not 0."""
    found = estimated([[0, 1], [0, 1, 1], [1, 1]], [[0, 0, 1]], [(0,)])
    assert (found.value, found.low, found.high, found.exact) == (0, 0, 0, True)
    assert str(found) == "0 people, exactly"
    assert found.design.value < -0.1
    assert found.design.conditional_on == "publisher's coins"
    assert str(found.design).startswith("-")
    other = estimated([[0, 1], [0, 1, 1], [1, 1]], [[0, 0, 1]], [(1,)])
    assert found.design.value + other.design.value == pytest.approx(1)


def test_counting_by_two_columns_is_counting_each_pair(release: discreet.Release) -> None:
    """Every group of GROUP BY is the count of its own condition, and together they are everybody."""
    groups = release.count_by("sex", "ill")
    assert groups == release.query("SELECT sex, ill, COUNT(*) AS n FROM release GROUP BY sex, ill")
    for (sex, ill), estimate in groups:
        assert estimate == release.count(f"sex = '{sex}' AND ill = '{ill}'")
    assert math.isclose(sum(each.value for _, each in groups), 400, rel_tol=SINGLE["learned"])


# --- The unbiased estimator ----------------------------------------------------------------------------------------


def spans(rows: list[list[int]], wanted: list[int]) -> bool:
    """Whether a vector is a combination of the rows, in exact arithmetic."""
    basis: list[list[Fraction]] = []

    def reduced(vector: Sequence[int]) -> list[Fraction]:
        left = [Fraction(each) for each in vector]
        for row in basis:
            lead = next(place for place, each in enumerate(row) if each)
            left = [x - left[lead] / row[lead] * y for x, y in zip(left, row, strict=True)]
        return left

    for row in rows:
        left = reduced(row)
        if any(left):
            basis.append(left)
    return not any(reduced(wanted))


@settings(SLOW, max_examples=few(200))
@given(buckets=bucketed(5, 8, 5))
def test_the_weights_count_every_record_of_the_values_once_and_no_other(buckets: Buckets) -> None:
    """sum_g c_gy w_gX = n_y where y is in X and 0 elsewhere, exactly where linear algebra says that weights exist."""
    regression = Regression(composition=composed(buckets))
    totals = regression.composition.totals
    counts = [[bucket.count(x) for x in range(len(totals))] for bucket in buckets]
    for chosen in subsets(len(totals)):
        wanted = [int(totals[x]) if x in chosen else 0 for x in range(len(totals))]
        assert regression.identifies(chosen) == spans(counts, wanted)
        if regression.identifies(chosen):
            held = np.array(counts).T @ regression.weights(chosen)
            np.testing.assert_allclose(held, wanted, rtol=0, atol=1e-8)


def test_values_that_always_come_together_are_not_told_apart_but_counted_together() -> None:
    """In every bucket as many of value 0 as of value 1: no count of either, with a note; the two together have one."""
    buckets = [[0, 1, 2], [0, 1, 3], [2, 3, 3], [0, 0, 1, 1], [2, 2, 3]]
    matches = [[1, 2, 1, 2, 1]]
    for chosen in ((0,), (1,), (0, 2), (1, 2, 3)):
        found = estimated(buckets, matches, [chosen])
        assert found.value is None
        assert found.standard_error is None
        assert "do not determine" in found.note
        assert (found.low, found.high) == found.bounds
        assert found.conditional_on == "nothing"
        assert estimated(buckets, matches, [chosen], estimator="uniform").value is not None
    for chosen in ((0, 1), (2,), (3,), (0, 1, 2), (2, 3)):
        found = estimated(buckets, matches, [chosen])
        assert found.value is not None
        assert found.conditional_on == "publisher's coins"
    found = estimated(buckets, [[1, 2, 1, 2, 1], [2, 1, 1, 3, 0]], [(2,), (0,)])
    assert found.value is None, "one part that is not determined leaves the sum undetermined"


@dataclass(frozen=True, kw_only=True)
class Informed(Regression):
    """The regression of somebody who knows the true shares, so that the variance's formula can be tested alone."""

    known: dict[bytes, Floats]

    def shares(self, matches: Ints) -> Floats:
        return self.known[matches.tobytes()]


def every_assignment(buckets: Buckets) -> Iterator[list[list[int]]]:
    """For each way to give every value's records its slots, the bucket of each record: all the coins may choose."""
    values = max(map(max, buckets)) + 1
    slots = [[g for g, bucket in enumerate(buckets) for y in bucket if y == x] for x in range(values)]
    yield from (list(map(list, each)) for each in product(*(permutations(own) for own in slots)))


@st.composite
def coin_tossed(draw: st.DrawFn) -> tuple[Buckets, list[tuple[int, ...]], list[list[tuple[bool, bool]]]]:
    """Small buckets, one or two parts that the ST determines, and for each value's records which parts' condition
    they meet.
    """
    buckets = draw(bucketed(3, 4, 3))
    values = max(map(max, buckets)) + 1
    totals = [sum(bucket.count(x) for bucket in buckets) for x in range(values)]
    assume(math.prod(map(math.factorial, totals)) <= 1500 and max(totals) > 1)
    part_of = draw(st.lists(st.integers(-1, 1), min_size=values, max_size=values))
    chosen = [own for part in range(2) if (own := tuple(x for x in range(values) if part_of[x] == part))]
    assume(chosen)
    regression = Regression(composition=composed(buckets))
    assume(all(regression.identifies(own) for own in chosen))
    meets = [[draw(st.tuples(st.booleans(), st.booleans())) for _ in range(total)] for total in totals]
    return buckets, chosen, meets


ONE_PART = (
    [[0, 1], [0, 2], [1, 2], [0, 0, 2]],
    [(0,)],
    [[(True, False)] * 2 + [(False, False)] * 2, [(True, True), (False, True)], [(False, True)] * 3],
)
TWO_PARTS = (
    [[0, 1], [0, 2], [1, 2], [0, 1, 2]],
    [(0,), (1, 2)],
    [
        [(True, True), (True, False), (False, True)],
        [(False, True)] * 3,
        [(True, True), (False, False), (True, False)],
    ],
)


@settings(SLOW, max_examples=few(60))
@given(tossed=coin_tossed())
@example(tossed=ONE_PART)
@example(tossed=TWO_PARTS)
def test_over_all_coins_the_mean_is_the_truth_and_the_variance_is_the_formulas(
    tossed: tuple[Buckets, list[tuple[int, ...]], list[list[tuple[bool, bool]]]],
) -> None:
    """Every permutation is tried: no bias at all, and the formula's variance where the true shares are put in."""
    buckets, chosen, meets = tossed
    regression = Regression(composition=composed(buckets))
    weights = [regression.weights(own) for own in chosen]
    truth = sum(row[part] for part, own in enumerate(chosen) for x in own for row in meets[x])
    estimates = []
    for assignment in every_assignment(buckets):
        estimates.append(
            sum(
                weights[part][g] * row[part]
                for part in range(len(chosen))
                for places, rows in zip(assignment, meets, strict=True)
                for g, row in zip(places, rows, strict=True)
            )
        )
    assert math.isclose(float(np.mean(estimates)), truth, abs_tol=1e-9 * max(1, len(buckets)))
    # The formula sees matches only through the shares; markers stand for the conditions and for both together.
    markers = [np.array([part], dtype=np.int64) for part in range(3)]
    shares = [np.array([np.mean([row[part] for row in rows]) for rows in meets]) for part in range(2)]
    shares.append(np.array([np.mean([row[0] and row[1] for row in rows]) for rows in meets]))
    informed = Informed(
        composition=regression.composition,
        known={marker.tobytes(): share for marker, share in zip(markers, shares, strict=True)},
    )
    parts = [Weighted(values=own, weights=weights[k], matches=markers[k]) for k, own in enumerate(chosen)]
    joint = {(0, 1): markers[2]} if len(chosen) == 2 else {}
    assert math.isclose(informed.variance(parts, joint), float(np.var(estimates)), rel_tol=1e-9, abs_tol=1e-9)
    if len(chosen) == 2:
        assert informed.variance(parts, {}) >= float(np.var(estimates)) - 1e-9, "an unknown covariance is not left out"


@settings(SLOW, max_examples=few(100))
@given(buckets=bucketed(4, 6, 4), data=st.data())
def test_the_shares_behind_the_variance_are_shares_and_right_in_total(buckets: Buckets, data: st.DataObject) -> None:
    """Between 0 and 1 for every value; where nobody or everybody matches, they say so."""
    regression = Regression(composition=composed(buckets))
    sizes, totals = regression.composition.sizes, regression.composition.totals
    matches = np.array([data.draw(st.integers(0, int(size))) for size in sizes], dtype=np.int64)
    shares = regression.shares(matches)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert shares @ totals <= matches.sum() + 1e-9
    np.testing.assert_allclose(regression.shares(np.zeros_like(sizes)), 0, atol=1e-12)
    np.testing.assert_allclose(regression.shares(sizes), 1, atol=1e-9)


# --- The papers' estimator -----------------------------------------------------------------------------------------


@settings(SLOW, max_examples=few(100))
@given(buckets=bucketed(), data=st.data())
def test_uniform_is_the_papers_sum_over_buckets(buckets: Buckets, data: st.DataObject) -> None:
    """sum_g a_g c_g / S_g, as [WWFW] writes it."""
    values = max(map(max, buckets)) + 1
    chosen = data.draw(st.sampled_from(list(subsets(values))))
    matches = [data.draw(st.integers(0, len(bucket))) for bucket in buckets]
    expected = sum(
        Fraction(a * sum(x in chosen for x in bucket), len(bucket)) for a, bucket in zip(matches, buckets, strict=True)
    )
    found = estimated(buckets, [matches], [chosen], estimator="uniform")
    assert math.isclose(found.value, expected, abs_tol=1e-9)
    assert found.conditional_on == ("nothing" if found.exact else "model")


@settings(SLOW, max_examples=few(100))
@given(bucket=st.lists(st.integers(0, 2), min_size=1, max_size=5), data=st.data())
def test_uniform_has_the_mean_and_variance_of_a_random_matching_in_one_bucket(
    bucket: list[int], data: st.DataObject
) -> None:
    """Over all orders of the values: exactly for one condition; for several, the variance is never too small."""
    meets = [data.draw(st.tuples(st.booleans(), st.booleans(), st.booleans())) for _ in bucket]
    sizes = np.array([len(bucket)])
    for parts in ([(0,)], [(0, 1)], [(0,), (1,)], [(0,), (1, 2)], [(0,), (1,), (2,)]):
        counts = [
            sum(row[k] for row, x in zip(meets, order, strict=True) for k, own in enumerate(parts) if x in own)
            for order in permutations(bucket)
        ]
        matches = [np.array([sum(row[k] for row in meets)]) for k in range(len(parts))]
        held = [np.array([sum(x in own for x in bucket)]) for own in parts]
        value, variance = uniform(matches, held, sizes)
        assert math.isclose(value, np.mean(counts), abs_tol=1e-9)
        assert variance >= np.var(counts) - 1e-9
        if len(parts) == 1:
            assert math.isclose(variance, np.var(counts), abs_tol=1e-9)


def test_bounds_of_several_parts_add_up() -> None:
    """Of 3 rows 2 meet one condition and 1 another; 2 records have values of the one, 1 of the other."""
    sizes = np.array([3])
    assert bounds([np.array([2])], [np.array([2])], sizes) == (1, 2)
    assert bounds([np.array([2]), np.array([1])], [np.array([2]), np.array([1])], sizes) == (1, 3)
    assert bounds([np.array([0])], [np.array([2])], sizes) == (0, 0)
    assert bounds([np.array([3])], [np.array([2])], sizes) == (2, 2)


# --- What an estimate says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["unbiased", "uniform"])
def test_more_confidence_is_a_wider_interval_around_the_same_value(estimator: str, release: discreet.Release) -> None:
    """The interval is the value and the normal quantile's multiple of the standard error, within the bounds."""
    levels = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999999)
    found = [release.count("sex = 'F' AND ill = 'b'", estimator=estimator, confidence=level) for level in levels]
    for level, each in zip(levels, found, strict=True):
        assert (each.value, each.standard_error, each.bounds) == (
            found[0].value,
            found[0].standard_error,
            found[0].bounds,
        )
        assert each.confidence == level
        reach = NormalDist().inv_cdf((1 + level) / 2) * each.standard_error
        assert math.isclose(each.low, max(each.value - reach, each.bounds[0]))
        assert math.isclose(each.high, min(each.value + reach, each.bounds[1]))
    for one, wider in pairwise(found):
        assert (wider.value, wider.standard_error, wider.bounds) == (one.value, one.standard_error, one.bounds)
        assert wider.low <= one.low <= one.high <= wider.high
    assert found[1].high - found[1].low > found[0].high - found[0].low


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 1.5, 95, math.nan, math.inf])
def test_a_confidence_that_is_none_is_refused(confidence: float, release: discreet.Release) -> None:
    """It is a probability, neither 0 nor 1."""
    with pytest.raises(QueryError, match="confidence"):
        release.count("sex = 'F'", confidence=confidence)


def test_an_unknown_estimator_is_refused(release: discreet.Release) -> None:
    """The message lists those that exist."""
    with pytest.raises(QueryError, match="unbiased, uniform"):
        release.count("sex = 'F'", estimator="best")


@pytest.mark.parametrize(
    ("where", "estimator", "over"),
    [
        ("sex = 'F'", "unbiased", "nothing"),
        ("ill = 'a'", "uniform", "nothing"),
        ("sex = 'F' AND ill = 'a'", "unbiased", "publisher's coins"),
        ("sex = 'F' AND ill = 'a'", "uniform", "model"),
    ],
)
def test_an_estimate_is_whole_in_json(where: str, estimator: str, over: str, release: discreet.Release) -> None:
    """Every field under its own name, numbers that JSON has, and back again."""
    estimate = release.count(where, estimator=estimator)
    content = json.loads(json.dumps(estimate.as_json(), allow_nan=False))
    assert list(content) == [each.name for each in fields(discreet.Estimate) if each.name != "origin"]
    assert list(content) == [
        "value", "standard_error", "low", "high", "confidence", "bounds", "unit", "estimator", "conditional_on",
        "design", "note",
    ]  # fmt: skip
    assert read_back(content) == estimate
    assert (estimate.unit, estimate.estimator) == ("people", estimator)
    assert estimate.conditional_on == over
    assert all(type(end) is int for end in estimate.bounds)
    assert estimate.low <= estimate.value <= estimate.high
    assert estimate.design.estimator == ("unbiased" if over != "nothing" else estimator)
    if over == "nothing":
        assert estimate.exact
        assert (estimate.low, estimate.high, estimate.standard_error) == (estimate.value, estimate.value, 0)
        assert "exactly" in str(estimate)
    else:
        assert not estimate.exact
        assert estimate.standard_error > 0
        assert f"{estimate.value:,.0f}" in str(estimate)
        assert over in str(estimate)


def read_back(content: dict[str, Any]) -> discreet.Estimate:
    design = None if content["design"] is None else read_back(content["design"])
    return discreet.Estimate(**{**content, "bounds": tuple(content["bounds"]), "design": design})


def test_a_value_outside_the_bounds_is_cut_noted_and_kept_as_design() -> None:
    """What is shown does not leave the bounds, the note says what was cut, and the unbiased value is in design."""
    found = estimated([[0, 1], [0, 0, 1]], [[0, 1]], [(1,)])
    assert found.bounds == (0, 1)
    assert found.bounds[0] == found.low == found.value <= found.high <= found.bounds[1]
    assert found.note == "the value and the interval were cut to what is possible"
    assert math.isclose(found.design.value, -2)
    assert found.design.low < found.design.value < found.design.high
    assert found.design.conditional_on == "publisher's coins"


@pytest.mark.parametrize("estimator", ["unbiased", "uniform"])
@given(st.floats(-50, 50), st.floats(0, 30), st.integers(0, 20), st.integers(0, 20))
def test_whatever_comes_out_is_shown_within_the_bounds_and_cuts_are_noted(estimator, value, error, least, more):
    """Value in interval, interval in bounds; a note if and only if more than a rounding error was cut."""
    way = Way(unit="people", estimator=estimator, confidence=0.9)
    bounds, over = (least, least + more), "publisher's coins" if estimator == "unbiased" else "model"
    found = way.estimate(value, Spread(noise=error**2), bounds, over=over)
    assert bounds[0] <= found.low <= found.value <= found.high <= bounds[1]
    if found.exact:
        assert (found.conditional_on, found.value) == ("nothing", least)
        return
    low, high = value - way.width * error, value + way.width * error
    off = {
        "value": abs(found.value - value),
        "interval": max(abs(end - min(max(end, bounds[0]), bounds[1])) for end in (low, high)),
    }
    assume(all(abs(each - 1e-6) > 1e-8 for each in off.values()))  # on the line itself, either is right
    assert [name for name in off if name in found.note] == [name for name, each in off.items() if each > 1e-6]
    assert (found.design is None) == (over == "model")
    if found.design is not None:
        assert (found.design.value, found.design.note) == (value, "")
        assert (found.design.low, found.design.high) == pytest.approx((low, high))


def test_a_table_of_estimates_can_be_read_by_group_as_json_and_as_arrow(release: discreet.Release) -> None:
    """One row a group, with the groups' columns first."""
    groups = release.count_by("sex", "ill", where="age < 3")
    assert groups.columns == ("sex", "ill")
    assert len(groups) == 8
    assert groups["F", "a"] == release.count("sex = 'F' AND ill = 'a' AND age < 3")
    assert release.count_by("sex")["M"] == release.count("sex = 'M'")
    with pytest.raises(KeyError):
        groups["F", "z"]
    content = json.loads(json.dumps(groups.as_json(), allow_nan=False))
    assert [list(each)[:3] for each in content] == [["sex", "ill", "value"]] * 8
    frame = groups.to_arrow()
    assert frame.column_names[:3] == ["sex", "ill", "value"]
    assert frame["value"].to_pylist() == [each.value for _, each in groups]
    assert str(groups).count("\n") == 7


def test_a_release_in_which_every_sensitive_cell_is_missing_can_be_asked(tmp_path: Path) -> None:
    """A missing cell is a value like others, also where it is the only one that occurs."""
    schema = discreet.Schema(
        quasi_identifiers=("age",),
        sensitive="ill",
        domains={"age": Integers(low=0, high=4), "ill": Listed(values=ILLS, missing=True)},
    )
    policy = discreet.Policy(schema=schema, mechanism=discreet.Buckets(tolerance=discreet.Tolerance(floor=1)))
    rows = pa.table({"age": [0, 1, 1, 2], "ill": pa.array([None] * 4, pa.string())})
    parquet.write_table(rows, tmp_path / "rows.parquet")
    table = discreet.read_table(tmp_path / "rows.parquet", policy)
    release = discreet.publish(table, policy, to=tmp_path / "release", seed=1)
    table.close()
    try:
        assert release.count("age = 1").value == 2
        assert release.count("age = 1 AND ill IS NULL").value == 2
        assert release.count("ill = 'a'").value == 0
        assert release.count("ill LIKE 'a%' OR age = 2").value == 1
    finally:
        release.close()


def test_many_questions_are_answered_in_batches_with_the_same_answers(tmp_path, monkeypatch):
    """What is held in memory at a time changes no answer and no order."""
    data, policy_file = write_hospital(tmp_path / "h", 2_000)
    policy = discreet.Policy.load(policy_file)
    table = discreet.read_table(data, policy)
    release = discreet.publish(table, policy, to=tmp_path / "release", seed=1)
    table.close()
    asked = [f"age > {age} AND disease IN ('Flu', 'Asthma') OR age = {age}" for age in range(0, 90, 3)]
    together = release.count_many(asked)
    monkeypatch.setattr(releases, "_MOST_MATCHES", 7 * 700)
    assert release.count_many(asked) == together
    monkeypatch.setattr(releases, "_MOST_MATCHES", 1)
    assert release.count_many(asked) == together
    release.close()

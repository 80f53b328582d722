"""One who holds values for improbable: exact Bayes on small buckets, and whole audits where beliefs help and do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attack.attack import Finding
from discreet.attack.audit import audit
from discreet.attack.buckets.low_prior import LowPrior, drawn_truth, telling_columns
from discreet.attack.buckets.priors import People, posterior, statistics
from discreet.attack.buckets.truth import Layout, Truth
from discreet.attack.report import AuditReport
from discreet.attack.target import NO_TABLE
from discreet.errors import PolicyError
from discreet.evaluate.scratch import opened, released, schema_of
from discreet.schema.policy import Policy

ROWS = 4_000
VALUES = ("a", "b", "c", "d", "e", "f", "g", "h")


def table(tied: float, seed: int = 0) -> pa.Table:
    """People with a group and a value; with this probability the group says which of two values, else any."""
    coins = np.random.default_rng(seed)
    group = np.arange(ROWS) % 4
    value = np.where(coins.random(ROWS) < tied, 2 * group + coins.integers(0, 2, ROWS), coins.integers(0, 8, ROWS))
    return pa.table(
        {
            "group": [f"group {each}" for each in group],
            "street": [f"street {each}" for each in coins.integers(0, 40, ROWS)],
            "value": [VALUES[each] for each in value],
        }
    )


@contextmanager
def audited(rows: pa.Table, mechanism: object, attack: LowPrior | None = None) -> Iterator[AuditReport]:
    with (
        opened(rows, Policy(schema=schema_of(rows, "value"), mechanism=mechanism)) as people,
        released(people, mechanism, 1) as release,
    ):
        yield audit(release, people, attacks=[attack or LowPrior()])


def found(report: AuditReport, kind: str, which: str = "") -> Finding:
    (one,) = [each for each in report.findings if each.variant.startswith(kind) and each.variant.endswith(which)
              and (which or "above" not in each.variant)]  # fmt: skip
    return one


def test_the_two_scores_of_the_paper():
    """Table 1(b): Joe's bucket has 99, 97 and 82; the first two are held r times less probable, so 82 is 1/(1 + 2r)."""
    for r in (Fraction(1), Fraction(1, 10), Fraction(1, 1000), Fraction(0)):
        assert posterior([1, 1, 1], [r, r, Fraction(1)])[2] == 1 / (1 + 2 * r)
    assert posterior([1, 1, 1], [Fraction(1, 10), Fraction(1, 10), Fraction(1)])[2] == Fraction(5, 6)


@pytest.mark.parametrize("bucket", ["aab", "abcd", "aabbc", "abbbcc"])
def test_beliefs_are_exact_bayes_over_all_bijections(bucket):
    """A world weighs what is held of the person, times what is held of each of the others: what is true of anybody."""
    usual = {"a": Fraction(1, 2), "b": Fraction(1, 4), "c": Fraction(1, 8), "d": Fraction(1, 8)}
    held = {"a": Fraction(1, 100), "b": Fraction(1, 5), "c": Fraction(29, 100), "d": Fraction(1, 2)}
    weight: Counter[str] = Counter()
    for own, *others in permutations(bucket):
        world = held[own]
        for each in others:
            world *= usual[each]
        weight[own] += world
    counts = [bucket.count(x) for x in "abcd"]
    priors = [held[x] / usual[x] for x in "abcd"]
    assert posterior(counts, priors) == [Fraction(weight[x]) / sum(weight.values()) for x in "abcd"]
    people = People(
        bucket=np.zeros(len(set(bucket)), dtype=int),
        true=np.array(["abcd".index(x) for x in sorted(set(bucket))]),
        group=np.zeros(len(set(bucket)), dtype=int),
        counts=np.array([counts]),
    )
    exact = [float(weight[x] / sum(weight.values())) for x in sorted(set(bucket))]
    assert people.reached(np.array(priors, dtype=float) * np.ones((len(exact), 1))) == pytest.approx(exact)


def test_who_holds_of_a_person_what_he_holds_of_all_learns_the_share():
    """c_x / S, however unlike the frequencies are: the adversary that the promise is about."""
    usual = [Fraction(97, 100), Fraction(2, 100), Fraction(1, 100)]
    assert posterior([1, 1, 2], [each / each for each in usual]) == [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]


def test_statistics_that_tell_much_beat_the_promise_of_one_bucket():
    """Where the group says which values are likely, the bucket and the group together say who has what."""
    with audited(table(0.95), discreet.Anatomy(l=4)) as report:
        mean, sure = found(report, "statistics"), found(report, "statistics", "above 0.9")
        assert mean.bound == Fraction(1, 4)
        assert mean.rate.low > 0.6
        assert mean.baseline == pytest.approx(0.95 / 2, abs=0.08)
        assert sure.rate.low > 0.2 > sure.baseline
        assert mean.details["columns"] == 1
        assert report.holds
        assert not any(each.covered for each in report.findings)


def test_a_quarter_of_such_ties_is_found_too():
    """A group that says a quarter as much still raises beliefs beyond the bucket's share."""
    with audited(table(0.95 / 4), discreet.Anatomy(l=4)) as report:
        assert found(report, "statistics").details["from_the_bucket_alone"] == pytest.approx(0.25, abs=0.01)
        assert found(report, "statistics").rate.rate > 0.27
    with audited(table(0.5), discreet.Anatomy(l=4)) as report:
        assert found(report, "statistics").rate.low > 0.27


def test_statistics_that_tell_nothing_stay_at_the_share():
    """Values that have nothing to do with the group: the bucket's share, and nobody is believed beyond one half."""
    with audited(table(0.0), discreet.Anatomy(l=4)) as report:
        assert found(report, "statistics").rate.rate == pytest.approx(0.25, abs=0.01)
        assert found(report, "statistics", "above 0.5").rate.rate == 0


def test_priors_that_strike_all_others_leave_the_truth():
    """Held impossible: of .9^3 of people in buckets of four distinct values, all others are struck."""
    with audited(table(0.0), discreet.Anatomy(l=4), LowPrior(ratios=(0.0, 0.1))) as report:
        rate = found(report, "drawn, r = 0,", "above 0.9").rate
        assert rate.low < 0.9**3 < rate.high
        weak = found(report, "drawn, r = 0.1", "above 0.9")
        assert weak.rate.rate == 0  # three values a tenth as probable: 10/13 at most
        exact = sum(
            comb * 0.9**low * 0.1 ** (3 - low) / (1 + 0.1 * low + (3 - low)) for low, comb in enumerate((1, 3, 3, 1))
        )
        mean = found(report, "drawn, r = 0.1").rate
        assert mean.low < exact < mean.high


def test_larger_buckets_are_safer():
    """Two values are struck to one more often than seven."""
    with audited(table(0.0), discreet.Anatomy(l=2)) as two, audited(table(0.0), discreet.Anatomy(l=7)) as seven:
        few, many = (found(each, "drawn, r = 0.001", "above 0.9").rate for each in (two, seven))
        assert few.low < 0.9 < few.high
        assert many.low < 0.9**6 < many.high


def test_a_ratio_of_one_is_no_belief():
    """Nothing is held for improbable: what the bucket says, within the tolerance, and nobody beyond one half."""
    with audited(table(0.0), discreet.Anatomy(l=4), LowPrior(ratios=(1.0,))) as report:
        mean = found(report, "drawn")
        assert mean.rate.rate == pytest.approx(mean.details["from_the_bucket_alone"])
        assert mean.rate.rate <= mean.bound
        assert found(report, "drawn", "above 0.5").rate.rate == 0


def test_one_value_that_everybody_has_is_known_before_and_after():
    """Where the policy does not protect the only value, a bucket adds nothing to what is believed."""
    rows = pa.table({"group": [f"group {each % 4}" for each in range(40)], "value": ["a"] * 40})
    with audited(rows, discreet.Buckets(tolerance=discreet.Tolerance(floor=1))) as report:
        for each in report.findings:
            assert each.rate.rate == each.baseline == pytest.approx(1)


def test_columns_are_chosen_by_what_they_tell_of_others():
    """The group tells and the street does not; where nothing tells, no column is chosen."""
    coins = np.random.default_rng(3)
    group, street = coins.integers(0, 4, ROWS), coins.integers(0, 40, ROWS)
    codes = {"street": street, "group": group}
    assert telling_columns(codes, 2 * group + coins.integers(0, 2, ROWS), 8) == ("group",)
    assert telling_columns(codes, coins.integers(0, 8, ROWS), 8) == ()


def test_statistics_of_a_group_without_people_are_those_of_all():
    """And of a group with many, its own shares."""
    group, true = np.repeat([0, 1], 500), np.repeat([0, 1], 500)
    table_ = statistics(group, true, 3, 2)
    assert table_[2] == pytest.approx([0.5, 0.5])
    assert table_[0, 0] > 0.99 < table_[1, 1]


def test_the_truth_of_a_row_is_drawn_as_often_as_it_is_probable():
    """Three rows: certain, one in four, and even; the law of the draw within six standard deviations."""
    layout = Layout(row=np.array([0, 1, 2, 1, 2]), value=np.array([3, 0, 1, 2, 4]), entry=np.arange(5))
    truth = Truth(layout=layout, weight=np.array([1.0, 0.25, 0.5, 0.75, 0.5]), certain=np.array([True, False, False]))
    coins = np.random.default_rng(4)
    drawn = np.array([drawn_truth(truth, coins) for _ in range(4_000)])
    assert (drawn[:, 0] == 3).all()
    assert set(drawn[:, 1]) == {0, 2}
    assert (drawn[:, 1] == 0).mean() == pytest.approx(0.25, abs=6 * (0.1875 / 4_000) ** 0.5)
    assert (drawn[:, 2] == 1).mean() == pytest.approx(0.5, abs=6 * (0.25 / 4_000) ** 0.5)


def test_a_ratio_is_between_nought_and_one():
    """Said in one sentence when the attack is made."""
    with pytest.raises(PolicyError, match=r"ratios \(2\) must be between 0 and 1"):
        LowPrior(ratios=(2.0,))


def test_without_a_table_it_has_nothing_to_do():
    """Only the table tells whose value is believed."""
    rows, mechanism = table(0.0), discreet.Anatomy(l=4)
    with (
        opened(rows, Policy(schema=schema_of(rows, "value"), mechanism=mechanism)) as people,
        released(people, mechanism, 1) as release,
    ):
        assert dict(audit(release, attacks=[LowPrior()]).left_out)["low-prior"] == NO_TABLE

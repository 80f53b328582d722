"""Guessing from a bucket and from all buckets: what is right, what was believed, and what the promise allows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from cases import SHARED, needs_shared

import discreet
from discreet.attack.attack import Finding
from discreet.attack.buckets.guessing import calibration
from discreet.attack.buckets.learning import Learning
from discreet.attack.buckets.within import WithinBucket
from discreet.evaluate.reproduce.data import ADULT, Sources
from discreet.evaluate.scratch import opened, released, schema_of

ROWS, VALUES = 3_000, 8
QUARTER = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"))


def people(strength: float, seed: int, rows: int = ROWS) -> pa.Table:
    """People whose value follows from two columns with some probability, and is else any."""
    coins = np.random.default_rng(seed)
    one, two, number = coins.integers(0, 4, rows), coins.integers(0, 2, rows), coins.integers(0, 40, rows)
    own = coins.random(rows) < strength
    value = np.where(own, one * 2 + two, coins.integers(0, VALUES, rows))
    columns = {"one": one, "two": two, "number": number, "value": value}
    return pa.table({name: [f"{name[0]}{each}" for each in codes.tolist()] for name, codes in columns.items()})


@contextmanager
def found(rows: pa.Table, mechanism: object, *attacks: object, **lent: object) -> Iterator[dict[str, Finding]]:
    """What attacks find in a release of these rows, by title."""
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        report = discreet.audit(release, table, attacks=list(attacks), **lent)
        yield {each.title: each for each in report.findings}


def test_who_looks_at_one_bucket_is_right_as_often_as_its_largest_share():
    """The rate is the mean of the largest share, which the promise bounds; nothing of the people's relations helps."""
    for strength in (0.0, 1.0):
        with found(people(strength, 2), QUARTER, WithinBucket()) as findings:
            most = findings["within-bucket"]
            assert most.covered
            assert most.rate.rate == pytest.approx(0.25, abs=0.01)
            assert most.rate.low <= most.bound <= Fraction(1, 4)
            assert most.details["mean_posterior_of_truth"] <= 0.25 + 1e-9
            assert most.details["share_above_tolerance"] == 0


def test_the_bound_of_guesses_is_the_mean_tolerance_of_what_is_guessed():
    """In exact fractions: a guess of a value that nobody protects may always be right."""
    tolerance = discreet.Tolerance(floor="1/5", values={"v0": 1})
    rows = people(0.0, 3)
    with found(rows, discreet.Buckets(tolerance=tolerance), WithinBucket()) as findings:
        best, daring = findings["within-bucket"], findings["within-bucket, most daring guess"]
        assert Fraction(1, 5) < best.bound <= 1
        assert isinstance(best.bound, Fraction)
        assert daring.bound == Fraction(1, 5)
        assert daring.rate.rate <= 0.2 + 1e-6


def test_the_learning_attacker_finds_a_relation_and_nothing_where_there_is_none():
    """Full strength, a quarter of it, and none: he gains over the bucket with the first two and not with the last."""
    gains = {}
    for strength in (1.0, 0.25, 0.0):
        with found(people(strength, 4), QUARTER, WithinBucket(), Learning()) as findings:
            learned, within = findings["learning"], findings["within-bucket"]
            assert not learned.covered
            gains[strength] = learned.rate.rate - within.rate.rate
            alone = findings["learning, without anybody's bucket"]
            assert alone.rate.rate <= learned.rate.rate + 0.02
    assert gains[1.0] > 0.6
    assert gains[0.25] > 0.05
    assert abs(gains[0.0]) < 0.04


def test_people_who_were_kept_out_are_guessed_by_what_is_known_of_people_like_them():
    """A relation holds for them too, so the control is high; where there is none they are at chance."""
    for strength, low, high in ((1.0, 0.9, 1.0), (0.0, 0.05, 0.2)):
        kept_out = people(strength, 5, 800)
        with found(people(strength, 4), QUARTER, Learning(), kept_out=kept_out) as findings:
            control = findings["learning"].control
            assert control is not None
            assert control.attempts == 800
            assert low <= control.rate <= high


def test_guesses_are_calibrated_where_the_model_is_right():
    """In bins of many people, what is believed is how often it is right, to within a tenth."""
    with found(people(0.6, 6), QUARTER, Learning()) as findings:
        bins = [each for each in findings["learning"].details["calibration"] if each["people"] > 200]
        assert bins
        assert all(abs(each["believed"] - each["right"]) < 0.1 for each in bins)


def test_calibration_counts_every_guess_once():
    """Bins are tenths; the last one holds certainty."""
    believed, right = np.array([0.05, 0.15, 0.15, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    assert calibration(believed, right) == [
        {"believed": pytest.approx(0.05), "right": 0.0, "people": 1},
        {"believed": pytest.approx(0.15), "right": 0.5, "people": 2},
        {"believed": 1.0, "right": 1.0, "people": 1},
    ]


def test_the_share_nearest_to_its_tolerance_is_found_among_all_buckets():
    """Against a loop over every bucket, in fractions."""
    rows = people(0.5, 7)
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(theta="1.5", floor="0.1"))
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        (most, *_) = discreet.audit(release, attacks=["within-bucket"]).findings
        own = release.composition
        entries = list(zip(own.bucket.tolist(), own.value.tolist(), own.count.tolist(), strict=True))
        limits = {
            value: min(Fraction(1), Fraction(3, 2) * Fraction(count, ROWS) + Fraction(1, 10))
            for value, count in table.histogram.items()
        }
        sizes = [0] * len(own.ids)
        for bucket, _, count in entries:
            sizes[bucket] += count
        worst = max(Fraction(count, sizes[bucket]) / limits[own.values[value]] for bucket, value, count in entries)
    assert Fraction(most.details["count"], most.details["size"]) / most.bound == worst <= 1


@needs_shared(ADULT)
def test_on_adult_the_learning_attacker_is_right_for_58_percent_at_least():
    """Occupation, shares up to 1/4, random buckets; one who does no better is too weak to judge a release by."""
    rows = Sources(folder=SHARED, quick=False).adult()
    named = ["value" if name == "occupation" else name for name in rows.column_names]
    with found(rows.rename_columns(named), QUARTER, Learning()) as findings:
        assert findings["learning"].rate.rate >= 0.58
        assert findings["learning"].details["share_above_tolerance"] > 0.5

"""Striking what people like this one do not have: what is learned, who is struck, and what it gains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.attack.attack import Finding
from discreet.attack.buckets.beliefs import shares
from discreet.attack.buckets.negative import ESTIMATES, MODEL, NegativeAssociation, in_effect, left_over, struck_values
from discreet.engine.encoding import Encoding
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.regression import Regression
from discreet.evaluate.scratch import opened, released, schema_of

QUARTER = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"))
MAN, WOMAN = 0, 1
FLU, PROSTATE, OVARIAN = 0, 1, 2
NAME = "negative-association"


def learnt() -> SimpleNamespace:
    """Buckets {m, m}: flu, prostate; {f, f}: flu, ovarian; {m, f}: prostate, ovarian; {m, f}: flu, flu."""
    composition = Composition(
        ids=np.arange(4),
        encoding=Encoding(["flu", "prostate", "ovarian"]),
        bucket=np.array([0, 0, 1, 1, 2, 2, 3]),
        value=np.array([FLU, PROSTATE, FLU, OVARIAN, PROSTATE, OVARIAN, FLU]),
        count=np.array([1, 1, 1, 1, 1, 1, 2]),
    )
    sexes = np.array([MAN, MAN, WOMAN, WOMAN, MAN, WOMAN, MAN, WOMAN])
    qit = SimpleNamespace(bucket=np.repeat(np.arange(4), 2))
    return SimpleNamespace(
        composition=composition, qit=qit, sexes=sexes, regression=Regression(composition=composition)
    )


def test_the_regression_learns_who_cannot_have_what():
    """p(female | flu, prostate, ovarian) = .5, -.5, 1.5, so women have no prostate and men no ovarian cancer."""
    ward = learnt()
    female = ward.sexes == WOMAN
    found = [float(ward.regression.weights((x,))[ward.qit.bucket][female].sum()) for x in range(3)]
    assert found / ward.composition.totals == pytest.approx([0.5, -0.5, 1.5])
    struck = struck_values(ward.regression, ward.qit.bucket, ward.sexes, 2, doubt=0, rare=0.25, expected=0)
    assert struck.tolist() == [[False, False, True], [False, True, False]]


def test_the_man_beside_a_woman_has_prostate_cancer_with_certainty():
    """Bucket 3 says 1/2; with what is learned struck it says 1, and of flu it says what it did."""
    ward = learnt()
    table = struck_values(ward.regression, ward.qit.bucket, ward.sexes, 2, doubt=0, rare=0.25, expected=0)
    struck = in_effect(ward, lambda rows: table[ward.sexes[rows]].astype(float))
    rows = np.arange(8)
    before, after = shares(ward)(rows), left_over(ward, struck)(rows)
    assert before[4].tolist() == [0, 0.5, 0.5]
    assert after[4].tolist() == [0, 1, 0]
    assert after[5].tolist() == [0, 0, 1]
    assert (after[[0, 1, 2, 3, 6, 7]] == before[[0, 1, 2, 3, 6, 7]]).all()


def test_doubt_strikes_nothing_in_so_small_a_table():
    """Eight people: the estimates are as far off as they are large, and two standard errors leave nothing certain."""
    ward = learnt()
    assert not struck_values(ward.regression, ward.qit.bucket, ward.sexes, 2, doubt=2, rare=0.25, expected=0).any()


def test_nothing_is_struck_where_it_would_be_all():
    """Somebody for whom a bucket's every value is struck keeps all of them."""
    ward = learnt()
    struck = in_effect(ward, lambda rows: np.ones((len(rows), 3)))
    assert not struck(np.arange(8)).any()


def people(strength: float, seed: int, rows: int = 6_000, values: int = 8) -> pa.Table:
    """Men and women; with some probability the value is one of the half that only their own sex has, and else any."""
    coins = np.random.default_rng(seed)
    sex, number = coins.integers(0, 2, rows), coins.integers(0, 12, rows)
    own = sex * (values // 2) + coins.integers(0, values // 2, rows)
    value = np.where(coins.random(rows) < strength, own, coins.integers(0, values, rows))
    columns = {"sex": sex, "number": number, "value": value}
    return pa.table({name: [f"{name[0]}{each}" for each in codes.tolist()] for name, codes in columns.items()})


@contextmanager
def found(rows: pa.Table, mechanism: object = QUARTER, attack: object = None) -> Iterator[dict[str, Finding]]:
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 1) as release:
        report = discreet.audit(release, table, attacks=[attack or NegativeAssociation()])
        assert report.holds
        yield {each.title: each for each in report.findings}


@pytest.mark.parametrize("way", [ESTIMATES, MODEL])
def test_what_a_sex_never_has_is_struck_and_guesses_gain(way):
    """Half of all values struck for everybody: nobody wrongly, and of four values about two are left to guess from."""
    with found(people(1.0, 1)) as findings:
        after = findings[f"{NAME}, {way}"]
        assert findings[f"{NAME}, people struck, {way}"].rate.rate > 0.9
        assert findings[f"{NAME}, wrongly struck, {way}"].rate.rate < 0.001
        assert after.details["right_before"] == pytest.approx(0.25, abs=0.01)
        assert after.rate.low > 0.4 > after.bound
        assert after.details["posterior_of_truth_after"] > 0.4 > 0.26 > after.details["posterior_of_truth_before"]
        assert not after.covered


@pytest.mark.parametrize("way", [ESTIMATES, MODEL])
def test_where_values_do_not_hang_together_with_people_nothing_is_gained(way):
    """Hardly anybody is struck, and guesses stay where the buckets leave them."""
    with found(people(0.0, 2)) as findings:
        assert findings[f"{NAME}, people struck, {way}"].rate.rate < 0.02
        assert findings[f"{NAME}, {way}"].rate.low <= 0.25 <= findings[f"{NAME}, {way}"].rate.high


def test_those_wrongly_struck_are_counted():
    """With exceptions of one in sixteen the same is struck, and one of about twelve of those struck has it."""
    with found(people(0.875, 3)) as findings:
        wrong = findings[f"{NAME}, wrongly struck, {ESTIMATES}"]
        assert wrong.rate.low > 0.01
        assert wrong.rate.high < 0.15


def test_a_weaker_relation_is_found_with_less_caution():
    """At a quarter of the strength nothing is rare enough for the usual rule; whoever strikes sooner still gains."""
    with found(people(0.25, 4)) as findings:
        assert findings[f"{NAME}, people struck, {ESTIMATES}"].rate.rate < 0.02
    with found(people(0.25, 4), attack=NegativeAssociation(rare=0.9, doubt=0.5)) as findings:
        after = findings[f"{NAME}, {ESTIMATES}"]
        assert findings[f"{NAME}, people struck, {ESTIMATES}"].rate.rate > 0.5
        assert after.rate.low > 0.25


def test_near_buckets_are_struck_by_the_same_rule():
    """Their regression goes window by window; what half of the numbers never have is found there too."""
    coins = np.random.default_rng(5)
    number = coins.choice(4, 12_000, p=[0.28, 0.26, 0.24, 0.22])
    value = number % 2 * 4 + coins.integers(0, 4, 12_000)
    rows = pa.table({"number": [f"n{each}" for each in number], "value": [f"v{each}" for each in value]})
    near = discreet.Buckets(tolerance=discreet.Tolerance(floor="1/4"), assignment="near", window=6_000)
    with found(rows, near) as findings:
        after = findings[f"{NAME}, {ESTIMATES}"]
        assert after.details["right_before"] < 0.26 < 0.4 < after.rate.low
        assert findings[f"{NAME}, wrongly struck, {ESTIMATES}"].rate.rate < 0.001


def test_a_stranger_is_told_only_how_many_are_struck():
    """Without the table there are no rates of right guesses."""
    rows = people(1.0, 6, 2_000)
    policy = discreet.Policy(schema=schema_of(rows, "value"), mechanism=QUARTER)
    with opened(rows, policy) as table, released(table, QUARTER, 1) as release:
        report = discreet.audit(release, attacks=[NegativeAssociation()])
    assert [each.variant for each in report.findings] == [f"people struck, {way}" for way in (ESTIMATES, MODEL)]


@pytest.mark.parametrize("wrong", [{"doubt": -1.0}, {"expected": float("nan")}, {"rare": 0.0}, {"rare": 1.0}])
def test_a_rule_without_sense_is_refused(wrong):
    """Each parameter says what it must be."""
    with pytest.raises(discreet.errors.PolicyError, match=f"{next(iter(wrong))} .*must be"):
        NegativeAssociation(**wrong)

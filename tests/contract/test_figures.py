"""Differences, ratios, shares, sums and means: the same from SQL, Python and arithmetic, in every family that can."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cases import Case, House, only, opened, saved, ward_frame

import discreet
from discreet.estimate.estimate import Estimate

FEMALE, MALE = "disease = 'Flu' AND gender = 'F'", "disease = 'Flu' AND gender = 'M'"
OLD = "disease IN ('Flu', 'HIV') AND age > 50"
ROWS_AS_THEY_ARE = only(lambda case: "qit" in case.tables, "quasi-identifiers are not published as they are")


@pytest.fixture
def release(published: House) -> Iterator[discreet.Release]:
    with discreet.open_release(published.folder / "one") as release:
        yield release


@pytest.fixture
def able(case: Case, release: discreet.Release) -> discreet.Release:
    if case.name == "response":
        pytest.skip("the fourth family answers counts alone")
    return release


@pytest.fixture(scope="module")
def ward() -> pd.DataFrame:  # type: ignore[override]
    return ward_frame()


def same(one: Estimate, other: Estimate) -> bool:
    """All that is said of both, but for rounding."""
    numbers = [(one.low, other.low), (one.high, other.high), *zip(one.bounds, other.bounds, strict=True)]
    if one.value is None or other.value is None:
        return one.value is other.value
    close = all(math.isclose(*each, rel_tol=1e-6, abs_tol=1e-6) for each in [*numbers, (one.value, other.value)])
    return close and (one.unit, one.conditional_on) == (other.unit, other.conditional_on)


def test_sql_python_and_arithmetic_agree(able):
    """A difference and a ratio are the same whichever way they are asked for."""
    a, b = able.count_many([FEMALE, MALE])
    only_a, only_b = (f"COUNT(*) FILTER (WHERE {each})" for each in (FEMALE, MALE))
    assert same(a - b, able.difference(FEMALE, MALE))
    assert same(a - b, able.query(f"SELECT {only_a} - {only_b} FROM release"))
    assert same(a / b, able.ratio(FEMALE, MALE))
    assert same(a / b, able.query(f"SELECT {only_a} / {only_b} FROM release"))
    assert same(able.mean("age", FEMALE), able.query(f"SELECT AVG(age) FROM release WHERE {FEMALE}"))
    assert same(able.sum("AGE", FEMALE), able.query(f"SELECT sum(age) FROM release WHERE {FEMALE}"))


def test_an_answer_holds_its_value_and_stays_within_its_bounds(able):
    """Of every figure: low <= value <= high, inside of bounds; the design is the same figure uncut."""
    for found in (
        able.difference(FEMALE, OLD),
        able.ratio(OLD, FEMALE),
        able.share("gender = 'F'", of=OLD),
        able.sum("age", OLD),
        able.mean("age", OLD),
    ):
        assert found.bounds[0] <= found.low <= found.high <= found.bounds[1]
        assert found.value is None or found.low <= found.value <= found.high
        assert str(found).strip()
        assert set(found.as_json()) == {each for each in vars(found) if each != "origin"}


def test_a_difference_adds_up_with_its_parts(able):
    """Designs: (a - b) + b is a, (2 a) / a is 2, and a share of what excludes one another is what is left to 1."""
    a, b = able.count_many([FEMALE, MALE], estimator="unbiased")
    back = (a - b) + b
    if a.design is not None and back.design is not None:
        assert back.design.value == pytest.approx(a.design.value)
        assert back.design.standard_error == pytest.approx(a.design.standard_error, rel=0.02, abs=0.01)
    twice = (a * 2) / a
    if twice.value is not None and twice.standard_error is not None:  # else what it is divided by may be nothing
        assert twice.value == pytest.approx(2)
        assert twice.standard_error == pytest.approx(0, abs=1e-6)
    one, other = able.share("gender = 'F'", of="disease = 'Flu'"), able.share("gender = 'M'", of="disease = 'Flu'")
    if one.value is not None and one.design is not None and other.design is not None:
        assert one.design.value + other.design.value == pytest.approx(1)


@ROWS_AS_THEY_ARE
def test_sums_and_means_of_quasi_identifiers_are_exact(able, ward):
    """Where the sensitive column is in no condition, they are those of the table, digit by digit."""
    women = ward[ward["gender"] == "F"]
    total = able.sum("age", "gender = 'F'")
    assert total.exact
    assert total.bounds == (int(women["age"].sum()),) * 2
    mean = able.mean("age", "gender = 'F'")
    assert mean.exact
    assert mean.value == float(Fraction(int(women["age"].sum()), len(women)))
    by_code = able.query("SELECT postcode, AVG(age) FROM release GROUP BY postcode")
    for code, own in ward.groupby("postcode"):
        assert by_code[code].value == pytest.approx(own["age"].mean(), abs=1e-12)
        assert by_code[code].exact
    assert able.difference("gender = 'F'", "gender = 'M'").bounds == (2 * len(women) - len(ward),) * 2
    assert able.share("gender = 'F'").value == len(women) / len(ward)


@ROWS_AS_THEY_ARE
def test_bounds_always_hold_the_truth(able, ward):
    """Of counts, sums and ratios that mix both tables."""
    flu = ward[ward["disease"] == "Flu"]
    women = flu[flu["gender"] == "F"]
    for found, truth in (
        (able.difference(FEMALE, MALE), 2 * len(women) - len(flu)),
        (able.ratio(FEMALE, MALE), len(women) / (len(flu) - len(women))),
        (able.share("gender = 'F'", of="disease = 'Flu'"), len(women) / len(flu)),
        (able.sum("age", FEMALE), women["age"].sum()),
        (able.mean("age", FEMALE), women["age"].mean()),
    ):
        assert found.bounds[0] <= truth <= found.bounds[1]


def test_bands_are_counted_as_their_conditions_are(release):
    """By a quotient, by CASE and by a level of a hierarchy: each group is the count of its condition."""
    for sql, conditions in {
        "age // 40": {
            0: "age BETWEEN 0 AND 39",
            1: "age BETWEEN 40 AND 79",
            2: "age BETWEEN 80 AND 119",
        },
        "CASE WHEN age < 18 THEN 'young' WHEN age < 65 THEN 'grown' ELSE 'old' END": {
            "young": "age < 18",
            "grown": "age >= 18 AND age < 65",
            "old": "age >= 65",
        },
        "level(postcode, 1)": {"90**": "postcode = '9001'", "02**": "postcode IN ('0213', '0214')"},
    }.items():
        groups = release.query(f"SELECT {sql}, COUNT(*) FROM release WHERE disease = 'Flu' GROUP BY {sql}")
        assert [group for (group,), _ in groups] == list(conditions)
        for group, condition in conditions.items():
            assert groups[group].bounds == release.count(f"disease = 'Flu' AND {condition}").bounds
    named = release.query("SELECT age // 40 AS band, gender, COUNT(*) FROM release GROUP BY band, gender")
    assert named.columns == ("age // 40", "gender")


def test_estimates_of_two_releases_are_not_worked_with(able, published):
    """How they vary together is not known; nor is it of one that was copied away from its release."""
    a = able.count(FEMALE)
    with (
        discreet.open_release(published.folder / "one") as again,
        pytest.raises(discreet.QueryError, match="one open release"),
    ):
        a - again.count(MALE)
    for gone in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):  # noqa: S301 - our own
        assert gone == a
        with pytest.raises(discreet.QueryError, match="has left its release"):
            a - gone
    with pytest.raises(discreet.QueryError, match="take a number"):
        a - "three"


@only(lambda case: case.name == "response", "every other family answers sums")
def test_a_family_that_answers_counts_alone_says_so(release):
    """In one sentence, and `check` says the same."""
    for ask in (release.query, release.check):
        with pytest.raises(discreet.QueryError, match="answers counts alone"):
            ask("SELECT AVG(age) FROM release")


def test_mistakes_are_one_sentence(able):
    """A name that does not exist, a column of texts, a SELECT where a condition is wanted, an estimator for counts."""
    for wrong, words in (
        (lambda: able.mean("ages"), "did you mean age?"),
        (lambda: able.sum("disease"), "disease holds text"),
        (lambda: able.difference("SELECT AVG(age) FROM release", FEMALE), "a condition was expected"),
        (lambda: able.count("SELECT AVG(age) FROM release"), "use query for sums and means"),
        (lambda: able.query("SELECT AVG(age) FROM release", estimator="uniform"), "answers counts alone"),
        (lambda: able.share(FEMALE, confidence=2), "confidence"),
        (lambda: able.ratio(FEMALE, "nothing > 3"), "column nothing does not exist"),
        (lambda: able.query("SELECT SUM(age) / 0 FROM release"), "nothing can be divided by 0"),
        (lambda: able.count(FEMALE) / 0, "nothing can be divided by 0"),
    ):
        with pytest.raises(discreet.QueryError, match=words.replace("?", r"\?")) as refused:
            wrong()
        assert "\n" not in str(refused.value)


def test_a_table_that_is_handed_in_serves_the_whole_figure(able):
    """It is there until the figure is worked out, and gone after: such an estimate is not worked with again."""
    aux = {"some": {"code": ["0213", "0214"]}}
    inside = f"{FEMALE} AND postcode IN (SELECT code FROM some)"
    same_as = f"{FEMALE} AND postcode IN ('0213', '0214')"
    assert same(able.difference(inside, MALE, aux=aux), able.difference(same_as, MALE))
    assert same(able.mean("age", inside, aux=aux), able.mean("age", same_as))
    answered = able.count(inside, aux=aux)
    with pytest.raises(discreet.QueryError, match="needed a table in aux"):
        answered - able.count(MALE)


def test_what_counts_nothing_stands_without_a_word(able):
    """A ratio is a number; a mean says of what."""
    assert able.ratio(FEMALE, MALE).shown_unit == ""
    assert able.mean("age", FEMALE).shown_unit.startswith(" mean of age")


def test_nothing_over_nothing_is_unknown_and_not_an_error(able):
    """A mean over nobody has no value, and its note says why."""
    for found in (able.mean("age", "age < 0"), able.ratio(FEMALE, "age < 0")):
        assert found.value is None
        assert "nothing" in found.note
        assert str(found).startswith("unknown")
        assert found.as_json()["value"] is None


@pytest.mark.parametrize(
    "mechanism",
    [
        discreet.Buckets(tolerance=discreet.Tolerance(theta=3, floor="1/10")),
        discreet.AlphaBeta(prior=0.02, posterior=0.2),
        discreet.DiffGen(epsilon=4),
        discreet.Pairs(epsilon=16),
    ],
    ids=lambda mechanism: mechanism.kind,
)
def test_the_sensitive_column_may_be_the_one_of_numbers(mechanism, tmp_path):
    """Decimals below and above 0, some missing: sums and means are near those of the table, or exact."""
    coins = np.random.default_rng(4)
    change = pd.Series(coins.choice([-1.5, -0.5, 0.0, 1.0, 2.5, None], 600, p=[0.15, 0.2, 0.25, 0.2, 0.1, 0.1]))
    frame = pd.DataFrame({"age": coins.integers(0, 50, 600), "gender": coins.choice(["M", "F"], 600), "change": change})
    schema = discreet.Schema(
        quasi_identifiers=("age", "gender"),
        sensitive="change",
        domains={
            "age": discreet.Integers(low=0, high=49),
            "gender": discreet.Listed(values=("M", "F")),
            "change": discreet.Decimals(low="-1.5", high="2.5", step="0.5", missing=True),
        },
    )
    policy = saved(discreet.Policy(schema=schema, mechanism=mechanism), tmp_path / "policy.toml")
    with opened(frame, policy, tmp_path / "release", seed=1) as release:
        people = frame.drop_duplicates() if release.unit == "distinct tuples" else frame
        women = people[people["gender"] == "F"]["change"].astype(float)
        for found, truth in (
            (release.sum("change", "gender = 'F'"), women.sum()),
            (release.mean("change", "gender = 'F'"), women.mean()),
        ):
            assert found.bounds[0] <= truth <= found.bounds[1]
            assert abs(found.value - truth) < 5 * (found.high - found.low)
            assert found.low < found.high
        whole = release.mean("change")
        assert whole.exact == (release.unit == "people" and release.rows is not None)
        if whole.exact:
            assert whole.value == pytest.approx(frame["change"].astype(float).mean())

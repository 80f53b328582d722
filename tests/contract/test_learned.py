"""What a release answers that was learned from: which answer is shown, that counts add up, limits, and the guard."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from cases import CASES, House, opened, policy_of, tolerance, ward_frame

import discreet
from discreet.errors import Cancelled, OutOfTime
from discreet.estimate.buckets.learned import GUARD
from discreet.estimate.remembered import held

CASE = CASES[0]
ROWS = 1500
ASKED = "disease = 'HIV' AND age < 40"


def published(folder: Path, **options: object) -> Path:
    """A ward of some people, published with slack unless another is named."""
    mechanism = discreet.Buckets(tolerance=tolerance(), **options)
    opened(ward_frame(ROWS), policy_of(CASE, folder, mechanism=mechanism), folder / "release", seed=3).close()
    return folder / "release"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("learned"))


@pytest.fixture
def release(folder: Path) -> Iterator[discreet.Release]:
    with discreet.open_release(folder) as release:
        yield release


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is remembered yet."""
    monkeypatch.setenv("DISCREET_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch, own_cache: None) -> list[object]:
    """How often something was learned, one entry each."""
    from discreet.estimate.buckets.learning import learn as room

    calls, real = [], room.learn

    def counted(*args: object) -> object:
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(room, "learn", counted)
    return calls


# --- Counts add up -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"slack": 0}, {"composition": "even"}, {"max_size": 40}], ids=str)
def test_the_counts_of_every_bucket_hold_after_learning(options, tmp_path):
    """Summed over a bucket's rows, what was learned is the ST's COUNT for each value, and every row has one value."""
    with discreet.open_release(published(tmp_path, **options)) as release:
        weights = release.posterior
    rows = pq.read_table(tmp_path / "release" / "data" / "qit.parquet")["BID"].to_numpy()
    table = pq.read_table(tmp_path / "release" / "data" / "st.parquet").to_pydict()
    at, of_row = 0, np.zeros(len(rows))
    for bucket, count in zip(table["BID"], table["COUNT"], strict=True):
        those = np.flatnonzero(rows == bucket)
        part = weights[at : at + len(those)]
        assert float(part.sum(dtype=np.float64)) == pytest.approx(count, abs=1e-5 * len(those))
        of_row[those] += part
        at += len(those)
    assert at == len(weights)
    assert np.abs(of_row - 1).max() < 1e-5


def test_answers_to_parts_add_up_to_the_whole(release):
    """By value to the rows that match, by another column to the count of the value."""
    by_value = sum(each.value for _, each in release.count_by("disease", where="age < 40", estimator="learned"))
    assert by_value == pytest.approx(release.count("age < 40").value, abs=0.01)
    by_gender = sum(each.value for _, each in release.count_by("gender", where="disease = 'HIV'", estimator="learned"))
    assert by_gender == pytest.approx(release.count("disease = 'HIV'").value, abs=0.01)


# --- Which answer is shown -----------------------------------------------------------------------------------------


def test_with_slack_the_learned_answer_is_shown_and_the_unbiased_one_beside_it(release):
    """`design` is the very estimate that the unbiased estimator gives, and holds over the publisher's coins."""
    assert release.estimators[0] == "learned"
    found, unbiased = release.count(ASKED), release.count(ASKED, estimator="unbiased")
    assert (found.estimator, found.conditional_on) == ("learned", "model")
    assert found.design == unbiased.design
    assert found.design.conditional_on == "publisher's coins"
    assert found.high - found.low <= unbiased.high - unbiased.low + 1 + 1e-9  # half a one to each side
    assert found.bounds == unbiased.bounds
    assert found.low <= found.value <= found.high


def test_without_slack_the_unbiased_answer_is_shown_and_the_learned_one_is_there_by_name(tmp_path):
    """Its interval is not known to cover there."""
    with discreet.open_release(published(tmp_path, slack=0)) as release:
        assert release.estimators[0] == "unbiased"
        assert "learned" in release.estimators
        shown, asked = release.count(ASKED), release.count(ASKED, estimator="learned")
    assert (shown.estimator, shown.conditional_on) == ("unbiased", "publisher's coins")
    assert (asked.estimator, asked.conditional_on) == ("learned", "model")
    assert asked.design == shown.design


@pytest.mark.parametrize("asked", ["", "age < 30", "disease = 'HIV'", "disease IN ('HIV', 'Flu')", "1 = 0"])
def test_what_the_tables_say_exactly_stays_exact_and_needs_no_learning(asked, release, learnt):
    """Counts of quasi-identifiers or of values alone."""
    found = release.count(asked)
    assert found.exact
    assert (found.conditional_on, found.low, found.high) == ("nothing", *found.bounds)
    assert not learnt
    release.count(ASKED)
    assert len(learnt) == 1


def test_other_releases_have_no_such_estimator(tmp_path):
    """Only bucket releases are learned from; `learn` is no error for others."""
    house = House(next(case for case in CASES if case.name == "frapp"), tmp_path)
    with discreet.open_release(house.publish(ward_frame(), "one")) as release:
        assert "learned" not in release.estimators
        release.learn()


# --- Ahead of time, limits and cancelling --------------------------------------------------------------------------


def test_learning_ahead_of_time_is_told_and_serves_the_first_question(release, learnt):
    """Progress goes from nothing to all, never back."""
    told: list[float] = []
    release.learn(lambda step, done: told.append(done))
    assert len(learnt) == 1
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == pytest.approx(1)
    release.count(ASKED)
    assert len(learnt) == 1


def test_learning_stops_when_its_time_is_over_and_can_be_asked_for_again(folder, own_cache):
    """Nothing is remembered of what was not finished; other questions are answered meanwhile."""
    with discreet.open_release(folder, seconds=2) as release:
        release.follow(lambda step, done: time.sleep(2.1) if 0.5 < done < 0.55 else None)
        with pytest.raises(OutOfTime):
            release.count(ASKED)
        assert held() == (0, 0)
        assert release.count(ASKED, estimator="unbiased").estimator == "unbiased"
    with discreet.open_release(folder) as release:
        assert release.count(ASKED).estimator == "learned"
    assert held()[0] == 1


def test_a_moment_is_too_little_to_learn_in(folder, own_cache):
    """As the command line and services limit a question."""
    with discreet.open_release(folder, seconds=0.02) as release, pytest.raises(OutOfTime):
        release.learn()
    assert held() == (0, 0)


def test_learning_is_cancelled(folder, own_cache):
    """Whoever waits hears of it, and the next question learns."""
    with discreet.open_release(folder) as release:
        release.follow(lambda step, done: release.cancel() if done > 0.5 else None)
        with pytest.raises(Cancelled):
            release.count(ASKED)
        assert held() == (0, 0)
        release.follow(None)
        assert release.count(ASKED).estimator == "learned"


# --- The guard -----------------------------------------------------------------------------------------------------


def test_where_what_was_learned_contradicts_the_unbiased_answers_those_are_given(release):
    """With a note that says so; just below the threshold the learned answer is given."""
    fits = release.count(ASKED)
    vars(release)["knowledge"] = replace(release.knowledge, misfit=GUARD + 1e-6)
    found = release.count(ASKED)
    assert (found.estimator, found.conditional_on) == ("unbiased", "publisher's coins")
    assert "contradicts" in found.note
    assert found.value == release.count(ASKED, estimator="unbiased").value
    vars(release)["knowledge"] = replace(release.knowledge, misfit=GUARD)
    assert release.count(ASKED) == fits

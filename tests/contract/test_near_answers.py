"""What a near release answers: exact counts stay exact, parts add up, bounds hold, and windows cost little."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cases import CASES, opened, policy_of, tolerance, ward_frame

import discreet
from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.near import NearRegression
from discreet.estimate.buckets.regression import Regressed, Regression
from discreet.estimate.buckets.windows import Windows

CASE = next(case for case in CASES if case.name == "near buckets")
ROWS = 1500
ASKED = "disease = 'HIV' AND age < 40"
MIXED = "age < 30 OR disease = 'HIV' AND gender = 'F'"
AS_FRAMES = {
    ASKED: "disease == 'HIV' and age < 40",
    MIXED: "age < 30 or disease == 'HIV' and gender == 'F'",
}
KINDS = {
    "buckets": lambda **near: discreet.Buckets(tolerance=tolerance(), **near),
    "anatomy": lambda **near: discreet.Anatomy(l=2, **near),
}


def published(folder: Path, kind: str, **near: object) -> Path:
    """A ward of some people, in windows of 500 rows unless others are named."""
    mechanism = KINDS[kind](**{"assignment": "near", "window": 500, **near})
    opened(ward_frame(ROWS), policy_of(CASE, folder, mechanism=mechanism), folder / "release", seed=3).close()
    return folder / "release"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: published(tmp_path_factory.mktemp(kind), kind) for kind in KINDS}


@pytest.fixture(params=KINDS)
def release(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[discreet.Release]:
    with discreet.open_release(folders[request.param]) as release:
        yield release


@pytest.mark.parametrize("estimator", ["learned", "unbiased", "uniform"])
@pytest.mark.parametrize("asked", ["", "age < 30", "disease = 'HIV'", "disease IN ('HIV', 'Flu')", "1 = 0"])
def test_what_the_tables_say_exactly_stays_exact(asked, estimator, release):
    """Counts of quasi-identifiers or of the sensitive column alone."""
    found = release.count(asked, estimator=estimator)
    assert found.exact
    assert (found.conditional_on, found.low, found.high) == ("nothing", *found.bounds)
    assert found.design is not None
    assert found.design.value == found.value


def test_counts_by_the_sensitive_column_are_those_of_the_table(release):
    """Over all windows together."""
    truth = ward_frame(ROWS)["disease"].value_counts()
    found = release.count_by("disease")
    assert {group[0]: int(each.value) for group, each in found} == truth.to_dict()


@pytest.mark.parametrize("estimator", ["learned", "unbiased"])
def test_answers_to_parts_add_up_to_the_whole(estimator, release):
    """By value to the rows that match, and by another column to the count of the value; designs to 1e-6."""
    for column, where, whole in (("disease", "age < 40", "age < 40"), ("gender", "disease = 'HIV'", "disease = 'HIV'")):
        groups = [each for _, each in release.count_by(column, where=where, estimator=estimator)]
        exact = release.count(whole).value
        assert sum(each.design.value for each in groups) == pytest.approx(exact, abs=1e-6)
        if estimator == "learned":
            assert sum(each.value for each in groups) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("asked", [ASKED, MIXED])
def test_the_learned_answer_is_shown_and_the_unbiased_one_beside_it(asked, release):
    """The default, as of random buckets; truth lies in everybody's bounds, and values and intervals too."""
    assert release.estimators[0] == "learned"
    answers = {name: release.count(asked, estimator=name) for name in release.estimators}
    assert answers["learned"].conditional_on == "model"
    assert answers["unbiased"].conditional_on == "publisher's coins"
    truth = len(ward_frame(ROWS).query(AS_FRAMES[asked]))
    for each in answers.values():
        assert each.design == answers["unbiased"].design
        assert each.bounds[0] <= truth <= each.bounds[1]
        assert each.bounds[0] <= each.low <= each.value <= each.high <= each.bounds[1]


def test_one_window_answers_as_random_buckets_do(tmp_path):
    """All rows in one window: the very estimate of the regression without windows."""
    with discreet.open_release(published(tmp_path, "buckets", window=ROWS)) as release:
        assert isinstance(release.regression, Regression)
        assert release.count(ASKED, estimator="unbiased").value is not None


@pytest.mark.parametrize("wrong", [[(1, 3)], [(2, None)], [(1, 5), (7, None)], [(1, 5), (5, None)]])
def test_windows_that_do_not_hold_every_bucket_are_one_sentence(wrong, folders, tmp_path):
    """What verify would refuse is no wrong number, and no traceback."""
    copy = tmp_path / "release"
    copy.mkdir()
    for path in sorted(folders["buckets"].rglob("*")):
        to = copy / path.relative_to(folders["buckets"])
        to.mkdir() if path.is_dir() else to.write_bytes(path.read_bytes())
    manifest = json.loads((copy / "datapackage.json").read_text(encoding="utf-8"))
    block = manifest["discreet"]
    last = block["windows"][-1]["last"]
    block["windows"] = [{"rows": 750, "first": first, "last": end or last} for first, end in (*wrong, *wrong)[-2:]]
    (copy / "datapackage.json").write_text(json.dumps(manifest), encoding="utf-8")
    with discreet.open_release(copy) as release, pytest.raises(ReleaseError, match="verify says more"):
        release.count(ASKED, estimator="unbiased")


# --- What windows cost ---------------------------------------------------------------------------------------------


def cpu(regression: Regressed, matches: np.ndarray, times: int) -> float:
    start = time.process_time()
    for x in range(times):
        regression.answer([(x, x + 1)], [matches], {})
    return time.process_time() - start


@pytest.mark.slow
def test_hundreds_of_windows_cost_little_more_than_none():
    """500 windows of 40 values, 150,000 buckets: a question takes at most six times what it does without windows, and
    what is made once no more than 10 CPU s.
    """
    coins, windows, each, kinds = np.random.default_rng(0), 500, 300, 8
    buckets = windows * each
    value = np.sort(np.argsort(coins.random((buckets, 40)), axis=1)[:, :kinds], axis=1)
    composition = Composition(
        ids=np.arange(1, buckets + 1),
        encoding=Encoding(range(40)),
        bucket=np.repeat(np.arange(buckets), kinds),
        value=value.ravel(),
        count=np.ones(buckets * kinds, dtype=np.int64),
    )
    near = NearRegression(windows=Windows(composition=composition, ends=each * np.arange(1, windows + 1)))
    plain, matches = Regression(composition=composition), coins.integers(0, 3, buckets)
    assert cpu(near, matches, 1) < 10
    cpu(plain, matches, 1)
    assert cpu(near, matches, 10) < 6 * cpu(plain, matches, 10)

"""A family that no file of the package knows goes through everything: registering it is all there is to do."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from cases import CASES, House, contents, policy_of, publish, ward_frame
from response.family import RESPONSE
from response.mechanism import Response
from tampering import manifest_of, restate, table_of, write_manifest, write_table
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.release.family import FAMILIES
from discreet.schema.json_schema import json_schema

CASE = next(case for case in CASES if case.name == "response")
SRC = Path(discreet.__file__).parent


def run(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def folder(tmp_path) -> Path:
    """A table, a policy and a release of it, all by the command line."""
    policy_of(CASE, tmp_path)
    ward_frame().to_csv(tmp_path / "ward.csv", index=False)
    run("publish", tmp_path / "ward.csv", "--policy", tmp_path / "ward.toml", "-o", tmp_path / "release", "--csv")
    return tmp_path


def test_no_file_of_the_package_knows_it():
    """The claim of this file: neither its kind nor its classes are named anywhere in the package."""
    for path in SRC.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "Response" not in text, path
        assert '"response"' not in text, path
    assert FAMILIES["response"] is RESPONSE


def test_a_process_that_does_not_register_it_refuses_its_policy_and_its_release(folder):
    """It is in this process only; elsewhere one sentence says which kinds are known."""
    for verb in (["check", "--policy", "ward.toml"], ["verify", "release"], ["query", "release", "age > 3"]):
        said = subprocess.run(  # noqa: S603 - the interpreter that runs these tests
            [sys.executable, "-m", "discreet.cli.main", *verb], cwd=folder, capture_output=True, text=True, check=False
        )
        assert said.returncode in (1, 2)
        assert "kind" in said.stdout + said.stderr
        assert "Traceback" not in said.stderr


def test_the_policy_is_checked_by_loader_and_json_schema(folder):
    """What is wrong with a parameter has its line; an editor's schema knows the kind too."""
    good = (folder / "ward.toml").read_text(encoding="utf-8")
    schema = jsonschema.Draft202012Validator(json_schema())
    assert schema.is_valid(tomllib.loads(good))
    assert not discreet.check(folder / "ward.toml", folder / "ward.csv")
    for bad, message in (("keep = 0.2", "must be above 1/4"), ("kept = 0.75", "did you mean keep"), ("keep = 2", "")):
        text = good.replace("keep = 0.75", bad)
        assert text != good
        (folder / "bad.toml").write_text(text, encoding="utf-8")
        problems = discreet.check(folder / "bad.toml")
        assert problems
        assert any(message in each.message for each in problems)
        assert problems[-1].line == text.splitlines().index(bad) + 1
    assert not schema.is_valid(tomllib.loads(good.replace("keep = 0.75", "kept = 0.75")))


def test_plan_check_publish_verify_query_and_diff_by_the_command_line(folder):
    """Every verb takes it, in words and as JSON, and says its own words."""
    policy, data, release = folder / "ward.toml", folder / "ward.csv", folder / "release"
    assert "the table fits it" in run("check", data, "--policy", policy)
    assert "120 rows, each keeps its value with probability 0.75" in run("plan", data, "--policy", policy)
    assert "note: quasi-identifiers are published as they are" in run("plan", data, "--policy", policy)
    told = json.loads(run("plan", data, "--policy", policy, "--json"))
    assert told.pop("accuracy")["unit"] == "people"
    assert told == {"rows": 120, "keep": "3/4", "ratio": "9"}
    assert "plans of response are not compared over sizes; it has one plan" in run(
        "plan", data, "--policy", policy, "--sizes", "all", code=2
    )
    said = run("publish", data, "--policy", policy, "-o", folder / "again")
    assert "published 120 rows" in said
    assert "its counts are of people" in said
    assert "9 times as probable" in said
    assert contents(folder / "again")["data/responses.parquet"] == contents(release)["data/responses.parquet"]
    assert "the promise holds" in run("verify", release)
    assert "people" in run("query", release, "disease = 'HIV' AND age > 50")
    groups = json.loads(run("query", release, "SELECT disease, COUNT(*) FROM release GROUP BY disease", "--json"))
    assert [each["disease"] for each in groups] == ["Measles", "Asthma", "HIV", "Flu"]
    assert all(each["low"] <= each["value"] <= each["high"] for each in groups)
    assert "must be one of unbiased" in run("query", release, "age > 3", "--estimator", "best", code=2)


def test_two_of_its_releases_and_two_of_its_policies_are_compared(folder):
    """In its own words, and against another family's release as another kind of promise."""
    other = policy_of(CASE, folder, "other.toml", mechanism=CASE.other())
    publish(ward_frame(), other, folder / "other", series=folder / "other.series")
    said = run("diff", folder / "release", folder / "other")
    assert "keep: 75 % -> 80 %, how often the truth is told" in said
    assert "ratio: 9 -> 12, how much likelier the truth is" in said
    assert "two answers of the same people" in said
    assert "keep: 3/4 -> 4/5" in run("diff", folder / "ward.toml", folder / "other.toml")
    buckets = policy_of(CASES[0], folder, "buckets.toml")
    publish(ward_frame(), buckets, folder / "buckets", series=folder / "buckets.series")
    assert "another kind of promise" in run("diff", folder / "release", folder / "buckets")


FORGERIES = {
    "a weaker coin than is stated": ("promise", lambda block: block["mechanism"].update(keep="9/10")),
    "other numbers of values": ("promise", lambda block: block["guarantee"].update(values=3, ratio="6")),
    "another number of rows": ("rows", lambda block: block.update(rows=119)),
    "facts that say more": ("words", lambda block: block["facts"].update(words="Nobody learns anything.")),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_false_manifest_does_not_verify(name, folder):
    """The family's own checks find what is wrong with its numbers, the shared ones with its words."""
    check, change = FORGERIES[name]
    manifest = manifest_of(folder / "release")
    change(manifest["discreet"])
    write_manifest(folder / "release", manifest)
    broken = [each.name for each in discreet.verify(folder / "release").checks if not each.holds]
    assert check in broken
    assert "THE PROMISE DOES NOT HOLD" in run("verify", folder / "release", code=1)


def test_rows_in_another_order_do_not_verify(folder):
    """The order would tell the input's."""
    table = table_of(folder / "release", "responses")
    write_table(folder / "release", "responses", table.take(np.arange(len(table))[::-1].copy()))
    restate(folder / "release")
    broken = [each.name for each in discreet.verify(folder / "release").checks if not each.holds]
    assert "rows" in broken


def test_the_series_keeps_its_coins(tmp_path):
    """The same rows and policy give the same bytes; a changed table is refused."""
    house = House(CASE, tmp_path)
    one, two = house.publish(ward_frame(), "one"), house.publish(ward_frame(), "two")
    assert contents(one) == contents(two)
    with pytest.raises(discreet.SeriesRefusal):
        house.publish(ward_frame(seed=6), "three")


def test_its_intervals_hold_the_truth_as_often_as_they_say(tmp_path):
    """Over 60 sets of coins: without bias, covered, and a wrong probability to keep would show."""
    coins = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": coins.integers(0, 105, 400),
            "gender": coins.choice(["M", "F"], 400),
            "postcode": "9001",
            "disease": coins.choice(["Measles", "Asthma", "HIV", "Flu"], 400, p=[0.4, 0.3, 0.1, 0.2]),
            "fullname": "x",
            "insurance_no": "y",
            "bed_tag": np.arange(400),
        }
    )
    where, truth = "disease = 'HIV' AND gender = 'F'", int(((frame.disease == "HIV") & (frame.gender == "F")).sum())
    policy = policy_of(CASE, tmp_path)
    table = discreet.read_table(frame, policy)
    answers = []
    for seed in range(60):
        release = discreet.publish(table, policy, to=tmp_path / "r", seed=seed, replace=True)
        answers.append(release.count(where))
        release.close()
    table.close()
    values = np.array([each.design.value for each in answers])
    spread = values.std() / len(values) ** 0.5
    assert abs(values.mean() - truth) < 5 * spread
    assert np.mean([each.low <= truth <= each.high for each in answers]) > 0.9
    women, other = int((frame.gender == "F").sum()), (1 - 0.85) / 3  # as if 85 % told the truth
    seen = values * (0.75 - 0.25 / 3) + women * 0.25 / 3
    assert abs(((seen - women * other) / (0.85 - other)).mean() - truth) > 5 * spread


def test_answers_of_any_kind_are_whole_without_doubt_where_lies_do_not_matter(folder):
    """A question that does not ask for the disease is exact, and its unit is people."""
    release = discreet.open_release(folder / "release")
    frame = ward_frame()
    assert release.count("age > 50").value == (frame.age > 50).sum()
    assert release.count("age > 50").exact
    assert (release.rows, release.size, release.unit, release.holds) == (120, 120, "people", "rows")
    either = release.count("disease = 'HIV' OR (age > 50 AND disease <> 'Flu')")
    assert either.bounds[0] <= either.low <= either.value <= either.high <= either.bounds[1]
    release.close()
    assert Response(keep="0.75") == CASE.mechanism()

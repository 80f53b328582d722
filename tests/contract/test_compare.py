"""discreet compare: figures as by hand, the same after an interruption, words where promises differ, and no traces."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import stat
import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cases import CASES, contents, policy_of, publish, ward_frame
from commands import ENVIRONMENT, as_json, mistake
from commands import discreet as run

import discreet
from discreet.datasets.hospital import write_hospital
from discreet.evaluate.compare.glance import glance, part_of
from discreet.evaluate.compare.page import page, unbeaten
from discreet.evaluate.compare.people import People
from discreet.evaluate.compare.workload import Question
from discreet.mechanism.mechanism import publishing

ASKED = {  # each question, how many quasi-identifiers it names, and who meets it, as pandas says it
    "age > 50 AND gender = 'F'": (2, "age > 50 and gender == 'F'"),
    "disease = 'Flu'": (0, "disease == 'Flu'"),
    "age BETWEEN 20 AND 70 AND disease <> 'Flu'": (1, "20 <= age <= 70 and disease != 'Flu'"),
    "gender = 'M' AND disease IN ('HIV', 'Asthma')": (1, "gender == 'M' and disease in ('HIV', 'Asthma')"),
    "postcode <> '9001' AND age < 60 AND disease = 'Measles'": (
        2, "postcode != '9001' and age < 60 and disease == 'Measles'",
    ),
    "age > 104": (1, "age > 104"),
}  # fmt: skip
GROUPED = "SELECT COUNT(*) FROM release WHERE age >= 40 GROUP BY gender, disease"


def by_hand(frame: pd.DataFrame, policy: discreet.Policy, folder: Path, seeds: range) -> dict[int | None, list[Any]]:
    """Every answer with its truth, by the number of quasi-identifiers and of all."""
    found: dict[int | None, list[Any]] = {}
    for seed in seeds:
        with closing(discreet.open_release(publish(frame, policy, folder / f"{seed}", seed=seed))) as release:
            counted = frame
            if release.unit == "distinct tuples":
                counted = frame.drop_duplicates(["age", "gender", "postcode", "disease"])
            for where, (conditions, told) in ASKED.items():
                pair = release.count(where), len(counted.query(told))
                found.setdefault(conditions, []).append(pair)
            known = dict(release.query(GROUPED).rows)
            for gender in ("M", "F"):
                for disease in ("Measles", "Asthma", "HIV", "Flu"):
                    told = f"age >= 40 and gender == '{gender}' and disease == '{disease}'"
                    pair = known.get((gender, disease)), len(counted.query(told))
                    found.setdefault(2, []).append(pair)
    return {**found, None: [pair for pairs in found.values() for pair in pairs]}


def test_figures_are_those_of_a_run_by_hand(case, tmp_path):
    """For every family: each release published, opened, asked and counted here, with pandas for the truth."""
    policy, frame = policy_of(case, tmp_path), ward_frame()
    found = discreet.compare(frame, [policy], questions=[*ASKED, GROUPED], releases=2)
    (side,) = found.policies
    hand = by_hand(frame, policy, tmp_path, range(2))
    assert {each.conditions for each in side.figures} == set(hand)
    for figures in side.figures:
        pairs = [(each, truth) for each, truth in hand[figures.conditions] if each is not None]  # None: ruled out
        ruled_out = [truth for each, truth in hand[figures.conditions] if each is None]
        assert figures.answers == len(hand[figures.conditions])
        errors = [abs(each.value - truth) / truth for each, truth in pairs if truth and each.value is not None]
        errors += [1.0 for truth in ruled_out if truth]
        narrow = [(each.high - each.low) / 2 < 0.2 * truth for each, truth in pairs if truth]
        held = [each.low <= truth <= each.high for each, truth in pairs if each.value is not None and not each.exact]
        assert figures.mean == pytest.approx(statistics.mean(errors)) if errors else figures.mean is None
        assert figures.median == pytest.approx(statistics.median(errors)) if errors else figures.median is None
        assert figures.narrow == pytest.approx(statistics.mean(narrow + [True for truth in ruled_out if truth]))
        assert figures.coverage == (pytest.approx(statistics.mean(held)) if held else None)
        assert figures.unknown == sum(each.value is None for each, _ in pairs) / figures.answers
    size = statistics.mean(
        sum(path.stat().st_size for path in (tmp_path / f"{seed}").rglob("*") if path.is_file()) for seed in range(2)
    )
    assert side.size == size
    assert found.questions == len(ASKED) + 8


BANDED = "SELECT age // 40, COUNT(*) FROM release WHERE disease = 'Flu' GROUP BY age // 40"
CASED = (
    "SELECT CASE WHEN age < 18 THEN 'child' WHEN gender = 'F' THEN 'woman' END AS who, COUNT(*) "
    "FROM release GROUP BY who"
)


def test_people_are_counted_by_bands_and_branches_as_pandas_counts_them(people, tmp_path):
    """Groups that are no column's values, each of them with those whom it holds, and nobody twice."""
    rows = People.of(discreet.read_table(people, policy_of(CASES[0], tmp_path)))
    asked = [Question.of(text, rows.schema) for text in (BANDED, CASED)]
    banded, cased = rows.true_counts([each.query for each in asked])
    flu = people[people["disease"] == "Flu"]
    assert [group for (group,) in asked[0].groups] == [0, 1, 2]
    assert banded.tolist() == [int((flu["age"] // 40 == band).sum()) for band in range(3)]
    child, woman = people["age"] < 18, (people["age"] >= 18) & (people["gender"] == "F")
    known = {("child",): child.sum(), ("woman",): woman.sum(), (None,): (~child & ~woman).sum()}
    assert dict(zip(asked[1].groups, cased.tolist(), strict=True)) == known


def test_only_counts_are_rehearsed(people, tmp_path):
    """A mean is refused in a sentence, before anything is published."""
    with pytest.raises(discreet.QueryError, match="only counts are rehearsed"):
        discreet.compare(people, [policy_of(CASES[0], tmp_path)], questions=["SELECT AVG(age) FROM release"])


@pytest.fixture(scope="module")
def patients(tmp_path_factory) -> Path:
    """A hospital, and three policies for it of two promises."""
    folder = tmp_path_factory.mktemp("patients") / "h"
    _, path = write_hospital(folder, 1_500)[:2]
    policy = discreet.Policy.load(path)
    for name, mechanism in (("dp", discreet.DiffGen(epsilon=1)), ("four", discreet.Anatomy(l=2))):
        folded = folder / name
        folded.mkdir()
        replace(policy, mechanism=mechanism).save(folded / f"{name}.toml")
    return folder


WORDS = ("compare", "hospital.csv", "-p", "hospital.toml", "-p", "dp/dp.toml", "-p", "four/four.toml", "--counts", "20")


def test_a_second_table_has_the_figures_of_a_run_by_hand(patients, tmp_path):
    """The hospital's, where truths are counted in the CSV file."""
    policy = discreet.Policy.load(patients / "hospital.toml")
    frame = pd.read_csv(patients / "hospital.csv", dtype={"zipcode": str})
    asked = {
        "age >= 60 AND disease = 'Hypertension'": (frame.age >= 60) & (frame.disease == "Hypertension"),
        "gender = 'F' AND disease = 'Flu'": (frame.gender == "F") & (frame.disease == "Flu"),
        "age < 30 AND gender = 'M' AND disease IN ('Asthma', 'Flu')": (
            (frame.age < 30) & (frame.gender == "M") & frame.disease.isin(["Asthma", "Flu"])
        ),
    }
    found = discreet.compare(patients / "hospital.csv", [policy], questions=list(asked), releases=2)
    errors = []
    for seed in range(2):
        with closing(
            discreet.open_release(publish(patients / "hospital.csv", policy, tmp_path / f"{seed}", seed=seed))
        ) as release:
            errors += [abs(release.count(where).value - met.sum()) / met.sum() for where, met in asked.items()]
    overall = found["hospital.toml"].overall
    assert (overall.mean, overall.median) == pytest.approx((statistics.mean(errors), statistics.median(errors)))
    assert found.selectivity == pytest.approx(np.mean([met.mean() for met in asked.values()]))
    stakes = found["hospital.toml"].stakes
    plan = discreet.plan(discreet.read_table(patients / "hospital.csv", policy), policy)
    assert stakes.alone == plan.alone > 0
    assert stakes.unprotected == (frame.disease == "Flu").sum()


def timeless(content: dict[str, Any]) -> dict[str, Any]:
    """A result without what depends on the machine."""
    kept = [{k: v for k, v in each.items() if not k.endswith("_cpu")} for each in content["policies"]]
    return {**content, "policies": kept}


@pytest.fixture
def apart(tmp_path, monkeypatch) -> dict[str, Path]:
    """Every place where traces could be left, all of them empty."""
    places = {name: tmp_path / name for name in ("TMPDIR", "DISCREET_CACHE", "XDG_STATE_HOME", "XDG_DATA_HOME")}
    for name, path in places.items():
        path.mkdir()
        monkeypatch.setenv(name, str(path))
    return places


def started(patients: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "discreet.cli.main", *WORDS, *words]
    env = {**ENVIRONMENT, **os.environ}
    return subprocess.Popen(command, cwd=patients, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: S603 - us


def state_in(places: dict[str, Path]) -> list[Path]:
    return list(places["XDG_STATE_HOME"].rglob("*.jsonl"))


def test_an_interrupted_comparison_comes_to_the_same_numbers(patients, apart):
    """Killed in the middle, where nothing can be cleared up: what it had rehearsed is taken, and counts."""
    before = contents(patients)
    whole = started(patients, "--json", "--releases", "2")
    out, said = whole.communicate()
    assert whole.returncode == 0, said
    expected = json.loads(out)
    assert not state_in(apart)
    killed = started(patients, "--json", "--releases", "2")
    deadline = time.monotonic() + 300
    while not (found := state_in(apart)) or found[0].read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        assert killed.poll() is None
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    (state,) = state_in(apart)
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.parent.stat().st_mode) == 0o700
    lines = [json.loads(line) for line in state.read_text().splitlines()]
    assert set(lines[0]) == {"format", "version", "asked", "key", "rows"}
    assert not any("truth" in name for line in lines for name in line)
    with state.open("a") as file:
        file.write('{"policy": 0, "seed": 1, "val')  # a line that was being written
    again = started(patients, "--json", "--releases", "2")
    out, said = again.communicate()
    assert again.returncode == 0
    assert f"{len(lines) - 1} of 6 releases were rehearsed before" in said
    assert timeless(json.loads(out)) == timeless(expected)
    assert not [path for path in apart["XDG_STATE_HOME"].rglob("*") if path.is_file()]
    assert not [*apart["TMPDIR"].iterdir(), *apart["DISCREET_CACHE"].iterdir(), *apart["XDG_DATA_HOME"].iterdir()]
    assert contents(patients) == before


def test_what_was_rehearsed_of_other_rows_does_not_count(patients, tmp_path):
    """A state whose table changed, or whose questions did, is begun anew; a stranger's bytes are, too."""
    policy, state, said = discreet.Policy.load(patients / "four" / "four.toml"), tmp_path / "s" / "state", []
    frame = pd.read_csv(patients / "hospital.csv", dtype={"zipcode": str})

    def stopped(step: str, done: float) -> None:
        if done > 0.3:
            raise KeyboardInterrupt

    def kept(rows: pd.DataFrame, asked: list[str]) -> list[str]:
        said.clear()
        discreet.compare(rows, [policy], questions=asked, releases=2, state=state, say=said.append)
        assert not state.exists()
        return said

    with pytest.raises(KeyboardInterrupt):
        discreet.compare(frame, [policy], questions=["age > 3"], releases=2, state=state, progress=stopped)
    held = state.read_bytes()
    assert held.count(b"\n") == 2
    assert kept(frame.iloc[1:], ["age > 3"]) == []
    for content, asked, expected in (
        (held, "age > 4", 0), (b"\xff\0{}", "age > 3", 0), (held, "age > 3", 1), (held[:-1], "age > 3", 0),
    ):  # fmt: skip
        state.write_bytes(content)
        assert len(kept(frame, [asked])) == expected


def test_ctrl_c_leaves_what_was_rehearsed_and_says_where(patients, apart):
    """Exit 130, scratch is cleared at once, and the file is for its owner; --fresh forgets it."""
    process = started(patients, "--releases", "3")
    deadline = time.monotonic() + 300
    while not (found := state_in(apart)) or found[0].read_bytes().count(b"\n") < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert str(found[0]) in said.replace("\n", "")
    assert not list(apart["TMPDIR"].iterdir())
    fresh = started(patients, "--releases", "1", "--fresh")
    assert "rehearsed before" not in fresh.communicate()[1]
    assert not state_in(apart)


def test_several_processes_come_to_the_same_numbers(patients, apart):
    """And leave as little behind."""
    one, two = (as_json(*WORDS, "--releases", "1", "--jobs", jobs, cwd=patients) for jobs in (1, 2))
    assert timeless(one) == timeless(two)
    assert not [path for place in apart.values() for path in place.rglob("*") if path.is_file()]


def test_promises_that_cannot_be_compared_are_told_apart(patients):
    """In words, in tables of their own, and in panels of their own; one promise alone has no such words."""
    found = as_json(*WORDS, "--releases", "1", cwd=patients)
    assert any("no ranking across them" in each for each in found["notes"])
    assert any("outside every epsilon" in each for each in found["notes"])
    shown = run(*WORDS, "--releases", "1", cwd=patients).stdout
    first, second = shown.index("\nF'-privacy ("), shown.index("\nepsilon-differential privacy (")
    assert first < shown.index("four.toml") < second < shown.index("dp.toml")
    policies = [discreet.Policy.load(patients / name) for name in ("hospital.toml", "four/four.toml")]
    alone = discreet.compare(patients / "hospital.csv", policies, counts=20, releases=1)
    assert not any("ranking" in each for each in alone.notes)
    assert [each.policy for each in unbeaten(alone.policies)]
    assert "outside every epsilon" in str(alone)


def test_results_are_files_that_ask_nobody_for_anything(patients, tmp_path):
    """A page without another host, a script or a link; CSV and JSON with the numbers that are printed."""
    words = (*WORDS, "--releases", "1", "-o")
    for ending in ("html", "csv", "json", "svg", "txt"):
        run(*words, tmp_path / f"c.{ending}", cwd=patients)
    text = (tmp_path / "c.html").read_text()
    assert text.count("<g ") == 2  # a panel a promise
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert not any(each in text for each in ("<script", "<link", "src=", "@import", "url("))
    content = json.loads((tmp_path / "c.json").read_text())
    rows = list(csv.DictReader(io.StringIO((tmp_path / "c.csv").read_text())))
    assert {row["policy"] for row in rows} == {each["policy"] for each in content["policies"]}
    for each in content["policies"]:
        whole = next(row for row in rows if row["policy"] == each["policy"] and not row["conditions"])
        assert float(whole["mean"]) == each["figures"][0]["mean"]
    assert (tmp_path / "c.svg").read_text().startswith("<svg")


def test_a_page_spells_out_what_looks_like_markup(patients):
    """Names of files are a stranger's too."""
    policy = discreet.Policy.load(patients / "four" / "four.toml")
    found = discreet.compare(patients / "hospital.csv", [policy], questions=["age > 9"], releases=1)
    assert "<b>x" not in page(replace(found, table="<b>x"))


@pytest.mark.parametrize("workload", ["papers", "selections", "ranges", "tables"])
def test_every_workload_has_questions_of_several_sizes(patients, workload):
    """As many numbers as were asked for, or whole tables of them, and the mean selectivity."""
    policy = discreet.Policy.load(patients / "dp" / "dp.toml")
    found = discreet.compare(patients / "hospital.csv", [policy], workload=workload, counts=40, releases=1)
    assert found.questions == 40
    assert 0 < found.selectivity < 1
    conditions = [each.conditions for each in found.policies[0].figures]
    assert len(conditions) > 2
    assert found.policies[0].overall.answers == 40


def test_columns_that_are_not_published_alike_are_left_out(patients):
    """Nothing is asked about them, and that is said."""
    policy = discreet.Policy.load(patients / "four" / "four.toml")
    schema = replace(policy.schema, quasi_identifiers=("age", "gender"))
    found = discreet.compare(
        patients / "hospital.csv", [policy, replace(policy, schema=schema, path=None)], counts=20, releases=1
    )
    assert found.left_out == ("zipcode",)
    assert any("nothing is asked about zipcode" in each for each in found.notes)


def test_mistakes_are_one_sentence_and_nothing_is_written(patients, apart):
    """Exit 2, and no state or scratch either."""
    (patients / "wrong.txt").write_text("# mine\nage > 3\nages > 3\n")
    (patients / "other.toml").write_text(
        (patients / "hospital.toml").read_text().replace('"disease"', '"gender"').replace('"gender", ', "")
    )
    right = ("compare", "hospital.csv", "--policy", "hospital.toml")
    for words, said in (
        ((*right, "--workload", "paper"), "workload (paper) must be one of"),
        ((*right, "--releases", "0"), "releases (0) must be a whole number from 1"),
        ((*right, "--jobs", "0"), "jobs (0) must be"),
        ((*right, "--questions", "wrong.txt"), "wrong.txt, line 3: hospital.toml would not answer it"),
        ((*right, "--questions", "nowhere"), "must be a file that can be read"),
        ((*right, "-o", "result.pdf"), "must end in .html or .json"),
        ((*right, "-o", "nowhere/c.html"), "comparison (nowhere/c.html) must be a file in a folder that there is"),
        ((*right, "--csv", "--json"), "choose one"),
        (("compare", "nowhere.csv", "-p", "hospital.toml"), "nowhere.csv"),
        (("compare", "hospital.csv", "-p", "nowhere.toml"), "policy (nowhere.toml) must be a file"),
    ):
        if "--json" in words:
            assert run(*words, cwd=patients, code=2)
        else:
            assert said in mistake(*words, cwd=patients)
    assert not [path for place in apart.values() for path in place.rglob("*") if path.is_file()]


def test_a_plan_ends_with_how_far_off_a_count_would_be(case, ward):
    """For every family, in the unit that it counts; counts of few people where the table has few."""
    found = glance(ward, publishing(case.mechanism()))
    assert found is not None
    assert found.unit == case.unit
    assert found.count < ward.rows
    assert found.off is None or found.off >= 0
    assert f"a count of about {found.count:,} {case.unit} would" in str(found)


def test_a_part_has_every_value_in_proportion(patients):
    """So that a plan for it is like the plan for all."""
    policy = discreet.Policy.load(patients / "four" / "four.toml")
    with closing(discreet.read_table(patients / "hospital.csv", policy)) as table:
        people = People.of(table)
        many = people.taken(np.repeat(np.arange(len(people)), 20))
        rows = part_of(many)
        own = many.schema.sensitive
        whole, part = (np.bincount(each.codes[own], minlength=20) for each in (many, many.taken(rows)))
        assert len(np.unique(rows)) == len(rows)
        assert (np.abs(part - whole * len(rows) / len(many)) <= 1).all()

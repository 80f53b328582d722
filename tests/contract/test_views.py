"""Several views, slots, a source and FRAPP from a table to an answer: the same verbs as every release."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cases import contents, opened, publish, saved, usual_series
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.mechanism.alphabeta.making import memory
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest
from discreet.schema.domain import Integers, Listed

DISEASES = ("flu", "cold", "HIV", "none")
SOURCE = {"disease": {"flu": 0.4, "cold": 0.3, "HIV": 0.1, "none": 0.2}, "age": {"0-39": 0.6, "40-79": 0.35, "": 0.05}}
KINDS = {
    "several": discreet.AlphaBeta(prior=0.02, posterior=0.5, views=2),
    "slots": discreet.AlphaBeta(prior=0.002, posterior=0.5, slots=32),
    "source": discreet.AlphaBeta(prior=0.02, posterior=0.5, source=SOURCE),
    "frapp": discreet.Frapp(prior=0.02, posterior=0.5),
}


def policy_of(folder: Path, mechanism: object, rows: int | None = 500) -> discreet.Policy:
    schema = discreet.Schema(
        quasi_identifiers=("age", "before"),
        sensitive="disease",
        domains={
            "age": Integers(low=0, high=79, missing=True),
            "before": Listed(values=("F", "M")),
            "disease": Listed(values=DISEASES),
        },
        public_rows=rows,
    )
    return saved(discreet.Policy(schema=schema, mechanism=mechanism), folder / "p.toml")


def people(rows: int = 500, seed: int = 0) -> pd.DataFrame:
    coins = np.random.default_rng(seed)
    age = pd.array(coins.integers(0, 80, rows), dtype="Int64")
    age[::50] = pd.NA
    return pd.DataFrame(
        {
            "age": age,
            "before": coins.choice(["F", "M"], rows),
            "disease": coins.choice(DISEASES, rows, p=[0.5, 0.3, 0.1, 0.1]),
        }
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_is_read_back_and_a_release_verifies_and_answers(tmp_path, kind):
    """Through TOML, publish, verify, count, GROUP BY and CSV; a group is what its condition gives."""
    policy = policy_of(tmp_path, KINDS[kind])
    assert policy.mechanism == KINDS[kind]
    release = opened(people(), policy, tmp_path / "r", csv=True)
    verdict = discreet.verify(tmp_path / "r")
    assert verdict.holds, str(verdict)
    groups = release.count_by("disease", where="age BETWEEN 20 AND 59")
    for (disease,), estimate in groups:
        assert estimate == release.count(f"age BETWEEN 20 AND 59 AND disease = '{disease}'")
    for (_, disease), estimate in release.count_by("before", "disease", where="disease <> 'flu' OR before = 'F'"):
        assert estimate.low <= estimate.high
        assert disease in DISEASES
    missing = release.count_by("age")[None]
    assert missing == release.count("age IS NULL")
    assert all(
        estimate.low <= (estimate.value or 0) <= estimate.high
        for _, estimate in release.count_by("age", estimator="clipped")
    )
    release.close()


@pytest.mark.parametrize("kind", KINDS)
def test_the_readme_says_how_to_count_with_pandas_alone(tmp_path, kind):
    """The formula that version 1 printed, evaluated, is the unbiased answer; `test_readmes.py` runs the newest."""
    policy = policy_of(tmp_path, KINDS[kind])
    release = opened(people(), policy, tmp_path / "r")
    frames = {name.stem: pd.read_parquet(name) for name in (tmp_path / "r" / "data").iterdir()}
    statement, words = read_manifest(tmp_path / "r").statement, FAMILIES[KINDS[kind].kind].words[1]
    text = words.readme(statement, words.facts(statement))
    formula = text[text.index("    print((") + len("    print(") :]
    formula = formula[: formula.index("\n\n")].strip().removesuffix(")")
    matches = {name: frame[frame.disease == "HIV"] for name, frame in frames.items()}
    weight = 81 * 2 if kind != "source" else 81 * 2 * 4 * 0.1
    both = len(matches["view"].merge(frames["earlier"])) if "earlier" in frames else 0
    names = {**matches, "D": weight, "both": both}
    found = eval(formula.replace("[...]", "").replace("\n", " "), names)  # noqa: S307 - the formula of our own README
    assert release.count("disease = 'HIV'").value == pytest.approx(found, abs=1e-6)
    release.close()


def test_a_changed_table_is_a_further_view_and_one_more_is_refused(tmp_path):
    """Each view is made again byte by byte; the view before must be where it was, as it was."""
    policy = policy_of(tmp_path, KINDS["several"])
    states = [people(460 + 20 * i) for i in range(3)]
    publish(states[0], policy, tmp_path / "one")
    second = opened(states[1].sample(frac=1, random_state=3), policy, tmp_path / "two")
    assert discreet.verify(tmp_path / "two").holds
    assert "up to 2 views" in second.facts["words"]
    assert "warning" not in second.facts
    second.close()
    earlier = pq.read_table(tmp_path / "two/data/earlier.parquet")
    assert earlier.equals(pq.read_table(tmp_path / "one/data/view.parquet"))
    with pytest.raises(discreet.SeriesRefusal, match=r"views \(2\)"):
        publish(states[2], policy, tmp_path / "three")
    assert not (tmp_path / "three").exists()
    said = CliRunner().invoke(app, ["diff", str(tmp_path / "one"), str(tmp_path / "two")]).output
    assert "the promise covers what they give away together" in " ".join(said.split())
    publish(states[1], policy, tmp_path / "again")
    publish(states[0], policy, tmp_path / "one again")
    for one, two in (("two", "again"), ("one", "one again")):
        assert contents(tmp_path / one) == contents(tmp_path / two)
    gone = opened(states[2], policy, tmp_path / "three", new_series=True)
    assert "warning" in gone.facts
    gone.close()


def test_a_view_needs_the_one_before_as_it_was_published(tmp_path):
    """A release that is gone or changed is named, and nothing is written."""
    policy = policy_of(tmp_path, KINDS["several"])
    publish(people(460), policy, tmp_path / "one")
    view = tmp_path / "one/data/view.parquet"
    kept = view.read_bytes()
    pq.write_table(pq.read_table(view).slice(1), view)
    with pytest.raises(discreet.SeriesRefusal, match="put it back"):
        publish(people(480), policy, tmp_path / "two")
    view.unlink()
    with pytest.raises(discreet.SeriesRefusal, match="put it back"):
        publish(people(480), policy, tmp_path / "two")
    view.write_bytes(b"PAR1")
    with pytest.raises(discreet.SeriesRefusal, match="put it back"):
        publish(people(480), policy, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    view.write_bytes(kept)
    publish(people(480), policy, tmp_path / "two")


def test_a_view_replaces_the_one_before_and_carries_it_on(tmp_path):
    """Three views under one name: the third still knows what the first two showed."""
    policy = policy_of(tmp_path, discreet.AlphaBeta(prior=0.02, posterior=0.5, views=3))
    shown: set[tuple[object, ...]] = set()
    for i in range(3):
        publish(people(440 + 20 * i), policy, tmp_path / "r", replace=i > 0)
        earlier = pq.read_table(tmp_path / "r/data/earlier.parquet").to_pylist()
        assert {tuple(row.values()) for row in earlier} == shown
        shown |= {tuple(row.values()) for row in pq.read_table(tmp_path / "r/data/view.parquet").to_pylist()}
        assert discreet.verify(tmp_path / "r").holds


def test_records_are_counted_in_slots(tmp_path):
    """A table of copies: distinct tuples would count 40; the records are told, and the control variate knows them."""
    frame = pd.concat([people(20)] * 25)
    policy = policy_of(tmp_path, discreet.AlphaBeta(prior=0.002, posterior=0.5, slots=100))
    release = opened(frame, policy, tmp_path / "r")
    whole = release.count()
    assert whole.low > 300
    assert release.count(estimator="control").value == pytest.approx(500)
    assert "SLOT" in pq.read_schema(tmp_path / "r/data/view.parquet").names
    release.close()
    with pytest.raises(discreet.TableError, match=r"slots \(100\) must be"):
        publish(pd.concat([people(1)] * 101), policy, tmp_path / "s", new_series=True)


@pytest.mark.parametrize("kind", ["several", "source", "frapp"])
def test_the_control_variate_is_refused_where_the_number_is_not_public(tmp_path, kind):
    """In one sentence that says what to use."""
    release = opened(people(), policy_of(tmp_path, KINDS[kind]), tmp_path / "r")
    with pytest.raises(discreet.QueryError, match="estimator"):
        release.count(estimator="control")
    release.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_that_promises_more_does_not_verify(tmp_path, kind):
    """Any number of the guarantee or the mechanism that is changed is noticed."""
    publish(people(), policy_of(tmp_path, KINDS[kind]), tmp_path / "r")
    path = tmp_path / "r" / "datapackage.json"
    text = path.read_text()
    block = json.loads(text)["discreet"]
    changes = [("guarantee", name) for name in block["guarantee"]] + [
        ("mechanism", name) for name in block["mechanism"]
    ]
    for part, name in [*changes, ("tuples", ""), ("view", ""), ("earlier", "")]:
        content = json.loads(text)
        at = content["discreet"][part] if name else content["discreet"]
        key = name or part
        if key not in at:
            continue
        at[key] = _other(at[key])
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        assert not discreet.verify(tmp_path / "r").holds, (part, name)
    path.write_text(text)
    assert discreet.verify(tmp_path / "r").holds


def _other(value: object) -> object:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str) and "/" in value:
        top, bottom = value.split("/")
        return f"{int(top) + int(bottom)}/{2 * int(bottom)}"
    if isinstance(value, list):
        return [_other(value[0]), *value[1:]]
    if isinstance(value, dict):
        return {} if value else {"disease": {"flu": "1/2"}}
    return f"{value}0"


def test_bad_input_is_one_sentence_and_nothing_is_written(tmp_path, monkeypatch):
    """Rows that are not public, too few of them, unknown or missing values of a source, and noise that does not fit."""
    frapp = KINDS["frapp"]
    with pytest.raises(discreet.PolicyError, match="public_rows"):
        policy_of(tmp_path, frapp, rows=None)
    policy = policy_of(tmp_path, frapp)
    with pytest.raises(discreet.TableError, match="public_rows"):
        publish(people(499), policy, tmp_path / "r")
    with pytest.raises(discreet.TableError, match="public_rows"):
        publish(people(500), policy_of(tmp_path, KINDS["slots"], rows=100), tmp_path / "r")
    for source, said in (
        ({"sickness": {"flu": 1}}, "published columns"),
        ({"disease": {"flu": 1, "cold": 1, "HIV": 1}}, "none has none"),
        ({"disease": {"flu": 1, "cold": 1, "HIV": 1, "nome": 1}}, "did you mean none"),
        ({"disease": {"flu": 0, "cold": 1, "HIV": 1, "none": 1}}, "above 0"),
        ({"age": {"0-39": 1, "30-79": 1, "": 1}}, "once"),
        ({"age": {"0-79": 1}}, "must have a share for every value"),
        ({"disease": {"flu": 10_000, "cold": 1, "HIV": 1, "none": 1}}, "disease = flu"),
    ):
        mechanism = discreet.AlphaBeta(prior=0.2, posterior=0.5, source=source)
        with pytest.raises((discreet.PolicyError, discreet.Infeasible), match=said):
            policy_of(tmp_path, mechanism)
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)
    with pytest.raises(discreet.PolicyError, match="GB of memory"):
        publish(people(), policy_of(tmp_path, KINDS["slots"]), tmp_path / "r")
    assert not (tmp_path / "r").exists()
    assert not (usual_series()).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_line_plans_and_publishes(tmp_path, kind):
    """plan says what would be published, in words and as JSON with the equivalents in other notions."""
    policy_of(tmp_path, KINDS[kind])
    people().to_csv(tmp_path / "t.csv", index=False)
    policy = ["--policy", str(tmp_path / "p.toml")]
    said = CliRunner().invoke(app, ["plan", str(tmp_path / "t.csv"), *policy])
    assert said.exit_code == 0, said.output
    assert "off by at most" in said.output
    told = CliRunner().invoke(app, ["plan", str(tmp_path / "t.csv"), *policy, "--json"])
    content = json.loads(told.stdout)
    assert content["equivalents"]["epsilon_swap"] == pytest.approx(2 * content["equivalents"]["relative_delta"])
    done = CliRunner().invoke(app, ["publish", str(tmp_path / "t.csv"), *policy, "-o", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (discreet.Frapp(prior=0.02, posterior=0.5), discreet.Frapp(prior=0.02, posterior=0.4), "gamma: 50 % -> 40 %"),
        (discreet.DiffGen(epsilon=1), discreet.DiffGen(epsilon=2), "epsilon: 1 -> 2, weaker"),
        (KINDS["slots"], discreet.AlphaBeta(prior=0.002, posterior=0.5, slots=16), "slots: 32 -> 16"),
    ],
)
def test_promises_of_every_kind_can_be_compared(tmp_path, one, two, said):
    """What is stronger or weaker is said number by number."""
    for name, mechanism in (("a", one), ("b", two)):
        (tmp_path / name).mkdir()
        policy, series = policy_of(tmp_path / name, mechanism), tmp_path / f"{name}.series"
        publish(people(), policy, tmp_path / name / "r", series=series)
    found = CliRunner().invoke(app, ["diff", str(tmp_path / "a" / "r"), str(tmp_path / "b" / "r")])
    assert found.exit_code == 0, found.output
    assert said in " ".join(found.output.split())

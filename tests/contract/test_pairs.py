"""Pairs from a table to an answer: the verbs of every release, whatever rounds found, and every kind of domain."""

from __future__ import annotations

import shutil
import tomllib
from contextlib import closing
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from cases import contents, opened, publish, saved, ward_frame, ward_schema
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app

runner = CliRunner()
POLICY = """version = 1
[table]
quasi_identifiers = ["age", "zip", "sugar", "day"]
sensitive = "ill"
[domains.age]
integers = [0, 79]
missing = "category"
[domains.zip]
hierarchy = "zip.csv"
[domains.sugar]
decimals = [4.0, 8.0]
step = 0.5
[domains.day]
dates = ["2020-01-01", "2020-12-31"]
by = "month"
[domains.ill]
values = ["flu", "cold", "HIV"]
missing = "category"
[mechanism]
kind = "pairs"
epsilon = {epsilon}
"""


def kinds(folder: Path, epsilon: object = 4) -> discreet.Policy:
    """Numbers that may be missing, a hierarchy, decimals, months, and a sensitive column that may be missing."""
    (folder / "zip.csv").write_text("".join(f"{each:05d};{each // 10:04d}*;*\n" for each in range(40)))
    (folder / "p.toml").write_text(POLICY.format(epsilon=epsilon))
    return discreet.Policy.load(folder / "p.toml")


def people(rows: int = 2_000) -> pd.DataFrame:
    coins = np.random.default_rng(0)
    sick = coins.random(rows)
    age = pd.array(np.clip(coins.normal(30 + 25 * sick, 12, rows), 0, 79).astype(int), dtype="Int64")
    age[::20] = pd.NA
    ill = np.where(sick > 0.7, "HIV", np.where(coins.random(rows) < 0.5, "flu", "cold")).astype(object)
    ill[::25] = None
    return pd.DataFrame(
        {
            "age": age,
            "zip": [f"{each:05d}" for each in np.minimum(39, (sick * 30 + coins.random(rows) * 10).astype(int))],
            "sugar": [Decimal(int(each)) / 2 for each in coins.integers(8, 17, rows)],
            "day": [date(2020, int(each), 9) for each in coins.integers(1, 13, rows)],
            "ill": ill,
        }
    )


ASKED = {
    "": lambda frame: frame.age == frame.age.fillna(-1),
    "ill = 'HIV'": lambda frame: frame.ill == "HIV",
    "ill IS NULL": lambda frame: frame.ill.isna(),
    "age IS NULL OR age < 20": lambda frame: frame.age.isna() | (frame.age.fillna(99) < 20),
    "age BETWEEN 20 AND 40 AND ill = 'HIV'": lambda frame: (
        frame.age.between(20, 40).fillna(False) & (frame.ill == "HIV")
    ),
    "zip LIKE '0001%' AND sugar > 5.5": lambda frame: frame.zip.str.startswith("0001") & (frame.sugar > Decimal("5.5")),
    "day >= '2020-07' AND NOT (ill = 'flu')": lambda frame: (
        (frame.day >= date(2020, 7, 1)) & frame.ill.notna() & (frame.ill != "flu")
    ),
}


@pytest.mark.parametrize("epsilon", [0.05, 4])
def test_every_kind_of_domain_goes_all_the_way(tmp_path, epsilon):
    """From a policy file to a release that verifies, with copies, and whose groups add up."""
    policy = kinds(tmp_path, epsilon)
    with opened(people(), policy, tmp_path / "r", csv=True) as release:
        assert discreet.verify(tmp_path / "r").holds
        assert release.rows is None
        everybody = release.count().value
        for names in (["ill"], ["day"], ["sugar", "ill"]):
            groups = release.count_by(*names)
            assert sum(each.value for *_, each in groups) == pytest.approx(everybody)
        for where in filter(None, ASKED):
            found = release.count(where)
            assert found.low <= found.value <= found.high
            assert found.standard_error > 0
        rows = release.sample(500, seed=1)
        assert rows.column_names == list(policy.schema.columns)
        assert rows.equals(release.sample(500, seed=1))
        assert epsilon < 1 or 0 < rows["ill"].null_count < 250
        weights = release.to_training_table(rows=400)["WEIGHT"]
        assert sum(weights.to_pylist()) == pytest.approx(release.total)
        assert "epsilon" in release.registry_entry()


def test_answers_are_near_the_truth(tmp_path):
    """With a large epsilon single columns are right to a few people, and two that depend are near."""
    frame = people()
    with opened(frame, kinds(tmp_path, 15), tmp_path / "r", seed=2) as release:
        for where, meets in ASKED.items():
            true = len(frame) if not where else int(meets(frame).sum())
            found = release.count(where, confidence=1 - 1e-6)
            assert found.low <= true <= found.high, where
            assert abs(found.value - true) < 100, where


def test_what_takes_long_can_be_learned_ahead(tmp_path, monkeypatch):
    """After `learn` no question fits the model again, and answers are the same; a closed release learns nothing."""
    policy = kinds(tmp_path)
    with discreet.read_table(people(), policy) as table:
        discreet.publish(table, policy, to=tmp_path / "r", seed=1).close()
    with discreet.open_release(tmp_path / "r") as release:
        first = release.count("age > 40 AND ill = 'HIV'")
    release = discreet.open_release(tmp_path / "r")
    release.learn()
    monkeypatch.setattr("discreet.estimate.diffgen.pairs.answers.refits", None)
    assert release.count("age > 40 AND ill = 'HIV'") == first
    release.close()
    with pytest.raises(discreet.QueryError, match="closed"):
        release.learn()


def test_a_column_that_changes_nothing_is_no_trouble(tmp_path):
    """Tied to another by OR: nothing hangs on both, and rounding must not make that less than nothing."""
    schema = ward_schema()
    policy = saved(discreet.Policy(schema=schema, mechanism=discreet.Pairs(epsilon=2)), tmp_path / "p.toml")
    with opened(ward_frame(), policy, tmp_path / "r", seed=1) as release:
        for name in ("disease", "postcode", "gender"):
            for value in schema.domains[name]:
                for other in {"disease", "postcode", "gender"} - {name}:
                    tied = release.count(f"{name} <> '{value}' OR {other} IS NULL")
                    alone = release.count(f"{name} <> '{value}'")
                    assert tied.value == pytest.approx(alone.value)
                    assert tied.standard_error == pytest.approx(alone.standard_error, rel=1e-3)


def test_a_condition_that_speaks_of_no_column_is_met_by_all_or_by_none(tmp_path):
    """Alone and beside others."""
    with opened(people(), kinds(tmp_path), tmp_path / "r") as release:
        assert release.count("1 = 1").value == pytest.approx(release.count().value)
        assert release.count("2 > 1 AND ill = 'HIV'").value == pytest.approx(release.count("ill = 'HIV'").value)
        assert release.count("1 = 2").value == 0
        assert release.count("1 = 2 OR age < 20").value == pytest.approx(release.count("age < 20").value)


def test_what_no_value_meets_is_nobody_and_a_contradiction_costs_no_model(tmp_path):
    """The domains are public: that is exact, and it is no estimate."""
    with opened(people(), kinds(tmp_path), tmp_path / "r") as release:
        nobody = release.count("age < 20 AND age > 40 AND ill = 'flu'")
        assert (nobody.exact, nobody.value, nobody.bounds) == (True, 0, (0, 0))


def test_a_release_without_a_pair_is_one_like_any_other(tmp_path):
    """At a small epsilon nothing is worth its noise: the table of pairs is empty, columns were counted again."""
    policy = saved(discreet.Policy(schema=ward_schema(), mechanism=discreet.Pairs(epsilon="0.1")), tmp_path / "p.toml")
    with opened(ward_frame(), policy, tmp_path / "r", csv=True) as release:
        assert pq.read_table(tmp_path / "r" / "data" / "pairs.parquet").num_rows == 0
        assert pq.read_table(tmp_path / "r" / "data" / "columns.parquet")["AGAIN"].null_count == 0
        assert discreet.verify(tmp_path / "r").holds
        found = release.count("age < 40 AND disease = 'HIV'")
        assert "few pairs were measured" in found.note
        assert found.conditional_on == "model"
        assert release.sample(50).num_rows == 50
        assert release.count("gender = 'F' OR disease = 'Flu'").value > 0
    shown = runner.invoke(app, ["query", str(tmp_path / "r"), "age < 40"])
    assert shown.exit_code == 0


def test_the_same_rows_give_the_same_bytes_in_any_order_and_cost_nothing(tmp_path):
    """A changed table is charged, another policy too, and both say what all cost together."""
    frame = people(600)
    policy = kinds(tmp_path)
    one = publish(frame, policy, tmp_path / "one")
    two = publish(frame.sample(frac=1, random_state=3), policy, tmp_path / "two")
    assert contents(two) == contents(one)
    three = publish(frame.iloc[1:], policy, tmp_path / "three")
    four = publish(frame, kinds(tmp_path, "0.5"), tmp_path / "four")
    for release, total in ((two, 4), (three, 8), (four, Fraction(17, 2))):
        with closing(discreet.open_release(release)) as found:
            assert Fraction(str(found.facts["total_epsilon"])) == total
    shutil.rmtree(one)
    assert contents(publish(frame, kinds(tmp_path), tmp_path / "one")) == contents(two)


def test_a_draft_of_pairs_is_decided_and_published(tmp_path):
    """`init --kind pairs` names diffgen for a classifier, and what it drafts runs."""
    people().to_csv(tmp_path / "t.csv", index=False)
    path = tmp_path / "t.toml"
    done = runner.invoke(app, ["init", str(tmp_path / "t.csv"), "-o", str(path), "--kind", "pairs"])
    assert done.exit_code == 0, done.output
    text = path.read_text()
    assert tomllib.loads(text)["mechanism"]["kind"] == "pairs"
    assert "diffgen" in text
    path.write_text("\n".join(line for line in text.splitlines() if not line.startswith("draft = true")))
    done = runner.invoke(app, ["publish", str(tmp_path / "t.csv"), "-p", str(path), "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert runner.invoke(app, ["verify", str(tmp_path / "out")]).exit_code == 0


def test_a_difference_says_what_two_of_them_promise_together(tmp_path):
    """Of another epsilon; and of DiffGen it is another mechanism."""
    frame = people(600)
    publish(frame, kinds(tmp_path, 2), tmp_path / "one")
    publish(frame, kinds(tmp_path, 1), tmp_path / "two")
    said = runner.invoke(app, ["diff", str(tmp_path / "one"), str(tmp_path / "two")])
    assert said.exit_code == 0, said.output
    assert "epsilon" in said.output
    other = kinds(tmp_path, 2)
    mechanism = discreet.DiffGen(epsilon=2)
    policy = saved(discreet.Policy(schema=other.schema, mechanism=mechanism), tmp_path / "d.toml")
    publish(frame, policy, tmp_path / "three")
    said = runner.invoke(app, ["diff", str(tmp_path / "one"), str(tmp_path / "three")])
    assert said.exit_code == 0, said.output
    assert "another mechanism" in said.output

"""DiffGen from a table to an answer: the same verbs as every release, and a series that counts epsilon."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tomllib
from contextlib import closing, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import contents, opened, publish, saved, usual_series
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.guarantee.epsilon import EpsilonPrivacy, epsilon_from_json
from discreet.guarantee.spent import For, Part
from discreet.release.diffgen.words import facts_1
from discreet.release.manifest import dump, sha256
from discreet.schema.domain import Integers, Listed
from discreet.schema.json_schema import json_schema
from discreet.series.store import FORMAT, Entry, Series, _seal

DISEASES = ("flu", "cold", "HIV")
ZIPS = tuple(f"0213{i}" for i in range(8))
PATHS = tuple((each, "0213[0-3]" if int(each[-1]) < 4 else "0213[4-7]", "*") for each in ZIPS)
KINDS = {
    "default": discreet.DiffGen(epsilon=1),
    "max": discreet.DiffGen(epsilon="1/2", score="max", specializations=3),
    "plain": discreet.DiffGen(epsilon=1, consistency="none"),
    "other class": discreet.DiffGen(epsilon=1, target="sex"),
    "few": discreet.DiffGen(epsilon=0.01),
    "paper": discreet.DiffGen(epsilon=1, guide="exponential", specializations=4, score="max", consistency="paper"),
    "tree": discreet.DiffGen(epsilon=1, guide="exponential", specializations=40),
    "faithful": discreet.DiffGen(epsilon=2, guide="exponential", specializations=3, consistency="none"),
}
runner = CliRunner()


def schema(public_rows: int | None = None) -> discreet.Schema:
    return discreet.Schema(
        quasi_identifiers=("age", "zip", "sex"),
        sensitive="disease",
        domains={
            "age": Integers(low=0, high=79, missing=True),
            "zip": Listed(values=ZIPS, paths=PATHS),
            "sex": Listed(values=("F", "M")),
            "disease": Listed(values=DISEASES),
        },
        public_rows=public_rows,
    )


def policy_of(folder: Path, mechanism: discreet.DiffGen) -> discreet.Policy:
    return saved(discreet.Policy(schema=schema(), mechanism=mechanism), folder / "p.toml")


def people(rows: int = 3_000, seed: int = 0) -> pd.DataFrame:
    coins = np.random.default_rng(seed)
    sick = coins.random(rows)
    age = pd.array(np.clip(coins.normal(30 + 25 * sick, 12, rows), 0, 79).astype(int), dtype="Int64")
    age[::50] = pd.NA
    disease = np.where(sick > 0.7, "HIV", np.where(coins.random(rows) < 0.5, "flu", "cold"))
    zips = np.array(ZIPS)[np.minimum(7, (sick * 6 + coins.random(rows) * 2).astype(int))]
    return pd.DataFrame({"age": age, "zip": zips, "sex": coins.choice(["F", "M"], rows), "disease": disease})


@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_is_read_back_and_a_release_verifies_and_answers(tmp_path, kind):
    """Through TOML, publish, verify, count, GROUP BY and CSV; groups add up to the whole."""
    policy = policy_of(tmp_path, KINDS[kind])
    assert policy.mechanism == KINDS[kind]
    release = opened(people(), policy, tmp_path / "r", csv=True)
    verdict = discreet.verify(tmp_path / "r")
    assert verdict.holds, str(verdict)
    everybody = release.count()
    groups = release.count_by("disease")
    assert sum(estimate.value for _, estimate in groups) == pytest.approx(everybody.value)
    ages = release.count_by("age", where="sex = 'F' OR disease = 'HIV'")
    assert sum(estimate.value for _, estimate in ages) == pytest.approx(
        release.count("sex = 'F' OR disease = 'HIV'").value
    )
    assert ages[None] == release.count("age IS NULL AND (sex = 'F' OR disease = 'HIV')")
    for estimate in (everybody, *(each for _, each in ages)):
        assert estimate.low <= estimate.value <= estimate.high
    release.close()


def test_answers_are_near_the_truth(tmp_path):
    """With a large epsilon counts are right to a percent, and the interval says how far."""
    frame = people()
    release = opened(frame, policy_of(tmp_path, discreet.DiffGen(epsilon=10)), tmp_path / "r")
    for where, true in (
        ("", len(frame)),
        ("disease = 'HIV'", (frame.disease == "HIV").sum()),
        ("age BETWEEN 20 AND 40", frame.age.between(20, 40).sum()),
        ("zip = '02135' AND disease = 'HIV'", ((frame.zip == "02135") & (frame.disease == "HIV")).sum()),
    ):
        estimate = release.count(where)
        assert abs(estimate.value - true) < 30
        sure = release.count(where, confidence=1 - 1e-9)
        assert sure.low - 1 <= true <= sure.high + 1
    release.close()


def test_an_answer_says_what_it_rests_on(tmp_path):
    """Whole values and classes rest on coins; what cuts leaves on a model, with a wider interval."""
    release = opened(people(), policy_of(tmp_path, discreet.DiffGen(epsilon=1, specializations=1)), tmp_path / "r")
    assert release.count("disease = 'HIV' AND age < 40").conditional_on == "publisher's coins"
    cut = release.count("zip = '02131' AND sex = 'F'")
    assert cut.conditional_on == "model"
    assert "cuts leaves" in cut.note
    assert release.count("age < 200").conditional_on == "publisher's coins"
    assert release.count("", estimator="model") == release.count("")
    with pytest.raises(discreet.QueryError, match="estimator"):
        release.count("", estimator="uniform")
    release.close()


def test_what_no_value_of_the_domains_meets_is_exactly_nobody(tmp_path):
    """Without a count: the domains are public. What only looks empty is uncertain, and no point."""
    release = opened(people(), policy_of(tmp_path, KINDS["default"]), tmp_path / "r")
    nobody = release.count("age < 20 AND age > 40 AND sex = 'F'")
    assert (nobody.exact, nobody.value, nobody.bounds, nobody.conditional_on) == (True, 0, (0, 0), "nothing")
    for where in ("age = 79 AND zip = '02131' AND disease = 'HIV'", "age < 1 AND sex = 'F'", "age IS NULL"):
        found = release.count(where)
        assert not found.exact
        assert found.low < found.high
    release.close()


def test_people_are_not_shown_the_most_rows_of_any_table_as_a_limit(tmp_path):
    """JSON keeps it in bounds; str and the command line say that there is no limit."""
    release = opened(people(), policy_of(tmp_path, KINDS["default"]), tmp_path / "r")
    said = str(release.count("disease = 'HIV'"))
    release.close()
    assert said.endswith("certainly 0 or more")
    for question in ("disease = 'HIV'", "SELECT COUNT(*) FROM r GROUP BY disease"):
        shown = runner.invoke(app, ["query", str(tmp_path / "r"), question]).output
        assert "0 or more" in shown
        assert "100,000,000,000,000" not in shown + said
    stated = json.loads(runner.invoke(app, ["query", str(tmp_path / "r"), "disease = 'HIV'", "--json"]).output)
    assert stated["bounds"] == [0, 10**14]


def test_bounds_know_public_rows_only(tmp_path):
    """The number of rows stays out of the release unless it is public."""
    plain = opened(people(), policy_of(tmp_path, KINDS["default"]), tmp_path / "r")
    assert plain.count("").bounds == (0, 10**14)
    block = json.loads((tmp_path / "r" / "datapackage.json").read_text())["discreet"]
    assert "3000" not in json.dumps({name: part for name, part in block.items() if name != "readme"}).replace(",", "")
    plain.close()
    policy = discreet.Policy(schema=schema(4_000), mechanism=KINDS["default"])
    known = opened(people(), policy, tmp_path / "known", series=tmp_path / "known.series")
    assert known.count("").bounds == (0, 4_000)
    assert known.count("").high <= 4_000
    known.close()


def test_synthetic_rows_have_every_column_and_keep_shares(tmp_path):
    """Values of the domains, the same for the same seed, in shares like the release's."""
    release = opened(people(), policy_of(tmp_path, discreet.DiffGen(epsilon=8)), tmp_path / "r")
    rows = release.sample(5_000, seed=1)
    assert rows.column_names == ["age", "zip", "sex", "disease"]
    assert rows.equals(release.sample(5_000, seed=1))
    assert not rows.equals(release.sample(5_000, seed=2))
    frame, true = rows.to_pandas(), people()
    for column in ("zip", "disease"):
        shares = frame[column].value_counts(normalize=True).sub(true[column].value_counts(normalize=True), fill_value=0)
        assert shares.abs().max() < 0.03
    both = [((each.zip >= "02134") & (each.disease == "HIV")).mean() for each in (frame, true)]
    assert both[0] == pytest.approx(both[1], abs=0.03)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(discreet.QueryError, match="n "):
            release.sample(wrong)
    release.close()


def test_a_training_table_trains_a_classifier(tmp_path):
    """Weighted rows for scikit-learn; weights add up to the total."""
    tree = pytest.importorskip("sklearn.tree")
    frame = people(6_000, seed=5)
    release = opened(people(), policy_of(tmp_path, discreet.DiffGen(epsilon=2)), tmp_path / "r")
    table = release.to_training_table().to_pandas()
    assert table["WEIGHT"].sum() == pytest.approx(release.count("").value)
    hot = [pd.get_dummies(each[["age", "zip"]].fillna({"age": -1}), columns=["zip"]) for each in (table, frame)]
    model = tree.DecisionTreeClassifier(max_depth=4, random_state=0)
    model.fit(hot[0], table["disease"] == "HIV", sample_weight=table["WEIGHT"])
    right = (model.predict(hot[1][hot[0].columns]) == (frame["disease"] == "HIV")).mean()
    assert right > 0.85
    release.close()


def test_the_same_rows_and_policy_cost_nothing_and_give_the_same_bytes(tmp_path):
    """In any order of rows; the series keeps the measurements."""
    policy = policy_of(tmp_path, KINDS["default"])
    publish(people(), policy, tmp_path / "one")
    publish(people().sample(frac=1, random_state=3), policy, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    with Series(usual_series()) as memory:
        (entry,) = memory.entries()
        assert entry.cost == 1
        assert json.loads(entry.memo)["tables"]


def test_a_changed_table_or_policy_is_charged(tmp_path):
    """Each release states what all cost together, also when an earlier one is made again."""
    policy = policy_of(tmp_path, KINDS["default"])
    publish(people(), policy, tmp_path / "one")
    second = opened(people().iloc[:-10], policy, tmp_path / "two")
    assert second.facts["total_epsilon"] == "2/1"
    assert "epsilon = 2" in second.facts["words"]
    assert "warning" not in second.facts
    second.close()
    other = policy_of(tmp_path, KINDS["max"])
    third = opened(people(), other, tmp_path / "three")
    assert third.facts["total_epsilon"] == "5/2"
    third.close()
    again = opened(people(), policy, tmp_path / "again")
    assert again.facts["total_epsilon"] == "1/1"
    again.close()
    assert contents(tmp_path / "one") == contents(tmp_path / "again")
    for name in ("two", "three"):
        assert discreet.verify(tmp_path / name).holds


def test_other_kinds_of_release_do_not_share_the_promise(tmp_path):
    """Epsilon says nothing of buckets of the same people; the custodian must say to go on, and the facts say so."""
    buckets = discreet.Buckets(tolerance=discreet.Tolerance(floor="0.9"), sizes="one")
    publish(people(), saved(discreet.Policy(schema=schema(), mechanism=buckets), tmp_path / "p.toml"), tmp_path / "b")
    policy = policy_of(tmp_path, KINDS["default"])
    with pytest.raises(discreet.SeriesRefusal, match="new-series"):
        publish(people(), policy, tmp_path / "r")
    assert not (tmp_path / "r").exists()
    release = opened(people(), policy, tmp_path / "r", new_series=True)
    assert "warning" in release.facts
    assert discreet.verify(tmp_path / "r").holds
    release.close()


def old_series(path: Path, form: int) -> Entry:
    """Turn a series with one entry into a file of an older format, as older versions wrote it; the entry."""
    with Series(path) as memory:
        key, (entry,) = memory.coins.key, memory.entries()
    row = [entry.rows, entry.ordered, entry.policy, entry.drawn, "[]", 0, entry.release, entry.published]
    names = "rows, ordered, policy, drawn, classes, continued, release, published, seal"
    if form == 3:
        row += [entry.memo, str(entry.cost)]
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE entry")
        db.execute(f"CREATE TABLE view ({names}, measured, epsilon, PRIMARY KEY (rows, policy))")
        stored = (*row[:8], _seal(key, *row), *row[8:], *[""] * (10 - len(row)))
        db.execute(f"INSERT INTO view VALUES ({', '.join('?' * len(stored))})", stored)
        db.execute("ALTER TABLE series RENAME COLUMN entries TO views")
        db.execute("UPDATE series SET format = ?, seal = ?", (form, _seal(key, form, key, 1)))
    return entry


def test_a_series_of_the_format_before_is_read_and_renewed(tmp_path):
    """Format 3 kept measurements and epsilon in columns of their own: the same release again, at no cost."""
    policy = policy_of(tmp_path, KINDS["default"])
    publish(people(), policy, tmp_path / "one")
    entry = old_series(usual_series(), 3)
    with Series(usual_series()) as memory:
        assert memory.entries() == (replace(entry, people=b""),)
    with sqlite3.connect(usual_series()) as db:  # looking at it does not renew it
        assert db.execute("SELECT format FROM series").fetchone() == (3,)
    publish(people(), policy, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    with sqlite3.connect(usual_series()) as db:
        assert db.execute("SELECT format FROM series").fetchone() == (FORMAT,)
    second = opened(people(2_000), policy, tmp_path / "three")
    assert second.facts["total_epsilon"] == "2/1"
    second.close()


def test_a_series_of_the_format_before_that_is_read_and_renewed(tmp_path):
    """Format 2 had no measurements and no costs; its releases and seals are kept."""
    policy = policy_of(tmp_path, KINDS["default"])
    publish(people(), policy, tmp_path / "one")
    entry = old_series(usual_series(), 2)
    with Series(usual_series()) as memory:
        assert memory.entries()[0].release == entry.release
        assert memory.entries()[0].cost == 0
    with pytest.raises(discreet.SeriesRefusal):
        publish(people(2_000), policy, tmp_path / "two")
    publish(people(2_000), policy, tmp_path / "two", new_series=True)
    with Series(usual_series()) as memory:
        assert [each.cost for each in memory.entries()] == [0, 1]


def test_an_older_series_that_was_damaged_is_refused(tmp_path):
    """Renewing looks at the seals first."""
    policy = policy_of(tmp_path, KINDS["default"])
    publish(people(), policy, tmp_path / "one")
    old_series(usual_series(), 3)
    with sqlite3.connect(usual_series()) as db:
        db.execute("UPDATE view SET epsilon = '1/1000'")
    with pytest.raises(discreet.SeriesRefusal, match="damaged"):
        publish(people(2_000), policy, tmp_path / "two")


def test_a_seed_is_for_tests(tmp_path):
    """The same seed gives the same release, which says so, and verify's check of randomness alone fails."""
    policy = policy_of(tmp_path, KINDS["default"])
    for name in ("one", "two"):
        publish(people(), policy, tmp_path / name, seed=7)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    verdict = discreet.verify(tmp_path / "one")
    assert [check.name for check in verdict.checks if not check.holds] == ["randomness"]
    assert discreet.verify(tmp_path / "one", allow_seeded=True).holds
    assert "test release" in (tmp_path / "one" / "README.md").read_text()
    assert not (usual_series()).exists()


def test_the_facts_state_every_share_and_what_is_left_over(tmp_path):
    """Parts add up to epsilon exactly; what choices did not need is a part of its own."""
    for kind in ("default", "few", "faithful", "tree"):
        release = opened(
            people(), policy_of(tmp_path, KINDS[kind]), tmp_path / kind, series=tmp_path / f"{kind}.series"
        )
        facts = release.facts
        assert sum(map(Fraction, facts["parts"].values())) == Fraction(facts["epsilon"])
        assert facts["unit"] == "one record, added or removed"
        release.close()
        left = "not needed" in facts["parts"]
        assert not left or kind in ("faithful", "tree")
        assert ("nothing was done with it" in facts["unspent"]) is left
    assert (
        "tables again" in json.loads((tmp_path / "few" / "datapackage.json").read_text())["discreet"]["facts"]["parts"]
    )


def test_an_entry_for_the_registry_can_be_drafted(tmp_path):
    """The sections of the OpenDP Deployments Registry, the numbers of the release, TODO for the rest."""
    release = opened(people(), policy_of(tmp_path, KINDS["max"]), tmp_path / "r")
    text = release.registry_entry()
    sections = ("basic", "dp_variant", "privacy_loss", "deployment_model", "implementation", "administrative")
    for section in sections:
        assert f"\n  {section}:\n" in text
    assert "epsilon: 0.5\n" in text
    assert 'variant_name: "Pure DP"' in text
    release.close()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"epsilon": 0}, "above 0"),
        ({"epsilon": -1}, "above 0"),
        ({"epsilon": 100}, "between"),
        ({"epsilon": "1/1000000"}, "between"),
        ({"epsilon": "much"}, "number"),
        ({"epsilon": 1, "specializations": 0}, "from 1"),
        ({"epsilon": 1, "specializations": 2.5}, "whole number"),
        ({"epsilon": 1, "specializations": True}, "whole number"),
        ({"epsilon": 1, "score": "gini"}, "one of"),
        ({"epsilon": 1, "consistency": "some"}, "one of"),
        ({"epsilon": 1, "guide": "none"}, "one of"),
        ({"epsilon": 1, "consistency": "paper"}, "exponential"),
        ({"epsilon": 1, "target": 3}, "name"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(given, why):
    """One sentence each, when the mechanism is built."""
    with pytest.raises(discreet.PolicyError, match=why) as caught:
        discreet.DiffGen(**given)
    assert "\n" not in str(caught.value)


POLICY = """version = 1
[table]
quasi_identifiers = ["age", "job"]
sensitive = "disease"
[domains.age]
integers = [0, 99]
[domains.job]
values = ["a", "b"]
[domains.disease]
values = ["flu", "HIV"]
[mechanism]
kind = "diffgen"
epsilon = 1
"""


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[domains.age]\nintegers = [0, 99]\n", "", "domains.age"),
        ('values = ["flu", "HIV"]', 'values = ["flu"]', "two values"),
        ('values = ["a", "b"]', 'values = ["a", "b"]\nhierarchy = "job.csv"', "b"),
        ("integers = [0, 99]", "integers = [0, 9_000_000]", "at most 4,194,304"),
        ("epsilon = 1", "", "epsilon is missing"),
        ("epsilon = 1", "epsilon = 1\nh = 3", "h is not a parameter"),
        ("epsilon = 1", 'epsilon = 1\ntarget = "jobs"', "did you mean job"),
        ('"job"]', '"CELL"]', "CELL"),
        ('values = ["a", "b"]', f"values = {[f'v{i}' for i in range(300)]}".replace("'", '"'), "hierarchy"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused_in_one_sentence(tmp_path, old, new, why):
    """Undeclared ranges, one class, a hierarchy that misses a value, unknown names: exit 2, nothing written."""
    (tmp_path / "job.csv").write_text("a;x;*\n")
    text = POLICY.replace(old, new)
    if "CELL" in new:
        text = text.replace("domains.job", "domains.CELL")
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(discreet.PolicyError, match=why) as caught:
        discreet.Policy.load(tmp_path / "p.toml")
    assert sum(line.startswith("p.toml") for line in str(caught.value).splitlines()) == 1


def test_more_specializations_than_there_are_is_said(tmp_path):
    """The plan says so, and the release uses what there is."""
    path = tmp_path / "p.toml"
    path.write_text(POLICY.replace("epsilon = 1", "epsilon = 1\nspecializations = 500"))
    frame = pd.DataFrame({"age": [1, 2] * 500, "job": ["a", "b"] * 500, "disease": ["flu", "HIV"] * 500})
    frame.to_csv(tmp_path / "t.csv", index=False)
    found = runner.invoke(app, ["plan", str(tmp_path / "t.csv"), "--policy", str(path), "--json"])
    content = json.loads(found.stdout)
    assert content["specializations"] == 100
    assert "more than the hierarchies allow" in content["warnings"][0]
    found = runner.invoke(app, ["publish", str(tmp_path / "t.csv"), "--policy", str(path), "-o", str(tmp_path / "r")])
    assert "more than the hierarchies allow" in found.stdout
    assert "of 500 that were asked for" in (tmp_path / "r" / "README.md").read_text()
    assert discreet.verify(tmp_path / "r").holds
    assert (
        "more than the hierarchies allow"
        in runner.invoke(app, ["plan", str(tmp_path / "t.csv"), "--policy", str(path)]).stdout
    )


def test_the_json_schema_knows_the_mechanism(tmp_path):
    """Editors accept what the loader accepts, and nothing else."""
    accepts = jsonschema.Draft202012Validator(json_schema()).is_valid
    for mechanism in KINDS.values():
        policy_of(tmp_path, mechanism)
        assert accepts(tomllib.loads((tmp_path / "p.toml").read_text()))
    assert not accepts(tomllib.loads(POLICY.replace("epsilon = 1", "epsilon = 1\nh = 3")))
    assert not accepts(tomllib.loads(POLICY.replace("epsilon = 1", 'epsilon = 1\nguide = "both"')))


def test_the_command_line_goes_all_the_way(tmp_path):
    """plan, publish, verify and query by their words alone."""
    policy_of(tmp_path, KINDS["default"])
    people().to_csv(tmp_path / "t.csv", index=False)
    data, policy, to = (str(tmp_path / each) for each in ("t.csv", "p.toml", "r"))
    for words, expected in (
        (["plan", data, "--policy", policy], "epsilon = 1"),
        (["publish", data, "--policy", policy, "-o", to], "noisy counts"),
        (["verify", to], "the promise holds"),
        (["query", to, "age < 40 AND zip = '02131'"], "interval"),
        (["query", to, "SELECT COUNT(*) FROM r GROUP BY disease"], "HIV"),
    ):
        found = runner.invoke(app, words)
        assert found.exit_code == 0, found.output
        assert expected in found.output


def rewritten(folder: Path, change) -> None:
    """Change the manifest and put the hashes right, as a forger would."""
    path = folder / "datapackage.json"
    manifest = json.loads(path.read_text())
    change(manifest["discreet"])
    for each in manifest["resources"]:
        file = folder / each["path"]
        each["bytes"], each["hash"] = file.stat().st_size, f"sha256:{sha256(file)}"
    path.write_text(dump(manifest))


def with_counts(folder: Path, name: str, change) -> None:
    path = folder / "data" / name
    table = pq.read_table(path)
    counts = change(table["COUNT"].to_numpy().copy())
    table = table.set_column(table.column_names.index("COUNT"), "COUNT", pa.array(counts))
    with pq.ParquetWriter(path, table.schema.remove_metadata(), compression="zstd", store_schema=False) as writer:
        writer.write_table(table.replace_schema_metadata())
    rewritten(folder, lambda block: None)


def moved(counts):
    counts[0] += 1.0
    return counts


def negative(counts):
    counts[0] = -1.0
    return counts


def finer(counts):
    counts[0] += 2.0**-20
    return counts


def cheaper(block):
    block["guarantee"]["parts"]["leaves"] = "1/10"


def shifted(block):
    """A thousandth less for leaves, a thousandth more for a table: they still add up."""
    parts = block["guarantee"]["parts"]
    for name, step in (("leaves", -1), (next(iter(parts)), 1)):
        share = Fraction(parts[name]) + Fraction(step, 1000)
        parts[name] = f"{share.numerator}/{share.denominator}"


def turned(block):
    block["guarantee"]["parts"] = dict(reversed(block["guarantee"]["parts"].items()))


def renamed(block, name):
    block["guarantee"]["parts"][name] = block["guarantee"]["parts"].pop("leaves")


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (lambda folder: with_counts(folder, "leaves.parquet", moved), "counts"),
        (lambda folder: with_counts(folder, "tables.parquet", moved), "counts"),
        (lambda folder: with_counts(folder, "leaves.parquet", negative), "schema"),
        (lambda folder: with_counts(folder, "tables.parquet", finer), "schema"),
        (lambda folder: rewritten(folder, cheaper), "promise"),
        (lambda folder: rewritten(folder, shifted), "promise"),
        (lambda folder: rewritten(folder, turned), "promise"),
        (lambda folder: rewritten(folder, lambda block: block["mechanism"].update(guide="exponential")), "promise"),
        (lambda folder: rewritten(folder, lambda block: block["mechanism"].update(consistency="paper")), "schema"),
        (lambda folder: rewritten(folder, lambda block: block["mechanism"].update(specializations=1_001)), "schema"),
        (lambda folder: rewritten(folder, lambda block: block["mechanism"].update(specializations=900)), "steps"),
        (lambda folder: rewritten(folder, lambda block: block.update(levels=2)), "steps"),
        (lambda folder: rewritten(folder, lambda block: block.update(specializations=99)), "steps"),
        (lambda folder: rewritten(folder, lambda block: renamed(block, "gift")), "manifest"),
        (lambda folder: rewritten(folder, lambda block: renamed(block, "tables again")), "promise"),
        (lambda folder: rewritten(folder, lambda block: renamed(block, "table of gifts")), "promise"),
        (lambda folder: rewritten(folder, lambda block: block["mechanism"].update(epsilon="1/2")), "promise"),
        (lambda folder: rewritten(folder, lambda block: block["guarantee"].update(before="5/1")), "words"),
        (lambda folder: rewritten(folder, lambda block: block["facts"].update(words="It is safe.")), "words"),
        (lambda folder: rewritten(folder, lambda block: block.update(leaves=1)), "schema"),
        (lambda folder: rewritten(folder, lambda block: block.update(randomness="seeded")), "randomness"),
        (lambda folder: (folder / "README.md").write_text("safe"), "hashes"),
    ],
)
def test_verify_finds_what_was_changed(tmp_path, change, fails):
    """Each change, with all hashes put right, is found by its check."""
    publish(people(), policy_of(tmp_path, KINDS["default"]), tmp_path / "r")
    assert discreet.verify(tmp_path / "r").holds
    change(tmp_path / "r")
    verdict = discreet.verify(tmp_path / "r")
    assert fails in [check.name for check in verdict.checks if not check.holds]


def test_a_large_total_is_still_a_sentence(tmp_path):
    """Many releases cost much, and the facts say it without a number beyond all numbers."""
    promise = EpsilonPrivacy(
        epsilon=Fraction(20), parts=(Part(paid=For.LEAVES, share=Fraction(20)),), before=Fraction(5_000)
    )
    assert "a factor of e^5020" in facts_1(promise, False)["words"]
    assert epsilon_from_json(promise.as_json()) == promise
    for wrong in ({"before": "1" + "0" * 300 + "/1"}, {"parts": {"leaves": "1" + "0" * 300 + "/1"}}, {"parts": []}):
        with pytest.raises(discreet.PolicyError):
            epsilon_from_json({**promise.as_json(), **wrong})


@pytest.mark.parametrize(
    "change",
    [
        lambda block: block["guarantee"]["parts"].update(leaves="0/1"),
        lambda block: block.update(levels=-3),
        lambda block: block.update(specializations=0),
        lambda block: block["guarantee"].update(parts={}),
        lambda block: block["mechanism"].update(target=["age"]),
        lambda block: block["mechanism"].update(target="disease", guide=3),
    ],
)
def test_a_manifest_from_a_stranger_never_ends_in_a_traceback(tmp_path, change):
    """Whatever it says, asking gives an estimate or one sentence, and verify says that it does not hold."""
    publish(people(), policy_of(tmp_path, KINDS["default"]), tmp_path / "r")
    rewritten(tmp_path / "r", change)
    assert not discreet.verify(tmp_path / "r").holds
    with suppress(discreet.DiscreetError), closing(discreet.open_release(tmp_path / "r")) as release:
        assert release.count("age < 30 AND sex = 'F'").low >= 0


def test_a_release_that_was_damaged_raises_one_sentence(tmp_path):
    """Opening is lazy, asking is not fooled."""
    publish(people(), policy_of(tmp_path, KINDS["default"]), tmp_path / "r")
    shutil.copy(tmp_path / "r/data/tables.parquet", tmp_path / "r/data/leaves.parquet")
    release = discreet.open_release(tmp_path / "r")
    with pytest.raises(discreet.ReleaseError, match="leaves"):
        release.count("age < 3")
    release.close()

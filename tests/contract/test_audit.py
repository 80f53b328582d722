"""An audit attacks every kind of release, says what it found in words without a cell, and stays with the custodian."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import ROWS, contents, policy_of, publish, usual_series, ward_frame
from commands import as_json, mistake
from commands import discreet as run

import discreet
from discreet.attack.attack import Group
from discreet.attack.attacks import attacks_of, every_attack
from discreet.attack.buckets.within import WithinBucket
from discreet.attack.keep import keep
from discreet.mechanism.buckets.policy.buckets import Buckets

KEYS = {"name", "rate", "low", "high", "bound", "baseline", "covered_by_promise"}
QUICK = ("within-bucket",)  # of buckets, where any attack will do


@pytest.fixture(scope="module")
def report(seeded: Path, ward: discreet.Table) -> discreet.AuditReport:
    """Everything that fits the ward's release, once for each case."""
    return discreet.audit(seeded, ward)


def test_no_attack_that_the_promise_covers_beats_a_right_release(report):
    """For every mechanism: exit 1 is for broken promises alone."""
    assert report.holds, report.verdict
    assert all(not each.beats for each in report.findings)


def test_every_attack_on_such_releases_was_run_or_says_why_not(report):
    """Nothing is left out silently, and no finding has the name of an attack that there is not."""
    told = {each.name for each in report.findings} | {name for name, _ in report.left_out}
    assert told >= set(attacks_of(report.kind))
    assert {each.name for each in report.findings} <= set(attacks_of(report.kind))
    assert all(why for _, why in report.left_out)


def test_a_finding_says_all_that_a_reader_needs(report):
    """A rate within its interval, what it measures, and a baseline that says what it is."""
    for each in report.findings:
        assert each.rate.low <= each.rate.rate <= each.rate.high, each.title
        assert each.measures, each.title
        assert (each.baseline is None) == (not each.baseline_is), each.title
        assert each.group in Group, each.title
        assert not each.share or 0 <= each.rate.rate <= 1, each.title
    assert len({each.title for each in report.findings}) == len(report.findings)


def test_a_report_ends_with_the_best_of_what_is_not_covered(report):
    """Each attack on values once, the best of its findings, best first; and none that gains nothing by the release."""
    found = [each for each in report.findings if not each.covered and each.share and each.baseline is not None]
    found = [each for each in found if each.group.value == "inference" and each.rate.rate > each.baseline]
    best = {name: max(each.rate.rate for each in found if each.name == name) for name in {each.name for each in found}}
    assert {each.name: each.rate.rate for each in report.beyond} == best
    rates = [each.rate.rate for each in report.beyond]
    assert rates == sorted(rates, reverse=True)
    assert list(report.lines)[-1] == report.verdict


def test_a_report_is_json_with_the_public_keys(report):
    """As DESIGN has them, and plain JSON without NaN."""
    found = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert len(found["attacks"]) == len(report.findings)
    assert all(set(each) >= KEYS for each in found["attacks"])


def test_no_report_carries_a_cell_that_was_not_published(report):
    """Neither identifiers, nor columns that stay private, in words, JSON or notes."""
    text = f"{report}{json.dumps(report.as_json())}"
    assert not any(sign in text for sign in ("Zyxwvut", "9-77-", "bedtag_", "remark <<", "817267"))


def test_an_audit_is_the_custodians_and_says_so(report, seeded, tmp_path):
    """It says so in every form, and cannot be kept in a release; it changes nothing there."""
    before = contents(seeded)
    assert "never put it into a release folder" in str(report)
    assert "never put it into a release folder" in report.as_json()["keep"]
    for name in ("audit.txt", "data/audit.json"):
        with pytest.raises(discreet.ReleaseError, match="must be kept outside of every release"):
            keep(report, seeded / name)
    assert contents(seeded) == before
    assert keep(report, tmp_path / "a.txt").read_text() == f"{report}\n"
    assert json.loads(keep(report, tmp_path / "a.json").read_text())["kind"] == report.kind
    assert keep(report, tmp_path / "a.svg").read_text().startswith("<svg ")


def test_the_same_audit_twice_finds_the_same(report, seeded, ward):
    """Its coins have a seed of their own."""
    assert discreet.audit(seeded, ward).as_json()["attacks"] == report.as_json()["attacks"]


def test_a_stranger_runs_what_needs_no_table(seeded):
    """From the files alone; what needs the table says so."""
    report = discreet.audit(seeded)
    assert report.holds
    assert not report.with_table
    assert "anybody can find" in str(report)
    assert {each.name for each in report.findings} | {name for name, _ in report.left_out} >= set(
        attacks_of(report.kind)
    )


def test_another_table_is_refused_by_what_it_counts(seeded, case):
    """One sentence, without a cell."""
    other = ward_frame(rows=3 * ROWS, seed=6)
    other["disease"] = np.where(np.arange(len(other)) % 20, "HIV", "Measles")
    with pytest.raises(discreet.TableError, match="must be the one that the release was made of") as error:
        discreet.audit(seeded, other)
    assert "\n" not in str(error.value)


def test_one_changed_row_is_refused_where_the_series_made_the_release(published, ward):
    """By the digest that the series keeps, whatever noise there is; the right table is known for certain."""
    frame = ward_frame()
    one = published.folder / "one"
    report = discreet.audit(one, ward, series=published.series, attacks=[])
    assert any("the series made this release of" in each for each in report.notes)
    frame.loc[3, "age"] = (frame.loc[3, "age"] + 1) % 100
    with pytest.raises(discreet.TableError, match="the series made the release of other rows"):
        discreet.audit(one, frame, series=published.series, attacks=[])


def test_a_table_without_the_columns_is_refused(seeded):
    """And one with cells outside the domains; nothing of a cell is said."""
    with pytest.raises(discreet.TableError, match="column postcode is missing"):
        discreet.audit(seeded, ward_frame().drop(columns=["postcode"]))
    frame = ward_frame()
    frame.loc[0, "disease"] = "Xyzzy"
    with pytest.raises(discreet.TableError) as error:
        discreet.audit(seeded, frame)
    assert "Xyzzy" not in str(error.value)


def test_a_release_that_does_not_verify_is_refused_unless_told(seeded, ward, tmp_path):
    """The sentence names the check; told to go on, the report begins with it."""
    broken = Path(shutil.copytree(seeded, tmp_path / "broken"))
    (broken / "README.md").write_text("all is well")
    with pytest.raises(discreet.ReleaseError, match=r"must verify before it is audited; hashes: .* --unverified"):
        discreet.audit(broken, ward)
    report = discreet.audit(broken, ward, attacks=[], unverified=True)
    assert "DOES NOT VERIFY (hashes" in report.notes[0]


def to_the_bucket_before(rows: pd.DataFrame) -> pd.DataFrame:
    """The first row of the second bucket moves to the first."""
    return rows.assign(BID=rows["BID"].where(rows.index != rows["BID"].searchsorted(2), 1))


@pytest.mark.parametrize(
    ("file", "edit"),
    [
        ("st.parquet", lambda rows: rows.assign(COUNT=rows["COUNT"] + (rows.index == 0))),
        ("st.parquet", to_the_bucket_before),
        ("qit.parquet", lambda rows: rows.iloc[1:]),
        ("qit.parquet", to_the_bucket_before),
    ],
    ids=["a record more", "a record elsewhere", "a row less", "a row elsewhere"],
)
@pytest.mark.parametrize("table", [True, False], ids=["custodian", "stranger"])
def test_rows_that_are_not_in_the_buckets_of_the_records_are_one_sentence(file, edit, table, house):
    """Whoever attacks such a release as it is gets no traceback, and no number by arrays that do not fit."""
    path = house / "release" / "data" / file
    rows = pq.read_table(path)
    pq.write_table(pa.Table.from_pandas(edit(rows.to_pandas()), schema=rows.schema, preserve_index=False), path)
    words = ("audit", "release", "--unverified", *(("--against", "ward.csv", "--policy", "ward.toml") * table))
    assert "verify says more" in mistake(*words, cwd=house)


def test_a_release_from_a_seed_says_that_nothing_is_promised(report):
    """Whoever knows the seed undoes it."""
    assert any("come from a seed" in each for each in report.notes)


# What is asked for


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A table, its policy, and a release of buckets from a series."""
    from cases import CASES

    frame = ward_frame()
    frame.to_csv(tmp_path / "ward.csv", index=False)
    publish(frame, policy_of(CASES[0], tmp_path), tmp_path / "release")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"attacks": ["within-buckets"]}, discreet.PolicyError, r"did you mean within-bucket\?"),
        ({"attacks": ["\x1b[31m"]}, discreet.PolicyError, "discreet audit --list"),
        ({"attacks": [WithinBucket]}, discreet.PolicyError, r"attack \(WithinBucket\) must be a name or the value"),
        ({"attacks": [3]}, discreet.PolicyError, r"attack \(int\) must be a name or the value"),
        ({"confidence": 1.0}, discreet.PolicyError, r"confidence \(1.0\) must be between 0 and 1"),
        ({"confidence": float("nan")}, discreet.PolicyError, "confidence"),
        ({"series": "nowhere.series"}, discreet.TableError, r"series \(nowhere.series\) must be a file"),
        ({"others": ["nowhere"]}, discreet.ReleaseError, "must be a folder"),
        ({"outside": pd.DataFrame({"shoe_size": [1]})}, discreet.TableError, "must have at least one column"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence(house, options, error, words):
    """Attacks, confidence, series, further releases and tables of others."""
    with pytest.raises(error, match=words):
        discreet.audit(house / "release", ward_frame(), **options)


def test_attacks_are_asked_for_by_name_or_as_values(house):
    """In the order in which they are named, only these, and each once; one may stand alone."""
    for asked in (QUICK, [WithinBucket()], "within-bucket", QUICK * 2, [WithinBucket()] * 2):
        report = discreet.audit(house / "release", ward_frame(), attacks=asked)
        assert len({each.title for each in report.findings}) == len(report.findings)
        assert {each.name for each in report.findings} == set(QUICK)
        assert not report.left_out


def test_an_attack_on_another_kind_of_release_is_left_out_with_a_reason(house, tmp_path):
    """It neither fails nor runs."""
    frame = ward_frame()
    policy = policy_of(replace_case("alphabeta"), tmp_path, "other.toml")
    publish(frame, policy, tmp_path / "view", seed=1)
    report = discreet.audit(tmp_path / "view", frame, attacks=QUICK)
    assert report.left_out == (("within-bucket", "it attacks buckets releases"),)
    assert "no attack was run" in str(report)


def replace_case(name: str):
    from cases import CASES

    return next(each for each in CASES if each.name == name)


def test_an_audit_of_an_open_release_leaves_it_open(house):
    """And one that it opened itself is closed; the table that was handed in stays open too."""
    policy = discreet.Policy.load(house / "ward.toml")
    with closing(discreet.open_release(house / "release")) as release:
        with closing(discreet.read_table(house / "ward.csv", policy)) as table:
            discreet.audit(release, table, attacks=QUICK)
            assert sum(len(batch[0]) for batch in table.codes()) == table.rows
        assert release.count().value == len(ward_frame())


def test_progress_goes_up_to_the_end(house):
    """Every step is told, and what is done never falls."""
    told: list[tuple[str, float]] = []
    discreet.audit(house / "release", ward_frame(), attacks=QUICK, progress=lambda *each: told.append(each))
    done = [each for _, each in told]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1)
    assert {"comparing release and table", "attack: within-bucket"} <= {step for step, _ in told}


# The command line


def test_the_command_line_says_what_python_says(house):
    """As text, as JSON, and with exit 0 where the promise holds."""
    words = ("audit", "release", "--against", "ward.csv", "--policy", "ward.toml", "--attack", "within-bucket")
    policy = discreet.Policy.load(house / "ward.toml")
    with closing(discreet.read_table(house / "ward.csv", policy)) as table:
        expected = discreet.audit(house / "release", table, attacks=QUICK, series=usual_series())
    found = as_json(*words, cwd=house)
    assert found["attacks"] == expected.as_json()["attacks"]
    assert found["with_table"]
    shown = run(*words, cwd=house).stdout
    assert "within-bucket" in shown
    assert "keep it in the house" in shown


def test_the_list_names_every_attack(house):
    """With what it is after, what it does and what it needs; for people and for programs."""
    shown, found = run("audit", "--list", cwd=house).stdout, as_json("audit", "--list", cwd=house)
    assert [each["name"] for each in found] == [name for name, _, _ in every_attack()]
    for each in found:
        assert each["name"] in shown
        assert each["what"] in shown
        assert each["group"] in {group.value for group in Group}


BANDED = """
version = 1
[table]
quasi_identifiers = ["age", "sex"]
sensitive = "ill"
[domains.age]
integers = [0, 99]
widths = [10]
publish_level = 1
[domains.sex]
values = ["F", "M"]
missing = "category"
missing_as = ["?"]
[domains.ill]
values = ["a", "b", "c", "d"]
[mechanism]
kind = "anatomy"
l = 2
"""


def test_an_outside_table_is_read_by_the_policy_too(tmp_path):
    """By its levels and marks, though it has not all columns; without the policy its cells are none of the release."""
    people = pd.DataFrame({"age": range(80), "sex": [*"FM?F"] * 20, "ill": [*"abcd"] * 20})
    people.to_csv(tmp_path / "people.csv", index=False)
    people[["sex", "age"]].iloc[::2].assign(shoe=40).to_csv(tmp_path / "voters.csv", index=False)
    (tmp_path / "people.toml").write_text(BANDED)
    run("publish", "people.csv", "--policy", "people.toml", "-o", "release", cwd=tmp_path)
    words = ("audit", "release", "--attack", "uniqueness", "--attack", "record-linkage", "--outside", "voters.csv")
    found = as_json(*words, "--policy", "people.toml", "--against", "people.csv", cwd=tmp_path)
    assert {each["name"] for each in found["attacks"]} == {"uniqueness", "record-linkage"}
    assert mistake(*words, cwd=tmp_path)
    people.assign(sex="X").to_csv(tmp_path / "voters.csv", index=False)
    assert "does not fit the policy" in mistake(*words, "--policy", "people.toml", cwd=tmp_path)


def test_mistakes_are_one_sentence_and_nothing_is_written(house):
    """Exit 2 for a release that is none, another table, an attack that is none, or a place inside the release."""
    frame = ward_frame()
    frame.loc[0, "disease"] = "Flu" if frame.loc[0, "disease"] != "Flu" else "HIV"
    frame.to_csv(house / "other.csv", index=False)
    right = ("audit", "release", "--against", "ward.csv", "--policy", "ward.toml")
    for words, said in (
        (("audit",), "audit must be told a release folder"),
        (("audit", "nowhere"), "must be a folder"),
        (("audit", "release", "--against", "other.csv"), "must be the one that the release was made of"),
        ((*right, "--attack", "learnin"), "did you mean learning?"),
        ((*right, "-o", "release/audit.txt"), "must be kept outside of every release"),
        ((*right, "--confidence", "0"), "confidence (0.0) must be between 0 and 1"),
    ):
        assert said in mistake(*words, cwd=house)


def test_an_audit_has_a_place_before_anything_is_attacked(house):
    """A folder, a folder that there is not, and every file that is read for it are refused at once, and stay."""
    before = contents(house)
    right = ("audit", "release", "--against", "ward.csv", "--policy", "ward.toml", "--attack", "nonsense", "-o")
    for place in (".", "release", "nowhere/a.txt"):
        assert f"audit ({place}) must be a file in a folder that there is" in mistake(*right, place, cwd=house)
    for read in ("ward.csv", "./ward.toml"):
        assert "must not be a file that is read for it" in mistake(*right, read, cwd=house)
    assert contents(house) == before


def test_a_kept_audit_is_where_it_was_asked_for(house):
    """A text, JSON or a figure, beside what is printed."""
    words = ("audit", "release", "--against", "ward.csv", "--policy", "ward.toml", "--attack", "within-bucket", "-o")
    for name, begins in (("a.txt", "audit of"), ("a.json", "{"), ("a.svg", "<svg")):
        run(*words, name, cwd=house)
        assert (house / name).read_text().startswith(begins)


# A publisher that breaks its promise


@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_a_publisher_that_states_less_than_it_gives_is_beaten(strength, house, monkeypatch):
    """Buckets planned for shares up to 1/4 (or 1/16) above what is stated: exit 1, by the shares in the files."""
    stated = Buckets.guarantee
    looser = discreet.Tolerance(floor=0.35 + strength * 0.25)

    def understated(self, counts):
        return stated(replace(self, tolerance=discreet.Tolerance(floor=0.35)), counts)

    monkeypatch.setattr(Buckets, "guarantee", understated)
    policy = replace(discreet.Policy.load(house / "ward.toml"), mechanism=Buckets(tolerance=looser))
    publish(house / "ward.csv", policy, house / "weak", seed=1)
    report = discreet.audit(house / "weak", house / "ward.csv", attacks=QUICK, unverified=True)
    assert not report.holds
    assert report["within-bucket, the share nearest to its tolerance"].beats
    assert "THE PROMISE IS BEATEN" in str(report)
    words = ("audit", "weak", "--against", "ward.csv", "--attack", "within-bucket")
    assert "must verify before it is audited" in mistake(*words, cwd=house)
    assert not as_json(*words, "--unverified", cwd=house, code=1)["holds"]
    assert pq.read_table(house / "weak" / "data" / "st.parquet").num_rows

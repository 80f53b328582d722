"""The first way is the safe way: what a draft leaves out, who has several rows, and what check warns of."""

from __future__ import annotations

import json
import re
import tomllib
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.mechanism.draft.words import is_a_number_of, numbers_events, numbers_persons
from discreet.table.marks import means_missing

GROUPS = ["Circulatory", "Respiratory", "Digestive", "Diabetes", "Injury", "Neoplasms", "Other"]
SHARES = [0.34, 0.2, 0.15, 0.12, 0.1, 0.04, 0.05]
ROWS = 3_000
KINDS = ("buckets", "alphabeta", "diffgen", "pairs")


def hospital(rows: int = ROWS, people: int | None = None) -> pd.DataFrame:
    """Encounters: two codes fix the group, and so do two columns together; '?' and 'NA' mean that nothing is known."""
    coins = np.random.default_rng(rows)
    group = coins.choice(len(GROUPS), rows, p=SHARES)
    shift = coins.integers(0, len(GROUPS), rows)
    lab = coins.integers(1, 100, rows).astype(str)
    return pd.DataFrame(
        {
            "encounter_id": np.arange(rows) + 500_000,
            "patient_nr": coins.permutation(rows) if people is None else coins.integers(0, people, rows),
            "sex": coins.choice(["F", "M", "?"], rows, p=[0.5, 0.45, 0.05]),
            "age": coins.integers(0, 100, rows),
            "weight_kg": np.where(coins.random(rows) < 0.3, "NA", coins.integers(40, 120, rows).astype(str)),
            "labs": np.where(coins.random(rows) < 0.1, "?", lab),
            "icd_main": [f"{GROUPS[g][0]}{i % 40:02d}" for i, g in enumerate(group)],
            "chapter": [f"Chapter {g}" for g in group],
            "shift": [f"s{s}" for s in shift],
            "desk": [f"d{(g - s) % len(GROUPS)}" for g, s in zip(group, shift, strict=True)],
            "tumour_board": np.where(group == 5, "held", "not held"),
            "admission_type_id": coins.integers(1, 9, rows),
            "diagnosis_group": np.array(GROUPS)[group],
        }
    )


def command(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def decided(policy: Path) -> Path:
    """The same file as a person would leave it, who decided that all is well."""
    text = re.sub(r"^draft = true.*\n", "", policy.read_text(encoding="utf-8"), flags=re.MULTILINE)
    to = policy.with_name(f"decided-{policy.name}")
    to.write_text(text, encoding="utf-8")
    return to


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    to = tmp_path_factory.mktemp("rows") / "hospital.csv"
    hospital().to_csv(to, index=False)
    return to


# What a draft leaves out


def test_columns_that_give_the_secret_away_are_left_out_and_it_is_said(table):
    """Codes, a flag for one disease, and the second of two columns that do so together."""
    draft = discreet.draft_policy(table)
    assert draft.sensitive == "diagnosis_group"
    for name in ("chapter", "icd_main", "tumour_board"):
        assert name not in draft.quasi_identifiers
        assert "diagnosis_group" in draft.left_out[name]
        assert f'"{name}": ' in draft.text
    one, two = ("shift", "desk") if "shift" in draft.quasi_identifiers else ("desk", "shift")
    assert one in draft.quasi_identifiers
    assert draft.left_out[two].startswith(f"together with {one}, it gives diagnosis_group away")


def test_a_column_with_such_a_name_that_tells_nothing_is_kept():
    """It is the rows that are measured, not the name: shuffled, the same columns are published."""
    frame = hospital()
    frame["chapter"] = np.random.default_rng(1).permutation(frame["chapter"])
    assert "chapter" in discreet.draft_policy(frame).quasi_identifiers


def test_numbers_that_stand_for_people_or_visits_are_never_published(table):
    """Neither the patient's nor the encounter's, nor a code called id."""
    draft = discreet.draft_policy(table)
    assert set(draft.identifiers) == {"encounter_id", "patient_nr"}
    assert "admission_type_id" in draft.left_out


@pytest.mark.parametrize("columns", [30, 200])
def test_eight_columns_at_most_are_proposed_and_known_ones_first(columns, tmp_path):
    """Age and sex before what has few values."""
    coins, frame = np.random.default_rng(2), hospital(400)
    more = pd.DataFrame({f"lab_{i}": coins.integers(0, 2 + i % 9, 400) for i in range(columns)})
    draft = discreet.draft_policy(pd.concat([more, frame], axis=1))
    assert len(draft.quasi_identifiers) == 8
    assert {"age", "sex"} <= set(draft.quasi_identifiers)
    assert sum("8 columns at most" in reason for reason in draft.left_out.values()) >= columns - 8


def test_a_column_that_says_the_same_in_other_words_is_left_out():
    """A number for each text takes no place of its own."""
    frame = hospital(400).assign(ward=["N", "S", "W", "E"] * 100, ward_number=[1, 2, 3, 4] * 100)
    draft = discreet.draft_policy(frame)
    assert {"ward", "ward_number"} & set(draft.quasi_identifiers) == {"ward"}
    assert draft.left_out["ward_number"] == "it says the same as ward, in other words"


def test_a_table_in_which_every_column_gives_it_away_is_refused_with_the_reason():
    """There is nothing to publish, and the sentence says why, without a cell."""
    frame = hospital()[["chapter", "icd_main", "diagnosis_group"]]
    with pytest.raises(discreet.TableError, match=r"chapter: it gives diagnosis_group away") as refused:
        discreet.draft_policy(frame)
    assert not any(cell in str(refused.value) for cell in (*GROUPS, "Chapter"))


# Persons


def test_who_has_several_rows_is_counted_and_the_table_is_refused(tmp_path):
    """The patient's number is the person, not the encounter's; publish refuses, and the draft says what to do."""
    frame = hospital(people=2_000)
    data, policy = tmp_path / "rows.csv", tmp_path / "policy.toml"
    frame.to_csv(data, index=False)
    draft = discreet.draft_policy(data)
    counts = frame["patient_nr"].value_counts()
    assert (draft.person, draft.persons.people, draft.persons.several) == (
        "patient_nr",
        len(counts),
        int((counts > 1).sum()),
    )
    assert f"{draft.persons.several:,} of {len(counts):,} people have several" in " ".join(draft.text.split("\n# "))
    draft.save(policy)
    code, _, said = command("publish", data, "--policy", decided(policy), "-o", tmp_path / "release")
    assert (code, "keep one row of each" in said) == (2, True)
    frame.drop_duplicates("patient_nr").to_csv(data, index=False)
    assert command("publish", data, "--policy", decided(policy), "-o", tmp_path / "release")[0] == 0


def test_a_visits_number_is_no_person():
    """Different in every row, and yet nobody's."""
    draft = discreet.draft_policy(hospital().drop(columns="patient_nr"))
    assert draft.person is None
    assert "encounter_id" in draft.identifiers
    assert '"encounter_id" is different in every row, but it numbers no people' in " ".join(draft.text.split("\n# "))


@pytest.mark.parametrize(
    ("name", "person", "event", "number"),
    [
        ("patient_nr", True, False, True),
        ("PatientID", True, False, True),
        ("ssn", True, False, False),
        ("subject_id", True, False, True),
        ("encounter_id", False, True, True),
        ("patient_encounter_id", False, True, True),
        ("visit_number", False, True, False),
        ("hadm_id", False, True, True),
        ("record_id", False, True, True),
        ("admission_type_id", False, False, True),
        ("region_id", False, False, True),
        ("number_of_visits", False, False, False),
        ("patient_age", False, False, False),
        ("name", False, False, False),
        ("id", False, False, False),
    ],
)
def test_what_a_number_numbers_is_told_by_its_name(name, person, event, number):
    """A person, something that a person has several of, or something else."""
    assert (numbers_persons(name), numbers_events(name), is_a_number_of(name)) == (person, event, number)


# Missing cells


def test_numbers_with_marks_are_numbers_with_missing_cells(table):
    """'?' and 'NA' do not make texts of numbers, and are no values of a column of texts."""
    draft = discreet.draft_policy(table)
    domains = tomllib.loads(draft.text)["domains"]
    assert domains["weight_kg"] == {"integers": [40, 119], "missing": "category", "missing_as": ["NA"]}
    assert domains["labs"] == {"integers": [1, 99], "missing": "category", "missing_as": ["?"]}
    assert domains["sex"] == {"values": ["F", "M"], "missing": "category", "missing_as": ["?"]}


def test_marks_among_many_numbers_are_found_too(tmp_path):
    """More values than are counted one by one, written with several marks in any case."""
    rows = 40_000
    frame = hospital(rows)
    frame["income_band"] = np.where(
        np.arange(rows) % 50 == 0, np.array(["Unknown", "n/a"])[np.arange(rows) // 50 % 2], ""
    )
    frame["steps"] = np.where(
        frame["income_band"] == "", (np.arange(rows) * 7 % 5_000).astype(str), frame["income_band"]
    )
    frame = frame.drop(columns="income_band")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for source in (frame, tmp_path / "rows.csv"):
        draft = discreet.draft_policy(source)
        assert tomllib.loads(draft.text)["domains"]["steps"] == {
            "integers": [1, 4_999],
            "missing": "category",
            "missing_as": ["Unknown", "n/a"],
        }


def test_marks_are_read_as_missing_cells(tmp_path):
    """From text and from Parquet; the release has a missing cell there, and does not say how it was written."""
    frame = hospital(600)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    path = decided(discreet.draft_policy(tmp_path / "rows.csv").save(tmp_path / "policy.toml"))
    policy = discreet.Policy.load(path)
    assert policy.marks == {"sex": ("?",), "weight_kg": ("NA",), "labs": ("?",)}
    truth = int((frame["labs"] == "?").sum())
    for name in ("rows.csv", "rows.parquet"):
        with closing(discreet.read_table(tmp_path / name, policy)) as rows:
            release = discreet.publish(rows, policy, to=tmp_path / f"of-{name}", seed=1)
        assert release.count("labs IS NULL").value == truth
        release.close()
        assert "missing_as" not in (tmp_path / f"of-{name}" / "datapackage.json").read_text(encoding="utf-8")
    assert discreet.Policy.load(policy.save(tmp_path / "again.toml")).marks == policy.marks


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('missing = "category"\nmissing_as = "?"', "must be a list of texts"),
        ('missing = "category"\nmissing_as = []', "must be a list of texts"),
        ('missing = "category"\nmissing_as = [1]', "must be a list of texts"),
        ('missing_as = ["?"]', 'must go with missing = "category"'),
        ('missing = "category"\nmissing_as = ["7"]', "must not be a value of the domain too"),
        ('missing = "category"\nmissing_as = ["?"]', ""),
        ('missing = "category"\nmissing_as = ["-9"]', ""),
    ],
)
def test_marks_of_a_policy_are_checked(lines, words, tmp_path):
    """Texts, of a domain that may be missing, and none of its values; the problem has its line."""
    path = tmp_path / "policy.toml"
    path.write_text(
        f"""version = 1
[table]
quasi_identifiers = ["age"]
sensitive = "ill"
[domains.age]
integers = [0, 9]
{lines}
[domains.ill]
values = ["a", "b"]
[mechanism]
kind = "buckets"
[mechanism.tolerance]
floor = 0.9
""",
        encoding="utf-8",
    )
    problems = discreet.Policy.check(path)
    assert [words in each.message for each in problems] == ([True] if words else [])
    assert all((each.line or 0) >= 6 for each in problems)


@pytest.mark.parametrize("text", ["?", "NA", "n/a", "N/A", " Unknown ", "NULL", "-", "", "NaN", None])
def test_texts_that_mean_missing(text):
    """In any letter case, with spaces around."""
    assert means_missing(text)


@pytest.mark.parametrize("text", ["none", "No", "0", "negative", "A", "nano", 0])
def test_texts_that_do_not(text):
    """None of something is a value."""
    assert not means_missing(text)


# Every family


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drafted_checked_and_published(kind, table, tmp_path):
    """init, check and plan with the draft, then publish and verify once it is decided."""
    policy, release = tmp_path / "policy.toml", tmp_path / "release"
    code, out, _ = command("init", table, "-o", policy, "--kind", kind, "--json")
    assert (code, json.loads(out)["mechanism"]["kind"]) == (0, kind)
    assert tomllib.loads(policy.read_text(encoding="utf-8"))["mechanism"]["kind"] == kind
    assert command("check", table, "--policy", policy)[0] == 0
    assert command("plan", table, "--policy", policy)[0] == 0
    assert command("publish", table, "--policy", policy, "-o", release)[0] == 2
    code, _, said = command("publish", table, "--policy", decided(policy), "-o", release)
    assert code == 0, said
    assert command("verify", release)[0] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "frame", [hospital(60), hospital(300).drop(columns=["weight_kg", "labs"])], ids=["few", "more"]
)
def test_every_kind_fits_small_tables(kind, frame, tmp_path):
    """What is drafted can be planned."""
    path = discreet.draft_policy(frame, kind=kind).save(tmp_path / "policy.toml")
    assert discreet.check(path, frame) == ()


def test_a_kind_that_cannot_be_drafted_is_refused(table, tmp_path):
    """One sentence that names those that can be."""
    code, _, said = command("init", table, "-o", tmp_path / "policy.toml", "--kind", "anatomy")
    assert code == 2
    assert "must be one of buckets, alphabeta, diffgen, pairs" in said


# The draft itself


def test_a_draft_cannot_be_published_from_python_either(table, tmp_path):
    """And the series is not touched."""
    policy = discreet.Policy.load(discreet.draft_policy(table).save(tmp_path / "policy.toml"))
    with (
        closing(discreet.read_table(table, policy)) as rows,
        pytest.raises(discreet.PolicyError, match=r"policy \(policy.toml\) must not be a draft") as refused,
    ):
        discreet.publish(rows, policy, to=tmp_path / "release", series=tmp_path / "series")
    assert refused.value.key == ("draft",)
    assert not (tmp_path / "series").exists()
    assert not (tmp_path / "release").exists()


def test_a_draft_has_the_digest_of_what_it_becomes(table, tmp_path):
    """The line is no part of what was decided; and it is written and read back."""
    path = discreet.draft_policy(table).save(tmp_path / "policy.toml")
    draft, after = discreet.Policy.load(path), discreet.Policy.load(decided(path))
    assert (draft.draft, after.draft) == (True, False)
    assert draft.digest == after.digest
    assert discreet.Policy.load(draft.save(tmp_path / "again.toml")).draft
    path.write_text(path.read_text(encoding="utf-8").replace("draft = true", 'draft = "yes"'), encoding="utf-8")
    (problem,) = discreet.Policy.check(path)
    assert "draft must be true or false" in problem.message


# What check warns of


def policy_text(columns: list[str], frame: pd.DataFrame, tolerance: str) -> str:
    domains = "".join(
        f"[domains.{name}]\nvalues = {json.dumps(sorted(map(str, frame[name].unique())))}\n"
        for name in (*columns, "diagnosis_group")
    )
    return (
        f'version = 1\n[table]\nquasi_identifiers = {json.dumps(columns)}\nsensitive = "diagnosis_group"\n{domains}'
        f'[mechanism]\nkind = "buckets"\n[mechanism.tolerance]\n{tolerance}\n'
    )


def test_check_warns_and_exits_with_0(table, tmp_path):
    """Columns and pairs that give it away, people who are unique, values without protection; and no cell but those."""
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        policy_text(["sex", "chapter", "shift", "desk"], frame, "theta = 8\nfloor = 0.02"), encoding="utf-8"
    )
    code, out, _ = command("check", table, "--policy", policy)
    assert code == 0
    assert "the policy is right" in out
    warned = [line for line in out.splitlines() if line.startswith("warning: ")]
    assert any("column chapter: it gives diagnosis_group away" in line for line in warned)
    assert any("columns shift and desk: together they give diagnosis_group away" in line for line in warned)
    assert not any("sex" in line for line in warned)
    unique = int((frame.groupby(["sex", "chapter", "shift", "desk"])["age"].transform("size") == 1).sum())
    assert any(f"{unique:,} of {ROWS:,} people" in line for line in warned)
    free = int(
        (frame["diagnosis_group"].map(frame["diagnosis_group"].value_counts(normalize=True)) * 8 + 0.02 >= 1).sum()
    )
    assert any("tolerance 1: " in line and f"that is {free:,} of" in line for line in warned)
    assert any("stand in a bucket of one value" in line for line in warned)
    assert not any("Chapter 0" in line or "s3" in line for line in warned)
    found = json.loads(command("check", table, "--policy", policy, "--json")[1])
    assert found["ok"]
    assert [f"warning: {each}" for each in found["warnings"]] == warned


def test_check_takes_domains_of_any_size(tmp_path):
    """Numbers that are far apart, in the longest range that a domain may have: it is quick, and says the same."""
    frame = hospital(400)[["sex", "diagnosis_group"]].assign(code=[1, 2**52, 7, 2**31] * 100)
    text = policy_text(["sex", "code"], frame, "theta = 8\nfloor = 0.02\nceiling = 0.7")
    policy = tmp_path / "policy.toml"
    policy.write_text(re.sub(r"(\[domains.code\]\n)values.*", rf"\1integers = [0, {2**52}]", text), encoding="utf-8")
    found = discreet.review(policy, frame)
    assert (found.problems, found.warnings) == ((), ())


def test_check_of_a_good_policy_says_little(table, tmp_path):
    """A draft that was decided has no column that gives anything away, and nobody without protection."""
    policy = decided(discreet.draft_policy(table).save(tmp_path / "policy.toml"))
    found = discreet.review(policy, table)
    assert found.problems == ()
    assert all("like no other" in each for each in found.warnings)


def test_people_alone_are_counted_as_the_plan_has_them(table, tmp_path):
    """The number of buckets of one; a ceiling leaves none."""
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    policy = tmp_path / "policy.toml"
    policy.write_text(policy_text(["sex"], frame, "theta = 8\nfloor = 0.02"), encoding="utf-8")
    loaded = discreet.Policy.load(policy)
    with closing(discreet.read_table(table, loaded)) as rows:
        plan = discreet.plan(rows, loaded)
    alone = dict(plan.classes).get(1, 0)  # type: ignore[attr-defined]
    assert alone
    assert any(f"({alone:,} of them alone)" in each for each in discreet.review(policy, table).warnings)
    policy.write_text(policy_text(["sex"], frame, "theta = 8\nfloor = 0.02\nceiling = 0.7"), encoding="utf-8")
    assert discreet.review(policy, table).warnings == ()


def test_publish_says_what_gives_the_secret_away(table, tmp_path):
    """Whoever did not check is told all the same, and the release is made."""
    frame = pd.read_csv(table, dtype=str, keep_default_na=False)
    policy = tmp_path / "policy.toml"
    policy.write_text(policy_text(["sex", "chapter"], frame, "theta = 8\nfloor = 0.02"), encoding="utf-8")
    code, out, _ = command("publish", table, "--policy", policy, "-o", tmp_path / "release", "--series", tmp_path / "s")
    assert code == 0
    assert "note: column chapter: it gives diagnosis_group away: with it 100 % of the rows are guessed right" in out
    assert "column sex" not in out


@pytest.mark.parametrize("person", ["", 'person = "patient_nr"\n'])
def test_rows_of_fewer_people_are_noticed_with_and_without_the_person(person, tmp_path):
    """As a problem where the policy names the person's column, and as a warning where it only drops it."""
    frame = hospital(600, people=400)[["patient_nr", "sex", "diagnosis_group"]]
    text = policy_text(["sex"], frame, "theta = 8\nfloor = 0.02\nceiling = 0.7")
    policy = tmp_path / "policy.toml"
    policy.write_text(
        text.replace("[table]\n", f'[table]\nidentifiers = ["patient_nr"]\n{person}', 1), encoding="utf-8"
    )
    found = discreet.review(policy, frame)
    people = frame["patient_nr"].nunique()
    said = found.problems[0].message if person else found.warnings[0]
    assert (f"{600 - people:,} rows repeat a person" if person else f"{people:,} different values in 600 rows") in said

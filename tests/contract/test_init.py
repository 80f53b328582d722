"""What a drafted policy is, whatever the table: it runs as it stands, and says what a person must decide."""

from __future__ import annotations

import datetime
import itertools
import json
import os
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import SHARED, needs_shared
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.datasets.hospital import hospital, write_hospital
from discreet.engine.duck.database import Database
from discreet.mechanism.buckets.planning.caps import LARGEST
from discreet.mechanism.buckets.planning.propose import THETAS, ceiling_for, propose_tolerance
from discreet.mechanism.draft.toml import annotated, array, key, quoted, shown
from discreet.mechanism.draft.words import sounds_identifying, words_of
from discreet.schema.json_schema import json_schema
from discreet.table.profile import profile_table

ILLS = ["Asthma", "Cold", "Flu", "HIV", "Measles"]


def ward(rows: int = 120, **columns: object) -> pd.DataFrame:
    """A table that can be drafted, with the columns given beside."""
    coins = np.random.default_rng(rows)
    frame = {
        "age": coins.integers(0, 100, rows),
        "disease": coins.choice(ILLS, rows, p=[0.3, 0.3, 0.2, 0.05, 0.15]),
    }
    return pd.DataFrame({**columns, **frame})


def forms(frame: pd.DataFrame, folder: Path) -> dict[str, object]:
    """The same rows as a frame, as CSV and as Parquet."""
    folder.mkdir(exist_ok=True)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet", index=False)
    return {"pandas": frame, "csv": folder / "rows.csv", "parquet": folder / "rows.parquet"}


def run(source: object, folder: Path, sensitive: str | None = None) -> tuple[discreet.Draft, discreet.Policy]:
    """Draft, load, check, plan, publish and verify with the same table; everything must succeed."""
    folder.mkdir(exist_ok=True)
    draft = discreet.draft_policy(source, sensitive)
    path = draft.save(folder / "policy.toml")
    assert discreet.check(path, source) == ()
    policy = discreet.Policy.load(path)
    assert policy.draft
    policy = replace(policy, draft=False)
    assert policy.schema.quasi_identifiers == draft.quasi_identifiers
    assert (policy.schema.sensitive, policy.person) == (draft.sensitive, draft.person)
    assert policy.identifiers == tuple(draft.identifiers)
    table = discreet.read_table(source, policy)
    assert discreet.plan(table, policy).records == table.rows == draft.rows
    discreet.publish(table, policy, to=folder / "release").close()
    table.close()
    assert discreet.verify(folder / "release").holds
    return draft, policy


def command(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


# Tables of every kind

DAYS = [datetime.date(2001, 1, 1) + datetime.timedelta(days=i * 7) for i in range(120)]
TEXTS = [f"came in on a {i}th day with a cough and went home" for i in range(120)]
TABLES = {
    "dates": ward(visit=pd.Series(DAYS), written=[f"{day:%d.%m.%Y}" for day in DAYS], wave=pd.Series(DAYS[:2] * 60)),
    "zip codes": ward(zip=[f"{i % 7:05d}" for i in range(120)]),
    "free text": ward(remark=TEXTS),
    "a constant": ward(country=["NL"] * 120),
    "empty columns": ward(nothing=[None] * 120, also=pd.Series([np.nan] * 120)),
    "some empty cells": ward(
        job_title=[None, "Smith", "Baker"] * 40, rooms=pd.Series([1, None, 3] * 40, dtype="Int64")
    ),
    "empty sensitive cells": ward().assign(disease=[None, *ILLS] * 20),
    "whole floats with gaps": ward(rooms=pd.Series([1.0, None, 3.0] * 40)),
    "booleans": ward(smoker=[True, False] * 60, vaccinated=pd.Series([True, None, False] * 40, dtype="boolean")),
    "fractions": ward(weight=np.arange(120) / 7, dose=[0.5, 1.25, 2.0] * 40),
    "three rows": ward(3).assign(disease=ILLS[:3]),
    "two rows": ward(2).assign(disease=ILLS[:2]),
    "numbers below zero": ward(change=[-3, 0, 4] * 40),
    "numbers beyond 2^53": ward(big=[2**60, 2**53, 5] * 40),
    "two sensitive values": ward().assign(disease=["yes", "no", "no"] * 40),
    "two equal halves": ward().assign(disease=["yes", "no"] * 60),
    "nearly one sensitive value": ward().assign(disease=["no"] * 119 + ["yes"]),
    "categories": ward(region=pd.Categorical(["N", "S", "W"] * 40)),
    "odd cells": ward(mood=["a'b", 'c"d', "e\nf", "g\\h", "#", "= [1]"] * 20),
    "empty texts": ward(mood=["", "glad", "sad"] * 40),
    "codes that are sensitive": ward().assign(disease=[7, 900_000, 13, 2_000] * 30),
    "an unknown mood": ward(mood=["calm", "glad", "sad"] * 40).drop(columns="disease"),
}


@pytest.mark.parametrize("form", ["pandas", "csv", "parquet"])
@pytest.mark.parametrize("name", TABLES)
def test_a_draft_runs_as_it_stands(name, form, tmp_path):
    """Load, check, plan, publish and verify succeed with the same table, from any source."""
    run(forms(TABLES[name], tmp_path / "in")[form], tmp_path / "out")


def test_a_draft_is_the_same_from_every_source(tmp_path):
    """A frame, a CSV and a Parquet file of the same rows give the same roles and domains."""
    frame = ward(zip=[f"{i % 7:05d}" for i in range(120)], note=TEXTS, rooms=[1, 2, 3] * 40)
    drafts = [discreet.draft_policy(source) for source in forms(frame, tmp_path).values()]
    assert len({draft.text.split("\n", 1)[1] for draft in drafts}) == 1


def test_a_draft_fits_the_published_json_schema():
    """An editor that knows the policy's JSON Schema finds nothing wrong."""
    jsonschema = pytest.importorskip("jsonschema")
    for name in ("zip codes", "some empty cells", "codes that are sensitive", "two equal halves"):
        jsonschema.validate(tomllib.loads(discreet.draft_policy(TABLES[name]).text), json_schema())


def test_the_hospital_demo_gets_the_roles_a_person_would_give(tmp_path):
    """disease is sensitive, name and ssn identify, ssn is the person; the ward tells most of the disease."""
    data, _ = write_hospital(tmp_path / "in", 2_000)
    draft, policy = run(data, tmp_path / "out")
    assert draft.sensitive == "disease"
    assert tuple(draft.identifiers) == ("name", "ssn")
    assert draft.person == "ssn"
    assert draft.quasi_identifiers == ("age", "gender", "zipcode")
    assert "gives disease away" in draft.left_out["ward"]
    assert draft.candidates == ("ward",)
    assert all(code.startswith(("0", "1")) for code in policy.schema.domains["zipcode"])


@pytest.mark.parametrize(
    ("file", "sensitive", "others"),
    [
        pytest.param(file, *words, marks=needs_shared(file))
        for file, *words in (
            ("adult_full.parquet", "occupation", {"income"}),
            ("census_occ.parquet", "Occupation", {"Income"}),
        )
    ],
)
def test_public_tables_run(file, sensitive, others, tmp_path):
    """Adult and Census-Income: occupation is chosen, income listed as another candidate."""
    draft, _ = run(SHARED / file, tmp_path)
    assert draft.sensitive == sensitive
    assert others <= set(draft.candidates)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_two_hundred_columns_run(form, tmp_path):
    """A wide table is profiled in few scans, and eight columns are published at most."""
    coins = np.random.default_rng(1)
    frame = ward(300, **{f"q{i}": coins.integers(0, i + 2, 300).astype(str) for i in range(198)})
    draft, _ = run(forms(frame, tmp_path / "in")[form], tmp_path / "out")
    assert len(draft.quasi_identifiers) == 8
    assert "age" in draft.quasi_identifiers
    assert len(draft.left_out) == 191


def test_any_number_of_columns_takes_six_scans(monkeypatch):
    """Columns that need each of the kinds of look share them: four for the profile, two that compare rows."""
    asked = []
    run_one = Database.rows
    monkeypatch.setattr(Database, "rows", lambda self, sql: (asked.append(sql), run_one(self, sql))[1])
    rows = 5_000
    many = {f"c{i}": [f"{i}-{j}" for j in range(rows)] for i in range(10)}
    discreet.draft_policy(ward(rows, **many, **{f"d{i}": [str(j) for j in range(rows)] for i in range(10)}))
    assert sum("FROM source_as_given" in sql and "DESCRIBE" not in sql for sql in asked) <= 6


# Headers

HEADERS = [
    "two words",
    "a.b.c",
    'quo"te',
    "apo'strophe",
    "😀 mood",
    "line\nbreak",
    "tab\there",
    "[x]",
    "#no",
    "= 1",
    "ÄÖÜ",
]


@pytest.mark.parametrize("form", ["pandas", "csv", "parquet"])
@pytest.mark.parametrize("header", HEADERS)
def test_any_header_is_quoted_right(header, form, tmp_path):
    """A published and a left-out column of that name: the file loads, and nothing else is read from it."""
    frame = ward()
    frame[header] = ["N", "S", "W"] * 40
    frame[header + " too"] = ["same"] * 120
    draft, _ = run(forms(frame, tmp_path / "in")[form], tmp_path / "out")
    assert header in draft.quasi_identifiers
    assert header + " too" in draft.left_out


@pytest.mark.parametrize("header", HEADERS)
def test_any_header_can_be_sensitive_or_identify(header, tmp_path):
    """The same for the other roles."""
    frame = ward().rename(columns={"disease": header}).assign(**{header + " no": [f"K-{i}" for i in range(120)]})
    draft, _ = run(frame, tmp_path, sensitive=header)
    assert (draft.sensitive, draft.person) == (header, header + " no")


@given(st.text(st.characters(codec="utf-8")))
def test_every_text_reads_back_as_it_was(text):
    """As a value, as a key, in a list, and never beyond the line of its comment."""
    assert tomllib.loads(f"x = {quoted(text)}  # {shown(text)}") == {"x": text}
    assert tomllib.loads(f"{key(text)} = 1") == {text: 1}
    assert tomllib.loads("\n".join(array("x", [text] * 30)))["x"] == [text] * 30
    assert tomllib.loads("\n".join(annotated("x", [(text, shown(text)), (text, "")])))["x"] == [text] * 2
    assert len(f"{quoted(text)}{shown(text)}".splitlines()) == 1


def test_names_that_differ_in_case_only_are_left_out(tmp_path):
    """Neither of Town and town is published, from any source; a column that is really called town_1 stays."""
    frame = ward(Town=["N", "S", "W"] * 40, town=["E", "F", "G"] * 40, rooms=[1, 2, 3] * 40, rooms_1=[1, 2, 3] * 40)
    for name, source in forms(frame, tmp_path / "in").items():
        draft, _ = run(source, tmp_path / name)
        assert len(draft.left_out) == 2
        assert all("upper and lower case" in reason for reason in draft.left_out.values())
        assert draft.quasi_identifiers == ("rooms", "rooms_1", "age")


@pytest.mark.parametrize("name", ["BID", "bid", "COUNT", "Count"])
def test_names_that_a_release_adds_are_left_out(name, tmp_path):
    """A column called BID or COUNT, in any case, is not published."""
    draft, _ = run(ward(**{name: ["N", "S", "W"] * 40}), tmp_path)
    assert name in draft.left_out


def test_a_header_whose_first_name_has_a_line_break_is_refused_or_runs(tmp_path):
    """A CSV file that the other commands could not read by the policy's names is refused here, not there."""
    frame = ward(**{"a\nb": ["N", "S", "W"] * 40})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    refused = None
    try:
        run(tmp_path / "rows.csv", tmp_path)
    except discreet.TableError as error:
        refused = str(error)
    assert refused is None or "column names on one line" in refused


def test_a_csv_file_without_a_header_runs(tmp_path):
    """Its columns are called column0, column1, ..., here as in every other command."""
    (tmp_path / "rows.csv").write_text("\n".join(f"{i % 7},{i},{'xyz'[i % 3]}" for i in range(90)), encoding="utf-8")
    draft, _ = run(tmp_path / "rows.csv", tmp_path)
    assert draft.sensitive == "column2"


# Roles


def test_numbers_are_numbers_and_zip_codes_are_texts():
    """Whole numbers become limits, texts with leading zeros a sorted list, as they are written."""
    draft = discreet.draft_policy(ward(zip=["00301", "10120", "00299"] * 40, rooms=["7", "-2", "10"] * 40))
    domains = tomllib.loads(draft.text)["domains"]
    assert domains["zip"] == {"values": ["00299", "00301", "10120"]}
    assert domains["rooms"] == {"integers": [-2, 10]}
    assert domains["disease"] == {"values": ILLS}


def test_empty_cells_are_a_value_of_their_domain_and_only_there():
    """missing = "category" stands where cells are empty, and nowhere else."""
    draft = discreet.draft_policy(ward(trade=[None, "Smith", "Baker"] * 40, rooms=[1, 2, 3] * 40))
    domains = tomllib.loads(draft.text)["domains"]
    assert domains["trade"] == {"values": ["Baker", "Smith"], "missing": "category"}
    assert "missing" not in domains["rooms"]


@pytest.mark.parametrize(
    ("column", "word"),
    [
        (["NL"] * 120, "same value"),
        ([None] * 120, "empty in every row"),
        (TEXTS, "free text"),
        ([f"{day:%m/%d/%Y}" for day in DAYS], "a date"),
        (np.arange(120) / 7, "fractions"),
        ([[1], [2], [3]] * 40, "no domain can list"),
    ],
)
def test_what_cannot_be_listed_is_left_out_with_its_reason(column, word):
    """The reason is in the draft and in a comment of the file."""
    draft = discreet.draft_policy(ward(odd=column))
    assert word in draft.left_out["odd"]
    assert word in draft.text
    assert "odd" not in draft.quasi_identifiers


@pytest.mark.parametrize(
    ("days", "by"),
    [
        (DAYS[:14], "day"),
        (DAYS, "month"),
        ([day.replace(year=1930 + 2 * n) for n, day in enumerate(DAYS[:40])], "year"),
    ],
    ids=["near", "far", "very far"],
)
@pytest.mark.parametrize("written", [pd.to_datetime, lambda days: [f"{day:%Y-%m-%d} 08:15" for day in days]])
def test_dates_are_drafted_as_dates_and_cut_where_they_are_far_apart(days, by, written, tmp_path):
    """By day, month or year, whatever their type; and the draft runs."""
    days = list(itertools.islice(itertools.cycle(days), 120))
    frame = ward(odd=written(days))
    draft, _ = run(frame, tmp_path)
    domain = tomllib.loads(draft.text)["domains"]["odd"]
    assert domain == {"dates": [f"{min(days):%Y-%m-%d}", f"{max(days):%Y-%m-%d}"], "by": by}


def test_numbers_with_fractions_are_drafted_as_decimals(tmp_path):
    """From the lowest to the highest, by the last digit that any of them has; '?' is a missing cell."""
    frame = ward(odd=["4.25", "7.5", "?"] * 40)
    draft, _ = run(frame, tmp_path)
    domain = tomllib.loads(draft.text)["domains"]["odd"]
    assert domain == {"decimals": [4.25, 7.5], "step": 0.01, "missing": "category", "missing_as": ["?"]}


def test_more_than_a_thousand_texts_are_left_out():
    """1,000 different texts are listed, 1,001 are not; nor are numbers that point at people."""
    rows = 8_000
    frame = ward(
        rows,
        few=[f"v{i % 1000}" for i in range(rows)],
        many=[f"v{i % 1001}" for i in range(rows)],
        cents=[i % 3_000 for i in range(rows)],
        rooms=[i % 1_500 for i in range(rows)],
    )
    draft = discreet.draft_policy(frame)
    assert draft.quasi_identifiers == ("few", "rooms", "age")
    assert "1,001 different texts" in draft.left_out["many"]
    assert "point at people" in draft.left_out["cents"]


@pytest.mark.parametrize(
    ("name", "identifies"),
    [
        *((name, True) for name in ("name", "Last Name", "patient_id", "PatientID", "e-mail", "Phone", "SSN", "ID")),
        *((name, False) for name in ("disease name", "region_id", "phone type", "idle", "zip code", "age", "number")),
    ],
)
def test_a_name_identifies_where_all_its_words_say_so(name, identifies):
    """'last name' says who somebody is, 'disease name' does not."""
    assert sounds_identifying(name) is identifies


def test_words_are_found_in_every_way_of_writing():
    """Underscores, camel case, capitals and spaces are the same."""
    assert words_of("patient_ID") == words_of("PatientId") == words_of("Patient id") == ("patient", "id")


@pytest.mark.parametrize("rows", [120, 6_000])
def test_what_is_nearly_unique_identifies_and_only_what_is_unique_is_a_person(rows, tmp_path):
    """Codes that differ in 95 % of the rows are identifiers; the person column repeats none and has no empty cell."""
    codes = [f"K-{i}" for i in range(rows)]
    frame = ward(
        rows,
        nearly=["K-1", *codes[1:]],
        holes=[None, *codes[1:]],
        half=[f"K-{i // 2}" if rows > 2_000 else f"K-{i // 3}" for i in range(rows)],
        exact=codes,
    )
    draft, _ = run(frame, tmp_path)
    assert tuple(draft.identifiers) == ("nearly", "holes", "exact")
    assert draft.person == "exact"


def test_a_name_that_repeats_is_no_person(tmp_path):
    """Without a unique identifier there is no person column, and the file says what that means."""
    draft, _ = run(ward(name=["Ada", "Ben", "Cleo"] * 40), tmp_path)
    assert draft.person is None
    assert "Every promise is for one row" in draft.text


def test_a_named_sensitive_column_wins_over_a_better_shape():
    """By name before shape; a name with three values or more before a name with two."""
    frame = ward(mood=["calm", "glad", "sad"] * 40, income=["low", "high"] * 60, salary=["a", "b", "c"] * 40)
    frame = frame.drop(columns="disease")
    draft = discreet.draft_policy(frame)
    assert draft.sensitive == "salary"
    assert draft.candidates == ("income", "mood")
    assert 'income": 2 values: ' in draft.text
    assert "its name sounds sensitive" in draft.text


def test_the_custodian_can_name_the_sensitive_column(tmp_path):
    """In any case of its letters; what was chosen before is not published, for it gives the new one away."""
    draft, _ = run(hospital(500), tmp_path, sensitive="WARD")
    assert draft.sensitive == "ward"
    assert "it gives ward away" in draft.left_out["disease"]


# Tolerances

COUNTS = st.lists(st.integers(1, 400), min_size=1, max_size=40).map(lambda counts: dict(enumerate(counts)))


def _kept(counts: dict[object, int], tolerance: discreet.Tolerance, max_size: int = 50) -> discreet.BucketPlan | None:
    try:
        return discreet.plan_buckets(counts, tolerance.of(counts), "two", max_size=max_size)
    except discreet.Infeasible:
        return None


@settings(max_examples=30, deadline=None)
@given(COUNTS)
def test_the_proposed_tolerance_can_be_kept_and_leaves_nobody_out_if_that_can_be(counts):
    """Some plan keeps it; no value has tolerance 1 unless not one cap for all, in the largest buckets, is kept; and
    where buckets have 10 people at most, no smaller theta would do.
    """
    proposal = propose_tolerance(counts)
    limits = proposal.tolerance.of(counts)
    assert discreet.plan_buckets(counts, limits, "two", max_size=proposal.max_size).records == sum(counts.values())
    ceiling = ceiling_for(counts)
    if any(limit == 1 for limit in limits.values()):
        assert _kept(counts, discreet.Tolerance(floor="0.99"), LARGEST) is None  # so no smaller cap for all is kept
    elif proposal.mean_size <= 10 and proposal.tolerance.theta:
        assert proposal.tolerance.ceiling == Fraction(ceiling)
        for theta in THETAS[: THETAS.index(int(proposal.tolerance.theta))]:
            plan = _kept(counts, discreet.Tolerance(theta=theta, floor="0.02", ceiling=ceiling))
            assert plan is None or plan.records / plan.buckets > 10


@given(COUNTS)
def test_a_ceiling_is_a_short_decimal_half_way_to_certainty_or_a_little_above(counts):
    """max(1/2, (1 + f) / 2), rounded up, below 1 wherever two values occur."""
    wanted = max(Fraction(1, 2), (1 + Fraction(max(counts.values()), sum(counts.values()))) / 2)
    found = ceiling_for(counts)
    assert wanted <= Fraction(found) <= wanted + Fraction(1, 100)
    assert len(counts) == 1 or found < 1
    assert "E" not in str(found)


@pytest.mark.parametrize("counts", [(50, 50), (51, 49), (501, 499), (1, 1)])
def test_two_halves_get_a_tolerance_below_one(counts):
    """theta = 2 would promise nothing for two halves, so they get one cap."""
    limits = propose_tolerance(dict(enumerate(counts))).tolerance.of(dict(enumerate(counts)))
    assert max(limits.values()) < 1


def test_the_file_says_what_the_tolerance_means():
    """Every value with its count and what may be inferred."""
    text = discreet.draft_policy(ward().assign(disease=["no"] * 90 + ["yes"] * 30)).text
    row = next(line for line in text.splitlines() if line.startswith('#   "yes"'))
    assert row.split() == ["#", '"yes"', "30", "25", "%", "52", "%"]
    row = next(line for line in text.splitlines() if line.startswith('#   "no"'))
    assert row.split() == ["#", '"no"', "90", "75", "%", "88", "%"]


# What the file says, and what is never said


def test_the_file_says_that_domains_leak_and_what_to_decide():
    """The comments name the three decisions, and that what was read off the table must be replaced."""
    text = discreet.draft_policy(ward()).text
    assert "READ IT BEFORE YOU USE IT" in text
    assert "read off the table, and that leaks" in text
    assert text.count("DECIDE") >= 4


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (ward(1), "two rows or more"),
        (ward(0), "two rows or more"),
        (pd.DataFrame({"weight": np.arange(120) / 7, "height": np.arange(120) / 9}), "a column that can be sensitive"),
        (pd.DataFrame({"code": range(120), "tag": [f"t{i}" for i in range(120)]}), "a column that can be sensitive"),
        (pd.DataFrame({"age": [20, 30, 40] * 40, "same": "x"}), "a column that can be sensitive"),
        (pd.DataFrame({"disease": ILLS * 20}), "a column to publish beside disease"),
    ],
)
def test_a_table_without_what_is_needed_is_refused_and_told_what(frame, words, tmp_path):
    """One clear sentence that says what is missing."""
    for source in forms(frame, tmp_path).values():
        with pytest.raises(discreet.TableError, match=words):
            discreet.draft_policy(source)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("diseese", "did you mean disease"),
        ("cents", "2 to 1,000 different values"),
        ("same", "same value in every row"),
        ("COUNT", "adds its own COUNT"),
    ],
)
def test_a_sensitive_column_that_cannot_be_one_is_refused(name, words):
    """Unknown, with too many values, with one, or with a name that a release adds."""
    frame = ward(3_000, cents=range(3_000), same="x", COUNT=["a", "b", "c"] * 1_000)
    with pytest.raises(discreet.PolicyError, match=words):
        discreet.draft_policy(frame, name)


def test_no_cell_is_in_an_error(tmp_path):
    """Refusals of every kind, with cells that are easy to find: none is in the message."""
    cells = [f"Zyxwvut{i}" for i in range(120)]
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("a,b\n" + "\n".join(f"{cell},{cell}" for cell in cells) + '\nZyxwvut,"Zyx', encoding="utf-8")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("a,b\nZyxwvutä,1\n".encode("latin-1") * 50)
    sources: list[object] = [pd.DataFrame({"code": cells}), pd.DataFrame({"code": cells, "w": np.arange(120) / 7})]
    for source in (*sources, ragged, latin):
        with pytest.raises(discreet.DiscreetError) as caught:
            discreet.draft_policy(source)
        assert "Zyxwvut" not in str(caught.value)
    with pytest.raises(discreet.PolicyError) as refused:
        discreet.draft_policy(ward(code=cells), "code ")
    assert "Zyxwvut" not in str(refused.value)


def test_a_file_is_not_overwritten_unless_that_is_asked_for(tmp_path):
    """save refuses, and replace=True replaces; a folder or a place that does not exist is one clear sentence."""
    draft, path = discreet.draft_policy(ward()), tmp_path / "policy.toml"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(discreet.PolicyError, match="must not exist yet"):
        draft.save(path)
    assert path.read_text(encoding="utf-8") == "mine"
    assert draft.save(path, replace=True).read_text(encoding="utf-8") == draft.text
    with pytest.raises(discreet.PolicyError, match="must be a file"):
        draft.save(tmp_path, replace=True)
    with pytest.raises(discreet.PolicyError, match="must be writable"):
        draft.save(tmp_path / "nowhere" / "policy.toml")
    assert os.listdir(tmp_path) == ["policy.toml"]


# The command line


def test_the_command_drafts_and_says_that_the_file_must_be_read(tmp_path):
    """Exit 0, roles on standard output, the warning on standard error; then every other verb runs with the file, but
    publish refuses it until the line draft = true is taken out.
    """
    data, _ = write_hospital(tmp_path, 2_000)
    policy, release = tmp_path / "draft.toml", tmp_path / "release"
    code, out, warning = command("init", data, "-o", policy)
    assert (code, "disease" in out) == (0, True)
    assert "Read" in warning
    assert "before you use it" in warning
    for words in (("check", data), ("plan", data)):
        code, out, _ = command(*words, "--policy", policy)
        assert (code, "this policy is a draft" in out) == (0, True)
    code, _, refusal = command("publish", data, "-o", release, "--policy", policy)
    assert (code, "must not be a draft" in refusal, release.exists()) == (2, True, False)
    lines = policy.read_text(encoding="utf-8").splitlines()
    policy.write_text("\n".join(line for line in lines if not line.startswith("draft =")), encoding="utf-8")
    assert command("publish", data, "-o", release, "--policy", policy)[0] == 0
    assert command("verify", release)[0] == 0


def test_json_has_names_and_reasons_and_no_cell(tmp_path):
    """The roles as JSON; values are in the file only."""
    data, _ = write_hospital(tmp_path, 2_000)
    code, out, warning = command("init", data, "-o", tmp_path / "draft.toml", "--sensitive", "ward", "--json")
    answer = json.loads(out)
    assert (code, answer["sensitive"], answer["person"]) == (0, "ward", "ssn")
    assert set(answer["identifiers"]) == {"name", "ssn"}
    assert "before you use it" in warning
    assert "Oncology" not in out + warning


def test_the_command_refuses_to_overwrite_and_never_touches_the_table(tmp_path):
    """Exit 2 and one sentence without --replace; even with it, the table itself is not replaced."""
    data, policy = write_hospital(tmp_path, 2_000)
    before = {path: path.read_bytes() for path in (data, policy)}
    for words in (("-o", policy), ("-o", data), ("-o", data, "--replace"), ("-o", tmp_path, "--replace")):
        code, _, message = command("init", data, *words)
        assert code == 2
        assert len(message.splitlines()) == 1
        assert "must" in message
    assert {path: path.read_bytes() for path in (data, policy)} == before
    assert command("init", data, "-o", policy, "--replace")[0] == 0
    assert policy.read_bytes() != before[policy]


@pytest.mark.parametrize("options", [["--delimiter", ";"], []])
def test_a_glob_of_csv_files_with_another_separator_runs(options, tmp_path):
    """As in every other command, the parts of a table are one table."""
    for part in range(3):
        ward(120 + part).to_csv(tmp_path / f"part-{part}.csv", index=False, sep=";")
    code, out, _ = command("init", tmp_path / "part-*.csv", "-o", tmp_path / "draft.toml", "--json", *options)
    assert (code, json.loads(out)["rows"]) == (0, 363)
    assert command("check", tmp_path / "part-*.csv", "--policy", tmp_path / "draft.toml")[0] == 0


# The profile under it


def test_large_columns_are_counted_exactly_where_it_matters(tmp_path):
    """Nearly unique columns are counted exactly, and digits that hide a text among them are no numbers."""
    rows = 5_000
    digits = [str(i) for i in range(rows)]
    table = pa.table(
        {
            "unique": digits,
            "almost": [*digits[:-1], "7"],
            "hidden": ["1", "17x", *digits[2:]],
            "padded": ["1", "0017", *digits[2:]],
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    unique, almost, hidden, padded = profile_table(tmp_path / "rows.parquet").columns
    assert (unique.kind, unique.unique, unique.low, unique.high) == ("whole", True, 0, rows - 1)
    assert (almost.kind, almost.distinct, almost.unique) == ("whole", rows - 1, False)
    assert hidden.kind == padded.kind == "text"


def test_the_first_and_the_last_text_do_not_decide_for_those_between():
    """A text among numbers or dates makes the column text, wherever it sorts."""
    texts = (["0.5", "5x", "9.1"], ["2001-01-01", "2001-01-xx", "2002-01-01"], ["1", "1a", "2"])
    frame = pd.DataFrame({f"c{i}": values for i, values in enumerate(texts)})
    assert {column.kind for column in profile_table(frame).columns} == {"text"}

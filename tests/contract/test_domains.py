"""Decimals, dates, orders, bands and published levels in every family: from ugly cells to answers.

The oracle counts the table's own rows in plain Python, with `Decimal` and `datetime`.
"""

from __future__ import annotations

import datetime
import json
import random
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import discreet
from discreet.query.count_domain import count_matching
from discreet.query.parse import parse_query

ROWS = 400
DISEASES = ("Flu", "Asthma", "Diabetes", "HIV")
STAGES = ("none", "mild", "grave", "acute")  # in this order, which is not that of their letters
MECHANISMS = {
    "buckets": '[mechanism.tolerance]\nfloor = "0.6"',
    "anatomy": "l = 2",
    "alphabeta": "prior = 0.01\nposterior = 0.3",
    "frapp": "prior = 0.01\nposterior = 0.3",
    "diffgen": "epsilon = 2",
    "pairs": "epsilon = 8",
}
POLICY = """version = 1
[table]
quasi_identifiers = ["age", "hba1c", "admitted", "stage", "born"]
sensitive = "disease"
public_rows = 400
[domains.age]
integers = [0, 110]
bands = { child = 0, adult = 18, old = 65 }
publish_level = 1
[domains.hba1c]
decimals = [4.0, 14.0]
step = 0.1
widths = [0.5, 1]
missing = "category"
[domains.admitted]
dates = ["2020-01-01", "2021-12-31"]
by = "month"
widths = ["quarter", "year"]
[domains.stage]
values = ["none", "mild", "grave", "acute"]
ordered = true
[domains.born]
dates = ["1990-01-01", "1990-12-31"]
[domains.disease]
values = ["Flu", "Asthma", "Diabetes", "HIV"]
[mechanism]
kind = "{kind}"
{more}
"""
Row = dict[str, Any]


def people() -> list[Row]:
    """Rows as Python has them; the day of admission is finer than what is published."""
    coins = random.Random(7)
    first = datetime.date(2020, 1, 1)
    return [
        {
            "age": coins.randint(0, 110),
            "hba1c": None if coins.random() < 0.05 else Decimal(coins.randint(40, 140)).scaleb(-1),
            "admitted": first + datetime.timedelta(days=coins.randrange(731)),
            "stage": coins.choice(STAGES),
            "born": datetime.date(1990, 1, 1) + datetime.timedelta(days=coins.randrange(365)),
            "disease": DISEASES[number % 4],
        }
        for number in range(ROWS)
    ]


PEOPLE = people()
BANDS: dict[str, Callable[[int], bool]] = {
    "child": lambda age: age < 18,
    "adult": lambda age: 18 <= age < 65,
    "old": lambda age: age >= 65,
}
ASKED: dict[str, Callable[[Row], bool | None]] = {
    "hba1c > 9.5": lambda row: row["hba1c"] is not None and row["hba1c"] > Decimal("9.5"),
    "hba1c > 9": lambda row: row["hba1c"] is not None and row["hba1c"] > 9,
    "hba1c BETWEEN 6 AND 7": lambda row: row["hba1c"] is not None and 6 <= row["hba1c"] <= 7,
    "hba1c = 7.1": lambda row: row["hba1c"] == Decimal("7.1"),
    "hba1c <> 7.1": lambda row: row["hba1c"] is not None and row["hba1c"] != Decimal("7.1"),
    "hba1c = 7": lambda row: row["hba1c"] == 7,
    "hba1c IN (7, 7.1, 9.9)": lambda row: row["hba1c"] in (Decimal(7), Decimal("7.1"), Decimal("9.9")),
    "hba1c BETWEEN 6.05 AND 6.5": lambda row: row["hba1c"] is not None and 605 <= row["hba1c"] * 100 <= 650,
    "hba1c + 0.2 = 7.3": lambda row: row["hba1c"] == Decimal("7.1"),
    "hba1c * 10 % 2 = 1": lambda row: row["hba1c"] is not None and row["hba1c"] * 10 % 2 == 1,
    "hba1c IS NULL": lambda row: row["hba1c"] is None,
    "level(hba1c, 1) = '6.5-6.9'": lambda row: row["hba1c"] is not None and 65 <= row["hba1c"] * 10 <= 69,
    "level(hba1c, 2) <> '6.0-6.9'": lambda row: row["hba1c"] is not None and not 60 <= row["hba1c"] * 10 <= 69,
    "level(hba1c, 2) >= '12.0-12.9'": lambda row: row["hba1c"] is not None and row["hba1c"] >= 12,
    "admitted >= '2020-03'": lambda row: row["admitted"] >= datetime.date(2020, 3, 1),
    "admitted = '2021-02'": lambda row: (row["admitted"].year, row["admitted"].month) == (2021, 2),
    "'2020-11' < admitted": lambda row: row["admitted"] >= datetime.date(2020, 12, 1),
    "admitted BETWEEN '1999-01' AND '2020-06'": lambda row: row["admitted"] < datetime.date(2020, 7, 1),
    "level(admitted, 1) = '2020-Q4'": lambda row: row["admitted"].year == 2020 and row["admitted"].month > 9,
    "level(admitted, 2) IN ('2021')": lambda row: row["admitted"].year == 2021,
    "born < DATE '1990-02-01'": lambda row: row["born"].month == 1,
    "born LIKE '1990-07-%'": lambda row: row["born"].month == 7,
    "born = '1990-07-04'": lambda row: row["born"] == datetime.date(1990, 7, 4),
    "stage > 'mild'": lambda row: row["stage"] in ("grave", "acute"),
    "stage <= 'none'": lambda row: row["stage"] == "none",
    "stage < 'none'": lambda row: False,
    "NOT stage < 'none'": lambda row: True,
    "stage BETWEEN 'mild' AND 'grave'": lambda row: row["stage"] in ("mild", "grave"),
    "'grave' <= stage": lambda row: row["stage"] in ("grave", "acute"),
    "age = 'adult'": lambda row: BANDS["adult"](row["age"]),
    "age > 'child'": lambda row: row["age"] >= 18,
}
REFUSED = {
    "hba1c > '9.5'": "hba1c holds numbers; write them without quotes",
    "hba1c = '6.5-6.9'": "hba1c is never 6.5-6.9: that is a label above it; ask for level(hba1c, 1)",
    "admitted IN ('2020-Q4')": "that is a label above it; ask for level(admitted, 1)",
    "age > 60": "age holds text, such as 'child', 'adult', 'old'; write its values in single quotes",
    "'stage' = 'mild'": 'a column\'s name stands in no quotes or in these: "stage"',
    "'hba1c' > 6.5": 'a column\'s name stands in no quotes or in these: "hba1c"',
    "'stage' IN ('mild', 'grave')": "a column's name stands in no quotes",
    "'stage' BETWEEN 'mild' AND 'grave'": "a column's name stands in no quotes",
    "\"Birth Date\" = '1950s'": "column Birth Date does not exist; there is age, hba1c, admitted, stage, born",
    "hba1c = 7.15": "hba1c is never 7.15; it goes from 4.0 to 14.0 in steps of 0.1",
    "hba1c // 2 = 3": "// must divide whole numbers",
    "admitted >= '2020-03-05'": "it holds months; write them such as '2020-03'",
    "admitted >= 2020": "it holds months; write them such as '2020-03'",
    "born = '1990'": "it holds days; write them such as '2020-03-31'",
    "born = '1991-01-01'": "born is never 1991-01-01; it goes from 1990-01-01 to 1990-12-31",
    "born < admitted": "born and admitted cannot be ordered",
    "stage < 'awful'": "stage is never awful",
    "stage < disease": "stage and disease cannot be ordered",
    "disease < 'HIV'": "disease cannot be compared with <: it holds text in no order",
    "disease BETWEEN 'Flu' AND 'HIV'": "text in no order",
    "level(disease, 1) = 'x'": "it has none above its values, such as Flu, Asthma, Diabetes",
    "level(hba1c, 3) = 'x'": "it has levels from 1 to 2",
    "level(hba1c, 1) = '6.5'": "level(hba1c, 1) is never 6.5; did you mean 6.5-6.9?",
    "level(hba1c) = '6.5'": "such as level(age, 1)",
    "level(hba1c, 1) = 6": "must be compared with a label in single quotes",
    "level(hba1c, 1) LIKE '6%'": "cannot be answered",
}


def frame_of(rows: list[Row], *, text: bool) -> pd.DataFrame:
    """The rows as a table from a hospital has them: as texts, or with types of their own."""
    frame = pd.DataFrame(rows)
    if text:
        frame["admitted"] = [f"{day.isoformat()} 10:30:00" for day in frame["admitted"]]
        frame["hba1c"] = [None if value is None else f"{value:f}" for value in frame["hba1c"]]
        return frame
    frame["admitted"] = pd.to_datetime(frame["admitted"])
    frame["hba1c"] = [None if value is None else float(value) for value in frame["hba1c"]]
    return frame


def policy_of(kind: str, folder: Path) -> discreet.Policy:
    path = folder / f"{kind}.toml"
    path.write_text(POLICY.replace("{kind}", kind).replace("{more}", MECHANISMS[kind]), encoding="utf-8")
    return discreet.Policy.load(path)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One release of each mechanism, the tables in turn as texts and with types."""
    folder = tmp_path_factory.mktemp("domains")
    found = {}
    for number, kind in enumerate(MECHANISMS):
        policy = policy_of(kind, folder)
        with discreet.read_table(frame_of(PEOPLE, text=number % 2 == 0), policy) as table:
            discreet.publish(table, policy, to=folder / kind, series=folder / f"{kind}.series")
        found[kind] = folder / kind
    return found


@pytest.mark.parametrize("kind", MECHANISMS)
def test_a_release_verifies_and_its_bounds_hold_the_truth(kind: str, releases: dict[str, Path]) -> None:
    """Whatever the family: every question is answered, and what is certain of it is so."""
    assert discreet.verify(releases[kind]).holds
    with discreet.open_release(releases[kind]) as release:
        for where, meets in ASKED.items():
            found, truth = release.count(where), sum(bool(meets(row)) for row in PEOPLE)
            if found.unit == "people" or kind == "frapp":
                assert found.bounds[0] <= truth <= found.bounds[1], where
            if kind in ("buckets", "anatomy"):
                assert found.bounds == (truth, truth), where


@pytest.mark.parametrize("kind", ["alphabeta", "frapp", "diffgen", "pairs"])
def test_estimates_are_near_the_truth_where_nothing_is_exact(kind: str, tmp_path: Path) -> None:
    """With coins from a seed, so the same every time: within six standard errors, most within two."""
    policy = policy_of(kind, tmp_path)
    with discreet.read_table(frame_of(PEOPLE, text=True), policy) as table:
        release = discreet.publish(table, policy, to=tmp_path / "release", seed=5)
    counted = PEOPLE
    if kind == "alphabeta":  # it counts distinct tuples, of what is published
        seen = {_published(row): row for row in PEOPLE}
        counted = list(seen.values())
    far = []
    with release:
        for where, meets in ASKED.items():
            found = release.count(where).design
            if found is None or not found.standard_error or found.value is None:
                continue
            truth = sum(bool(meets(row)) for row in counted)
            far.append(abs(found.value - truth) / found.standard_error)
    assert len(far) > 20
    assert max(far) < 6
    assert sum(each < 2 for each in far) > 0.8 * len(far)


def _published(row: Row) -> tuple[object, ...]:
    """A row as a release shows it: the band of its age, the month of its admission."""
    band = next(name for name, holds in BANDS.items() if holds(row["age"]))
    return band, row["hba1c"], row["admitted"].strftime("%Y-%m"), row["stage"], row["born"], row["disease"]


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("where", REFUSED)
def test_a_question_that_would_be_answered_wrongly_is_refused(kind: str, where: str, releases: dict[str, Path]) -> None:
    """One sentence says what to write instead."""
    with discreet.open_release(releases[kind]) as release, pytest.raises(discreet.QueryError) as refusal:
        release.count(where)
    assert REFUSED[where] in str(refusal.value)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_groups_of_a_level_are_the_conditions_that_they_are(kind: str, releases: dict[str, Path]) -> None:
    """By SQL and by count_by; a missing cell is a group of its own, and JSON and Arrow take them all."""
    with discreet.open_release(releases[kind]) as release:
        found = release.count_by(("hba1c", 2), "age", where="stage > 'none'")
        assert found.columns == ("level(hba1c, 2)", "age")
        asked = release.query("SELECT COUNT(*) FROM r WHERE stage > 'none' GROUP BY level(hba1c, 2), age")
        assert json.dumps(asked.as_json()) == json.dumps(found.as_json())
        assert {group[0] for group, _ in found} == {f"{n}.0-{n}.9" for n in range(4, 14)} | {"14.0-14.9", None}
        one = release.count("level(hba1c, 2) = '7.0-7.9' AND age = 'old' AND stage > 'none'")
        assert found["7.0-7.9", "old"].bounds == one.bounds
        assert found["7.0-7.9", "old"].value == pytest.approx(one.value)
        values = release.count_by("hba1c")
        assert len(values.to_arrow()) == len(values)
        assert all(isinstance(each["hba1c"], float | None) for each in values.as_json())
        assert values[Decimal("7.1")] == values[7.1]


@pytest.mark.parametrize("kind", ["buckets", "alphabeta"])
def test_pandas_reads_what_is_published(kind: str, releases: dict[str, Path]) -> None:
    """Numbers are numbers, dates sort as texts do, and a banded column holds its labels alone."""
    name = "qit" if kind == "buckets" else "view"
    frame = pd.read_parquet(releases[kind] / "data" / f"{name}.parquet")
    assert set(frame["age"]) == set(BANDS)
    assert set(frame["admitted"].str.len()) == {7}
    if kind == "buckets":
        truth = sum(bool(ASKED["hba1c > 9.5"](row)) for row in PEOPLE)
        assert (frame["hba1c"].dropna() > Decimal("9.5")).sum() == truth


@pytest.mark.parametrize("cell", ["2020-03-31", "2020-3", "2020-13", "March"])
def test_a_cell_that_no_release_would_write_does_not_verify(
    cell: str, releases: dict[str, Path], tmp_path: Path
) -> None:
    """A custodian's cells are cut to months; a stranger's must be months."""
    forged = shutil.copytree(releases["buckets"], tmp_path / "forged")
    table = parquet.read_table(forged / "data" / "qit.parquet")
    place = table.column_names.index("admitted")
    cells = table["admitted"].to_pylist()
    table = table.set_column(place, "admitted", pa.array([cell, *cells[1:]]))
    parquet.write_table(table, forged / "data" / "qit.parquet", store_schema=False, compression="zstd")
    assert not discreet.verify(forged).holds


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("hba1c", "7.15", "numbers from 4.0 to 14.0 in steps of 0.1"),
        ("hba1c", "7,1", "with a decimal point"),
        ("hba1c", "14.1", "numbers from 4.0 to 14.0"),
        ("hba1c", "high", "numbers from 4.0 to 14.0"),
        ("admitted", "31/03/2020", "dates from 2020-01 to 2021-12, written such as 2020-03-31"),
        ("admitted", "2022-01-01", "dates from 2020-01 to 2021-12"),
        ("age", "111", "it must hold whole numbers of the domain"),
        ("age", "old", "it must hold whole numbers of the domain"),
    ],
)
def test_a_cell_outside_its_domain_is_refused_and_not_shown(
    column: str, cell: str, message: str, tmp_path: Path
) -> None:
    """A banded column is held against its own numbers, not against its bands."""
    frame = frame_of(PEOPLE, text=True).astype("string")
    frame.loc[3, column] = cell
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(discreet.TableError) as refusal:
        discreet.read_table(tmp_path / "t.csv", policy_of("buckets", tmp_path))
    assert message in str(refusal.value)
    assert f"{column} is outside its domain in 1 of 400 rows" in str(refusal.value)
    assert cell not in str(refusal.value).replace("decimal point", "").split(";")[0].split(column, 1)[1]


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("level", [0, 2])
def test_decimals_and_their_bands_can_be_sensitive(kind: str, level: int, tmp_path: Path) -> None:
    """Each value, or each band, has its tolerance, and those without protection are named and counted."""
    text = POLICY.replace("{kind}", kind).replace("{more}", MECHANISMS[kind].replace('"0.6"', "1"))
    text = text.replace('"hba1c", "admitted", "stage", "born"]', '"admitted", "disease"]')
    text = text.replace('sensitive = "disease"', 'sensitive = "hba1c"')
    text = text.replace("widths = [0.5, 1]", f"widths = [0.5, 1]\npublish_level = {level}")
    for name in ("stage", "born"):
        start = text.index(f"[domains.{name}]")
        text = text[:start] + text[text.index("[domains.", start + 1) :]
    (tmp_path / "policy.toml").write_text(text, encoding="utf-8")
    policy = discreet.Policy.load(tmp_path / "policy.toml")
    with discreet.read_table(frame_of(PEOPLE, text=True), policy) as table:
        release = discreet.publish(table, policy, to=tmp_path / "release", series=tmp_path / "s")
    with release:
        where, truth = ("hba1c = '7.0-7.9'", 70) if level else ("hba1c = 7.1", 71)
        found = release.count(where)
        meet = [
            row
            for row in PEOPLE
            if row["hba1c"] is not None and truth <= row["hba1c"] * 10 <= (truth + 9 * bool(level))
        ]
        if kind == "buckets":
            assert found.bounds == (len(meet), len(meet))
            named = {each["value"]: each["people"] for each in release.facts["unprotected"]}
            assert named["7.0-7.9" if level else 7.1] == len(meet)
    assert discreet.verify(tmp_path / "release").holds


def test_nearly_a_decimal_is_that_decimal(tmp_path: Path) -> None:
    """What a sum of doubles leaves is no digit of anybody's."""
    rows = [dict(row) for row in PEOPLE]
    frame = frame_of(rows, text=False)
    frame["hba1c"] = frame["hba1c"] * 3 / 3
    with discreet.read_table(frame, policy_of("buckets", tmp_path)) as table:
        assert table.rows == ROWS


# Questions about any domain, against the calendar and exact numbers

DECIMALS = discreet.Decimals(low=Decimal("-1.50"), high=Decimal("2.25"), step=Decimal("0.75"), missing=True)
DAYS = discreet.Dates(low="2019-12-28", high="2020-01-05")
LISTED = discreet.Listed(values=STAGES, ordered=True, missing=True)
SCHEMA = discreet.Schema(
    quasi_identifiers=("number", "day"), sensitive="stage", domains={"number": DECIMALS, "day": DAYS, "stage": LISTED}
)
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@settings(max_examples=60, deadline=None)
@given(
    sign=st.sampled_from(tuple(SIGNS)),
    number=st.decimals(min_value=-3, max_value=3, places=2),
    days=st.integers(-3, 12),
    stage=st.sampled_from(STAGES),
    turned=st.booleans(),
)
def test_comparisons_mean_what_they_mean(sign: str, number: Decimal, days: int, stage: str, turned: bool) -> None:
    """Numbers by size, days by the calendar, a list by its places; from either side."""
    day = datetime.date(2019, 12, 28) + datetime.timedelta(days=days)
    every_day = [datetime.date(2019, 12, 28) + datetime.timedelta(days=each) for each in range(9)]
    meets = SIGNS[sign]
    cases = {
        ("number", f"{number:f}"): 9 * 5 * sum(meets(Decimal(75 * k).scaleb(-2), number) for k in range(-2, 4)),
        ("day", f"'{day.isoformat()}'"): 7 * 5 * sum(meets(each, day) for each in every_day),
        ("stage", f"'{stage}'"): 7 * 9 * sum(meets(place, STAGES.index(stage)) for place in range(4)),
    }
    other = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[sign]
    encodings = {name: SCHEMA.domains[name].encoding for name in SCHEMA.columns}
    for (column, constant), expected in cases.items():
        where = f"{constant} {other} {column}" if turned else f"{column} {sign} {constant}"
        assert count_matching(parse_query(where, SCHEMA).where, encodings) == expected, where
        missing = 9 * 5 if column == "number" else 7 * 9 if column == "stage" else 0
        denied = count_matching(parse_query(f"NOT ({where})", SCHEMA).where, encodings)
        assert denied == 7 * 9 * 5 - missing - expected, where

"""The series follows the people: whatever a second table or policy is called, they are noticed without any option."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import (
    Broken,
    Case,
    break_at,
    contents,
    crossed,
    only,
    policy_of,
    publish,
    usual_series,
    ward_frame,
    ward_schema,
)
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.datasets.hospital import hospital, write_hospital
from discreet.mechanism.diffgen.policy import diffgen, pairs
from discreet.schema.domain import Integers, Listed
from discreet.series.store import Series

PEOPLE = 600


def frame(seed: int = 1, rows: int = PEOPLE) -> pd.DataFrame:
    """A ward whose people have names, numbers and wards of their own."""
    coins = np.random.default_rng(seed)
    return ward_frame(rows, seed).assign(
        bed_tag=[f"bed{number}" for number in coins.choice(10**8, rows, replace=False)]
    )


def other_policy(case: Case, folder: Path, **changes: object) -> discreet.Policy:
    """Another promise for the same columns."""
    folder.mkdir(exist_ok=True)
    return replace(policy_of(case, folder, "other.toml", mechanism=case.other()), **changes)


def without_gender(case: Case) -> discreet.Schema:
    schema = ward_schema(case.public_rows and PEOPLE)
    domains = {name: domain for name, domain in schema.domains.items() if name != "gender"}
    return replace(schema, quasi_identifiers=("age", "postcode"), domains=domains)


SECOND = {
    "another policy": lambda case, people, folder: (people, other_policy(case, folder)),
    "a copy in another folder": lambda case, people, folder: (written(people, folder), other_policy(case, folder)),
    "a few other rows": lambda case, people, folder: (
        written(pd.concat([people.iloc[20:], frame(2, 20)]), folder),
        other_policy(case, folder),
    ),
    "other columns": lambda case, people, folder: (
        written(people, folder),
        other_policy(case, folder, schema=without_gender(case)),
    ),
    "no person named": lambda case, people, folder: (
        written(people.iloc[10:], folder),
        other_policy(case, folder, person=None),
    ),
    "no identifier left": lambda case, people, folder: (
        written(people[["age", "postcode", "gender", "disease"]].iloc[5:], folder),
        other_policy(case, folder, person=None, identifiers=()),
    ),
    "other letter case": lambda case, people, folder: (
        written(people.iloc[10:].rename(columns=str.upper), folder),
        other_policy(case, folder),
    ),
}


def written(people: pd.DataFrame, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    people.to_csv(folder / "renamed.csv", index=False)
    return folder / "renamed.csv"


def roomy(policy: discreet.Policy) -> discreet.Policy:
    """A policy for the larger ward."""
    schema = policy.schema
    return replace(policy, schema=replace(schema, public_rows=PEOPLE)) if schema.public_rows else policy


@crossed("second", [*SECOND], every=4)
def test_the_same_people_are_refused_or_charged(second, case, tmp_path):
    """Under another policy, as a copy, changed, with other columns: the release they are in, and how many they are."""
    people = frame()
    one = publish(people, roomy(policy_of(case, tmp_path)), tmp_path / "one")
    source, policy = SECOND[second](case, people, tmp_path / "elsewhere")
    policy = roomy(policy)
    if case.charged:
        publish(source, policy, tmp_path / "two")
        with closing(discreet.open_release(tmp_path / "two")) as release, closing(discreet.open_release(one)) as first:
            spent = Fraction(str(first.facts["epsilon"])) + Fraction(str(release.facts["epsilon"]))
            assert Fraction(str(release.facts["total_epsilon"])) == spent
        return
    with pytest.raises(discreet.SeriesRefusal) as raised:
        publish(source, policy, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    assert str(one) in str(raised.value)
    assert "--new-series" in str(raised.value)
    assert "people of this table are in it" in str(raised.value) or "histograms" in str(raised.value)
    publish(source, policy, tmp_path / "two", new_series=True)
    assert discreet.verify(tmp_path / "two").holds


def test_other_people_are_published_from_the_same_series(case, tmp_path):
    """A second table of others is a first release of them, without a word or a warning."""
    publish(frame(1), roomy(policy_of(case, tmp_path)), tmp_path / "one")
    publish(frame(2), roomy(policy_of(case, tmp_path)), tmp_path / "two")
    publish(frame(3), roomy(policy_of(case, tmp_path)), tmp_path / "three")
    for name in ("one", "two", "three"):
        with closing(discreet.open_release(tmp_path / name)) as release:
            assert "warning" not in release.facts
            assert release.facts.get("total_epsilon") == release.facts.get("epsilon")
    assert discreet.verify(tmp_path / "three").holds


@only(lambda case: case.name == "anatomy", "people are told apart in the same way for every mechanism")
def test_releases_of_parts_are_related_to_those_of_the_whole(case, tmp_path):
    """One of all people after two of halves is a second release of both, and says which has more of them."""
    people = frame()
    for name, part in (("few", people.iloc[:200]), ("many", people.iloc[200:])):
        publish(part, policy_of(case, tmp_path), tmp_path / name)
    with pytest.raises(discreet.SeriesRefusal, match=r"many \(about 400 of the 600 people"):
        publish(people, policy_of(case, tmp_path), tmp_path / "all")


@pytest.mark.parametrize("left_out", [[], ["ssn"], ["ssn", "name"]], ids=["ssn", "names", "neither"])
def test_two_draws_of_the_demos_table_are_not_the_same_people(left_out, tmp_path):
    """By number, by the fewest columns, and by histograms where no columns tell them apart."""
    _, policy_file = write_hospital(tmp_path, 2_000)
    policy = discreet.Policy.load(policy_file)
    identifiers = tuple(name for name in policy.identifiers if name not in left_out)
    policy = replace(policy, identifiers=identifiers, person="ssn" if "ssn" in identifiers else None)
    said: list[str] = []
    rows = 20_000 if left_out == ["ssn", "name"] else 4_000  # so many are alike in all other columns
    for seed in (1, 2, 3):
        table = hospital(rows, seed).drop_columns(left_out)
        publish(table, policy, tmp_path / f"{seed}", say=said.append)
    assert bool(said) == (left_out == ["ssn", "name"])
    with pytest.raises(discreet.SeriesRefusal, match=str(tmp_path / "2")):
        publish(hospital(rows, 2).drop_columns(left_out).slice(100), policy, tmp_path / "again")


def test_a_table_whose_people_cannot_be_known_again_says_so(tmp_path):
    """On the command line too; the release is made."""
    coins = np.random.default_rng(1)
    pd.DataFrame({"sex": coins.choice(["F", "M"], 500), "ill": coins.choice(["a", "b", "c"], 500)}).to_csv(
        tmp_path / "t.csv", index=False
    )
    schema = discreet.Schema(
        quasi_identifiers=("sex",),
        sensitive="ill",
        domains={"sex": Listed(values=("F", "M")), "ill": Listed(values=("a", "b", "c"))},
    )
    discreet.Policy(schema=schema, mechanism=discreet.Anatomy(l=2)).save(tmp_path / "t.toml")
    words = ["publish", str(tmp_path / "t.csv"), "--policy", str(tmp_path / "t.toml"), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "cannot be known again" in done.output


def test_domains_of_any_kind_give_the_same_people(tmp_path):
    """Ages as whole numbers, as a list or as text, zip codes with zeros: cells count, not how a policy lists them."""
    coins = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "age": coins.integers(0, 90, 800),
            "zip": [f"0{number}" for number in coins.integers(1_000, 1_900, 800)],
            "ill": coins.choice(["a", "b", "c", "d"], 800),
        }
    )
    zips = tuple(sorted(set(table["zip"])))
    ill = Listed(values=("a", "b", "c", "d"))
    ages = (
        Integers(low=0, high=110),
        Listed(values=tuple(range(90))),
        Listed(values=tuple(str(age) for age in range(90))),
    )
    for number, age in enumerate(ages):
        for codes in (Listed(values=zips), Integers(low=0, high=99_999), Integers(low=0, high=10**9)):
            schema = discreet.Schema(
                quasi_identifiers=("age", "zip"), sensitive="ill", domains={"age": age, "zip": codes, "ill": ill}
            )
            policy = discreet.Policy(schema=schema, mechanism=discreet.Anatomy(l=2))
            if not number and isinstance(codes, Listed):
                publish(table, policy, tmp_path / "one")
                continue
            with pytest.raises(discreet.SeriesRefusal, match=r"about 7\d\d of the 790 people"):
                publish(table.iloc[10:], policy, tmp_path / "two")


# What was measured is on disk before any file

MADE = {  # where a mechanism measures, and where it makes a release of that
    "diffgen": ((diffgen, "measure"), (diffgen, "make_leaves")),
    "diffgen choices": ((diffgen, "measure"), (diffgen, "make_leaves")),
    "pairs": ((pairs, "measure_pairs"), (pairs, "write_pairs")),
}


@only(lambda case: case.charged, "its coins come from the key: the same rows get the same")
def test_what_was_measured_survives_whatever_stops_the_release(case, tmp_path, monkeypatch):
    """Between measuring and writing: the next try gives the same numbers and charges nothing."""
    policy = policy_of(case, tmp_path)
    with monkeypatch.context() as patch:
        break_at(patch, *MADE[case.name][1], Broken)
        with pytest.raises(Broken):
            publish(ward_frame(), policy, tmp_path / "one")
    with Series(usual_series()) as memory:
        (entry,) = memory.entries()
        assert entry.cost > 0
        assert json.loads(entry.memo)
        assert entry.drawn == b""
    with monkeypatch.context() as patch:
        patch.setattr(*MADE[case.name][0], None)  # nobody measures a second time
        publish(ward_frame(), policy, tmp_path / "one")
        again = publish(ward_frame(), policy, tmp_path / "two")
    assert contents(again) == contents(tmp_path / "one")
    with Series(usual_series()) as memory:
        assert [bool(each.drawn) for each in memory.entries()] == [True]
    with closing(discreet.open_release(again)) as release:
        assert release.facts["total_epsilon"] == release.facts["epsilon"]


@only(lambda case: case.charged, "it costs no epsilon")
def test_what_was_measured_and_never_shown_is_counted_all_the_same(case, tmp_path, monkeypatch):
    """The next state of the table states both: nobody knows what became of the first."""
    policy = policy_of(case, tmp_path)
    with monkeypatch.context() as patch:
        break_at(patch, *MADE[case.name][1], Broken)
        with pytest.raises(Broken):
            publish(ward_frame(), policy, tmp_path / "one")
    publish(ward_frame().iloc[1:], policy, tmp_path / "two")
    with closing(discreet.open_release(tmp_path / "two")) as release:
        assert Fraction(str(release.facts["total_epsilon"])) == 2 * Fraction(str(release.facts["epsilon"]))


# A series that was put back from a backup


def test_a_series_from_a_backup_is_noticed_by_the_release_that_it_forgot(case, tmp_path):
    """As long as that release lies where it was written; --new-series goes on, with a warning."""
    policy, series = roomy(policy_of(case, tmp_path)), tmp_path / "own.series"
    publish(frame(1), policy, tmp_path / "one", series=series)
    backup = series.read_bytes()
    two = publish(frame(2), policy, tmp_path / "two", series=series)
    series.write_bytes(backup)
    for people in (frame(2), frame(3)):
        with pytest.raises(discreet.SeriesRefusal, match="backup") as raised:
            publish(people, policy, tmp_path / "three", series=series)
        assert str(two) in str(raised.value)
    shutil.move(two, tmp_path / "handed out")
    publish(frame(3), policy, tmp_path / "three", series=series)  # what went away cannot be known


def test_going_on_with_a_series_from_a_backup_is_stated(case, tmp_path):
    """The custodian said so, and whoever gets the release can read it."""
    policy, series = roomy(policy_of(case, tmp_path)), tmp_path / "own.series"
    publish(frame(1), policy, tmp_path / "one", series=series)
    backup = series.read_bytes()
    publish(frame(2), policy, tmp_path / "two", series=series)
    series.write_bytes(backup)
    publish(frame(3), policy, tmp_path / "three", series=series, new_series=True)
    with closing(discreet.open_release(tmp_path / "three")) as release:
        assert "warning" in release.facts
    assert discreet.verify(tmp_path / "three").holds

"""The series, for every mechanism: the same rows never get fresh coins, and a table published before is known again."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import CASES, ROWS, Case, House, contents, crossed, only, policy_of, publish, ward_frame, ward_schema

import discreet
from discreet.release import write as release_write
from discreet.schema.domain import Listed


@pytest.fixture
def after_one(case, published, tmp_path) -> House:
    """A custodian's folder with a copy of the series that remembers one release, which is where it was published."""
    house = House(case, tmp_path)
    shutil.copy(published.series, house.series)
    return house


# The same rows and policy: the same release


def test_the_same_rows_and_policy_give_the_same_bytes_into_another_folder(after_one, published, people):
    """Not only the same coins: every file is the same, also of a table that was read again."""
    two = after_one.publish(people, "two", csv=True)
    assert contents(two) == contents(published.folder / "one")
    assert after_one.remembered == 1


def test_the_same_release_comes_back_after_it_was_deleted(house, ward):
    """Losing a release does not mean fresh coins; the table may stay open in between."""
    one = house.publish(ward, "one")
    before = contents(one)
    shutil.rmtree(one)
    assert contents(house.publish(ward, "one")) == before


UNPUBLISHED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "all of them": lambda frame: frame[sorted(frame)].assign(fullname="nobody", bed_tag=range(ROWS), ward=1),
    "identifiers": lambda frame: frame.assign(fullname=[f"other {i}" for i in range(ROWS)]),
    "columns moved": lambda frame: frame[sorted(frame)],
    "an undeclared column": lambda frame: frame.assign(ward=1),
    "as CSV": lambda frame: frame,
}


@crossed("change", [*UNPUBLISHED])
def test_what_is_not_published_does_not_make_it_another_table(change, after_one, published, people):
    """Only published columns count: identifiers, undeclared columns, their order and the format do not."""
    other: object = UNPUBLISHED[change](people)
    if change in ("all of them", "as CSV"):
        other.to_csv(after_one.folder / "rows.csv", index=False)
        other = after_one.folder / "rows.csv"
    assert contents(after_one.publish(other, "two", csv=True)) == contents(published.folder / "one")


def test_two_series_files_give_different_releases(case, house, published, ward):
    """The key decides: another series, other coins; both releases verify."""
    one, two = published.folder / "one", house.publish(ward, "two")
    first = f"data/{case.tables[0]}.parquet"
    assert contents(one)[first] != contents(two)[first]
    assert discreet.verify(one).holds
    assert discreet.verify(two).holds


def test_a_seeded_release_touches_no_series(house, after_one, published, ward, people):
    """Neither makes one nor writes into one."""
    publish(ward, house.policy, house.folder / "seeded", series=house.folder / "other.series", seed=1)
    assert not (house.folder / "other.series").exists()
    after_one.publish(people.assign(gender="F"), "seeded too", seed=1)
    assert after_one.series.read_bytes() == published.series.read_bytes()


# Otherwise: a refusal that says why, or a release that is covered


def refusal(house: House, source: object, **options: object) -> str:
    """The message of the refusal, after checking that nothing was written or recorded and that no cell is in it."""
    before = contents(house.folder)
    with pytest.raises(discreet.SeriesRefusal) as raised:
        house.publish(source, "refused", **options)
    assert contents(house.folder) == before
    assert not list(house.folder.glob("*refused*"))
    message = str(raised.value)
    for cell in ("Measles", "Asthma", "HIV", "Flu", "Zyxwvut", "9-77", "bedtag", "9001", "0213", "0214"):
        assert cell not in message
    return message


SAME = "in any order the same rows are the same release"


@only(lambda case: not case.any_order, SAME)
def test_the_same_rows_in_another_order_are_refused_with_the_earlier_release(after_one, published, people):
    """Even with new_series: making the same release again would need the old order."""
    shuffled = people.sample(frac=1, random_state=1)
    for new_series in (False, True):
        message = refusal(after_one, shuffled, new_series=new_series)
        assert str(published.folder / "one") in message
        assert "another order" in message
        assert re.search(r"\d{4}-\d\d-\d\d", message)


@only(lambda case: case.any_order, "coins are handed to rows in their order; another order is refused")
def test_the_same_rows_in_another_order_are_the_same_release(after_one, published, people):
    """Coins belong to tuples or to counts, not to rows."""
    shuffled = people.sample(frac=1, random_state=1)
    assert contents(after_one.publish(shuffled, "two", csv=True)) == contents(published.folder / "one")


def _one_cell(column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        changed = frame.copy()
        assert changed.loc[3, column] != value
        changed.loc[3, column] = value
        return changed

    return change


CHANGES = {
    "an age": _one_cell("age", 110),
    "a row added": lambda frame: pd.concat([frame, frame.iloc[[0]].assign(bed_tag="another")]),  # which is no new tuple
    "two ages swapped": lambda frame: frame.assign(age=[*frame["age"][1::-1], *frame["age"][2:]]),
    "a gender": lambda frame: frame.assign(
        gender=frame["gender"].mask(frame.index == 3, "F" if frame.loc[3, "gender"] == "M" else "M")
    ),
    "a disease": _one_cell("disease", "HIV"),
    "the first row removed": lambda frame: frame.iloc[1:],
    "a row removed": lambda frame: frame.iloc[:-1],
}


def is_covered(case: Case, change: object) -> str:
    return "" if case.refuses else "further states of the table are covered by the promise"


@crossed("change", [*CHANGES], every=3, gap=is_covered)
def test_a_changed_table_is_refused_with_the_reason(change, after_one, published, people):
    """One row changed, removed or added is another state of the table; both releases together expose people."""
    message = refusal(after_one, CHANGES[change](people))
    assert str(published.folder / "one") in message
    assert "another state of this table" in message
    assert "expose" in message
    assert "--new-series" in message


@only(lambda case: case.views > 1, "the promise covers one state of the table, or any number at a price")
def test_a_changed_table_is_a_further_view_until_the_last_that_was_promised(case, after_one, published, people):
    """Each verifies without a warning and comes back byte for byte; one more is refused."""
    states = [change(people) for change in CHANGES.values()][: case.views]
    made = [after_one.publish(state, f"view {i}") for i, state in enumerate(states[:-1])]
    assert len(made) == case.views - 1
    for i, release in enumerate(made):
        assert discreet.verify(release).holds
        assert "warning" not in after_one.facts(release.name)
        assert contents(after_one.publish(states[i], f"again {i}")) == contents(release)
    assert f"views ({case.views})" in refusal(after_one, states[-1])
    assert contents(after_one.publish(people, "one", csv=True)) == contents(published.folder / "one")
    assert after_one.remembered == case.views


@only(lambda case: case.charged, "a second release costs no epsilon: it is covered or refused")
def test_a_changed_table_or_promise_is_charged(case, after_one, published, people, ward, tmp_path):
    """Each release states what all before it cost together with it; one that is made again costs nothing."""
    other = policy_of(case, tmp_path, "other.toml", mechanism=case.other())
    after_one.publish(CHANGES["an age"](people), "two")
    after_one.publish(ward, "three", policy=other)
    one, two, three = published.facts("one"), after_one.facts("two"), after_one.facts("three")
    costs = [Fraction(str(facts["epsilon"])) for facts in (one, two, three)]
    assert costs[0] == costs[1] != costs[2] > 0
    totals = [Fraction(str(facts["total_epsilon"])) for facts in (one, two, three)]
    assert totals == [costs[0], costs[0] + costs[1], sum(costs)]
    assert "warning" not in {**two, **three}
    assert all(discreet.verify(tmp_path / name).holds for name in ("two", "three"))
    assert contents(after_one.publish(ward, "one", csv=True)) == contents(published.folder / "one")
    assert after_one.remembered == 3


def other_policies(case: Case, folder: Path) -> dict[str, discreet.Policy]:
    """The same people under another promise, with a wider domain, and without one column."""
    schema = ward_schema(case.public_rows)
    wider = {**schema.domains, "gender": Listed(values=("M", "F", "X"))}
    fewer = {name: domain for name, domain in schema.domains.items() if name != "gender"}
    return {
        "another promise": policy_of(case, folder, "promise.toml", mechanism=case.other()),
        "a wider domain": policy_of(case, folder, "wider.toml", schema=replace(schema, domains=wider)),
        "a column less": policy_of(
            case, folder, "fewer.toml", schema=replace(schema, quasi_identifiers=("age", "postcode"), domains=fewer)
        ),
    }


@only(lambda case: not case.charged, "a release under another policy is charged")
def test_the_same_rows_under_another_policy_are_refused(case, after_one, published, people):
    """A second release of the same people is a second release, whatever its promise, domains or columns."""
    for name, policy in other_policies(case, after_one.folder).items():
        message = refusal(after_one, people, policy=policy)
        assert str(published.folder / "one") in message
        expected = "another state of this table" if name == "a column less" else "the same rows were published"
        assert expected in message


def test_the_same_rows_from_another_kind_of_mechanism_are_refused(case, house, people, tmp_path):
    """No promise covers what it gives away together with a release that promised something else."""
    kind = next(each for each in CASES if each.tables != case.tables and not each.charged)
    one = publish(people, policy_of(kind, tmp_path, "kind.toml"), tmp_path / "one", series=house.series)
    message = refusal(house, people)
    assert str(one) in message
    assert "--new-series" in message


# new_series: said, recorded, and still no fresh coins


def test_new_series_goes_on_and_the_facts_say_so(after_one, published, people):
    """The second release carries the warning in its facts and in its README; the first does not."""
    two = after_one.publish(CHANGES["an age"](people), "two", new_series=True)
    assert "warning" not in published.facts("one")
    assert "released rows from this series before" in str(after_one.facts("two")["warning"])
    assert str(after_one.facts("two")["warning"]) in (two / "README.md").read_text()
    assert discreet.verify(two).holds
    assert after_one.remembered == 2


def test_even_with_new_series_the_same_rows_and_policy_get_the_earlier_coins(after_one, published, people, ward):
    """new_series changes nothing for what was published before: both releases come back byte for byte."""
    with closing(discreet.read_table(CHANGES["an age"](people), after_one.policy)) as changed:
        two = after_one.publish(changed, "two", new_series=True)
        again = after_one.publish(ward, "one", new_series=True, csv=True)
        assert contents(again) == contents(published.folder / "one")
        assert contents(after_one.publish(changed, "two again")) == contents(two)
    assert after_one.remembered == 2


def test_new_series_on_a_first_release_changes_nothing(house, ward):
    """There is nothing to warn of."""
    one = house.publish(ward, "one", new_series=True)
    assert "warning" not in house.facts("one")
    assert contents(one) == contents(house.publish(ward, "two"))


# A damaged file


DAMAGE = {
    "emptied": lambda path: path.write_bytes(b""),  # its release is out, and fresh coins would expose people
    "text key": "UPDATE series SET key = 'abcdefghijklmnopqrstuvwxyz012345'",
    "no entry": "DELETE FROM entry",
    "text for drawn": "UPDATE entry SET drawn = 'x'",
    "another memo": "UPDATE entry SET memo = memo || ' '",
    "another cost": "UPDATE entry SET cost = '1/1000'",
    "text": lambda path: path.write_text("not a series " * 500),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "no key": "DELETE FROM series",
    "short key": "UPDATE series SET key = x'0011'",
    "no entries": "DROP TABLE entry",
    "other entries": "ALTER TABLE entry RENAME COLUMN drawn TO gone",
    "other format": "UPDATE series SET format = 99",
    "text format": "UPDATE series SET format = 'one'",
    "number for rows": "UPDATE entry SET rows = 5",
}


@crossed("damage", [*DAMAGE], every=6)
def test_a_damaged_series_is_a_refusal_and_not_a_traceback(damage, after_one, ward):
    """Whatever is wrong with the file, the same rows get no fresh coins, and the message names the file."""
    how = DAMAGE[damage]
    if callable(how):
        how(after_one.series)
    else:
        with closing(sqlite3.connect(after_one.series)) as database, database:
            database.execute(how)
    assert str(after_one.series) in refusal(after_one, ward)


@crossed("flips", [4, 60])
def test_a_series_with_one_bit_flipped_never_gives_fresh_coins(flips, case, published, ward, tmp_path):
    """Over flips anywhere in the file: the earlier release again, or a refusal."""
    good = published.series.read_bytes()
    first = f"data/{case.tables[0]}.parquet"
    coins = np.random.default_rng(8)
    used = np.flatnonzero(np.frombuffer(good, dtype=np.uint8))
    wrong = []
    for place in [*coins.choice(used, flips), *coins.integers(0, len(good), flips // 4)]:
        bad = bytearray(good)
        bad[place] ^= 1 << int(coins.integers(8))
        path = tmp_path / f"{place}.series"
        path.write_bytes(bad)
        to = tmp_path / f"release {place}"
        try:
            publish(ward, published.policy, to, series=path, replace=True)
        except discreet.SeriesRefusal:
            continue
        except Exception as error:
            wrong.append((int(place), f"{type(error).__name__}: {error}"))
            continue
        if contents(to)[first] != contents(published.folder / "one")[first]:
            wrong.append((int(place), "fresh coins"))
    assert not wrong


def test_a_refused_series_is_let_go_at_once(after_one, published, ward):
    """After a refusal nothing holds the file: it can be restored and used in the same process."""
    before = after_one.series.read_bytes()
    with closing(sqlite3.connect(after_one.series)) as database, database:
        database.execute("UPDATE series SET format = 99")
    with pytest.raises(discreet.SeriesRefusal) as kept:  # as a notebook or a debugger keeps the last error
        after_one.publish(ward, "two")
    with closing(sqlite3.connect(after_one.series, timeout=0)) as database:
        database.execute("BEGIN EXCLUSIVE")
        database.execute("ROLLBACK")
    after_one.series.write_bytes(before)
    assert contents(after_one.publish(ward, "three", csv=True)) == contents(published.folder / "one")
    assert "format" in str(kept.value)


def test_a_series_in_use_by_another_publisher_is_refused(after_one, ward, monkeypatch):
    """Two publishers never draw from one series at a time."""
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **{**options, "timeout": 0.1}))
    with closing(connect(after_one.series, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE series SET entries = entries")
        message = refusal(after_one, ward)
        other.execute("ROLLBACK")
    assert "nobody else is using" in message


# Crashes


def test_a_failure_between_recording_and_renaming_costs_no_coins(house, ward, monkeypatch):
    """The release that nobody saw is the one that is published next."""
    kept = house.folder / "kept"

    def crash(beside, to):
        shutil.copytree(beside, kept)
        raise OSError(errno.EIO, "injected")

    with monkeypatch.context() as patch:
        patch.setattr(release_write, "take_name", crash)
        with pytest.raises(discreet.ReleaseError, match="could not be written: Input/output error"):
            house.publish(ward, "one")
    assert not (house.folder / "one").exists()
    assert house.remembered == 1
    assert contents(house.publish(ward, "one")) == contents(kept)
    assert house.remembered == 1


# One process imports, and every publisher is a fork of it that dies where the release would get its name.
DYING = """
import os, sys, discreet
import cases, opendp.prelude  # cases registers the fourth family
from discreet.release import write
write.take_name = lambda *args: os._exit(9)
for folder in sys.argv[1:]:
    child = os.fork()
    if not child:
        os.chdir(folder)
        policy = discreet.Policy.load("ward.toml")
        discreet.publish(discreet.read_table("rows.parquet", policy), policy, to="one", series="ward.series")
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture(scope="module")
def dead(tmp_path_factory) -> dict[Case, House]:
    """Each case's house after its publisher died."""
    houses = {each: House(each, tmp_path_factory.mktemp("dead")) for each in CASES}
    for house in houses.values():
        ward_frame().to_parquet(house.folder / "rows.parquet")
    words = [sys.executable, "-c", DYING, *(str(house.folder) for house in houses.values())]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=here)  # noqa: S603 - our interpreter
    assert done.stdout.split() == ["9"] * len(CASES), done.stderr
    return houses


def test_a_process_that_dies_between_recording_and_renaming_costs_no_coins(case, dead, ward):
    """The same for a real death: no cleaning up, the series was on disk, the next try gives the same files."""
    house = dead[case]
    assert not (house.folder / "one").exists()
    (left,) = house.folder.glob(".one-*")
    assert house.remembered == 1
    twin = contents(left / "release")
    assert contents(house.publish(ward, "one")) == twin
    assert house.remembered == 1
    assert not left.exists()

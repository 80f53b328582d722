"""The series: the same rows never get fresh coins, and a table that was published before is known again."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.release import write as release_write
from discreet.schema.domain import Integers, Listed
from discreet.series.digest import RowDigest
from discreet.series.store import Series

POLICY = """\
version = 1
[table]
identifiers = ["name"]
quasi_identifiers = ["age", "gender"]
sensitive = "disease"
[domains.age]
integers = [-5, 110]
[domains.gender]
values = ["F", "M"]
[domains.disease]
values = ["Asthma", "HIV", "Flu", "Mumps"]
[mechanism]
kind = "buckets"
[mechanism.tolerance]
floor = 0.5
"""
ROWS = 80


def frame_of(rows: int = ROWS) -> pd.DataFrame:
    coins = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": coins.integers(0, 100, rows),
            "gender": coins.choice(["F", "M"], rows),
            "disease": np.resize(["Asthma", "HIV", "Flu", "Mumps"], rows),
        }
    )


class House:
    """A custodian's folder: one policy, its series, and as many releases as the series allows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write_policy("ward.toml", POLICY)

    def write_policy(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    @property
    def series(self) -> Path:
        return self.folder / "ward.series"

    def publish(self, frame: pd.DataFrame, name: str, *, policy: str = "ward.toml", **options: object) -> Path:
        loaded = discreet.Policy.load(self.folder / policy)
        table = discreet.read_table(frame, loaded)
        try:
            discreet.publish(table, loaded, to=self.folder / name, **{"series": self.series, **options}).close()
        finally:
            table.close()
        return self.folder / name

    def facts(self, name: str) -> dict[str, object]:
        opened = discreet.open_release(self.folder / name)
        facts = dict(opened.facts)
        opened.close()
        return facts

    def views(self) -> int:
        with Series(self.series) as memory:
            return len(memory.views())


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# The same rows and policy: the same release


def test_the_same_rows_and_policy_give_the_same_bytes_into_another_folder(house):
    """Not only the same coins: every file is the same."""
    one, two = house.publish(frame_of(), "one"), house.publish(frame_of(), "two")
    assert contents(one) == contents(two)
    assert house.views() == 1


def test_the_same_release_comes_back_after_it_was_deleted(house):
    """Losing a release does not mean fresh coins."""
    one = house.publish(frame_of(), "one")
    before = contents(one)
    shutil.rmtree(one)
    assert contents(house.publish(frame_of(), "one")) == before


def test_one_table_can_be_published_twice_while_it_is_open(house):
    """Nothing of the first release is left behind in the engine."""
    policy = discreet.Policy.load(house.folder / "ward.toml")
    table = discreet.read_table(frame_of(), policy)
    for name in ("one", "two"):
        discreet.publish(table, policy, to=house.folder / name).close()
    table.close()
    assert contents(house.folder / "one") == contents(house.folder / "two")


@pytest.mark.parametrize("change", ["identifiers", "columns moved", "an undeclared column", "as CSV"])
def test_what_is_not_published_does_not_make_it_another_table(change, house):
    """Only published columns count: identifiers, undeclared columns, their order and the format do not."""
    frame = frame_of()
    one = house.publish(frame, "one")
    if change == "identifiers":
        other: object = frame.assign(name=[f"other {i}" for i in range(ROWS)])
    elif change == "columns moved":
        other = frame[["disease", "gender", "name", "age"]]
    elif change == "an undeclared column":
        other = frame.assign(ward=1)
    else:
        frame.to_csv(house.folder / "rows.csv", index=False)
        other = house.folder / "rows.csv"
    assert contents(one) == contents(house.publish(other, "two"))


def test_two_series_files_give_different_releases(house):
    """The key decides: another series, other coins."""
    one = house.publish(frame_of(), "one")
    two = house.publish(frame_of(), "two", series=house.folder / "other.series")
    assert contents(one)["data/qit.parquet"] != contents(two)["data/qit.parquet"]
    assert discreet.verify(one).holds
    assert discreet.verify(two).holds


def test_a_seeded_release_touches_no_series(house):
    """Neither makes one nor writes into one."""
    house.publish(frame_of(), "seeded", seed=1)
    assert not house.series.exists()
    house.publish(frame_of(), "real")
    before = house.series.read_bytes()
    house.publish(frame_of().assign(age=1), "seeded too", seed=1)
    assert house.series.read_bytes() == before


# Otherwise: a refusal that says why


def refusal(house: House, frame: pd.DataFrame, **options: object) -> str:
    """The message of the refusal, after checking that nothing was written and nothing was recorded."""
    before = sorted(path.name for path in house.folder.iterdir())
    with pytest.raises(discreet.SeriesRefusal) as raised:
        house.publish(frame, "refused", **options)
    assert sorted(path.name for path in house.folder.iterdir()) == before
    return str(raised.value)


def test_the_same_rows_in_another_order_are_refused_with_the_earlier_release(house):
    """Even with new_series: making the same release again would need the old order."""
    one = house.publish(frame_of(), "one")
    shuffled = frame_of().sample(frac=1, random_state=1)
    for new_series in (False, True):
        message = refusal(house, shuffled, new_series=new_series)
        assert str(one.resolve()) in message
        assert "another order" in message
        assert re.search(r"\d{4}-\d\d-\d\d", message)


def _one_cell(column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        changed = frame.copy()
        assert changed.loc[3, column] != value
        changed.loc[3, column] = value
        return changed

    return change


CHANGES = {
    "an age": _one_cell("age", 110),
    "a gender": lambda frame: frame.assign(
        gender=frame["gender"].mask(frame.index == 3, "F" if frame.loc[3, "gender"] == "M" else "M")
    ),
    "a disease": _one_cell("disease", "Asthma"),
    "a row removed": lambda frame: frame.iloc[:-1],
    "the first row removed": lambda frame: frame.iloc[1:],
    "a row added": lambda frame: pd.concat([frame, frame.iloc[[0]]]),
    "two ages swapped": lambda frame: frame.assign(age=[*frame["age"][1::-1], *frame["age"][2:]]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_table_is_refused_with_the_reason(change, house):
    """One row changed, removed or added is another state of the table; both releases together expose people."""
    one = house.publish(frame_of(), "one")
    message = refusal(house, CHANGES[change](frame_of()))
    assert str(one.resolve()) in message
    assert "another state of this table" in message
    assert "expose" in message
    assert "--new-series" in message
    assert house.views() == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("floor = 0.5", "floor = 0.6"),
        ('kind = "buckets"', 'kind = "buckets"\nmax_size = 40'),
        ('values = ["F", "M"]', 'values = ["F", "M", "X"]'),
        ('kind = "buckets"', 'kind = "buckets"\ncomposition = "round-robin"'),
    ],
)
def test_the_same_rows_under_another_policy_are_refused(old, new, house):
    """A second release of the same people is a second release, whatever its parameters."""
    one = house.publish(frame_of(), "one")
    house.write_policy("other.toml", POLICY.replace(old, new))
    message = refusal(house, frame_of(), policy="other.toml")
    assert "the same rows were published" in message
    assert str(one.resolve()) in message


def test_the_same_rows_without_one_column_are_refused(house):
    """Leaving out a column does not make other people of them."""
    house.publish(frame_of(), "one")
    fewer = POLICY.replace('["age", "gender"]', '["age"]').replace('[domains.gender]\nvalues = ["F", "M"]\n', "")
    house.write_policy("fewer.toml", fewer)
    assert str(house.folder / "one") in refusal(house, frame_of(), policy="fewer.toml")


def test_a_refusal_has_no_cell_of_the_table(house):
    """Paths and dates, no people."""
    house.publish(frame_of(), "one")
    message = refusal(house, frame_of().assign(age=101)).replace(str(house.folder), "")
    for cell in ("101", "Mumps", "Asthma", "person 1"):
        assert cell not in message


# new_series: said, recorded, and still no fresh coins


def test_new_series_goes_on_and_the_facts_say_so(house):
    """The second release carries the warning in its facts and in its README; the first does not."""
    house.publish(frame_of(), "one")
    changed = CHANGES["an age"](frame_of())
    two = house.publish(changed, "two", new_series=True)
    assert "warning" not in house.facts("one")
    assert "released rows from this series before" in str(house.facts("two")["warning"])
    assert str(house.facts("two")["warning"]) in (two / "README.md").read_text()
    assert discreet.verify(two).holds
    assert house.views() == 2


def test_even_with_new_series_the_same_rows_and_policy_get_the_earlier_coins(house):
    """new_series changes nothing for what was published before: both releases come back byte for byte."""
    changed = CHANGES["an age"](frame_of())
    one = house.publish(frame_of(), "one")
    two = house.publish(changed, "two", new_series=True)
    for new_series in (True, False):
        again = house.publish(frame_of(), f"one {new_series}", new_series=new_series)
        assert contents(again) == contents(one)
        again = house.publish(changed, f"two {new_series}", new_series=new_series)
        assert contents(again) == contents(two)
    assert house.views() == 2


def test_new_series_on_a_first_release_changes_nothing(house):
    """There is nothing to warn of."""
    one = house.publish(frame_of(), "one", new_series=True)
    assert "warning" not in house.facts("one")
    assert contents(one) == contents(house.publish(frame_of(), "two"))


# A damaged file


DAMAGE = {
    "text": lambda path: path.write_text("not a series " * 500),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "no key": "DELETE FROM series",
    "short key": "UPDATE series SET key = x'0011'",
    "text key": "UPDATE series SET key = 'abcdefghijklmnopqrstuvwxyz012345'",
    "no views": "DROP TABLE view",
    "other view": "ALTER TABLE view RENAME COLUMN drawn TO gone",
    "other format": "UPDATE series SET format = 99",
    "text format": "UPDATE series SET format = 'one'",
    "number for rows": "UPDATE view SET rows = 5",
    "text for drawn": "UPDATE view SET drawn = 'x'",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_series_is_a_refusal_and_not_a_traceback(damage, house):
    """Whatever is wrong with the file, the same rows get no fresh coins, and the message names the file or release."""
    house.publish(frame_of(), "one")
    how = DAMAGE[damage]
    if callable(how):
        how(house.series)
    else:
        with closing(sqlite3.connect(house.series)) as database, database:
            database.execute(how)
    assert str(house.folder) in refusal(house, frame_of())


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> House:
    house = House(tmp_path_factory.mktemp("damaged"))
    house.publish(frame_of(), "one")
    return house


def test_a_series_with_one_bit_flipped_never_gives_fresh_coins(published, tmp_path):
    """Over flips anywhere in the file: the earlier release again, or a refusal."""
    policy = discreet.Policy.load(published.folder / "ward.toml")
    table = discreet.read_table(frame_of(), policy)
    good = published.series.read_bytes()
    coins = np.random.default_rng(8)
    used = np.flatnonzero(np.frombuffer(good, dtype=np.uint8))
    wrong = []
    for place in [*coins.choice(used, 60), *coins.integers(0, len(good), 10)]:
        bad = bytearray(good)
        bad[place] ^= 1 << int(coins.integers(8))
        path = tmp_path / f"{place}.series"
        path.write_bytes(bad)
        to = tmp_path / f"release {place}"
        try:
            discreet.publish(table, policy, to=to, series=path, replace=True).close()
        except discreet.SeriesRefusal:
            continue
        except Exception as error:
            wrong.append((int(place), f"{type(error).__name__}: {error}"))
            continue
        if contents(to)["data/qit.parquet"] != contents(published.folder / "one")["data/qit.parquet"]:
            wrong.append((int(place), "fresh coins"))
    table.close()
    assert not wrong


def test_a_series_that_lost_its_content_is_refused(house):
    """A file emptied by an accident is not a new series: its release is out, and fresh coins would expose people."""
    house.publish(frame_of(), "one")
    house.series.write_bytes(b"")
    assert str(house.series) in refusal(house, frame_of())


def test_a_refused_series_is_let_go_at_once(house):
    """After a refusal nothing holds the file: it can be restored and used in the same process."""
    house.publish(frame_of(), "one")
    before = house.series.read_bytes()
    with closing(sqlite3.connect(house.series)) as database, database:
        database.execute("UPDATE series SET format = 99")
    try:
        house.publish(frame_of(), "two")
    except discreet.SeriesRefusal as error:
        kept = error  # as a notebook or a debugger keeps the last error
    with closing(sqlite3.connect(house.series, timeout=0)) as database:
        database.execute("BEGIN EXCLUSIVE")
        database.execute("ROLLBACK")
    house.series.write_bytes(before)
    assert contents(house.publish(frame_of(), "three")) == contents(house.folder / "one")
    assert "format" in str(kept)


def test_a_series_in_use_by_another_publisher_is_refused(house, monkeypatch):
    """Two publishers never draw from one series at a time."""
    house.publish(frame_of(), "one")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **{**options, "timeout": 0.1}))
    with Series(house.series):
        message = refusal(house, frame_of())
    assert "nobody else is using" in message


# Crashes


def test_a_failure_between_recording_and_renaming_costs_no_coins(house, monkeypatch):
    """The release that nobody saw is the one that is published next."""
    kept = house.folder / "kept"

    def crash(beside, to, *, replace):
        shutil.copytree(beside, kept)
        raise OSError("injected")

    with monkeypatch.context() as patch:
        patch.setattr(release_write, "_take_name", crash)
        with pytest.raises(OSError, match="injected"):
            house.publish(frame_of(), "one")
    assert not (house.folder / "one").exists()
    assert house.views() == 1
    assert contents(house.publish(frame_of(), "one")) == contents(kept)
    assert house.views() == 1


def test_a_process_that_dies_between_recording_and_renaming_costs_no_coins(house):
    """The same for a real death: no cleaning up, the series was on disk, the next try gives the same files."""
    frame_of().to_parquet(house.folder / "rows.parquet")
    dying = """
import os, sys, discreet
from discreet.release import write
write._take_name = lambda *args, **options: os._exit(9)
policy = discreet.Policy.load("ward.toml")
discreet.publish(discreet.read_table("rows.parquet", policy), policy, to="one")
"""
    done = subprocess.run([sys.executable, "-c", dying], cwd=house.folder, check=False)  # noqa: S603 - our interpreter
    assert done.returncode == 9
    assert not (house.folder / "one").exists()
    (left,) = house.folder.glob(".one-*")
    assert contents(house.publish(frame_of(), "one")) == contents(left)
    assert "another state" in refusal(house, CHANGES["an age"](frame_of()))


# The digest


COLUMNS = {
    "a": Integers(low=-3, high=4),
    "b": Listed(values=("x", "y", "z")),
    "c": Listed(values=("x", "y", "z"), missing=True),
    "d": Listed(values=(7, -1, 4)),
}
REORDERED = {
    "a": Integers(low=-3, high=4),
    "b": Listed(values=("z", "x", "y")),
    "c": Listed(values=("y", "z", "x"), missing=True),
    "d": Listed(values=(4, 7, -1)),
}
SIZES = tuple(len(domain) for domain in COLUMNS.values())
KEY = bytes(range(32))
Row = tuple[int, ...]
rows_of = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=12)


def digest_of(rows: list[Row], order: tuple[int, ...] = (0, 1, 2, 3), key: bytes = KEY, cut: int = 0) -> RowDigest:
    """The digests of rows of codes, with the columns in some order, fed in one batch or two."""
    names = list(COLUMNS)
    digest = RowDigest(key, [(names[i], COLUMNS[names[i]].encoding) for i in order])
    for part in (rows[:cut], rows[cut:]):
        digest.update([np.array([row[i] for row in part], dtype=np.int64) for i in order])
    return digest


@given(rows_of, st.randoms(use_true_random=False), st.permutations(range(4)), st.integers(0, 12))
def test_the_digest_ignores_the_order_of_rows_and_columns(rows, coins, order, cut):
    """And how the rows come in batches."""
    shuffled = coins.sample(rows, len(rows))
    assert digest_of(rows).rows == digest_of(shuffled, tuple(order), cut=cut).rows


@given(rows_of, st.data())
def test_any_changed_cell_changes_the_digest(rows, data):
    """One cell of one row, in any column."""
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 3))
    value = data.draw(st.integers(0, SIZES[column] - 1).filter(lambda value: value != rows[row][column]))
    changed = [*rows]
    changed[row] = (*rows[row][:column], value, *rows[row][column + 1 :])
    assert digest_of(rows).rows != digest_of(changed).rows
    assert digest_of(rows).ordered != digest_of(changed).ordered


@given(rows_of, rows_of)
def test_tables_have_the_same_digest_only_if_they_have_the_same_rows(one, two):
    """As multisets: rows added, removed, doubled, or with cells swapped between rows or columns."""
    assert (digest_of(one).rows == digest_of(two).rows) == (sorted(one) == sorted(two))
    assert (digest_of(one).ordered == digest_of(two).ordered) == (one == two)


@given(rows_of, st.data())
def test_cells_swapped_between_two_rows_change_the_digest(rows, data):
    """The columns alone stay the same, yet the people are others."""
    column = data.draw(st.integers(0, 3))
    one, two = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows) - 1))
    swapped = [list(row) for row in rows]
    swapped[one][column], swapped[two][column] = swapped[two][column], swapped[one][column]
    found = [tuple(row) for row in swapped]
    assert (digest_of(rows).rows == digest_of(found).rows) == (sorted(rows) == sorted(found))


@given(rows_of)
def test_the_digest_needs_the_key(rows):
    """Without the key nobody can compare a guess with it."""
    assert digest_of(rows).rows != digest_of(rows, key=bytes(32)).rows
    assert digest_of(rows).ordered != digest_of(rows, key=bytes(32)).ordered


@given(rows_of)
@settings(max_examples=30)
def test_values_listed_in_another_order_give_the_same_digest(rows):
    """The digest is of the values, not of their places in the policy."""
    digest = RowDigest(KEY, [(name, domain.encoding) for name, domain in REORDERED.items()])
    values = [[list(domain)[row[i]] for row in rows] for i, domain in enumerate(COLUMNS.values())]
    digest.update(
        [
            np.array([list(domain).index(value) for value in column], dtype=np.int64)
            for domain, column in zip(REORDERED.values(), values, strict=True)
        ]
    )
    assert digest.rows == digest_of(rows).rows
    assert digest.ordered == digest_of(rows).ordered

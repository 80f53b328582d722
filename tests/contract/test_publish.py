"""What a release is, for every mechanism and whatever the table came from: only what may be known, and whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace as changed
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import (
    CASES,
    PUBLISHED,
    ROWS,
    Broken,
    apart,
    break_at,
    contents,
    crossed,
    policy_of,
    publish,
    retold,
    sources,
    usual_series,
    ward_frame,
    ward_schema,
)

import discreet
from discreet.engine.duck.database import Database
from discreet.release import write as release_write
from discreet.release.manifest import dump
from discreet.series.store import Series
from discreet.table import read as table_read
from discreet.table.inspect import check_persons

DOMAINS = ward_schema().domains

# The same release, whatever the rows come from


@crossed("source", ["csv", "parquet", "arrow"], every=2)
def test_pandas_csv_parquet_and_arrow_give_the_same_release(source, case, policy, people, seeded, tmp_path):
    """The same rows and seed give the same bytes in every file, from any source."""
    release = publish(sources(people, tmp_path / "in")[source], policy, tmp_path / "out", seed=3, csv=True)
    made = contents(release)
    tables = {f"data/{name}.{form}" for name in case.tables for form in ("parquet", "csv")}
    assert set(made) == {"README.md", "datapackage.json", *tables}
    assert made == contents(seeded)


def test_another_seed_gives_another_release(case, policy, ward, seeded, tmp_path):
    """The comparison above can fail: other coins give other bytes in the first table."""
    other = publish(ward, policy, tmp_path / "out", seed=4, csv=True)
    first = f"data/{case.tables[0]}.parquet"
    assert contents(other)[first] != contents(seeded)[first]


@crossed("kind", ["text", "int32", "Int64", "float64", "category"])
def test_the_type_of_a_column_of_whole_numbers_does_not_matter(kind, policy, people, seeded, tmp_path):
    """Ages as integers, whole floats, digits or categories are the same ages."""
    other = people.assign(age=people["age"].astype(str if kind == "text" else kind))
    assert contents(publish(other, policy, tmp_path / "out", seed=3, csv=True)) == contents(seeded)


def test_the_order_of_columns_and_a_frame_index_do_not_matter(policy, people, seeded, tmp_path):
    """Columns are found by name and rows by position."""
    other = people[sorted(people.columns)].set_axis(np.arange(ROWS)[::-1] % 11, axis=0)
    assert contents(publish(other, policy, tmp_path / "out", seed=3, csv=True)) == contents(seeded)


def test_csv_rows_that_look_like_comments_are_people_too(people, tmp_path):
    """A first cell that starts with '#' (a case number) must not drop its row."""
    people.insert(0, "number", [f"#{i}" if i < 3 else str(i) for i in range(ROWS)])
    people.to_csv(tmp_path / "rows.csv", index=False)
    with closing(discreet.read_table(tmp_path / "rows.csv", policy_of(CASES[0], tmp_path))) as table:
        assert table.rows == ROWS


# Nothing but what may be known


def everything_in(folder: Path) -> str:
    """All that a release says, as text: every byte of every file, every cell and all metadata of its Parquet files."""
    said = [str(path.relative_to(folder)) for path in folder.rglob("*")]
    for path in folder.rglob("*"):
        if not path.is_file():
            continue
        said.append(path.read_bytes().decode("latin-1"))
        if path.suffix == ".parquet":
            file = pq.ParquetFile(path)
            said += [str(file.schema), str(file.schema_arrow), str(file.metadata.metadata), file.metadata.created_by]
            said += [str(cell) for column in file.read().columns for cell in column.to_pylist()]
    return "\n".join(said)


def test_identifiers_and_undeclared_columns_are_nowhere_in_the_release(policy, people, tmp_path):
    """Not a name and not a cell of identifiers, of the person column or of columns the policy does not name."""
    source = sources(people, tmp_path / "in")["csv"]
    said = everything_in(publish(source, policy, tmp_path / "out", csv=True))
    assert "0213" in said
    assert "Measles" in said
    for column in people.columns.difference(PUBLISHED):
        assert column not in said
        leaked = [cell for cell in people[column].astype(str) if cell in said]
        assert not leaked, f"{column} is in the release"
    for piece in ("Zyxwvut", "9-77-", "bedtag_", "remark", "rows.csv", "ward.toml", str(tmp_path)):
        assert piece not in said


def test_a_cell_is_found_wherever_it_is_in_a_release(tmp_path):
    """The search above can fail: a name in a compressed column, in metadata, in a text or for a file is found."""
    packed = {"packed": ["Zyxwvut"] * 500}
    pq.write_table(pa.table(packed).replace_schema_metadata({"by": "9-77-000001-K"}), tmp_path / "bedtag_00001.parquet")
    (tmp_path / "README.md").write_text("remark <<00001>>", encoding="utf-8")
    said = everything_in(tmp_path)
    assert all(piece in said for piece in ("Zyxwvut", "9-77-000001-K", "bedtag_00001", "remark <<00001>>"))


def test_the_secret_key_is_nowhere_in_the_release(published):
    """Neither its bytes nor its digits, nor anything else that the series keeps as bytes: digests of rows, seals."""
    with closing(sqlite3.connect(published.series)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [cell for name in tables for row in database.execute(f"SELECT * FROM {name}") for cell in row]
    secrets = {cell for cell in kept if isinstance(cell, bytes)}
    assert len(secrets) >= 4
    assert 32 in map(len, secrets)  # the key
    said = everything_in(published.folder / "one")
    for secret in secrets:
        assert secret.decode("latin-1") not in said
        assert secret.hex() not in said


def test_an_age_that_nobody_has_is_still_in_the_stated_domain(policy, people, tmp_path):
    """Domains are the policy's: what occurs does not narrow them."""
    narrow = people.assign(age=40 + np.arange(ROWS) % 10, gender="F")
    release = publish(narrow, policy, tmp_path / "out", seed=1)
    domains = json.loads((release / "datapackage.json").read_text())["discreet"]["schema"]["domains"]
    assert domains["age"] == {"integers": [0, 110]}
    assert domains["gender"] == {"values": ["M", "F"]}


def answers(release: Path, names: dict[str, str], values: dict[str, str]) -> dict[str, object]:
    """What a release says when it is asked under these names: of every disease and gender, and of some ages."""
    with closing(discreet.open_release(release)) as told:
        quoted = '"' + names.get("age", "age").replace('"', '""') + '"'
        found: dict[str, object] = {"young": told.count(f"{quoted} < 40")}
        for column in ("disease", "gender"):
            groups = {group[0]: each for group, each in told.count_by(names.get(column, column))}
            plain = {text: value for value, text in values.items() if value in DOMAINS[column]}
            found[column] = {plain.get(value, value): each for value, each in groups.items()}
    return found


@pytest.fixture(scope="module")
def plain(seeded):
    """What the release under ordinary names says."""
    return answers(seeded, {}, {})


NAMES = [
    ('a"b', "earlier"),
    ("view", "rowid"),
    ("value", "size"),
    ("rowid", "code"),
    ("code", "n"),
    ("size", "value"),
    ("count_", "BID_1"),
    ("n", "q"),
    ("position_", "m0"),
    ("with space", 'a"b'),
    ("é", "with space"),
    ("slot", "é"),
    ("leaves", "cell"),
]


def is_reserved(case, names):
    taken = [name for name in names if name.upper() in case.reserved]
    return f"{taken[0]} is a column that the release adds" if taken else ""


@crossed("names", NAMES, every=2, gap=is_reserved)
def test_columns_may_have_any_name_that_is_not_reserved(names, case, people, plain, tmp_path):
    """Columns that happen to be called like something inside are published, verified and asked like any others."""
    told = {"disease": names[0], "age": names[1]}
    policy = policy_of(case, tmp_path, schema=retold(ward_schema(case.public_rows), told))
    release = publish(people.rename(columns=told), policy, tmp_path / "out", seed=3, csv=True)
    assert discreet.verify(release, allow_seeded=True).holds
    assert answers(release, told, {}) == plain


def test_reserved_names_are_refused(case, tmp_path):
    """A release adds columns of these names, in capitals or not; other names of the list above are free."""
    for name in (each for reserved in case.reserved for each in (reserved, reserved.lower())):
        with pytest.raises(discreet.PolicyError, match=f"(?i)called ({name}|that)"):
            policy_of(case, tmp_path, schema=retold(ward_schema(case.public_rows), {"age": name}))
    assert not list(tmp_path.iterdir())


TEXTS = [
    ("", 'say "a", b'),
    ("one\ntwo", "one\r\ntwo"),
    ("a,b", "x"),
    ("#1", "#2"),
    (" lead", "trail "),
    ("NULL", "nan"),
    ("'", "\\"),
    ("é", "e\u0301"),
    ("1", "01"),
]


@crossed("texts", TEXTS, every=2)
def test_values_of_any_text_come_out_as_they_went_in(texts, case, people, seeded, plain, tmp_path):
    """Quotes, separators, spaces and the empty text survive in all tables and formats, and the copies verify."""
    told = {"M": texts[0], "F": texts[1], "Measles": texts[1], "Flu": texts[0]}
    both = {"gender": told, "disease": told}
    schema = retold(ward_schema(case.public_rows), {}, both)
    schema = changed(schema, domains={name: apart(domain) for name, domain in schema.domains.items()})
    policy = policy_of(case, tmp_path, schema=schema)
    release = publish(people.replace(both), policy, tmp_path / "out", seed=3, csv=True)
    assert discreet.verify(release, allow_seeded=True).holds
    assert answers(release, {}, told) == plain
    for name in case.tables:
        found, usual = (pd.read_parquet(folder / "data" / f"{name}.parquet") for folder in (release, seeded))
        assert found.equals(usual.replace(told))


# Copies in CSV


def test_csv_copies_verify_and_hold_the_same_cells(case, published, tmp_path):
    """`csv=True` adds copies that verify; a copy with one other row does not, with all hashes put right."""
    release = Path(shutil.copytree(published.folder / "one", tmp_path / "release"))
    assert discreet.verify(release).holds
    for name in case.tables:
        table = pd.read_parquet(release / "data" / f"{name}.parquet")
        numbers = {column: [""] for column in table if table[column].dtype == float}  # an empty cell is no number
        types = table.dtypes.to_dict()
        copy = pd.read_csv(release / "data" / f"{name}.csv", dtype=types, keep_default_na=False, na_values=numbers)
        assert copy.equals(table)
    path = release / "data" / f"{case.tables[0]}.csv"
    lines = path.read_text().splitlines(keepends=True)
    row = next(at for at in range(1, len(lines) - 1) if lines[at] != lines[at + 1])  # rows may repeat, as chance has it
    path.write_text("".join([*lines[:row], lines[row + 1], *lines[row + 1 :]]))
    manifest = json.loads((release / "datapackage.json").read_text())
    entry = next(each for each in manifest["resources"] if each["path"] == f"data/{case.tables[0]}.csv")
    with path.open("rb") as file:
        entry.update(bytes=path.stat().st_size, hash=f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}")
    (release / "datapackage.json").write_text(dump(manifest), encoding="utf-8")
    assert [check.name for check in discreet.verify(release).checks if not check.holds] == ["copies"]


# The series stays in the house


def test_the_series_is_one_private_file_of_the_user(policy, ward, tmp_path):
    """Mode 0600 in a folder that nobody else may read, whatever the umask, and nothing like it in the release."""
    before = os.umask(0)
    try:
        release = publish(ward, policy, tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE(usual_series().stat().st_mode) == 0o600
    assert stat.S_IMODE(usual_series().parent.stat().st_mode) == 0o700
    assert not [path for path in release.rglob("*") if "series" in path.name]


def test_an_empty_series_file_that_others_may_read_becomes_private(policy, ward, tmp_path):
    """A key is never put into a file that others can read, even if the file was there before."""
    path = tmp_path / "own.series"
    path.touch()
    path.chmod(0o644)
    try:
        publish(ward, policy, tmp_path / "out", series=path)
    except discreet.SeriesRefusal:
        assert path.stat().st_size == 0
    else:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@crossed("where", ["out/data/a.series", "link/a.series", "out/a.series", "x/../out/a.series"], every=2)
def test_a_series_inside_the_release_is_refused(where, policy, ward, tmp_path):
    """Also by a detour; nothing is written."""
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "out")
    with pytest.raises(discreet.PolicyError, match="outside every release"):
        publish(ward, policy, tmp_path / "out", series=tmp_path / where)
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.rglob("*.series"))


def test_a_series_inside_an_older_release_is_refused(policy, ward, seeded, tmp_path):
    """That folder may have left the house already."""
    before = contents(seeded)
    with pytest.raises(discreet.PolicyError, match="outside every release"):
        publish(ward, policy, tmp_path / "out", series=seeded / "data" / "a.series")
    assert contents(seeded) == before
    assert not (tmp_path / "out").exists()


def test_a_target_that_cannot_be_written_leaves_no_series(policy, ward, tmp_path):
    """The folder comes first, and with it the error."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(discreet.ReleaseError, match="could not be written: Not a directory"):
        publish(ward, policy, tmp_path / "file" / "out", series=tmp_path / "a.series")
    assert not (tmp_path / "a.series").exists()


def test_a_policy_without_a_file_has_the_same_series(case, policy, ward, tmp_path):
    """The series follows the people, not a file's name."""
    publish(ward, policy, tmp_path / "one")
    bare = discreet.Policy(schema=ward_schema(case.public_rows), mechanism=case.mechanism(), person="bed_tag")
    assert bare.digest == policy.digest
    assert contents(publish(ward, bare, tmp_path / "two")) == contents(tmp_path / "one")


def test_a_series_beside_the_policy_is_not_passed_over(policy, ward, tmp_path):
    """An earlier version kept it there: it may remember these people."""
    old = publish(ward, policy, tmp_path / "one", series=tmp_path / "ward.series")
    with pytest.raises(discreet.SeriesRefusal, match=r"--series .*ward\.series"):
        publish(ward, policy, tmp_path / "two")
    assert not (tmp_path / "two").exists()
    assert contents(publish(ward, policy, tmp_path / "two", series=tmp_path / "ward.series")) == contents(old)


def test_the_environment_may_name_the_series(policy, ward, tmp_path, monkeypatch):
    """For a container, or for a team that publishes from several accounts."""
    monkeypatch.setenv("DISCREET_SERIES", str(tmp_path / "team.series"))
    publish(ward, policy, tmp_path / "out")
    assert (tmp_path / "team.series").is_file()
    assert not usual_series().exists()


# Whole, or not at all

# Functions that every publisher goes through, and how often they work before they fail.
STEPS = {
    "the rows are read the second time": (Database, "batches", 1),
    "the first copy is written": (Database, "write_csv", 0),
    "the manifest is written": (Path, "write_text", 1),
    "the series has recorded it": (Series, "record", 0),
    "the README is written": (Path, "write_text", 0),
    "all is on disk": (release_write, "_settle", 0),
}
FAILURES = [(step, error) for error in (KeyboardInterrupt, Broken, MemoryError) for step in STEPS]


@crossed("failure", FAILURES, every=4)
def test_a_failure_while_writing_leaves_nothing(failure, policy, ward, tmp_path, monkeypatch):
    """No folder, no temporary sibling; what the series remembers, nobody has seen, and the next try is not refused."""
    step, error = failure
    target = tmp_path / "out" / "release"
    target.parent.mkdir()
    with monkeypatch.context() as patch:
        break_at(patch, *STEPS[step][:2], error, STEPS[step][2])
        with pytest.raises(error):
            publish(ward, policy, target, csv=True)
    assert list(target.parent.iterdir()) == []
    publish(ward, policy, target)
    assert (target / "datapackage.json").is_file()


@crossed("step", [*reversed(STEPS)], every=2)
def test_a_failure_while_replacing_keeps_the_old_release(step, policy, ward, seeded, tmp_path, monkeypatch):
    """The old release stays as it was, and nothing stays beside it."""
    target = Path(shutil.copytree(seeded, tmp_path / "out" / "release"))
    with monkeypatch.context() as patch:
        break_at(patch, *STEPS[step][:2], Broken, STEPS[step][2])
        with pytest.raises(Broken):
            publish(ward, policy, target, csv=True, replace=True)
    assert list(target.parent.iterdir()) == [target]
    assert contents(target) == contents(seeded)


def test_an_existing_target_is_not_overwritten(policy, ward, seeded, tmp_path):
    """A release, a folder and a file of that name stay as they are."""
    shutil.copytree(seeded, tmp_path / "out")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    before = contents(tmp_path)
    for name in ("out", "folder", "file"):
        with pytest.raises(discreet.ReleaseError, match="must not exist yet"):
            publish(ward, policy, tmp_path / name)
    assert contents(tmp_path) == before
    assert (tmp_path / "folder").is_dir()


def test_replace_replaces_a_release(policy, ward, seeded, tmp_path):
    """With `replace` the new release takes the place of the old one, which is gone."""
    target = Path(shutil.copytree(seeded, tmp_path / "out" / "release"))
    publish(ward, policy, target, seed=2, replace=True)
    assert contents(target) == contents(publish(ward, policy, tmp_path / "fresh", seed=2))
    assert list(target.parent.iterdir()) == [target]


@crossed("inside", [{"datapackage.json": "{}"}, {}, {"mine.txt": "x"}, {"datapackage.json": "[["}])
def test_replace_leaves_what_is_no_release(inside, policy, ward, tmp_path):
    """An ordinary folder, an empty one or another data package stays untouched."""
    target = tmp_path / "out"
    target.mkdir()
    for name, text in inside.items():
        (target / name).write_text(text)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(discreet.ReleaseError, match="must be a release to be replaced"):
        publish(ward, policy, target, replace=True)
    assert {name: path.read_text() for name in inside for path in [target / name]} == inside
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@crossed("points_to", ["a release", "a folder", "nothing"])
def test_a_target_that_is_a_link_is_refused(points_to, policy, ward, seeded, tmp_path):
    """Whatever it points to, with and without `replace`; link and target stay."""
    behind = tmp_path / "behind"
    if points_to == "a release":
        shutil.copytree(seeded, behind)
    elif points_to == "a folder":
        behind.mkdir()
    before = contents(behind) if behind.exists() else None
    link = tmp_path / "link"
    link.symlink_to(behind)
    for replace in (False, True):
        with pytest.raises(discreet.ReleaseError):
            publish(ward, policy, link, replace=replace, seed=2)
    assert link.is_symlink()
    assert (contents(behind) if behind.exists() else None) == before


# A table that changes under our hands


def write_rows(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path, index=False)


def after_a_change(changed: pd.DataFrame | None, name: str, policy: discreet.Policy, folder: Path) -> str:
    """Publish a file that changes (or goes) after it was read and checked: the refusal, or '' for a release.

    A release must be that of the rows that were checked; a refusal leaves no folder.
    """
    path = folder / name
    write_rows(ward_frame().astype(str), path)
    expected = contents(publish(path, policy, folder / "expected"))
    table = discreet.read_table(path, policy)
    path.unlink() if changed is None else write_rows(changed, path)
    try:
        publish(table, policy, folder / "out")
    except discreet.DiscreetError as error:
        assert not (folder / "out").exists()
        return str(error)
    finally:
        table.close()
    assert contents(folder / "out") == expected
    return ""


def test_text_that_changes_while_it_is_checked_is_refused(policy, tmp_path, monkeypatch):
    """Rows and persons are read one after the other: they must be those of one file."""
    path = tmp_path / "rows.csv"
    write_rows(ward_frame(), path)

    def meanwhile(engine, person, column):
        write_rows(ward_frame(ROWS + 1), path)
        return check_persons(engine, person, column)

    monkeypatch.setattr(table_read, "check_persons", meanwhile)
    with pytest.raises(discreet.TableError, match="changed"):
        discreet.read_table(path, policy)


CELLS = [("disease", "Qzx-Ebola"), ("age", "9988776"), ("gender", "Qzx-other"), ("postcode", None)]


@crossed("change", [(*cell, name) for name in ("rows.parquet", "rows.csv") for cell in CELLS])
def test_a_cell_that_leaves_its_domain_after_the_check_is_not_published(change, policy, tmp_path):
    """What was not checked is not published; the refusal has no cell in it."""
    column, cell, name = change
    changed = ward_frame().astype(str)
    changed.loc[7, column] = cell
    message = after_a_change(changed, name, policy, tmp_path)
    assert not cell or cell not in message


ROWS_CHANGED = ["a row less", "another disease", "a row more", "gone"]


@crossed("change", [(change, name) for name in ("rows.parquet", "rows.csv") for change in ROWS_CHANGED])
def test_other_rows_after_the_check_are_not_published(change, policy, tmp_path):
    """The release was made for the rows that were counted."""
    change, name = change
    changed = {
        "a row more": ward_frame(ROWS + 1),
        "a row less": ward_frame(ROWS - 1),
        "gone": None,
        "another disease": ward_frame().assign(disease=lambda frame: frame["disease"].replace("HIV", "Flu")),
    }[change]
    after_a_change(changed if changed is None else changed.astype(str), name, policy, tmp_path)

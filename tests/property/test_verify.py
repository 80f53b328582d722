"""Verification of every family: a release holds as it is, and whatever is changed in its files is found."""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, Case, policy_of, publish, ward_frame
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tampering import (
    COLUMN_CHANGES,
    MANIFEST,
    README,
    SAMPLED,
    WORDS,
    Releases,
    broken,
    copy_of,
    file_of,
    manifest_of,
    restate,
    sample,
    strangers,
    table_of,
    with_cell,
    write_manifest,
    write_table,
)

import discreet

QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
EVERY = pytest.mark.parametrize("case", CASES, ids=str)
EVERY_TABLE = pytest.mark.parametrize(
    ("case", "name"), [pytest.param(case, name, id=f"{case}-{name}") for case in CASES for name in case.tables]
)
LASTING = tuple(case for case in CASES if case.views > 1 or case.charged)


# --- Releases as they are -------------------------------------------------------------------------------------------


@EVERY
def test_a_seeded_release_fails_in_its_randomness_alone(case: Case, releases: Releases, tmp_path):
    """Unless that is allowed; a release from a series holds."""
    assert broken(releases.copies(case), allow_seeded=False) == ["randomness"]
    assert broken(releases.plain(case)) == broken(releases.copies(case)) == []
    real = publish(ward_frame(), policy_of(case, tmp_path), tmp_path / "real", csv=True)
    assert broken(real, allow_seeded=False) == []


@pytest.mark.parametrize("case", LASTING, ids=str)
def test_the_second_state_of_a_table_holds(case: Case, releases: Releases):
    """Where the promise covers it; and every table has rows then, where it is the one that is filled."""
    assert broken(releases.later(case), allow_seeded=False) == []
    assert case.views == 1 or all(table_of(releases.later(case), name).num_rows for name in case.tables)


@EVERY
@given(people=st.integers(0, 2**32 - 1), coins=st.integers(0, 2**32 - 1), csv=st.booleans())
@settings(QUICK, max_examples=2)
def test_every_published_ward_verifies(case: Case, people: int, coins: int, csv: bool):
    """Other people, other coins: the promise holds, whatever fell."""
    with tempfile.TemporaryDirectory() as folder:
        policy = policy_of(case, Path(folder))
        try:
            release = publish(ward_frame(seed=people), policy, Path(folder) / "r", seed=coins, csv=csv)
        except discreet.Infeasible:
            assume(False)
        assert broken(release) == []


# --- Cells, rows and columns ----------------------------------------------------------------------------------------


def rows_of(table: pa.Table, number: int) -> list[int]:
    """So many rows, the first and the last among them."""
    last = table.num_rows - 1
    return sorted({round(last * each / max(number - 1, 1)) for each in range(number)})


@EVERY_TABLE
def test_a_table_written_again_still_holds(case: Case, name: str, releases: Releases):
    """So what the tests below find is what they changed, and not that they wrote."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name)
        write_table(folder, name, with_cell(table, 0, table.column_names[0], table[0][0].as_py()))
        assert broken(folder) == []


@SAMPLED
@EVERY_TABLE
def test_a_cell_outside_its_domain_is_found(case: Case, name: str, thin: int, releases: Releases):
    """In every column, written back with right hashes: missing, odd, or beyond every limit."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name)
        rows = rows_of(table, table.num_columns)
        cells = [(rows[at % len(rows)], column) for at, column in enumerate(table.column_names)]
        told = [(row, column, table[column][row].as_py()) for row, column in cells]
        changes = [(row, column, value) for row, column, cell in told for value in strangers(cell) if value != cell]
        for row, column, value in sample(changes, thin, case, name):
            write_table(folder, name, with_cell(table, row, column, value))
            found = broken(folder)
            assert found, f"{name}, row {row}: {column} is {value!r}"
            assert "hashes" not in found


def changed_cells(case: Case, table: pa.Table, rows: int, *, free: bool):
    """Cells changed to others of their column: the next and the one after, and in numbers one more."""
    for column in reversed(table.column_names):
        if (column in case.free) is not free:
            continue
        values = sorted(set(table[column].to_pylist()))
        for row in rows_of(table, rows):
            cell = table[column][row].as_py()
            others = [] if cell is None or isinstance(cell, str) else [cell + 1]
            others += [values[(values.index(cell) + step) % len(values)] for step in (1, len(values) // 2)]
            near = case.rounding if isinstance(cell, float) else 0.0
            for value in {other for other in others if other != cell and not (near and abs(other - cell) < near)}:
                yield f"row {row}: {column} from {cell} to {value}", with_cell(table, row, column, value)


@pytest.mark.parametrize("rows", [2, pytest.param(40, marks=pytest.mark.slow)])
@EVERY_TABLE
def test_a_changed_cell_is_found_where_another_cannot_be_true(case: Case, name: str, rows: int, releases: Releases):
    """Columns that hang together with others: no single cell of theirs may differ."""
    with copy_of(releases.filled(case)) as folder:
        changes = list(changed_cells(case, table_of(folder, name), rows, free=False))
        for what, changed in sample(changes, 2, case, name) if rows == 2 else changes:
            write_table(folder, name, changed)
            assert broken(folder), f"{name}, {what}"


@pytest.mark.parametrize("case", [case for case in CASES if case.free], ids=str)
def test_another_true_release_is_accepted(case: Case, releases: Releases):
    """Verify cannot know the table: a cell may be another one where order, domains and promise allow it."""
    name = case.tables[0]
    with copy_of(releases.filled(case)) as folder:
        tried = 0
        for _, changed in changed_cells(case, table_of(folder, name), 8, free=True):
            write_table(folder, name, changed)
            tried += 1
            if not broken(folder):
                return
    pytest.fail(f"none of {tried} changes was accepted")


@EVERY_TABLE
def test_a_cell_changed_without_its_hash_is_found(case: Case, name: str, releases: Releases):
    """By the check of hashes, whatever else it breaks."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name)
        column = table.column_names[-1]
        cell = table[column][0].as_py()
        other = next(each for each in [*table[column].to_pylist(), strangers(cell)[0]] if each != cell)
        pq.write_table(with_cell(table, 0, column, other), file_of(folder, name), store_schema=False)
        assert "hashes" in broken(folder)


@EVERY_TABLE
def test_rows_in_another_order_are_found(case: Case, name: str, releases: Releases):
    """Two neighbours that differ, exchanged: an order of its own could say who is who."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name)
        rows = table.to_pylist()
        for row in rows_of(table, 3)[:-1]:
            row = next(at for at in range(row, len(rows) - 1) if rows[at] != rows[at + 1])
            order = [*range(row), row + 1, row, *range(row + 2, len(rows))]
            write_table(folder, name, table.take(pa.array(order)))
            assert broken(folder), f"{name}: rows {row} and {row + 1} exchanged"


@SAMPLED
@EVERY_TABLE
def test_a_row_that_is_gone_or_stands_twice_is_found(case: Case, name: str, thin: int, releases: Releases):
    """First, last and in between, written back with right hashes."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name)
        for row in rows_of(table, 3):
            gone = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
            twice = pa.concat_tables([table.slice(0, row + 1), table.slice(row)])
            for changed in sample((gone, twice), min(thin, 2), case, str(row)):
                write_table(folder, name, changed)
                assert broken(folder), f"{name} with {changed.num_rows} of {table.num_rows} rows holds"


@SAMPLED
@EVERY_TABLE
def test_other_columns_than_the_declared_ones_are_found(case: Case, name: str, thin: int, releases: Releases):
    """More, fewer, moved, renamed or retyped columns, and no rows at all, are not what was declared."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name)
        for what, change in sample(COLUMN_CHANGES.items(), thin, case, name):
            write_table(folder, name, change(table))
            found = broken(folder)
            assert found, what
            assert not {"hashes", "layout"} & {*found}


@EVERY_TABLE
def test_metadata_in_a_parquet_file_is_found(case: Case, name: str, releases: Releases):
    """Whatever a writer hangs on a file (pandas' index, a note) was not declared."""
    with copy_of(releases.filled(case)) as folder:
        table = table_of(folder, name).replace_schema_metadata({"note": "bed 7 is the mayor"})
        pq.write_table(table, file_of(folder, name))
        restate(folder)
        assert "layout" in broken(folder)


# --- Files ----------------------------------------------------------------------------------------------------------


def files_of(case: Case) -> list[str]:
    """Every file of a release with copies."""
    return [MANIFEST, README, *(f"data/{name}.{kind}" for name in case.tables for kind in ("parquet", "csv"))]


@EVERY
def test_a_file_that_nobody_declared_is_found(case: Case, releases: Releases):
    """Anywhere in the folder, whatever its name; a copy too, where the manifest has none."""
    names = ["notes.txt", f"data/{case.tables[0]}.parquet.bak", ".hidden", "data/.DS_Store", "a/b/c.csv"]
    for where in (*names, f"data/{case.tables[-1]}.csv"):
        with copy_of(releases.plain(case)) as folder:
            (folder / where).parent.mkdir(parents=True, exist_ok=True)
            (folder / where).write_text("x")
            assert "files" in broken(folder), where


@EVERY
def test_a_link_in_the_place_of_a_file_is_found(case: Case, releases: Releases, tmp_path):
    """Even to a file with the right content: what is verified must be in the folder."""
    for at, where in enumerate((*files_of(case), "data")):
        with copy_of(releases.copies(case)) as folder:
            shutil.move(folder / where, tmp_path / f"elsewhere {at}")
            (folder / where).symlink_to(tmp_path / f"elsewhere {at}")
            assert set(broken(folder)) & {"files", "manifest"}, where


@EVERY
def test_links_and_pipes_beside_the_files_are_found(case: Case, releases: Releases):
    """Nothing is followed and nothing blocks."""
    makers = (lambda path: path.symlink_to("/etc/hostname"), lambda path: path.symlink_to("gone"), os.mkfifo)
    for make in makers:
        with copy_of(releases.plain(case)) as folder:
            make(folder / "more")
            assert "files" in broken(folder)


@SAMPLED
@EVERY
def test_a_file_that_is_gone_or_a_pipe_is_found(case: Case, thin: int, releases: Releases):
    """Without a traceback, without waiting."""
    for where in files_of(case):
        for replace in sample((lambda path: None, os.mkfifo, Path.mkdir), thin, case, where):
            with copy_of(releases.copies(case)) as folder:
                (folder / where).unlink()
                replace(folder / where)
                assert broken(folder), where


@SAMPLED
@EVERY
def test_a_wrong_hash_or_size_is_found(case: Case, thin: int, releases: Releases):
    """For every file, and only by the check of hashes."""
    with copy_of(releases.copies(case)) as folder:
        whole = manifest_of(folder)
        for at in range(len(whole["resources"])):
            for change in sample(({"hash": "sha256:" + "0" * 64}, {"bytes": 1}, {"hash": ""}), thin, case, "x" * at):
                manifest = copy.deepcopy(whole)
                manifest["resources"][at].update(change)
                write_manifest(folder, manifest)
                assert broken(folder) == ["hashes"], (at, change)


@EVERY
def test_a_changed_readme_is_found(case: Case, releases: Releases):
    """The README is part of what was published, and says what the manifest promises and nothing else."""
    with copy_of(releases.plain(case)) as folder:
        with (folder / README).open("a") as file:
            file.write("\nNobody can be found in here.\n")
        found = set(broken(folder))
        assert "hashes" in found
        assert found - {"hashes"} <= WORDS
        restate(folder)
        found = set(broken(folder))
        assert found
        assert found <= WORDS


@EVERY
def test_what_the_format_does_not_name_is_found(case: Case, releases: Releases):
    """A member of the manifest or an empty folder could carry anything out of the house."""
    with copy_of(releases.plain(case)) as folder:
        (folder / "Ada Adler").mkdir()
        assert "files" in broken(folder)
        (folder / "Ada Adler").rmdir()
        write_manifest(folder, {**manifest_of(folder), "secret": "Ada Adler"})
        assert broken(folder) == ["manifest"]


CSV_CHANGES: dict[str, Callable[[str], str]] = {
    "a row more": lambda text: text + text.splitlines()[-1] + "\n",
    "an empty row more": lambda text: text + "," * text.splitlines()[0].count(",") + "\n",
    "a row less": lambda text: "\n".join(text.splitlines()[:-1]) + "\n",
    "rows swapped": lambda text: "\n".join([text.splitlines()[0], *text.splitlines()[:0:-1]]) + "\n",
    "a comment first": lambda text: "# bed 7 is the mayor\n" + text,
    "a comment last": lambda text: text + "# bed 7 is the mayor\n",
    "a column more": lambda text: "\n".join(f"{line},x" for line in text.splitlines()) + "\n",
    "no header": lambda text: "\n".join(text.splitlines()[1:]) + "\n",
    "empty": lambda text: "",
}


@SAMPLED
@EVERY_TABLE
def test_a_csv_copy_with_other_content_is_found(case: Case, name: str, thin: int, releases: Releases):
    """With right hashes; also what a lenient reader would skip."""
    with copy_of(releases.copies(case)) as folder:
        path = folder / "data" / f"{name}.csv"
        whole = path.read_text()
        for what, change in sample(CSV_CHANGES.items(), thin, case, name):
            if change(whole) != whole:  # a table without rows has none to swap
                path.write_text(change(whole))
                restate(folder)
                assert broken(folder) == ["copies"], what


# --- Releases that cannot be read -----------------------------------------------------------------------------------


def test_no_folder_is_an_error(tmp_path):
    """There is nothing to check."""
    for path in (tmp_path / "gone", Path(__file__)):
        with pytest.raises(discreet.ReleaseError, match="must be a folder"):
            discreet.verify(path)


def asked(folder: Path) -> bool:
    """Whether a release is opened and answers; that it is refused in a sentence is the other way."""
    try:
        release = discreet.open_release(folder)
    except discreet.DiscreetError:
        return False
    try:
        release.count("age = 3 AND disease = 'HIV'")
        release.count_by("gender")
    except discreet.DiscreetError:
        return False
    finally:
        release.close()
    return True


@EVERY
def test_a_damaged_page_is_refused_also_by_count_by(case: Case, releases: Releases):
    """A column is read when it is first asked for; whatever is damaged in it, groups are refused in a sentence."""
    with copy_of(releases.plain(case)) as folder:
        assert asked(folder)
        path = file_of(folder, case.tables[0])
        whole = path.read_bytes()
        refused = 0
        for place in range(4, len(whole) // 2, len(whole) // 10):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            refused += not asked(folder)
        assert refused


@EVERY
def test_text_that_is_no_text_is_found_and_refused_in_a_sentence(case: Case, releases: Releases):
    """Bytes in a column of text that are no UTF-8: a verdict, an answer or a sentence, and no traceback."""
    for name in case.tables:
        with copy_of(releases.filled(case)) as folder:
            table = table_of(folder, name)
            column = next(each for each in table.column_names if pa.types.is_string(table[each].type))
            cells = pa.array([b"\xff\xfe", *table[column].cast(pa.binary()).to_pylist()[1:]], pa.binary())
            damaged = cells.cast(pa.string(), safe=False)
            write_table(folder, name, table.set_column(table.column_names.index(column), column, damaged))
            assert broken(folder)
            asked(folder)


@EVERY
def test_a_large_readme_is_not_read_into_memory(case: Case, releases: Releases):
    """It is not the text that the promise gives, so its size says enough."""
    with copy_of(releases.plain(case)) as folder:
        os.truncate(folder / README, 1 << 27)
        tracemalloc.start()
        try:
            found = broken(folder)
            assert tracemalloc.get_traced_memory()[1] < 1 << 26
        finally:
            tracemalloc.stop()
        assert "hashes" in found
        assert set(found) & WORDS


@EVERY_TABLE
def test_a_release_that_cannot_be_read_leaves_nothing_behind(
    case: Case, name: str, releases: Releases, tmp_path, monkeypatch
):
    """Opened and asked, it is refused in a sentence, and the engine's scratch folder goes when it is closed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with copy_of(releases.filled(case)) as folder:
        write_table(folder, name, COLUMN_CHANGES["first one gone"](table_of(folder, name)))
        assert not asked(folder)
        assert not list(tmp_path.glob("discreet-*"))

"""Where a disk is full, read-only or gone, the engine says so with the system's number, and nothing of the rows."""

from __future__ import annotations

import errno
import gzip
import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import CASES, policy_of, ward_frame

import discreet
from discreet.engine.duck.database import Database
from discreet.engine.duck.engine import DuckEngine
from discreet.engine.encoding import Encoding
from discreet.engine.faults import Unfit
from discreet.engine.parquet import write_parquet
from discreet.engine.source import InMemory
from discreet.errors import OutOfMemory

ROWS = 1_500_000


def test_text_that_the_engine_cannot_take_is_a_fault_of_what_was_asked():
    """Half of a surrogate pair is no text: the engine's own error for it is none of a database."""
    with Database() as database, pytest.raises(Unfit):
        database.enumerate("broken", Encoding(["whole", "\ud800"]))


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    mounted = subprocess.run(words, check=False, capture_output=True)  # noqa: S603 - of our own folder
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)  # noqa: S603, S607 - of our own folder


def _sorted(to: Path) -> None:
    engine = DuckEngine()
    engine.open(InMemory(columns=pa.table({"secret": np.arange(ROWS)})), ["secret"])
    engine.encode({"secret": ("secret", Encoding(range(ROWS)))})
    engine.attach("BID", np.random.default_rng(1).integers(0, ROWS, ROWS).astype(np.int32))
    try:
        engine.write_sorted(["secret", "BID"], ["BID"], to)
    finally:
        engine.close()


def _grouped(to: Path) -> None:
    coins = np.random.default_rng(1)
    write_parquet((pa.table({"secret": coins.integers(0, 2**60, 100_000)}) for _ in range(20)), to)


def _copied(to: Path) -> None:
    pq.write_table(pa.table({"secret": np.arange(ROWS)}), to.parent.parent / "whole.parquet")
    with Database(threads=1) as database:
        database.write_csv(to.parent.parent / "whole.parquet", to)


WAYS = pytest.mark.parametrize("write", [_sorted, _grouped, _copied])


def failed(write: Callable[[Path], None], to: Path) -> int | None:
    """The number that is told, after a look at what is said."""
    with pytest.raises(OSError) as told:
        write(to)
    error = told.value
    assert str(error) == str(OSError(error.errno, os.strerror(error.errno or 0), str(to)))
    assert error.__cause__ is None
    return error.errno


@WAYS
def test_a_full_disk_is_the_releases(write, tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        (disk / "data").mkdir()
        to = disk / "data" / "rows"
        if write is _copied:
            os.symlink(tmp_path / "whole.parquet", disk / "whole.parquet")
        assert failed(write, to) == errno.ENOSPC


@WAYS
def test_a_disk_that_became_read_only_is_told(write, tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        (disk / "data").mkdir()
        os.symlink(tmp_path / "whole.parquet", disk / "whole.parquet")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)  # noqa: S603, S607 - of our own folder
        assert failed(write, disk / "data" / "rows") == errno.EROFS


@WAYS
def test_a_folder_that_is_gone_is_told(write, tmp_path):
    assert failed(write, tmp_path / 'gone "é"' / "rows") == errno.ENOENT


@WAYS
def test_a_limit_of_files_is_told(write, tmp_path):
    """As of a quota: not the disk, but what one may write."""
    (tmp_path / "data").mkdir()
    if write is _copied:
        pq.write_table(pa.table({"secret": np.arange(ROWS)}), tmp_path / "whole.parquet")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pq, "write_table", lambda *_: None)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
            number = failed(write, tmp_path / "data" / "rows")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert number == errno.EFBIG


def test_a_full_scratch_folder_is_the_machines(tmp_path, monkeypatch):
    """On the analyst's side, where rows that anybody may see are spilled: TMPDIR is named, and no file."""
    with small_disk(tmp_path / "disk") as disk:
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        with Database(memory="60MB") as database, pytest.raises(OutOfMemory, match="TMPDIR") as told:
            database.rows("CREATE TABLE t AS SELECT i, md5(i::VARCHAR) AS x FROM range(3000000) t(i) ORDER BY x")
        assert str(disk) not in str(told.value)
        assert not list(disk.iterdir())


def test_no_room_for_a_scratch_folder_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(OutOfMemory, match="TMPDIR"):
        Database()


CHANGES = {
    "gone": Path.unlink,
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "another": lambda path: path.write_bytes(b"Qzx-cell" * 1000),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.csv.gz"])
def test_a_table_that_goes_while_it_is_read_is_named(name, change, tmp_path, monkeypatch):
    """Between finding it and reading it, and between reading it and publishing."""
    path, policy = tmp_path / name, policy_of(CASES[0], tmp_path)
    frame = ward_frame()
    frame.to_parquet(path) if name.endswith("parquet") else frame.to_csv(path, index=False)
    real = DuckEngine.open

    def meanwhile(self, *given, **more):
        CHANGES[change](path)
        return real(self, *given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DuckEngine, "open", meanwhile)
        with pytest.raises(discreet.TableError) as told:
            discreet.read_table(path, policy).close()
    assert "Qzx" not in str(told.value)
    assert not re.search(r"/|Error: ", str(told.value))
    if change != "another":
        assert f"table ({name})" in str(told.value) or "does not fit" in str(told.value)


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_that_goes_after_it_was_checked_is_named(change, tmp_path):
    path, policy = tmp_path / "rows.parquet", policy_of(CASES[0], tmp_path)
    ward_frame().to_parquet(path)
    with discreet.read_table(path, policy) as table:
        CHANGES[change](path)
        with (
            pytest.raises(discreet.TableError, match=r"table \(rows.parquet\) changed or went away"),
            table.unchanged(),
        ):
            list(table.codes())


def test_text_that_cannot_be_decoded_is_named(tmp_path):
    """Packed or not; the encoding is to blame, or the file."""
    policy, text = policy_of(CASES[0], tmp_path), ward_frame().to_csv(index=False)
    (tmp_path / "rows.csv").write_bytes(text.encode() + b"\xff\xff\xff")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text.encode("utf-16") * 50)[:-20])
    for name, encoding, why in (("rows.csv", "utf-32", "real encoding"), ("cut.csv.gz", "utf-16", "cut.csv.gz")):
        with pytest.raises(discreet.TableError, match=why):
            discreet.read_table(tmp_path / name, policy, csv=discreet.CsvForm(encoding=encoding))


def test_without_files_in_memory_another_encoding_is_refused(tmp_path, monkeypatch):
    """It is never copied to the disk."""
    monkeypatch.delattr(os, "memfd_create")
    ward_frame().to_csv(tmp_path / "rows.csv", index=False, encoding="utf-16")
    with pytest.raises(discreet.TableError, match="must be in UTF-8"):
        discreet.read_table(tmp_path / "rows.csv", policy_of(CASES[0], tmp_path))

"""Changing the disk: names change hands in one step, and what a dead process left is swept, and nothing else."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from cases import break_at

from discreet.ground import disk

# A process that holds a workplace, says so, and waits to be killed.
HOLDING = """
import sys, time
from pathlib import Path
from discreet.ground.disk import workplace
with workplace(Path(sys.argv[1]), "out") as place:
    (place / "kept").write_text("x")
    print(place, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds a workplace for `out`, and the workplace."""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", HOLDING, str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=here)  # noqa: S603 - our interpreter
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.communicate()


def test_names_are_exchanged(tmp_path):
    """Each has the other's content, folders and files alike; or nothing was done."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "file").write_text("one")
    (tmp_path / "two").write_text("two")
    if not disk.exchange(tmp_path / "one", tmp_path / "two"):
        pytest.skip("this file system cannot exchange names")
    assert (tmp_path / "one").read_text() == "two"
    assert (tmp_path / "two" / "file").read_text() == "one"


@pytest.mark.parametrize("able", [True, False], ids=["in one step", "looked up first"])
def test_a_name_that_is_taken_is_not_taken_again(able, tmp_path, monkeypatch):
    """Not by a folder over an empty folder either, which a plain rename would do."""
    if not able:
        monkeypatch.setattr(disk, "_rename", lambda *args: False)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    with pytest.raises(FileExistsError):
        disk.take_name(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "one").is_dir()
    disk.take_name(tmp_path / "one", tmp_path / "three")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["three", "two"]


def test_a_workplace_is_private_and_gone_on_any_way_out(tmp_path):
    """Mode 0700; an interrupt clears it as well."""
    with suppress(KeyboardInterrupt), disk.workplace(tmp_path, "out") as place:
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        (place / "file").write_text("x")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_an_interrupt_while_a_workplace_is_made_leaves_none(tmp_path, monkeypatch):
    """Whoever stops a process between two calls finds nothing."""
    with monkeypatch.context() as patch:
        break_at(patch, disk, "_held", KeyboardInterrupt)  # it is there, and nobody was told so
        with pytest.raises(KeyboardInterrupt), disk.workplace(tmp_path, "out"):
            pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("moment", ["open", "flock"])
def test_a_workplace_that_was_swept_before_it_was_held_is_made_again(moment, tmp_path, monkeypatch):
    """Another process starts at the same time, and takes it for one that was left: before it is opened, or held."""
    real, swept = os.open, []

    def slow(path, *args, **options):
        if swept or Path(path).parent != tmp_path:
            return real(path, *args, **options)
        swept.append(path)
        if moment == "open":
            os.rmdir(path)
            return real(path, *args)
        found = real(path, *args)
        os.rmdir(path)
        return found

    monkeypatch.setattr(os, "open", slow)
    with disk.workplace(tmp_path, "out") as place:
        assert place.is_dir()
        assert [place] == list(tmp_path.iterdir())
    assert len(swept) == 1
    assert not list(tmp_path.iterdir())


def test_what_a_dead_process_left_is_swept_and_what_a_living_one_holds_is_not(holder, tmp_path):
    """The lock goes with the process, however it died."""
    process, left = holder
    seen = []
    with disk.workplace(tmp_path, "out", seen.append):
        assert (left / "kept").exists()
    assert left not in seen
    process.kill()
    process.wait()
    with disk.workplace(tmp_path, "out", seen.append):
        assert not left.exists()
    assert left in seen


def test_what_cannot_be_rescued_stays(holder, tmp_path):
    """Until the next start, which tries again."""
    process, left = holder
    process.kill()
    process.wait()

    def refuse(path):
        raise OSError(errno.EIO, "injected")

    disk.sweep(tmp_path, "out", refuse)
    assert (left / "kept").exists()
    disk.sweep(tmp_path, "out")
    assert not left.exists()


OTHERS = [".out-", ".out-mine", ".out-previous", ".out-2-0123456789abcdef.part", ".out-0123456789abcdef.parts", "out"]


@pytest.mark.parametrize("name", OTHERS)
def test_nobody_elses_folder_is_swept(name, tmp_path):
    """A folder of a person's own, or what a release of a longer name left, is no workplace of `out`."""
    (tmp_path / name).mkdir()
    with disk.workplace(tmp_path, "out"):
        pass
    assert (tmp_path / name).is_dir()


def test_a_link_is_not_swept(tmp_path):
    """Nor what it points to."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("x")
    (tmp_path / ".out-0123456789abcdef.part").symlink_to(tmp_path / "mine")
    seen = []
    disk.sweep(tmp_path, "out", seen.append)
    assert not seen
    assert (tmp_path / "mine" / "file").exists()
    assert (tmp_path / ".out-0123456789abcdef.part").is_symlink()


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_new_folders_are_for_all_to_read_and_on_disk(mask, tmp_path, monkeypatch):
    """Whatever the umask; each new name is synced in the folder above it, and older ones stay as they are."""
    synced = []
    monkeypatch.setattr(disk, "sync", synced.append)
    (tmp_path / "there").mkdir(mode=0o700)
    before = os.umask(mask)
    try:
        disk.make_folders(tmp_path / "there" / "a" / "b")
    finally:
        os.umask(before)
    assert synced == [tmp_path / "there", tmp_path / "there" / "a"]
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("there", "there/a", "there/a/b")]
    assert modes == [0o700, 0o755, 0o755]

"""A release folder appears once and whole: under its name the old release stands, or the new one, at every moment."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from cases import Broken, contents, policy_of, publish

import discreet
from discreet.ground import disk
from discreet.release import write
from discreet.release.statement import MANIFEST, PENDING
from discreet.series.store import Series

OLD = {MANIFEST: '{"discreet": "old"}', "README.md": "old", "data/rows.csv": "old"}
NEW = {MANIFEST: '{"discreet": "new"}', "README.md": "new", "data/rows.csv": "new"}


def fill(folder: Path, files: dict[str, str]) -> None:
    """A release without a promise: the folder does not look at what is in it."""
    (folder / "data").mkdir(parents=True)
    for name, text in files.items():
        (folder / (PENDING if name == MANIFEST else name)).write_text(text)


def make(to: Path, *, replace: bool = False, then: Callable[[], None] = lambda: None) -> None:
    with write.new_folder(to, replace=replace) as folder:
        fill(folder, NEW)
        then()


def read(folder: Path) -> dict[str, str]:
    return {name: content.decode() for name, content in contents(folder).items()}


@pytest.fixture(params=["exchanged", "renamed twice"])
def able(request, monkeypatch) -> bool:
    """File systems that can exchange names, and those that cannot."""
    if request.param == "renamed twice":
        monkeypatch.setattr(write, "exchange", lambda one, two: False)
    return request.param == "exchanged"


@pytest.fixture
def target(tmp_path) -> Path:
    """An old release, alone in its folder."""
    to = tmp_path / "house" / "out"
    fill(to, OLD)
    os.rename(to / PENDING, to / MANIFEST)
    return to


def started(to: Path) -> dict[str, str]:
    """What stands under the name when the next publisher has begun; it gives up then."""
    with suppress(Broken), write.new_folder(to, replace=True):
        found = read(to)
        raise Broken
    return found


def alone(to: Path) -> bool:
    """Nothing is left beside the release."""
    return list(to.parent.iterdir()) == [to]


# No whole release under any other name


def test_the_hidden_folder_is_no_release_while_it_is_filled(tmp_path):
    """Its manifest has a pending name until the body is left: what the series has not recorded is no release."""
    with write.new_folder(tmp_path / "out", replace=False) as folder:
        fill(folder, NEW)
        assert not list(tmp_path.rglob(MANIFEST))
        assert not (tmp_path / "out").exists()
    assert read(tmp_path / "out") == NEW
    assert alone(tmp_path / "out")


def test_the_product_writes_a_pending_manifest(case, policy, ward, tmp_path, monkeypatch):
    """While the series records, no manifest has its name; what was measured is recorded before there is any file."""
    seen, record = [], Series.record

    def look(self, entry):
        seen.append([path.name for path in tmp_path.rglob("*") if path.is_file() and path.parent != tmp_path])
        if not entry.drawn:  # what was measured, before any file
            return record(self, entry)
        raise Broken("injected")

    monkeypatch.setattr(Series, "record", look)
    with pytest.raises(Broken):
        publish(ward, policy, tmp_path / "out")
    assert PENDING in seen[-1]
    assert MANIFEST not in seen[-1]
    assert seen[:-1] == [[]] * case.charged
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out")]


def test_the_manifest_of_the_old_release_goes_first(target, able, monkeypatch):
    """From its first missing file on nobody takes it for a release."""
    gone, unlink = [], os.unlink

    def watched(path, **options):
        unlink(path, **options)
        gone.append(Path(path).name)

    monkeypatch.setattr(os, "unlink", watched)
    make(target, replace=True)
    assert gone[0] == MANIFEST
    assert sorted(gone) == sorted(Path(name).name for name in OLD)
    assert read(target) == NEW


# The name is never lost

FAILING = [KeyboardInterrupt, Broken, MemoryError, OSError]


@pytest.mark.parametrize("error", FAILING)
@pytest.mark.parametrize("moment", ["before", "after", "on disk"])
def test_whatever_happens_while_the_name_is_taken_the_old_release_keeps_it(moment, error, target, able, monkeypatch):
    """Before names are exchanged, after, and when the folder above is synced; nothing stays beside it."""
    name = {True: "exchange", False: "take_name"}[able] if moment != "on disk" else "sync"
    real, calls = getattr(write, name), []

    def failing(*paths):
        calls.append(paths)
        if (len(calls) > 1) if name != "sync" else (paths[0] != target.parent):
            return real(*paths)
        if moment == "after":
            real(*paths)
        raise error(errno.EIO, "injected") if error is OSError else error("injected")

    with monkeypatch.context() as patch:
        patch.setattr(write, name, failing)
        with pytest.raises(discreet.ReleaseError if error is OSError else error):
            make(target, replace=True)
    assert calls
    assert read(target) == OLD
    assert alone(target) or (moment == "on disk" and not able)  # its being back could not be synced either
    make(target, replace=True)
    assert read(target) == NEW
    assert alone(target)


@pytest.mark.parametrize("error", FAILING)
def test_a_first_release_that_cannot_be_made_to_last_is_taken_back(error, tmp_path, monkeypatch):
    """A publisher that fails leaves no release, not even one whose name is taken already."""
    sync = write.sync

    def failing(path):
        if path == tmp_path:
            assert read(tmp_path / "out") == NEW
            raise error(errno.EIO, "injected") if error is OSError else error("injected")
        sync(path)

    monkeypatch.setattr(write, "sync", failing)
    with pytest.raises(discreet.ReleaseError if error is OSError else error):
        make(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_an_old_release_that_cannot_be_put_back_waits_for_the_next_start(target, monkeypatch):
    """Where every further rename fails it is not removed: the next start gives it its name."""
    with monkeypatch.context() as patch:
        patch.setattr(write, "exchange", lambda one, two: False)
        patch.setattr(write, "take_name", lambda *paths: (_ for _ in ()).throw(OSError(errno.EIO, "injected")))
        with pytest.raises(discreet.ReleaseError, match="Input/output error"):
            make(target, replace=True)
    assert not target.exists()
    assert started(target) == OLD
    assert read(target) == OLD
    assert alone(target)


# A process that is killed at its n-th change of a name, on a file system that cannot exchange names.
DYING = """
import os, signal, sys
from pathlib import Path
from discreet.ground import disk
from discreet.release import write
if sys.argv[2] == "renamed twice":
    write.exchange = lambda one, two: False
def die(real, when):
    def dying(*paths):
        if when == "after":
            real(*paths)
        os.kill(os.getpid(), signal.SIGKILL)
    return dying
name, when = sys.argv[3:]
setattr(write, name, die(getattr(write, name), when))
with write.new_folder(Path(sys.argv[1]), replace=True) as folder:
    (folder / "datapackage.json.part").write_text('{"discreet": "new"}')
"""
KILLED = [
    ("exchanged", "exchange", "before", OLD),
    ("exchanged", "exchange", "after", None),
    ("renamed twice", "take_name", "before", OLD),
    ("renamed twice", "take_name", "after", None),
]


@pytest.mark.parametrize(("way", "name", "when", "then"), KILLED)
def test_a_publisher_that_is_killed_loses_no_name(way, name, when, then, target):
    """The next start puts the old release back where it has to, and sweeps what is left."""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", DYING, str(target), way, name, when]
    assert subprocess.run(words, env=here, check=False).returncode == -signal.SIGKILL  # noqa: S603 - our interpreter
    assert list(target.parent.glob(".out-*"))
    assert target.exists() or (way, when) == ("renamed twice", "before")
    assert started(target) == (then or {MANIFEST: NEW[MANIFEST]})
    assert alone(target)


def test_a_folder_that_somebody_puts_there_meanwhile_is_not_removed(target, monkeypatch):
    """What is exchanged for the new release is looked at once more, and given back where it is no release."""
    exchange = write.exchange

    def meanwhile(one, two):
        if not (target / "mine").exists():
            shutil.rmtree(target)
            target.mkdir()
            (target / "mine").write_text("x")
        return exchange(one, two)

    monkeypatch.setattr(write, "exchange", meanwhile)
    with pytest.raises(discreet.ReleaseError, match="must be a release to be replaced"):
        make(target, replace=True)
    assert read(target) == {"mine": "x"}
    assert alone(target)


def test_a_name_that_is_taken_meanwhile_is_left(tmp_path):
    """Also an empty folder, over which a plain rename would go."""
    to = tmp_path / "out"
    with pytest.raises(discreet.ReleaseError, match="must not exist yet"):
        make(to, then=to.mkdir)
    assert not list(to.iterdir())
    assert alone(to)


def test_a_name_that_is_taken_at_the_last_moment_is_left(tmp_path, monkeypatch):
    """After it was looked up and before it is taken."""
    take_name = write.take_name

    def meanwhile(path, name):
        name.mkdir()
        take_name(path, name)

    monkeypatch.setattr(write, "take_name", meanwhile)
    with pytest.raises(discreet.ReleaseError, match="must not exist yet"):
        make(tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
    assert alone(tmp_path / "out")


# Modes and the disk


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_a_release_has_ordinary_modes_whatever_the_umask(mask, case, ward, tmp_path):
    """All may read it, its owner alone may change it; folders that had to be made for it are the same."""
    policy, before = policy_of(case, tmp_path), os.umask(mask)
    try:
        release = publish(ward, policy, tmp_path / "a" / "b" / "out", csv=True)
    finally:
        os.umask(before)
    for path in (release.parent.parent, release.parent, release, *release.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o755 if path.is_dir() else 0o644), path


def test_everything_is_on_disk_before_the_name_and_the_name_before_the_end(target, able, monkeypatch):
    """Files, then the folders that hold them, the manifest's name last; then the name; then the folder above."""
    done, sync = [], disk.sync

    def noted(name):
        real = getattr(write, name)

        def noting(*paths):
            done.append((name, *(path.name for path in paths)))
            return real(*paths)

        monkeypatch.setattr(write, name, noting)

    for name in ("exchange", "take_name") if able else ("take_name",):
        noted(name)
    monkeypatch.setattr(write, "sync", lambda path: (done.append(("sync", path.name)), sync(path)))
    rename = os.rename
    monkeypatch.setattr(
        os, "rename", lambda one, two: (done.append(("rename", Path(one).name, Path(two).name)), rename(one, two))
    )
    make(target, replace=True)
    files = [("sync", name) for name in (PENDING, "rows.csv", "data", "README.md")]
    taken = [("exchange", "release", "out")] if able else [("rename", "out", "old"), ("take_name", "release", "out")]
    named = [("rename", PENDING, MANIFEST), ("sync", "release")]
    assert done[:6] == [*files, *named]
    assert done[6:] == [*taken, ("sync", "house")]


# What cannot be written

REASONS = {
    errno.ENOSPC: "No space left on device; make room or choose another folder",
    errno.EROFS: "Read-only file system; choose a folder that can be written",
    errno.EACCES: "Permission denied; choose a folder that can be written",
    errno.EIO: "Input/output error; publish again or choose another folder",
}


@pytest.mark.parametrize("number", REASONS)
def test_what_the_disk_refuses_is_one_sentence_about_the_release(number, tmp_path):
    """Whoever raised it: a library's own words, which may name hidden files, are not repeated."""
    to = tmp_path / "out"
    with pytest.raises(discreet.ReleaseError) as raised, write.new_folder(to, replace=False):
        raise OSError(number, "error writing bytes to .out-0123/release/data/qit.parquet")
    assert str(raised.value) == f"release ({to}) could not be written: {REASONS[number]}"
    assert not list(tmp_path.iterdir())


def test_an_error_without_a_number_is_one_of_the_disk(tmp_path):
    """Some libraries give none."""
    with (
        pytest.raises(discreet.ReleaseError, match="Input/output error"),
        write.new_folder(tmp_path / "out", replace=False),
    ):
        raise OSError("something of .out-0123")


@pytest.mark.parametrize("error", [discreet.TableError, discreet.EngineError, discreet.PolicyError, pa.ArrowInvalid])
def test_what_is_no_fault_of_the_disk_is_not_told_as_one(error, tmp_path):
    """A table, an engine or a policy that is at fault says so itself."""
    with pytest.raises(error, match="itself"), write.new_folder(tmp_path / "out", replace=False):
        raise error("itself")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_vanishes_while_it_is_written_is_one_sentence(tmp_path):
    """Somebody removed the folder in which the release was to stand."""
    to = tmp_path / "house" / "out"
    with pytest.raises(discreet.ReleaseError, match=f"{to}.* could not be written: No such file or directory"):
        make(to, then=lambda: shutil.rmtree(to.parent))
    assert not to.exists()


def test_a_path_through_a_file_is_one_sentence(tmp_path):
    """A folder above the release that is no folder."""
    (tmp_path / "file").write_text("x")
    for to in (tmp_path / "file" / "out", tmp_path / "file" / "a" / "out"):
        with pytest.raises(discreet.ReleaseError, match=f"{to}.* could not be written: Not a directory"):
            make(to)

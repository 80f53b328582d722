"""The order of the calls that change the disk, as the system saw them: what a release depends on is on disk first.

A crash of the machine may lose whatever was not synced, so a release may have its name only after everything in it, and
the series that remembers it, is on disk.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from cases import CASES, needs_tool, policy_of, ward_frame
from keys import ed25519, write_private

pytestmark = needs_tool("strace")
WRITES = ("write", "pwrite64", "writev", "pwritev", "ftruncate", "fallocate")
SYNCS = ("fsync", "fdatasync")
RENAMES = ("rename", "renameat", "renameat2")
LINKS = ("link", "linkat")
NAMES = (*RENAMES, *LINKS, "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "openat", "open", "creat")
SHM = Path("/dev/shm")  # noqa: S108 - a file system of its own, where there is one


class Call(NamedTuple):
    """One call that succeeded: its name, the paths that it is about, and its arguments."""

    name: str
    paths: tuple[Path, ...]
    words: str


class Log:
    """What one publisher did, and where it did it."""

    def __init__(self, text: str, series: Path, release: Path) -> None:
        self.calls = tuple(_calls(text))
        self.series, self.release = series, release
        (self.named,) = self.places(RENAMES, release)

    def places(self, names: tuple[str, ...], path: Path) -> list[int]:
        """Where calls of such names are about a path: its last argument, where there are two."""
        return [at for at, call in enumerate(self.calls) if call.name in names and call.paths[-1] == path]

    def synced(self, path: Path, after: int, before: int) -> bool:
        return any(after < at < before for at in self.places(SYNCS, path))

    def changed(self, folder: Path, before: int) -> int:
        """Where a name in a folder was made, taken or removed the last time before a call."""
        found = [
            at
            for at, call in enumerate(self.calls[:before])
            if call.name in NAMES
            and any(path.parent == folder for path in call.paths)
            and (not call.name.startswith("open") or "O_CREAT" in call.words)
        ]
        return max(found, default=-1)

    @property
    def hidden(self) -> Path:
        """The folder that got the release's name."""
        return self.calls[self.named].paths[0]


def _calls(text: str) -> Iterator[Call]:
    """The calls that succeeded, in the order in which they ended; threads are told apart."""
    begun: dict[str, str] = {}
    for line in text.splitlines():
        process, _, said = line.partition(" ")
        said = said.strip()
        if said.endswith("<unfinished ...>"):
            begun[process] = said.removesuffix("<unfinished ...>")
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>", said):
            said = begun.pop(process) + said[resumed.end() :]
        form = re.match(r"(\w+)\((.*)\)\s+= (\d+)", said)
        if form:
            yield Call(form[1], tuple(_paths(form[1], form[2])), form[2])


def _paths(name: str, words: str) -> Iterator[Path]:
    """Paths as strace shows them: a number with its path behind it, or a text, perhaps relative to such a one."""
    if name in (*WRITES, *SYNCS):
        yield Path(re.match(r"\d+<(.*?)>", words)[1])
        return
    here = Path(os.sep)
    for folder, text in re.findall(r'(?:AT_FDCWD|\d+)<(.*?)>|"(.*?)"', words):
        if folder:
            here = Path(folder)
        else:
            yield here / text


def publish(folder: Path, series: Path, *more: str, name: str = "out") -> Log:
    """A real publisher of the first case, with its calls written down."""
    words = ["publish", "rows.csv", "--policy", "ward.toml", "--series", str(series), "--csv", *more]
    where = folder / "new" / "house" / name
    traced = ",".join((*WRITES, *SYNCS, *NAMES))
    strace = ["strace", "-f", "-y", "-s", "9", "-o", str(folder / "log"), "-e", f"trace={traced}"]
    (folder / "scratch").mkdir(exist_ok=True)
    done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests
        [*strace, sys.executable, "-m", "discreet.cli.main", *words, "-o", str(where)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder / "scratch")},
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip("strace may not look at processes here")
    assert done.returncode == 0, done.stderr
    return Log((folder / "log").read_text(errors="replace"), series, where)


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("order").resolve()
    policy_of(CASES[0], folder)
    ward_frame().to_csv(folder / "rows.csv", index=False)
    write_private(folder / "office.key", ed25519(), "openssh")
    return folder


@pytest.fixture(scope="module")
def other_disk(house) -> Iterator[Path]:
    """A folder on another file system than the release."""
    if not SHM.is_dir() or SHM.stat().st_dev == house.stat().st_dev:
        pytest.skip("no second file system is here")
    folder = Path(tempfile.mkdtemp(dir=SHM)).resolve()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["one file system", "two file systems", "replaced", "signed"])
def log(request, house) -> Log:
    """A first release beside its series, one on another file system, one in place of another, and a signed one."""
    place = house / request.param
    shutil.copytree(house, place, ignore=lambda folder, names: [name for name in names if not Path(name).suffix])
    series = place / "private" / "ward.series"
    if request.param == "two file systems":
        series = request.getfixturevalue("other_disk") / "private" / "ward.series"
    series.parent.mkdir()
    if request.param == "replaced":
        publish(place, series, name="first")
        (place / "new" / "house" / "first").rename(place / "new" / "house" / "out")
        return publish(place, series, "--replace")
    return publish(place, series, *(("--sign", "office.key") if request.param == "signed" else ()))


def test_all_files_of_a_release_are_on_disk_before_it_has_its_name(log):
    """Each was synced after it was written the last time, and each folder after its last name."""
    written = {path for call in log.calls for path in call.paths if call.name in WRITES and log.hidden in path.parents}
    signature = {".sig"} if (log.release / "datapackage.json.sig").exists() else set()
    assert {path.suffix for path in written} == {".parquet", ".csv", ".md", ".part", *signature}
    for path in written:
        last = max(log.places(WRITES, path))
        assert log.synced(path, last, log.named), path
    for folder in (log.hidden / "data", log.hidden):
        assert log.synced(folder, log.changed(folder, log.named), log.named), folder


def test_the_name_is_on_disk_before_the_publisher_is_done(log):
    """The folder above is synced after the name was taken, and before anything of an older release is removed."""
    removed = [at for at, call in enumerate(log.calls) if at > log.named and call.name.startswith("unlink")]
    assert log.synced(log.release.parent, log.named, min(removed, default=len(log.calls)))


def test_folders_that_had_to_be_made_are_on_disk(log):
    """Each new folder above the release has its name on disk before the release has."""
    for folder in log.release.parents:
        for made in log.places(("mkdir", "mkdirat"), folder):
            assert log.synced(folder.parent, made, log.named), folder


def test_the_manifest_has_its_name_after_the_series_was_written(log):
    """What the series does not remember yet is no release, not even in a hidden folder."""
    (manifest,) = log.places(RENAMES, log.hidden / "datapackage.json")
    assert max(at for at in log.places(WRITES, log.series)) < manifest < log.named


def test_nothing_is_signed_that_the_series_does_not_know(log):
    """The signature is written after the record, and before the manifest has its name."""
    signed = log.places(WRITES, log.hidden / "datapackage.json.sig")
    assert bool(signed) == (log.release / "datapackage.json.sig").exists()
    (manifest,) = log.places(RENAMES, log.hidden / "datapackage.json")
    assert all(max(log.places(WRITES, log.series)) < at < manifest for at in signed)


def test_the_series_is_on_disk_before_the_release_has_its_name(log):
    """Its file was synced after it was written the last time; nobody writes it later."""
    last = max(log.places(WRITES, log.series))
    assert last < log.named
    assert log.synced(log.series, last, log.named)


def test_the_folder_of_the_series_is_on_disk_before_the_release_has_its_name(log):
    """Its journal is gone for good, else a crash would bring it back and undo the record; so is a new series' name."""
    folder = log.series.parent
    assert log.synced(folder, log.changed(folder, log.named), log.named)


def test_a_key_never_has_two_names(log):
    """No file beside the series is linked: a name that is left over would keep the key when the series is gone."""
    linked = [call for call in log.calls if call.name in LINKS]
    assert not any(path.parent == log.series.parent for call in linked for path in call.paths)
    assert log.series.stat().st_nlink == 1
    assert stat.S_IMODE(log.series.stat().st_mode) == 0o600
    assert [path.name for path in log.series.parent.iterdir()] == [log.series.name]


def test_the_manifest_of_an_older_release_goes_first(log):
    """Of all that is removed after the names were exchanged."""
    if "RENAME_EXCHANGE" not in log.calls[log.named].words:
        pytest.skip("there was no older release, or names cannot be exchanged here")
    removed = [call.paths[-1] for call in log.calls[log.named :] if call.name.startswith("unlink")]
    assert removed[0] == log.hidden / "datapackage.json"
    assert len(removed) > 1

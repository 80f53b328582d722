"""Disks that are really full: of the release, of the series and of the scratch folder, each small in several ways."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import CASES, contents, policy_of, ward_frame

import discreet

WHERE = ("release", "series", "scratch")
PAGE = 4096
SIZES = (1, 2, 4, 64)  # pages; the last is enough


@pytest.fixture
def small(tmp_path) -> Iterator[object]:
    """A function that makes a folder a file system of so many pages; all are gone at the end."""
    mounted = []

    def mount(folder: Path, pages: int) -> None:
        words = ["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE},mode=0700", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(words, capture_output=True, check=False).returncode:  # noqa: S603
            pytest.skip("small file systems cannot be mounted here")
        mounted.append(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S603, S607


def run(house: Path, name: str = "release/out") -> subprocess.CompletedProcess[str]:
    words = ["publish", "rows.csv", "--policy", "ward.toml", "--series", "series/ward.series", "--csv", "-o", name]
    return subprocess.run(  # noqa: S603 - the interpreter that runs these tests
        [sys.executable, "-m", "discreet.cli.main", *words],
        cwd=house,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(house / "scratch")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def house(tmp_path) -> Path:
    policy_of(CASES[0], tmp_path)
    ward_frame().to_csv(tmp_path / "rows.csv", index=False)
    for name in WHERE:
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.mark.parametrize("pages", SIZES)
@pytest.mark.parametrize("where", WHERE)
def test_a_full_disk_is_one_sentence_and_room_is_all_that_is_needed(where, pages, house, small):
    """Exit 2, and the sentence is about what is full and not about the table; with room again the same works."""
    small(house / where, pages)
    done = run(house)
    assert pages < SIZES[-1] or not done.returncode, done.stderr
    if done.returncode:
        assert done.returncode == 2, done.stderr
        (sentence,) = done.stderr.splitlines()
        assert sentence.startswith("discreet: ")
        assert not any(word in sentence for word in ("table (", "rows.csv", "Traceback"))
        assert {"release": "release (", "series": "series (", "scratch": ""}[where] in sentence
        assert not list((house / "release").iterdir())
    options = f"remount,size={1 << 26}"
    subprocess.run(["mount", "-o", options, str(house / where)], check=True)  # noqa: S603, S607
    again = run(house, "release/again")
    assert again.returncode == 0, again.stderr
    assert discreet.verify(house / "release" / "again").holds
    if not done.returncode:
        assert contents(house / "release" / "again") == contents(house / "release" / "out")


def test_a_full_disk_says_that_it_is_full(house, small):
    """The release's own sentence, with the system's reason."""
    small(house / "release", 4)
    assert run(house).stderr == (
        "discreet: release (release/out) could not be written: No space left on device; make room or choose another "
        "folder\n"
    )

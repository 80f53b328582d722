"""The examples run as they stand, and each asserts what it claims."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def _run(script: Path, folder: Path) -> str:
    """What a script prints; it must end well, warn of nothing and leave nothing behind."""
    place = folder / "work"
    place.mkdir()
    done = subprocess.run(  # noqa: S603 - the repository's own scripts
        [sys.executable, "-W", "error", str(script)],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert [path.name for path in folder.iterdir() if path != script] == ["work"], (
        "nothing stays in the temporary folder"
    )
    assert not list(place.iterdir())
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_runs_as_it_stands(script, tmp_path):
    """From any folder, without arguments; it verifies its release and shows more than one answer."""
    printed = _run(script, tmp_path)
    assert "the promise holds" in printed
    assert "unbiased" in printed
    assert "uniform" in printed or script.stem == "registry"  # a model that only buckets have
    assert "assert" in script.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_census_does_without_the_data(tmp_path):
    """Where the real table is not there, the script makes its own, and everything that it claims holds for that."""
    script = tmp_path / "census.py"
    shutil.copy(EXAMPLES / "census.py", script)
    printed = _run(script, tmp_path)
    assert "nobody in it is real" in printed
    coverage = float(re.search(r"unbiased: .*hold (\d+\.\d)%", printed)[1])
    assert 85 < coverage <= 100


def test_the_walk_throughs_are_there():
    """A folder without scripts would pass every other test."""
    assert {script.name for script in SCRIPTS} >= {"hospital.py", "census.py", "registry.py"}

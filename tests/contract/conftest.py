"""What the suites of the command line share: the folder of the demo, and the process that runs commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from commands import PATIENTS, discreet, forks


@pytest.fixture(scope="session", autouse=True)
def _end_of_forks():
    """The process ends with the tests."""
    yield
    if forks.cache_info().currsize:
        with forks() as process:
            process.stdin.close()


@pytest.fixture(scope="session")
def demo(tmp_path_factory) -> Path:
    """The folder that `discreet demo --keep` leaves: table, policy, release and series. Nobody changes it."""
    folder = tmp_path_factory.mktemp("demo")
    done = discreet("demo", "--keep", "hospital", "--patients", PATIENTS, cwd=folder)
    assert "the promise holds" in done.stdout
    return folder / "hospital"


@pytest.fixture
def hospital(demo, tmp_path) -> Path:
    """A copy of the demo's table and policy, without its release and its series."""
    for name in ("hospital.csv", "hospital.toml", "zipcode.csv"):
        shutil.copy(demo / name, tmp_path / name)
    return tmp_path

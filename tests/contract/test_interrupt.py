"""Ctrl-C, or being asked to end, leaves nothing behind: no half release, no series, no rows in a scratch folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from discreet.datasets.hospital import write_hospital

PATIENTS = 250_000
PATIENCE = 120


@pytest.fixture(scope="module")
def hospital(tmp_path_factory) -> Path:
    return write_hospital(tmp_path_factory.mktemp("hospital") / "h", PATIENTS)[0].parent


@pytest.fixture
def house(hospital, tmp_path) -> Path:
    """A folder of links to the hospital's files, and an empty scratch folder."""
    (tmp_path / "scratch").mkdir()
    for path in hospital.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


def _as_from_a_terminal() -> None:
    """Who runs these tests in the background of a shell ignores Ctrl-C, and a child would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted(house: Path, when: Callable[[int], bool], number: int) -> tuple[int, str]:
    """Publish, send the signal as soon as `when` is true; exit code and what was said."""
    words = ["publish", "hospital.csv", "--policy", "hospital.toml", "--series", "hospital.series", "-o", "release"]
    process = subprocess.Popen(  # noqa: S603 - the interpreter that runs these tests
        [sys.executable, "-m", "discreet.cli.main", *words],
        cwd=house,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(house / "scratch")},
        preexec_fn=_as_from_a_terminal,
    )
    deadline = time.monotonic() + PATIENCE
    while not when(process.pid):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(number)
    said = process.communicate(timeout=PATIENCE)
    return process.returncode, said[1]


def reads(pid: int) -> bool:
    """Whether the process has the table open."""
    with suppress(OSError):
        return any("hospital.csv" in os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir())
    return False


def everything(house: Path) -> set[str]:
    return {str(path.relative_to(house)) for path in house.rglob("*")}


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("", signal.SIGINT),
        ("hospital.series", signal.SIGINT),
        (".release-*", signal.SIGTERM),
        (".release-*/release/data/qit*", signal.SIGINT),
    ],
)
def test_a_publisher_that_is_stopped_leaves_nothing_behind(house, moment, number):
    """While the table is read, while it is compared with the series, while rows are given buckets and written."""
    before = everything(house)
    code, said = interrupted(house, lambda pid: any(house.glob(moment)) if moment else reads(pid), number)
    assert code == 130
    assert said.strip() == "discreet: stopped; nothing half made was left behind"
    assert everything(house) == before


@pytest.mark.slow
def test_after_ctrl_c_publishing_works_and_the_series_is_kept(house):
    """A series that holds an earlier release survives an interrupted second one."""
    publish = ["publish", "hospital.csv", "--policy", "hospital.toml", "--series", "hospital.series", "-o"]
    words = [sys.executable, "-m", "discreet.cli.main", *publish]
    subprocess.run([*words, "first"], cwd=house, check=True, capture_output=True)  # noqa: S603
    kept = (house / "hospital.series").read_bytes()
    code, _ = interrupted(house, lambda pid: any(house.glob(".release-*")), signal.SIGINT)
    assert code == 130
    assert (house / "hospital.series").read_bytes() == kept
    subprocess.run([*words, "release"], cwd=house, check=True, capture_output=True)  # noqa: S603
    assert (house / "first" / "data" / "qit.parquet").read_bytes() == (
        house / "release" / "data" / "qit.parquet"
    ).read_bytes()

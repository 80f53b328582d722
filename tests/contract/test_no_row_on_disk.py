"""No raw row outlives a process: whenever a custodian's process is killed, no cell of the table is on disk."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from discreet.datasets.hospital import write_hospital

PATIENTS = 600_000
PUBLISHER = """
import os, signal, sys, threading
from pathlib import Path
import discreet

source, policy, to, memory, encoding, moment = sys.argv[1:]
below = Path(os.environ["TMPDIR"])

def die(when):
    print(when, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

def watch():
    while not over.wait(0.0005):
        for path in below.rglob("*"):
            if path.is_file():
                die(f"a file: {path}")

over, beside = threading.Event(), threading.Thread(target=watch)
if moment == "a file":
    beside.start()
form = discreet.CsvForm(encoding=encoding or None)
tell = lambda step, share: die(step) if step == moment else None
try:
    with discreet.read_table(source, discreet.Policy.load(policy), csv=form, memory=memory, progress=tell) as table:
        discreet.publish(table, discreet.Policy.load(policy), to=to, series=f"{to}.series", progress=tell)
except discreet.DiscreetError as error:
    print(f"{type(error).__name__}: {error}")
over.set()
"""
MOMENTS = [
    "a file",
    "counting persons",
    "checking every cell",
    "comparing with the series",
    "giving each row its bucket",
    "sorting and writing the rows",
]
FORMS = {"rows.csv": "", "rows-latin.csv": "latin-1", "rows-16.csv": "utf-16", "rows.csv.gz": "", "rows.parquet": ""}
TIGHT = {"rows.csv": "40MB", "rows-latin.csv": "40MB", "rows.parquet": "25MB"}  # an engine that may spill does


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Path:
    """The hospital's rows in every form; names have signs that no two encodings write alike."""
    data, policy = write_hospital(tmp_path_factory.mktemp("house") / "h", PATIENTS)[:2]
    rows = pd.read_csv(data, dtype=str)
    rows["name"] = rows["name"] + " Müßig"
    for name, encoding in FORMS.items():
        if name.endswith("parquet"):
            rows.to_parquet(policy.parent / name)
        else:
            packed: Any = {"method": "gzip", "compresslevel": 1} if name.endswith(".gz") else None
            rows.to_csv(policy.parent / name, index=False, encoding=encoding or "utf-8", compression=packed)
    data.unlink()
    return policy.parent


def cells(folder: Path) -> list[str]:
    """The files below a folder that hold anything like a cell: digits as in an SSN, or a name, in any encoding."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes().replace(b"\0", b"")
            if re.search(rb"[0-9]{9}|Cohen|Brook|M\xfc|M\xc3", content):
                found.append(str(path))
    return found


def published(house: Path, name: str, memory: str, moment: str, tmp_path: Path) -> tuple[int, str, Path]:
    """How a process ended that publishes a table and kills itself at a moment, what it said, and its temporary folder,
    which it works in, too.
    """
    below = tmp_path / "below"
    below.mkdir()
    words = [house / name, house / "hospital.toml", tmp_path / "release", memory, FORMS[name], moment]
    done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests
        [sys.executable, "-c", PUBLISHER, *map(str, words)],
        cwd=below,
        env={**os.environ, "TMPDIR": str(below)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr, below


@pytest.mark.parametrize("name", FORMS)
def test_publishing_makes_no_temporary_file(house, name, tmp_path):
    """Killed with the first one that is seen, it is never killed: text in any encoding, packed or not."""
    code, said, below = published(house, name, "1GB", "a file", tmp_path)
    assert (code, said) == (0, "")
    assert not list(below.rglob("*"))


@pytest.mark.parametrize("name", TIGHT)
def test_publishing_in_little_memory_makes_no_temporary_file(house, name, tmp_path):
    """Rows are sorted and told apart in parts; text that cannot be kept at all is refused in a sentence."""
    code, said, below = published(house, name, TIGHT[name], "a file", tmp_path)
    assert (code, said) == (0, "") if name.endswith("parquet") else "OutOfMemory: " in said
    assert "a file" not in said
    assert not list(below.rglob("*"))


@pytest.mark.parametrize("moment", MOMENTS[1:])
@pytest.mark.parametrize("name", ["rows-latin.csv", "rows.csv"])
def test_a_killed_publisher_leaves_no_cell(house, name, moment, tmp_path):
    """kill -9 while rows are read, checked, compared, given buckets and sorted."""
    code, said, below = published(house, name, "80MB", moment, tmp_path)
    assert (code, said.strip()) == (-signal.SIGKILL, moment)
    assert not cells(below)


def test_cells_would_be_seen(house):
    """The search finds what it looks for."""
    assert {Path(each).name for each in cells(house)} >= set(FORMS) - {"rows.csv.gz", "rows.parquet"}

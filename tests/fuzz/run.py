"""Search doors for inputs that break them: coverage-guided, in processes of their own, within limits.

python -m fuzz.run --door sql --seconds 600 --finds /tmp/finds
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

DOORS = {
    "manifest": "fuzz.doors.manifest:Manifests",
    "parquet": "fuzz.doors.parquet:Parquets",
    "sql": "fuzz.doors.sql:Questions",
    "policy": "fuzz.doors.policy:Policies",
    "csv": "fuzz.doors.csv:Tables",
}
HERE = Path(__file__).parents[1]
HANGS = 120  # seconds by the clock after which an input hangs, on a busy machine
RESIDENT = 3_000  # megabytes that a process may have in all
LONGEST = 1 << 18  # bytes of an input
CRASHES = 30  # after so many processes that ended badly something must be mended first


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a search did: inputs, edges of branches that they reached, and the folders of what was found."""

    door: str
    inputs: int
    edges: int
    seconds: float
    finds: tuple[Path, ...]

    def __str__(self) -> str:
        found = "".join(f"\n  {each}" for each in self.finds)
        return (
            f"{self.door}: {self.inputs:,} inputs in {self.seconds:,.0f} s, "
            f"{self.edges:,} edges, {len(self.finds)} finds{found}"
        )


def search(name: str, place: str, finds: Path, *, seconds: float, inputs: int = 0, seed: int = 0) -> Outcome:
    """Search one door for so many seconds, or until so many inputs were tried."""
    started, edges, crashes = time.monotonic(), 0, 0
    to = finds / name
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        folder = Path(scratch)
        corpus = _prepared(place, folder)
        while crashes < CRASHES:
            left, tried = seconds - (time.monotonic() - started), _tried(folder)
            if left < 1 or (inputs and tried >= inputs):
                break
            ended, log = _searched(
                place, folder, to, corpus, left=left, inputs=max(0, inputs - tried), seed=seed + crashes
            )
            edges = max([edges, *map(int, re.findall(r"\bcov: (\d+)", log))])
            if ended:
                crashes += 1
                _keep_artifacts(folder, to, log)
        tried = _tried(folder)
    if crashes == CRASHES:
        raise SystemExit(f"{name}: {CRASHES} processes ended badly; see {to}")
    return Outcome(
        door=name, inputs=tried, edges=edges, seconds=time.monotonic() - started, finds=tuple(sorted(to.iterdir()))
    )


def _prepared(place: str, folder: Path) -> Path:
    """The folder with the inputs from which the search starts, made now by the doors' own product."""
    corpus = folder / "corpus"
    corpus.mkdir()
    (folder / "count").write_bytes(bytes(8))
    _python(["-m", "fuzz.prepare", place, str(folder), str(corpus)], folder)
    return corpus


def _searched(
    place: str, folder: Path, finds: Path, corpus: Path, *, left: float, inputs: int, seed: int
) -> tuple[int, str]:
    """One process: how it ended, and what it said."""
    artifacts = folder / "artifacts"
    artifacts.mkdir(exist_ok=True)
    options = {
        "max_total_time": int(left),
        "runs": inputs or -1,
        "seed": seed + 1,
        "timeout": HANGS,
        "rss_limit_mb": RESIDENT,
        "max_len": LONGEST,
        "len_control": 0,
        "print_final_stats": 1,
        "artifact_prefix": f"{artifacts}/",
    }
    words = [f"-{name}={value}" for name, value in options.items()]
    with (folder / "log").open("w+b") as log:
        ended = _python(["-m", "fuzz.child", place, str(folder), str(finds), *words, str(corpus)], folder, log=log)
        log.seek(0)
        return ended, log.read().decode("utf-8", "replace")


def _python(words: list[str], folder: Path, log: int | None = None) -> int:
    """Run Python as somebody who has published nothing yet, with every scratch file below a folder."""
    home, temporary = folder / "home", folder / "tmp"
    temporary.mkdir(exist_ok=True)
    paths = [str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")]
    places = {"TMPDIR": temporary, "XDG_DATA_HOME": home, "XDG_STATE_HOME": home, "DISCREET_CACHE": folder / "cache"}
    env = {
        **os.environ,
        **{name: str(place) for name, place in places.items()},
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }
    return subprocess.run(  # noqa: S603 - the interpreter that runs this
        [sys.executable, *words],
        cwd=folder,
        env=env,
        stdout=log,
        stderr=log,
        check=log is None,
    ).returncode


def _tried(folder: Path) -> int:
    return int.from_bytes((folder / "count").read_bytes(), sys.byteorder)


def _keep_artifacts(folder: Path, finds: Path, log: str) -> None:
    """What a process died of, with the end of what it said; one that died of nothing that was entered is a find too."""
    artifacts = sorted((folder / "artifacts").iterdir())
    for artifact in artifacts:
        to = finds / artifact.name[:20]
        to.mkdir(exist_ok=True)
        shutil.move(artifact, to / "input")
        (to / "why.txt").write_text(log[-8_000:], encoding="utf-8")
    if not artifacts:
        (finds / "ended").mkdir(exist_ok=True)
        (finds / "ended" / "why.txt").write_text(log[-8_000:], encoding="utf-8")


def main() -> None:
    words = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__)
    words.add_argument("--door", choices=DOORS, action="append", help="which one; all of them, in turn, by default")
    words.add_argument("--seconds", type=float, default=600, help="for each door (600)")
    words.add_argument("--inputs", type=int, default=0, help="for each door, where that is sooner")
    words.add_argument("--seed", type=int, default=0, help="another search (0)")
    words.add_argument("--finds", type=Path, required=True, help="a folder for what breaks a door")
    given = words.parse_args()
    outcomes = []
    for name in given.door or DOORS:
        outcome = search(name, DOORS[name], given.finds, seconds=given.seconds, inputs=given.inputs, seed=given.seed)
        print(outcome, flush=True)
        outcomes.append(outcome)
    sys.exit(1 if any(outcome.finds for outcome in outcomes) else 0)


if __name__ == "__main__":
    main()

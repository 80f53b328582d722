"""Search doors for inputs that break them: coverage-guided, in processes of their own, within limits.

    python -m fuzz.run --door sql --seconds 600 --finds /tmp/finds

What breaks a door stays in its folder until somebody takes it away, and is not reported twice.
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

DOORS = {
    "manifest": "fuzz.doors.manifest:Manifests",
    "parquet": "fuzz.doors.parquet:Parquets",
    "sql": "fuzz.doors.sql:Questions",
    "policy": "fuzz.doors.policy:Policies",
    "csv": "fuzz.doors.csv:Tables",
}
HERE = Path(__file__).parents[1]
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


class Ended(NamedTuple):
    """A process: its exit code, and what it said."""

    ended: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a search goes on; 0 inputs or finds are as many as there are."""

    seconds: float
    inputs: int = 0
    finds: int = 0
    hang: int = 120  # seconds by the clock after which an input hangs: as many as a busy machine may need


def search(name: str, place: str, finds: Path, limits: Limits, seed: int = 0) -> Outcome:
    """Search one door, which stands at `place`; what is found goes into the folder of its name."""
    started, edges, crashes = time.monotonic(), 0, 0
    to = finds.resolve() / name
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        folder = Path(scratch)
        _prepare(place, folder)
        while (left := _left(limits, started, folder, to)) is not None:
            log = _searched(place, folder, to, left, seed + crashes + 1)
            edges = max([edges, *map(int, re.findall(r"\bcov: (\d+)", log.text))])
            if log.ended:
                crashes += 1
                _keep_artifacts(folder, to, log.text)
            if crashes == CRASHES:
                raise SystemExit(f"{name}: {CRASHES} processes ended badly; see {to}")
        inputs = _tried(folder)
    seconds = time.monotonic() - started
    return Outcome(door=name, inputs=inputs, edges=edges, seconds=seconds, finds=tuple(sorted(to.iterdir())))


def _left(limits: Limits, started: float, folder: Path, finds: Path) -> Limits | None:
    """What one more process may take; None where the search is over."""
    seconds, tried = limits.seconds - (time.monotonic() - started), _tried(folder)
    over = seconds < 1 or 0 < limits.inputs <= tried or 0 < limits.finds <= len([*finds.iterdir()])
    return None if over else replace(limits, seconds=seconds, inputs=max(0, limits.inputs - tried))


def _prepare(place: str, folder: Path) -> None:
    """The inputs from which the search starts, made now, by the product itself."""
    for name in ("corpus", "artifacts", "tmp"):
        (folder / name).mkdir()
    (folder / "count").write_bytes(bytes(8))
    made = _python(["-m", "fuzz.prepare", place, str(folder), str(folder / "corpus")], folder)
    if made.ended:
        raise SystemExit(made.text)


def _searched(place: str, folder: Path, finds: Path, left: Limits, seed: int) -> Ended:
    """One process: how it ended, and what it said."""
    options = {
        "max_total_time": int(left.seconds),
        "runs": left.inputs or -1,
        "seed": seed,
        "timeout": left.hang,
        "report_slow_units": 2 * left.hang,  # slow by the clock is a machine's fault
        "rss_limit_mb": RESIDENT,
        "max_len": LONGEST,
        "len_control": 0,
        "artifact_prefix": f"{folder / 'artifacts'}/",
    }
    words = [f"-{name}={value}" for name, value in options.items()]
    child = ["-m", "fuzz.child", place, str(folder), str(finds), str(left.finds)]
    return _python([*child, *words, str(folder / "corpus")], folder)


def _python(words: list[str], folder: Path) -> Ended:
    """Run Python as somebody who has published nothing yet, with every scratch file below a folder."""
    home, temporary = folder / "home", folder / "tmp"
    paths = [str(HERE), str(HERE.parent / "src"), os.environ.get("PYTHONPATH", "")]
    places = {"TMPDIR": temporary, "XDG_DATA_HOME": home, "XDG_STATE_HOME": home, "DISCREET_CACHE": folder / "cache"}
    env = {
        **os.environ,
        **{name: str(place) for name, place in places.items()},
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "COLUMNS": "200",
        "NO_COLOR": "1",
    }
    with (folder / "log").open("w+b") as log:
        done = subprocess.run(  # noqa: S603 - the interpreter that runs this
            [sys.executable, *words], cwd=folder, env=env, stdout=log, stderr=log, check=False
        )
        log.seek(0)
        return Ended(done.returncode, log.read().decode("utf-8", "replace"))


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
    words = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__.partition("\n")[0])
    words.add_argument("--door", choices=DOORS, action="append", help="one of them; all, in turn, by default")
    words.add_argument("--seconds", type=float, default=600, help="for each door (600)")
    words.add_argument("--inputs", type=int, default=0, help="for each door, where that is sooner")
    words.add_argument("--seed", type=int, default=0, help="another search (0)")
    words.add_argument("--finds", type=Path, required=True, help="a folder for what breaks a door")
    given = words.parse_args()
    limits, found = Limits(seconds=given.seconds, inputs=given.inputs), False
    for name in given.door or DOORS:
        outcome = search(name, DOORS[name], given.finds, limits, given.seed)
        print(outcome, flush=True)
        found |= bool(outcome.finds)
    sys.exit(int(found))


if __name__ == "__main__":
    main()

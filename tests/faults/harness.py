"""A custodian's folder that is put back as it was before every fault, a publisher that meets the fault, and what must
hold after it, whatever it was.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cases import Case, contents, policy_of, ward_frame
from keys import ed25519, line_of, pieces, write_private

import discreet
from discreet.series.store import _seal

HERE = Path(__file__).parent
RAW = (b"Zyxwvut", b"9-77-", b"bedtag_", b"remark <<")  # what every raw row of the ward has, and no release
MANIFEST = "datapackage.json"
KEY, KEY_FILE = ed25519(), "office.key"
PLACES = {"TMPDIR": "scratch", "XDG_DATA_HOME": "home/data", "XDG_STATE_HOME": "home/state"}
BEGUN = ".*.part/release/data/*.parquet"  # tables in a hidden folder, whole or cut


class Fault(NamedTuple):
    """What happens at a call: a signal before or after it, or a failure of it, once or from then on."""

    name: str
    before: int = 0
    after: int = 0
    failure: int = 0
    lasting: bool = False

    @property
    def signalled(self) -> int:
        return self.before or self.after

    @property
    def cleans_up(self) -> bool:
        """Whether the publisher can still take its own things away."""
        return self.signalled != signal.SIGKILL and not self.lasting


NOTHING = Fault("nothing")
FAULTS = (
    Fault("kill before", before=signal.SIGKILL),
    Fault("kill after", after=signal.SIGKILL),
    Fault("interrupt before", before=signal.SIGINT),
    Fault("interrupt after", after=signal.SIGINT),
    Fault("end before", before=signal.SIGTERM),
    Fault("end after", after=signal.SIGTERM),
    Fault("EIO once", failure=errno.EIO),
    Fault("EIO lasting", failure=errno.EIO, lasting=True),
    Fault("ENOSPC once", failure=errno.ENOSPC),
    Fault("ENOSPC lasting", failure=errno.ENOSPC, lasting=True),
)


class Ended(NamedTuple):
    """A publisher's end: its exit code (None where it hung), what it said, and the calls that it made."""

    code: int | None
    said: str
    calls: list[str]


class Server:
    """The process that forks publishers; see server.py."""

    def __init__(self, folder: Path, core: int = 0) -> None:
        self.folder, self.core = folder, core
        shim = folder / "shim.so"
        cc = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", str(shim), str(HERE / "shim.c")]
        subprocess.run(cc, check=True)  # noqa: S603 - our own file
        more = {"LD_PRELOAD": str(shim), "PYTHONPATH": os.pathsep.join(sys.path)}
        alone = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        here = {name: text for name, text in os.environ.items() if name != "DISCREET_SERIES"}
        words = [sys.executable, str(HERE / "server.py")]
        self._process = subprocess.Popen(  # noqa: S603 - our interpreter
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**here, **more, **alone}
        )
        assert self._process.stdout.readline() == "ready\n"

    def run(self, house: Path, words: list[str], fault: Fault = NOTHING, at: int = 0) -> Ended:
        """One publisher, and what became of it."""
        files = {name: str(self.folder / name) for name in ("log", "stdout", "stderr")}
        asked = {
            **files,
            "folder": str(house),
            "places": {name: str(house.parent / folder) for name, folder in PLACES.items()},
            "roots": [str(house.parent)],
            "words": words,
            "at": at,
            "fault": [fault.before, fault.after, fault.failure, int(fault.lasting)],
            "core": self.core,
        }
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = json.loads(self._process.stdout.readline())
        said, log = (Path(files[name]).read_text(errors="replace") for name in ("stderr", "log"))
        return Ended(code, said.strip(), log.replace(f"{house.parent}/", "").splitlines())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@dataclass(frozen=True)
class Operation:
    """A publisher at work: what was published before, what it publishes, and as what."""

    name: str
    target: str
    table: str = "rows.csv"
    replace: bool = False
    before: tuple[str, ...] = ()  # what was published before, without copies in CSV
    entries: int = 1  # that the series has in the end
    older: bool = False  # the series is of the format before, and is renewed
    signed: bool = False

    @property
    def words(self) -> list[str]:
        said = ["publish", self.table, "--policy", "ward.toml", "-o", self.target, "--csv"]
        said += ["--sign", KEY_FILE] if self.signed else []
        return [*said, "--replace"] if self.replace else said


OPERATIONS = (
    Operation("first", "new/out"),
    Operation("replace", "out", replace=True, before=("out",)),
    Operation("elsewhere", "two", before=("one",)),
    Operation("second state", "two", table="changed.csv", before=("one",), entries=2),
    Operation("renewed", "two", before=("one",), older=True),
    Operation("signed", "one", replace=True, before=("one",), signed=True),
)


class Scene:
    """One operation of one case, with the state before it; every fault starts from that state, in the same place."""

    def __init__(self, server: Server, case: Case, operation: Operation, folder: Path) -> None:
        self.server, self.operation = server, operation
        self.kept, self.play = folder / "kept", folder / "play"
        self.house, self.scratch = self.play / "house", self.play / "scratch"
        self.target = self.house / operation.target
        self._make(case)
        self.fresh()
        done = server.run(self.house, operation.words)
        assert done.code == 0, done.said
        self.calls, self.costs = done.calls, total(self.target)

    def _make(self, case: Case) -> None:
        """What is there before: the policy, two states of the table, and earlier releases."""
        self.house.mkdir(parents=True)
        self.scratch.mkdir()
        policy_of(case, self.house)
        people = ward_frame()
        people.to_csv(self.house / "rows.csv", index=False)
        self.secret = pieces(write_private(self.house / KEY_FILE, KEY, "openssh"), KEY)
        people.assign(age=people["age"].mask(people.index == 3, 110)).to_csv(self.house / "changed.csv", index=False)
        for name in self.operation.before:
            done = self.server.run(self.house, ["publish", "rows.csv", "--policy", "ward.toml", "-o", name])
            assert done.code == 0, done.said
        if self.operation.older:
            for path in self.play.rglob("*.series"):
                as_format_4(path)
        shutil.copytree(self.play, self.kept)
        self.old = {name: contents(self.house / name) for name in self.operation.before}

    def fresh(self) -> None:
        """The state before, in the same place."""
        shutil.rmtree(self.play)
        shutil.copytree(self.kept, self.play)

    def meet(self, fault: Fault, at: int) -> list[str]:
        """Everything that does not hold after a fault at a call, with the call; an empty list where all is well."""
        self.fresh()
        done = self.server.run(self.house, self.operation.words, fault, at)
        if len(done.calls) < at:  # threads of the engine may write in fewer pieces: then nothing happened
            fault = NOTHING
        where = done.calls[at - 1] if len(done.calls) >= at else "the end"
        wrong = [*self._ended(fault, done, where)]
        made, found = self._releases(fault, done.code)
        wrong += [*found, *self._raw("after the fault"), *self._again(made)]
        return [f"{fault.name} call {at} ({where}): {each}" for each in wrong]

    def _ended(self, fault: Fault, done: Ended, where: str) -> Iterator[str]:
        code, said = done.code, done.said
        expected = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130, signal.SIGTERM: 130}
        if fault.signalled:
            if code != expected[fault.signalled]:
                yield f"exit {code} after a signal: {said[-300:]}"
        elif code not in ((0, 2) if fault.failure else (0,)):
            yield f"exit {code}: {said[-300:]}"
        elif code == 2 and (not said.startswith("discreet: ") or len(said.splitlines()) != 1):
            yield f"not one sentence: {said[-300:]}"
        elif code == 2 and any(
            word in said for word in ("table (", "the table ", "rows.csv", "changed.csv", "Traceback")
        ):
            yield f"the table is blamed: {said}"
        elif code == 2 and ".part/release/" in where and f"release ({self.operation.target})" not in said:
            yield f"it is the release that could not be written: {said}"

    def _releases(self, fault: Fault, code: int | None) -> tuple[list[dict[str, bytes]], list[str]]:
        """New releases under the name or hidden, and what is wrong with them or with older ones."""
        made: list[dict[str, bytes]] = []
        wrong: list[str] = []
        for name, files in self.old.items():
            if not (self.house / name).exists():
                wrong.append(f"{name} is gone")
            elif contents(self.house / name) != files and self.house / name != self.target:
                wrong.append(f"{name} is another one")
        if self.target.exists() and contents(self.target) != self.old.get(self.operation.target):
            made.append(contents(self.target))
            if not whole(self.target, signed=self.operation.signed):
                wrong.append("what stands under the name is not whole")
            elif code not in (0, 130, -signal.SIGKILL) and not fault.lasting:
                wrong.append(f"exit {code}, and a whole release stands under the name")
        elif code == 0 and not self.target.exists():
            wrong.append("exit 0, and there is no release")
        known = {self.target, *(self.house / name for name in self.old)}
        for manifest in self.play.rglob(MANIFEST):
            if manifest.parent not in known and whole(manifest.parent):
                made.append(contents(manifest.parent))
                if fault.cleans_up:
                    wrong.append(f"a whole release is left in {manifest.parent.relative_to(self.play)}")
        return [each for each in made if each not in self.old.values()], wrong

    def _raw(self, when: str) -> Iterator[str]:
        for path in self.play.rglob("*"):
            if path.is_file() and path.name not in ("rows.csv", "changed.csv", KEY_FILE):
                found = path.read_bytes()
                for piece in (*RAW, *self.secret):
                    if piece in found:
                        yield f"{when}: {piece.decode(errors='replace')} is in {path.relative_to(self.play)}"

    def _again(self, made: list[dict[str, bytes]]) -> Iterator[str]:
        """The same publisher once more, without a fault."""
        begun = {str(path.relative_to(self.house)): path.read_bytes() for path in self.house.rglob(BEGUN)}
        words = self.operation.words
        if self.target.exists() and "--replace" not in words:
            words = [*words, "--replace"]
        done = self.server.run(self.house, words)
        if done.code != 0:
            yield f"exit {done.code} when published again: {done.said[-300:]}"
            return
        now = contents(self.target)
        if any(each != now for each in made):
            yield "published again it is another release: fresh coins"
        for name, part in begun.items():  # of a release that nobody recorded, and that was on disk
            if not now[f"data/{Path(name).name}"].startswith(part):
                yield f"published again it differs from what was begun in {name}: fresh coins"
        for name, files in self.old.items():
            if self.operation.table == "rows.csv" and any(
                now[path] != files[path] for path in files if path != MANIFEST
            ):
                yield f"published again it differs from {name}: fresh coins"
        if not whole(self.target, signed=self.operation.signed):
            yield "published again it is not whole"
        if total(self.target) != self.costs:
            yield f"published again it cost {total(self.target)} instead of {self.costs}"
        if (kept := [*map(remembered, self.play.rglob("*.series"))]) != [self.operation.entries]:
            yield f"the series remembers {kept} releases instead of {self.operation.entries}"
        if left := [str(path.relative_to(self.play)) for path in self.play.rglob(".*")]:
            yield f"left behind: {left}"
        yield from self._raw("published again")


def whole(folder: Path, *, signed: bool = False) -> bool:
    """Whether anybody would take a folder for a release, and for a signed one; the same files are looked at once."""
    if not (folder / MANIFEST).exists():
        return False
    key = hashlib.sha256(repr((contents(folder), signed)).encode()).digest()
    if key not in _looked_at:
        try:
            _looked_at[key] = discreet.verify(folder, key=line_of(KEY) if signed else None).holds
        except discreet.ReleaseError:
            _looked_at[key] = False
    return _looked_at[key]


_looked_at: dict[bytes, bool] = {}


def total(release: Path) -> object:
    """What all releases of its series cost, where anything costs."""
    block = json.loads((release / MANIFEST).read_text(encoding="utf-8"))["discreet"]
    return block["facts"].get("total_epsilon")


def as_format_4(series: Path) -> None:
    """Write a series as the version before this one did, which knew nothing of people."""
    with closing(sqlite3.connect(series, isolation_level=None)) as db:
        (key,) = db.execute("SELECT key FROM series").fetchone()
        names = "rows, ordered, policy, drawn, memo, cost, continued, release, published"
        entries = db.execute(f"SELECT {names} FROM entry ORDER BY rowid").fetchall()
        db.execute("DROP TABLE entry")
        db.execute(f"CREATE TABLE entry ({names}, seal, PRIMARY KEY (rows, policy))")
        for entry in entries:
            db.execute(f"INSERT INTO entry VALUES ({', '.join('?' * 10)})", (*entry, _seal(key, *entry)))
        db.execute("UPDATE series SET format = 4, seal = ?", (_seal(key, 4, key, len(entries)),))


def remembered(series: Path) -> int:
    """How many releases a series knows."""
    with closing(sqlite3.connect(series)) as database:
        return int(database.execute("SELECT count(*) FROM entry").fetchone()[0])

"""Killed, stopped or failed by the disk at any call, a publisher loses no release, leaks no row, tosses no coin twice.

In the ordinary run a few faults of every operation, the same ones each time; in the slow suite every call.
CONTRIBUTING.md says how to run one fault by hand.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from cases import CASES, Case, needs_tool

from faults.harness import FAULTS, OPERATIONS, PLACES, Fault, Operation, Scene, Server

pytestmark = needs_tool("cc")
NAMES = ("buckets", "anatomy", "alphabeta", "several views", "frapp", "diffgen", "pairs")
SIGNED = ("buckets", "diffgen")  # signing knows no family: one whose coins are the key's, one that pays for them
FEW = 4  # faults of one operation in the ordinary run
CHOSEN = re.compile(r"(\d+) (.+)")  # of the environment's DISCREET_FAULT: a call and a fault
SIGHTS = [
    pytest.param(case, operation, id=f"{case}-{operation.name}")
    for case in CASES
    for operation in OPERATIONS
    if case.name in NAMES and (operation.entries == 1 or not case.refuses)
    if not operation.signed or case.name in SIGNED
]
sights = pytest.mark.parametrize(("case", "operation"), SIGHTS)


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """One process for all publishers of this worker; each worker uses a core of its own."""
    worker = re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", ""))
    made = Server(tmp_path_factory.mktemp("server").resolve(), core=int(worker or 0))
    yield made
    made.close()


@pytest.fixture(scope="session")
def scene(server, tmp_path_factory) -> Callable[[Case, Operation], Scene]:
    """Scenes by case and operation, each made once."""
    made: dict[tuple[str, str], Scene] = {}

    def scene_of(case: Case, operation: Operation) -> Scene:
        key = (case.name, operation.name)
        if key not in made:
            made[key] = Scene(server, case, operation, tmp_path_factory.mktemp("scene").resolve())
        return made[key]

    return scene_of


def chosen(calls: list[str], name: str) -> list[tuple[Fault, int]]:
    """A few faults of one operation: calls about names twice as often as others, every kind of fault in turn."""
    if found := CHOSEN.fullmatch(os.environ.get("DISCREET_FAULT", "")):
        return [(next(fault for fault in FAULTS if fault.name == found[2]), int(found[1]))]
    draw = random.Random(name)
    about_names = [at for at, call in enumerate(calls, 1) if call.split()[0] not in ("write", "pwrite", "chmod")]
    some = [*draw.sample(about_names, FEW // 2), *draw.sample(range(1, len(calls) + 1), FEW - FEW // 2)]
    first = [each.id for each in SIGHTS].index(name) * FEW
    return [(FAULTS[(first + number) % len(FAULTS)], at) for number, at in enumerate(some)]


@sights
def test_a_fault_at_some_calls(case, operation, scene, request):
    """The old release or the new one stands there whole, the series knows it, and the next try gives the same."""
    found = scene(case, operation)
    wrong = [each for fault, at in chosen(found.calls, request.node.callspec.id) for each in found.meet(fault, at)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
@sights
def test_every_fault_at_every_call(case, operation, fault, scene):
    """The same, at each of them."""
    found = scene(case, operation)
    wrong = [each for at in range(1, len(found.calls) + 1) for each in found.meet(fault, at)]
    assert not wrong, "\n".join(wrong)


# The harness itself


def test_nothing_is_wrong_where_nothing_happens(scene):
    """A call that is never reached leaves everything as it should be."""
    found = scene(CASES[0], OPERATIONS[1])
    assert found.meet(FAULTS[0], 10**6) == []


def test_a_scene_begins_again_from_the_same_state(scene):
    """Fault after fault, the same calls about the same files; the engine's threads write in more or fewer pieces."""
    found = scene(CASES[0], OPERATIONS[1])
    usual = [_plain(call) for call in found.calls if not call.startswith("pwrite")]
    for _ in range(2):
        found.meet(FAULTS[0], len(found.calls) // 2)
        found.fresh()
        calls = found.server.run(found.house, found.operation.words).calls
        assert [_plain(call) for call in calls if not call.startswith("pwrite")] == usual


def test_what_is_wrong_is_seen(scene):
    """Raw cells, a half release under the name, a hidden whole one, a name that is lost: each is said."""
    found = scene(CASES[0], OPERATIONS[1])
    found.fresh()
    (found.scratch / "left").write_bytes(b"..Zyxwvut..")
    assert [*found._raw("now")] == ["now: Zyxwvut is in scratch/left"]
    os.rename(found.target, found.house / ".hidden")
    _, wrong = found._releases(FAULTS[2], 130)
    assert wrong == ["out is gone", "a whole release is left in house/.hidden"]
    (found.house / ".hidden" / "README.md").write_text("other")
    os.rename(found.house / ".hidden", found.target)
    _, wrong = found._releases(FAULTS[2], 130)
    assert wrong == ["what stands under the name is not whole"]


def _places(found: Scene) -> dict[str, str]:
    return {name: str(found.play / folder) for name, folder in PLACES.items()}


def _plain(call: str) -> str:
    """A call without what is drawn for a name."""
    return re.sub(r"[0-9a-f]{16}|discreet-\w+|series-\w{8}|scratch/\w{8}$", "*", call)


@needs_tool("strace")
def test_the_shim_sees_every_call(server, scene, tmp_path):
    """The system's own log of a publisher has no call below the folders that the shim did not count."""
    found = scene(CASES[0], OPERATIONS[1])
    found.fresh()
    script = (
        "import ctypes, os, sys\n"
        "roots = (ctypes.c_char_p * 1)(os.fsencode(sys.argv[1]))\n"
        "log = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT, 0o600)\n"
        "ctypes.CDLL(None).faults_set(roots, 1, ctypes.c_long(0), 0, 0, 0, 0, log)\n"
        "sys.argv[1:] = sys.argv[3:]\n"
        "from discreet.cli.main import main\n"
        "main()\n"
    )
    changes = (
        "write,pwrite64,writev,pwritev,ftruncate,truncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,link"
    )
    changes += ",linkat,symlink,symlinkat,unlink,unlinkat,rmdir,mkdir,mkdirat,chmod,fchmod,fchmodat,openat,open,creat"
    changes += ",sendfile,copy_file_range"
    inner = [sys.executable, "-c", script, str(found.play), str(tmp_path / "counted"), *found.operation.words]
    strace = ["strace", "-f", "-y", "-qq", "-s", "0", "-o", str(tmp_path / "log"), "-e", f"trace={changes}"]
    done = subprocess.run(  # noqa: S603 - our interpreter
        [*strace, "-E", f"LD_PRELOAD={server.folder / 'shim.so'}", *inner],
        cwd=found.house,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **_places(found)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counted = Counter(line.split()[0] for line in (tmp_path / "counted").read_text().splitlines())
    assert Counter(_changes(tmp_path.joinpath("log").read_text(), str(found.play))) == counted


ALIKE = {
    "openat": "open",
    "creat": "open",
    "pwrite64": "pwrite",
    "renameat": "rename",
    "renameat2": "rename",
    "linkat": "link",
    "symlinkat": "symlink",
    "unlinkat": "unlink",
    "rmdir": "unlink",
    "mkdirat": "mkdir",
    "fchmod": "chmod",
    "fchmodat": "chmod",
}


BY_NUMBER = ("write", "pwrite64", "writev", "ftruncate", "fallocate", "fsync", "fdatasync", "fchmod", "sendfile")


def _changes(log: str, root: str) -> Iterator[str]:
    """The calls of a log that change something below a folder, by the shim's names."""
    for line in log.splitlines():
        form = re.match(r"\d+\s+(\w+)\((.*)", line)
        if not form or "resumed>" in line:
            continue
        name, words = form.groups()
        if name in ("open", "openat") and not re.search(r"O_(CREAT|TRUNC|WRONLY|RDWR)", words):
            continue
        text = re.findall(r'"(.*?)"', words)
        folders = re.findall(r"(?:AT_FDCWD|\d+)<(.*?)>", words.rpartition(") = ")[0] or words)
        whole = os.path.join(folders[-1] if folders else f"{root}/house", *text[-1:])
        about = folders[0] if name in BY_NUMBER else whole
        if about == root or about.startswith(f"{root}/"):
            yield ALIKE.get(name, name)

"""The command line as a user runs it: words in, an exit code and two streams out, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

PATIENTS = 2_000

# Importing costs more than most verbs: one process imports, and every command runs in a fork of it, with its own
# exit code and streams.
FORKS = """
import json, os, sys, tempfile, traceback
import discreet.cli.main
for line in sys.stdin:
    words, cwd, home = json.loads(line)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.environ.update(home)
            os.chdir(cwd)
            sys.argv = ["discreet", *words]
            code = 0
            try:
                discreet.cli.main.main()
            except SystemExit as exit:
                code = exit.code or 0
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode("utf-8", "replace"))
    print(json.dumps([code, *said]), flush=True)
"""
ENVIRONMENT = {**os.environ, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}


@cache
def forks() -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - the interpreter that runs these tests
        [sys.executable, "-c", FORKS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=ENVIRONMENT,
    )


def discreet(*words: object, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder and check its exit code; no run may show a traceback."""
    process = forks()
    home = {name: os.environ[name] for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    process.stdin.write(json.dumps([[*map(str, words)], str(cwd), home]) + "\n")
    process.stdin.flush()
    found, out, err = json.loads(process.stdout.readline())
    return checked(subprocess.CompletedProcess(words, found, out, err), code)


def alone(*words: object, cwd: Path, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    """The same in a process that was started for it."""
    command = [sys.executable, "-m", "discreet.cli.main", *map(str, words)]
    done = subprocess.run(  # noqa: S603 - the interpreter that runs these tests
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**ENVIRONMENT, **env}
    )
    return checked(done, code)


def checked(done: subprocess.CompletedProcess[str], code: int) -> subprocess.CompletedProcess[str]:
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
    return done


def as_json(*words: object, cwd: Path, code: int = 0) -> Any:
    """Run with --json; standard output must be JSON that any parser takes, and nothing else."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(discreet(*words, "--json", cwd=cwd, code=code).stdout, parse_constant=refuse)


def mistake(*words: object, cwd: Path) -> str:
    """Run what must fail with exit 2: one sentence that says what is wrong, and nothing is written or changed."""
    before = snapshot(cwd)
    done = discreet(*words, cwd=cwd, code=2)
    assert snapshot(cwd) == before
    message = done.stderr.removeprefix("discreet: ").strip()
    assert message
    assert not done.stdout
    return message


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }

"""A process that has loaded all that `discreet publish` loads, and forks a publisher for every line that it reads.

Each fork runs the command line itself, with the shim of shim.c set to one fault, and ends as any process would.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from typing import Any, NoReturn

import discreet

PATIENCE = 60  # seconds until a publisher that hangs is killed


def load() -> None:
    """Everything that a publisher needs, so that a fork is quick; no database is opened."""
    for each in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not each.name.startswith(("discreet.evaluate", "discreet.cli.reproduce")):
            importlib.import_module(each.name)
    for name in ("opendp.prelude", "highspy", "pyarrow.parquet", "typer._adapters"):
        with suppress(ModuleNotFoundError):  # a part of typer that some versions have
            importlib.import_module(name)


def publisher(asked: dict[str, Any]) -> NoReturn:
    """Become the publisher: in its folder, with its streams, on one core so that calls come in one order."""
    os.setsid()
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[asked["core"] % len(os.sched_getaffinity(0))]})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in ((0, os.devnull), (1, asked["stdout"]), (2, asked["stderr"])):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(asked["folder"])
    os.environ.update(asked["places"])
    tempfile.tempdir = None
    log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    roots = [os.fsencode(path) for path in asked["roots"]]
    shim = ctypes.CDLL(None)
    shim.faults_set(
        (ctypes.c_char_p * len(roots))(*roots), len(roots), ctypes.c_long(asked["at"]), *asked["fault"], log
    )
    sys.argv = ["discreet", *asked["words"]]
    from discreet.cli.main import main

    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()  # what is registered for the end is done; the rest of an interpreter's end is left out
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else bool(code))


def ended(child: int) -> int | None:
    """How it ended, or None where it had to be killed because it hung."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.002)


def serve() -> None:
    load()
    gc.freeze()  # a fork does not touch, and so does not copy, what is here already
    print("ready", flush=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if not child:
            publisher(json.loads(line))
        print(json.dumps(ended(child)), flush=True)


if __name__ == "__main__":
    serve()
    os._exit(0)  # some libraries complain of their own leaks at the end of an interpreter

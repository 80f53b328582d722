"""What was rehearsed so far, on disk until the comparison is over, so that one which was interrupted goes on.

A line of JSON for each release that was rehearsed: what it answered and what it took. No row and no true count is in
it, but its releases had coins that anybody can toss again, so the file is for its owner's eyes alone (0600).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_state_path

from discreet.errors import PolicyError
from discreet.evaluate.compare.rehearsal import Run
from discreet.ground.closing import Closes
from discreet.ground.disk import make_private

if TYPE_CHECKING:
    from discreet.schema.policy import Policy

_FORMAT = 1


def usual_place(policies: Sequence[Policy], asked: Sequence[str]) -> Path:
    """The user's own file for a comparison of these policies by this workload; `asked` names it."""
    digest = hashlib.sha256(json.dumps(list(asked)).encode())
    for each in policies:
        digest.update(each.digest)
    return user_state_path("discreet") / "compare" / f"{digest.hexdigest()[:16]}.jsonl"


class Kept(Closes):
    """An open file of runs. What is in it counts where it is of the same rows, questions and version; else it is begun
    anew. `rows` is a digest of the rows with a key, so that the file tells nobody which rows they were.
    """

    def __init__(self, path: Path, rows: Callable[[bytes], bytes], asked: str) -> None:
        self.path = path
        if not path.parent.is_dir():
            make_private(path.parent)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        self._file = os.fdopen(handle, "r+b")
        try:
            _hold(handle, path)
            os.fchmod(handle, 0o600)
            self.runs = self._read(rows, asked)
        except BaseException:
            self._file.close()
            raise

    def add(self, run: Run) -> None:
        """Keep one more; it is on disk when this returns."""
        self.runs.append(run)
        self._write(run.as_json())

    def clear(self) -> None:
        """The comparison is over: nothing of it stays."""
        with suppress(FileNotFoundError):
            self.path.unlink()

    def close(self) -> None:
        """Let go of the file, which stays where the comparison is not over and something was rehearsed."""
        if not self.runs:
            self.clear()
        self._file.close()

    def _read(self, rows: Callable[[bytes], bytes], asked: str) -> list[Run]:
        first, *rest = self._file.read().split(b"\n")
        stated = {"format": _FORMAT, "version": version("discreet"), "asked": asked}
        with suppress(ValueError, KeyError, TypeError):
            head = json.loads(first)
            key = bytes.fromhex(head["key"])
            if head == {**stated, "key": key.hex(), "rows": rows(key).hex()}:
                whole = [Run.from_json(json.loads(line)) for line in rest[:-1]]  # a line without an end was not written
                self._file.seek(sum(len(line) + 1 for line in (first, *rest[:-1])))
                self._file.truncate()
                return whole
        self._file.seek(0)
        self._file.truncate()
        key = secrets.token_bytes(32)
        self._write({**stated, "key": key.hex(), "rows": rows(key).hex()})
        return []

    def _write(self, content: dict[str, Any]) -> None:
        self._file.write(json.dumps(content).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _hold(handle: int, path: Path) -> None:
    """Nobody else writes to the file as long as it is open; raises PolicyError where another process does."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PolicyError(f"state ({path}) must be free; the same comparison is running, so wait for it") from None
    except (ImportError, OSError):
        pass  # where files cannot be held, two at once are the user's to avoid

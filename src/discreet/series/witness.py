"""A witness of what series made, outside of them: one that was put back from a backup does not know it any more."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from discreet.ground.disk import make_private


def note(witness: Path, series: str, number: int, manifest: Path) -> None:
    """Note an entry of a series and the manifest of its release; both are on disk when this returns.

    Where it cannot be written, the series remembers the release all the same.
    """
    with suppress(OSError):
        make_private(witness.parent)
        line = {"series": series, "entry": number, "manifest": str(manifest.resolve()), "digest": _digest(manifest)}
        handle = os.open(witness, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(handle, (json.dumps(line) + "\n").encode())
            os.fsync(handle)
        finally:
            os.close(handle)


def forgotten(witness: Path, series: str, entries: int) -> Path | None:
    """The manifest of a release that the series made after its last entry, where it still lies as it was written."""
    try:
        lines = witness.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        return None
    for line in reversed(lines):
        with suppress(
            ValueError, TypeError, KeyError, OSError
        ):  # a line that a crash has cut, or a release that is gone
            made = json.loads(line)
            if made["series"] == series and made["entry"] > entries:
                manifest = Path(made["manifest"])
                if _digest(manifest) == made["digest"]:
                    return manifest
    return None


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()

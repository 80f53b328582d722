"""Where a key's passphrase comes from: a file, the environment or the terminal; never the command line."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from pathlib import Path

from discreet.errors import SigningError

VARIABLE = "DISCREET_PASSPHRASE"
_LARGEST = 1 << 12  # bytes of a first line


def passphrase_from(file: Path | None) -> Callable[[], bytes]:
    """What to call where a key turns out to be locked; an empty passphrase where nobody can be asked."""

    def ask() -> bytes:
        if file is not None:
            return _first_line(file)
        if given := os.environ.get(VARIABLE):
            return os.fsencode(given)
        if not sys.stdin.isatty():
            return b""
        try:
            return getpass.getpass("Passphrase of the key: ").encode()
        except EOFError:
            return b""

    return ask


def _first_line(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.readline(_LARGEST).rstrip(b"\r\n")
    except OSError as error:
        raise SigningError(f"passphrase file ({file}) must be a file that can be read ({error.strerror})") from None

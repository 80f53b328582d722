"""DuckDB's errors told apart: the engine's own failures, a file that cannot be written, and what rows, files or
statements did wrong.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import duckdb

from discreet.engine.faults import Unfit
from discreet.errors import EngineError, OutOfMemory

_FAILURES = (
    duckdb.FatalException,
    duckdb.InternalException,
    duckdb.TransactionException,
    duckdb.SerializationException,
    duckdb.ConnectionException,
    duckdb.ResourceInUseException,
)
_ASKED = (
    duckdb.OutOfRangeException,
    duckdb.ConversionException,
    duckdb.BinderException,
    duckdb.ParserException,
    duckdb.TypeMismatchException,
    duckdb.NotImplementedException,
)
_DISK = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException)
_SYSTEM = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EMFILE,
    errno.ESTALE,
    errno.EIO,
)
_SPILLED = re.compile(r"max_temp_directory_size|temp[a-z_ ]*director", re.IGNORECASE)
FULL = "the engine's scratch folder cannot be written; make room where TMPDIR points to"


def told(
    error: duckdb.Error, *, writes: Path | None = None, scratch: Path | None = None
) -> EngineError | Unfit | OSError:
    """What to raise instead of DuckDB's error, without a word of its message, which may quote cells.

    `writes` is the file that the statement writes, and `scratch` where the engine may spill.
    """
    message, kind = str(error), type(error).__name__
    if scratch is not None and scratch.name in message and isinstance(error, _DISK):
        return OutOfMemory(FULL)
    if writes is not None and isinstance(error, duckdb.IOException) and _about(message, writes):
        number = _number(message) or errno.EIO
        return OSError(number, os.strerror(number), str(writes))
    if isinstance(error, duckdb.OutOfMemoryException):
        if scratch is not None and _SPILLED.search(message):
            return OutOfMemory(FULL)
        return OutOfMemory("the engine needs more memory than it may have; ask less of it, or raise its limit")
    if isinstance(error, _FAILURES):
        return EngineError(f"the engine failed ({kind}); open the table or the release again")
    line = re.search(r"[Ll]ine:? (\d+)", message)
    where = int(line[1]) if line else None
    if re.search(r"invalid unicode|not utf-8", message, re.IGNORECASE):
        return Unfit(kind, why="encoding", line=where)
    if "CSV Error" in message or "sniffing" in message:
        return Unfit(kind, why="cells", line=where)
    if isinstance(error, duckdb.IOException):
        return Unfit(kind, why="file", line=where, number=_number(message))
    return Unfit(kind, why="asked" if isinstance(error, _ASKED) else "other", line=where)


def _about(message: str, path: Path) -> bool:
    """Whether a message is about writing this file; a strange path is quoted in it, and not to be found."""
    return str(path.parent) in message or re.search(r"write file|write failed", message, re.IGNORECASE) is not None


def _number(message: str) -> int | None:
    """The system's number of what went wrong, by the system's own words for it."""
    return next((number for number in _SYSTEM if os.strerror(number) in message), None)

"""DuckDB's errors told apart: the engine's own failures, and what rows, files or statements did wrong."""

from __future__ import annotations

import re

import duckdb

from discreet.engine.faults import Unfit
from discreet.errors import EngineError, OutOfMemory

_FAILURES = (duckdb.FatalException, duckdb.ConnectionException, duckdb.ResourceInUseException)
_ASKED = (
    duckdb.OutOfRangeException,
    duckdb.ConversionException,
    duckdb.BinderException,
    duckdb.ParserException,
    duckdb.TypeMismatchException,
    duckdb.NotImplementedException,
)
_DISK = re.compile(r"no space left|disk quota|temp[a-z_ ]*director|max_temp_directory_size", re.IGNORECASE)


def told(error: duckdb.Error) -> EngineError | Unfit:
    """What to raise instead of DuckDB's error, without a word of its message, which may quote cells."""
    message, kind = str(error), type(error).__name__
    if isinstance(error, duckdb.OutOfMemoryException):
        if _DISK.search(message):
            return OutOfMemory("the engine's scratch folder is full; make room where TMPDIR points to")
        return OutOfMemory("the engine needs more memory than it may have; ask less of it, or raise its limit")
    if isinstance(error, duckdb.IOException) and _DISK.search(message):
        return OutOfMemory("the engine's scratch folder cannot be written; make room where TMPDIR points to")
    if isinstance(error, _FAILURES):
        return EngineError(f"the engine failed ({kind}); open the table or the release again")
    line = re.search(r"[Ll]ine:? (\d+)", message)
    where = int(line[1]) if line else None
    if re.search(r"invalid unicode|not utf-8", message, re.IGNORECASE):
        return Unfit(kind, why="encoding", line=where)
    if "CSV Error" in message or "sniffing" in message:
        return Unfit(kind, why="cells", line=where)
    return Unfit(kind, why="asked" if isinstance(error, _ASKED) else "other", line=where)

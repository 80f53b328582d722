"""Where a CSV file stops being a table: the first row with more or fewer cells than the first one has.

It is asked only when an engine could not read a file, so that the message can name the line; no cell is in it.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from discreet.engine.source import CsvFiles
from discreet.errors import DiscreetError
from discreet.table.source import DELIMITERS, CsvForm, find_source, start_of

_START = 1 << 16


def first_ragged(source: Any, form: CsvForm | None) -> str | None:
    """What is wrong with the first row that does not fit the one before it, in words; None where every row does."""
    try:
        found = find_source(source, (), form)
    except DiscreetError:
        return None
    if not isinstance(found, CsvFiles):
        return None
    return next(filter(None, (_ragged(path, found) for path in found.paths)), None)


def no_text(source: Any) -> bool:
    """Whether a file begins with what no text has: zero bytes, where no encoding that writes them is marked."""
    try:
        found = find_source(source, (), None)
        starts = [start_of(path)[:_START] for path in found.paths] if isinstance(found, CsvFiles) else []
    except DiscreetError:
        return False
    return any(b"\0" in start for start in starts) and getattr(found, "encoding", None) is None


def _ragged(path: Path, form: CsvFiles) -> str | None:
    encoding = form.encoding or "utf-8-sig"
    packed = path.name.lower().endswith(".gz")
    try:
        with (gzip.open if packed else open)(path, "rt", encoding=encoding, errors="replace", newline="") as file:
            delimiter = form.delimiter or _commonest(file.read(_START))
            file.seek(0)
            return _odd_row(csv.reader(file, delimiter=delimiter, quotechar=form.quote or '"'))
    except (OSError, EOFError, ValueError, csv.Error):
        return None


def _odd_row(rows: Any) -> str | None:
    width, before = None, 0
    for row in _filled(rows):
        if width is not None and len(row) != width:
            return f"the row at line {before + 1:,} has {len(row):,} cells and the first has {width:,}"
        width, before = len(row), rows.line_num
    return None


def _filled(rows: Any) -> Iterator[list[str]]:
    return (row for row in rows if row)


def _commonest(start: str) -> str:
    """The separator that stands most often in the first line."""
    line = start.lstrip("\r\n").partition("\n")[0]
    return max(DELIMITERS, key=line.count)

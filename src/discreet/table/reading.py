"""What reading any source shares: how long it takes, and what is said where it cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet.engine.faults import Unfit
from discreet.errors import TableError
from discreet.table.ragged import first_ragged, no_text
from discreet.table.source import CsvForm, name_of_source, scanned_files

_SAY = "say --encoding latin-1, or what it is in (in Python, csv=CsvForm(encoding='latin-1'))"


def parsing_share(source: Any) -> float:
    """What opening a source costs beside one scan of it: text is parsed first, everything else is there."""
    return 5.0 if isinstance(source, str | Path) and not scanned_files(source) else 0.1


def unreadable(source: Any, form: CsvForm | None, fault: Unfit) -> TableError:
    """A sentence for what the engine could not read; no cell is in it."""
    name = name_of_source(source)
    where = "" if fault.line is None else f" at line {fault.line}"
    if fault.why == "encoding":
        return TableError(f"table ({name}) must be UTF-8 text{where}; {_SAY}")
    if fault.why == "decoding":
        return TableError(
            f"table ({name}) must be in the encoding that was named, or that its first bytes tell; it is not, so {_SAY}"
        )
    if fault.why == "file":
        why = f" ({os.strerror(fault.number)})" if fault.number is not None else ""
        return TableError(
            f"table ({name}) must be readable to its end; it went away, may not be read, or is damaged{why}"
        )
    if fault.why != "file" and no_text(source):
        return TableError(f"table ({name}) must be a CSV file; it holds zero bytes, so it is no text")
    if fault.why == "cells":
        return uneven(name, first_ragged(source, form), where)
    return TableError(f"table ({name}) must be readable as it is named; reading failed{where} ({fault.kind})")


def uneven(name: str, ragged: str | None, where: str = "") -> TableError:
    """What is said of a CSV file whose rows are not alike."""
    what = f": {ragged}" if ragged else where
    return TableError(
        f"table ({name}) must have the same number of cells in every row{what}; mend the row (a cell with a separator "
        "in it stands in quotes), or name the separator with --delimiter"
    )

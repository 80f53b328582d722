"""What reading any source shares: how long it takes, and what is said where it cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet.engine.faults import Unfit
from discreet.errors import TableError
from discreet.table.source import scanned_files


def parsing_share(source: Any) -> float:
    """What opening a source costs beside one scan of it: text is parsed first, everything else is there."""
    return 5.0 if isinstance(source, str | Path) and not scanned_files(source) else 0.1


def unreadable(name: str, fault: Unfit) -> TableError:
    """A sentence for what the engine could not read; no cell is in it."""
    where = "" if fault.line is None else f" at line {fault.line}"
    if fault.why == "encoding":
        return TableError(f"table ({name}) must be UTF-8 text{where}; name its encoding, such as latin-1")
    if fault.why == "decoding":
        return TableError(
            f"table ({name}) must be in the encoding that was named, or that its first bytes tell; it is not, so name "
            "its real encoding"
        )
    if fault.why == "file":
        why = f" ({os.strerror(fault.number)})" if fault.number is not None else ""
        return TableError(
            f"table ({name}) must be readable to its end; it went away, may not be read, or is damaged{why}"
        )
    if fault.why == "cells":
        advice = "mend the file or name its delimiter"
        return TableError(f"table ({name}) must have the same number of cells in every row{where}; {advice}")
    return TableError(f"table ({name}) must be readable as it is named; reading failed{where} ({fault.kind})")

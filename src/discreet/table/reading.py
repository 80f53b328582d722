"""What reading any source shares: how long it takes, and what is said where it cannot be read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import duckdb

from discreet.errors import TableError
from discreet.table.source import scanned_files


def parsing_share(source: Any) -> float:
    """What opening a source costs beside one scan of it: text is parsed first, everything else is there."""
    return 5.0 if isinstance(source, str | Path) and not scanned_files(source) else 0.1


def unreadable(name: str, error: duckdb.Error) -> TableError:
    """The engine's complaint without the cells it quotes."""
    line = re.search(r"[Ll]ine:? (\d+)", str(error))
    where = f" at line {line[1]}" if line else ""
    if re.search(r"invalid unicode|not utf-8", str(error), re.IGNORECASE):
        return TableError(f"table ({name}) must be UTF-8 text{where}; name its encoding, such as latin-1")
    if "CSV Error" in str(error) or "sniffing" in str(error):
        advice = "mend the file or name its delimiter"
        return TableError(f"table ({name}) must have the same number of cells in every row{where}; {advice}")
    return TableError(f"table ({name}) must be readable as it is named; reading failed{where} ({type(error).__name__})")

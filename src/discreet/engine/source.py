"""A table as an engine opens it, where it is: text files whose form is known, Parquet files, or columns in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class CsvFiles:
    """Text files that begin alike; what is None, the engine finds out. `skip` lines come before the first record.

    `encoding` is one that Python knows; None is UTF-8. Cells stay text.
    """

    paths: tuple[Path, ...]
    delimiter: str | None = None
    quote: str | None = None
    header: bool | None = None
    skip: int = 0
    encoding: str | None = None


@dataclass(frozen=True, kw_only=True)
class ParquetFiles:
    """Parquet files, read again and again where they are."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class InMemory:
    """An Arrow table or a pandas frame."""

    columns: Any


Source = CsvFiles | ParquetFiles | InMemory

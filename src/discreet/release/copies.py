"""CSV copies of a release's tables, for people whose tools read nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from discreet.engine.duck.database import Database


def write_copies(folder: Path, names: Iterable[str]) -> None:
    """Beside each Parquet file of a release, its rows as CSV in the same order."""
    with Database(paths=[folder], threads=1) as database:
        for name in names:
            database.write_csv((folder / name).resolve(), (folder / name).with_suffix(".csv").resolve())

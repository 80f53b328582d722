"""The sensitive side: rows that were checked against the policy's domains, and nothing of them in any message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from discreet.engine.duck import Engine
from discreet.engine.encoding import Encoding, code
from discreet.engine.progress import Tell
from discreet.errors import TableError
from discreet.schema.schema import Schema

CHANGED = "the table changed or went away while it was read; publish again when nobody writes to it"
Stamp = tuple[str, int, int, int]
ROWS = "rows_in_domain"  # the engine's relation with the published columns, in the encoding of their domains


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of which every published cell lies in its declared domain; `histogram` counts the sensitive values."""

    engine: Engine
    schema: Schema
    rows: int
    histogram: dict[object, int]
    files: tuple[Stamp, ...] = ()  # the files that the rows are read from again and again

    @property
    def encodings(self) -> tuple[tuple[str, Encoding], ...]:
        return tuple((name, self.schema.domains[name].encoding) for name in self.schema.columns)

    def codes(self, *names: str, tell: Tell | None = None) -> Iterator[list[NDArray[np.int64]]]:
        """Columns (by default all that are published) as positions in their domains, in row order, batch by batch.

        `tell` hears how much was used.
        """
        used = 0
        wanted = [(name, self.schema.domains[name].encoding) for name in names or self.schema.columns]
        parts = [f"{code(name, encoding)}::BIGINT" for name, encoding in wanted]
        for batch in self.engine.batches(f"SELECT {', '.join(parts)} FROM {ROWS}"):
            if any(column.null_count for column in batch.columns):
                raise TableError(CHANGED)
            yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            used += batch.num_rows
            if tell is not None:
                tell(used / self.rows)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read the rows inside; raises TableError where the files are not those that were checked."""
        try:
            yield
        except duckdb.Error:
            raise TableError(CHANGED) from None
        if self.files != tuple(stamp(Path(path)) for path, *_ in self.files):
            raise TableError(CHANGED)

    def close(self) -> None:
        """Let go of the rows and of what was spilled of them."""
        self.engine.close()


def stamp(path: Path) -> Stamp:
    """What tells one state of a file from another."""
    try:
        found = path.stat()
    except OSError:
        return (str(path), -1, -1, -1)
    return (str(path), found.st_ino, found.st_size, found.st_mtime_ns)

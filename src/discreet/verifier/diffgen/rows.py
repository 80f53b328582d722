"""A table of noisy counts, read by an engine, some columns at a time; how many rows it must have is known before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code, identifier, text, type_of
from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.diffgen.pages import check_pages
from discreet.verifier.files import Files

UNIT = 1024  # counts are whole multiples of 1 / UNIT
MOST_COUNT = 2**52
TEXTS, WHOLE, COUNTS = ("VARCHAR",), ("BIGINT", "INTEGER", "SMALLINT", "TINYINT"), ("DOUBLE",)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The rows of a table that has the columns that it must have; `types` are theirs."""

    files: Files
    name: str
    number: int
    types: Mapping[str, str]

    @property
    def relation(self) -> str:
        return Path(self.name).stem

    def codes(self, cells: Mapping[str, Encoding]) -> list[Ints]:
        """The codes of some columns' cells; raises ReleaseError where one is none of those that may stand there."""
        engine, encoded = self.files.engine, f"{self.relation}_encoded"
        engine.encode(encoded, self.relation, {name: (name, each) for name, each in cells.items()}, types=self.types)
        for name, (empty, outside) in engine.misfits(encoded)[1].items():
            if outside or (empty and not cells[name].missing):
                raise ReleaseError(f"{name} in {self.name} is outside its domain in {outside + empty:,} rows")
        return self._read([f"{code(name, each)}::BIGINT" for name, each in cells.items()], f"FROM {encoded}")

    def alike(self, column: str) -> Ints:
        """A number for each text of a column: the same text has the same number."""
        return self._read([f"(hash({identifier(column)}) >> 1)::BIGINT"], f"FROM {self.relation}")[0]

    def whole(self, column: str) -> Ints:
        """Noisy numbers of people, none of them missing."""
        found = self._read([f"{identifier(column)}::BIGINT"], f"FROM {self.relation}")[0]
        if ((found > MOST_COUNT) | (found < -MOST_COUNT)).any():
            raise ReleaseError(f"{column} in {self.name} must be counts of people with noise")
        return found

    def empty(self, column: str) -> bool:
        """Whether a column has no cell at all."""
        return self.files.engine.rows(f"SELECT count({identifier(column)}) FROM {self.relation}") == [(0,)]

    def counts(self) -> Ints:
        """Counts in units: none missing, none negative, none finer than a unit."""
        found = self._read([identifier("COUNT")], f"FROM {self.relation}")[0] * UNIT
        if not (np.isfinite(found) & (found >= 0) & (found <= MOST_COUNT)).all():
            raise ReleaseError(f"COUNT in {self.name} must not be negative")
        if (found != np.floor(found)).any():
            raise ReleaseError(f"COUNT in {self.name} must be whole multiples of 1/{UNIT}")
        return np.asarray(found, dtype=np.int64)

    def _read(self, cells: list[str], source: str) -> list[NDArray[Any]]:
        parts: list[list[NDArray[Any]]] = [[] for _ in cells]
        for batch in self.files.engine.batches(f"SELECT {', '.join(cells)} {source}"):
            for own, column in zip(parts, batch.columns, strict=True):
                if column.null_count:
                    raise ReleaseError(f"{self.name} must have a number in every row of every column")
                own.append(numbers(column))
        return [np.concatenate([np.zeros(0, dtype=np.int64), *own]) for own in parts]


def rows_of(files: Files, name: str, columns: Mapping[str, tuple[str, ...]], number: int) -> Rows:
    """A table that has exactly these columns in this order, each of one of its types, and so many rows."""
    path = files.path(name)
    footer = pq.read_metadata(path)
    if footer.metadata:
        raise ReleaseError(f"{name} carries metadata that nobody declared")
    if footer.num_rows != number:
        raise ReleaseError(f"{name} must have {number:,} rows, one for each count, and has {footer.num_rows:,}")
    check_pages(path, footer)
    rows = Rows(files=files, name=name, number=number, types={})
    files.engine.rows(
        f"CREATE OR REPLACE VIEW {rows.relation} AS SELECT * FROM read_parquet({text(str(path.resolve()))})"
    )
    found = files.engine.columns(rows.relation)
    if tuple(found) != tuple(columns):
        raise ReleaseError(f"{name} must have exactly the columns {', '.join(columns)}")
    for column, types in columns.items():
        if found[column] not in types:
            raise ReleaseError(f"{column} in {name} must be of type {types[0]}")
    return Rows(files=files, name=name, number=number, types=found)


def types_of(encoding: Encoding) -> tuple[str, ...]:
    """The types of DuckDB's that a column of a domain may have."""
    if encoding.kind == "text":
        return TEXTS
    return (type_of(encoding),) if encoding.scale else WHOLE

"""DuckDB as the engine of the custodian's side: embedded, out of core, nothing to start."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.columns import column_of, numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.look import closer, glance, tally
from discreet.engine.duck.sources import EVERYTHING, SOURCE, open_source, place_of_text
from discreet.engine.duck.sql import code, digest, digest_within, identifier, long_digest, rank, written
from discreet.engine.duck.types import column_type
from discreet.engine.encoding import Encoding
from discreet.engine.engine import ColumnType, Glance
from discreet.engine.faults import Unfit
from discreet.engine.source import Source
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell

_ROWS = "rows_in_domain"  # the encoded columns
_ATTACHED = "attached_columns"


class DuckEngine:
    """One table's rows in a private DuckDB database: an `engine.engine.Engine`, and `Looks`."""

    def __init__(self, *, memory: str | None = None) -> None:
        self._database = Database(memory=memory)
        self._types: dict[str, ColumnType] = {}
        self._place: str | None = None
        self._digested: dict[str, str] = {}  # columns as given, and where their long digests are kept
        self._encodings: dict[str, Encoding] = {}
        self._attached: dict[str, NDArray[Any]] = {}

    @property
    def scratch(self) -> Path:
        return self._database.scratch

    def open(self, source: Source, wanted: Collection[str], *, keep: bool = False) -> dict[str, ColumnType]:
        """Take the rows of a source; with `keep`, text is parsed here and now, and kept as it is."""
        found = open_source(self._database, source, wanted, keep=keep)
        self._place = place_of_text(self._database, source)
        self._types = {name: column_type(kind) for name, kind in found.items()}
        return self._types

    def persons(self, column: str) -> tuple[int, int, int]:
        if column in self._digested:
            cell, relation = self._digested[column], f"{self._place}{_ROWS}_kept"
        else:
            cell, relation = written(column, self._types[column].name), EVERYTHING
        counts = f"SELECT count(*), count(DISTINCT {cell}), count(*) - count({cell}) FROM {relation}"
        rows, distinct, empty = self._database.rows(counts)[0]
        return rows, distinct, empty

    def encode(self, columns: Mapping[str, tuple[str, Encoding]], digested: Sequence[str] = ()) -> None:
        kept = {f"d{number}": name for number, name in enumerate(digested)} if self._place is not None else {}
        beside = {place: long_digest(name, self._types[name].name) for place, name in kept.items()}
        self._database.encode(_ROWS, EVERYTHING, columns, place=self._place, beside=beside)
        self._digested = {name: place for place, name in kept.items()}
        self._encodings = {name: encoding for name, (_, encoding) in columns.items()}

    def misfits(self) -> tuple[int, dict[str, tuple[int, int]]]:
        return self._database.misfits(_ROWS)

    def strangers(self, column: str, most: int) -> list[tuple[str, int]]:
        return self._database.strangers(_ROWS, column, most)

    def histogram(self, column: str) -> dict[Any, int]:
        return dict(self._database.rows(f"SELECT {identifier(column)}, count(*) FROM {_ROWS} GROUP BY ALL"))

    def codes(self, columns: Sequence[str]) -> Iterator[list[Ints]]:
        return self._coded(f"SELECT {self._codes_of(columns)} FROM {_ROWS}")

    def digests(self, columns: Sequence[str]) -> Iterator[list[NDArray[np.uint64]]]:
        if set(columns) <= set(self._digested):
            cells, relation = [digest_within(self._digested[each]) for each in columns], f"{self._place}{_ROWS}_kept"
        else:
            cells, relation = [digest(each, self._types[each].name) for each in columns], EVERYTHING
        listed = ", ".join(f"{cell} AS d{number}" for number, cell in enumerate(cells))
        for batch in self._database.batches(f"SELECT {listed} FROM {relation}"):
            yield [numbers(column) for column in batch.columns]

    def distinct(self, columns: Sequence[str]) -> Iterator[list[Ints]]:
        return self._coded(f"SELECT DISTINCT {self._codes_of(columns)} FROM {_ROWS}")

    def attach(self, column: str, values: NDArray[Any]) -> None:
        self._attached[column] = values

    def write_sorted(self, columns: Sequence[str], by: Sequence[str], to: Path) -> None:
        order = [rank(each, self._encodings[each]) if each in self._encodings else identifier(each) for each in by]
        relation = _ROWS
        if self._attached:
            self._database.register(
                _ATTACHED,
                pa.Table.from_arrays([column_of(each) for each in self._attached.values()], [*self._attached]),
            )
            relation = f"{_ROWS} POSITIONAL JOIN {_ATTACHED}"
        self._database.write_sorted(relation, columns, order, to)
        if self._attached:
            self._database.forget(_ATTACHED)
            self._attached.clear()

    def watched(self, tell: Tell) -> AbstractContextManager[None]:
        return self._database.watched(tell)

    def close(self) -> None:
        self._database.close()

    def first_row(self) -> list[str]:
        return [str(cell) for cell in self._database.rows(f"SELECT * FROM {SOURCE} LIMIT 1")[0]]

    def glance(self, columns: Collection[str]) -> tuple[int, dict[str, Glance]]:
        return glance(self._database, SOURCE, {name: self._types[name] for name in columns})

    def tally(self, columns: Mapping[str, bool]) -> dict[str, dict[str, int]]:
        return tally(self._database, SOURCE, columns)

    def closer(self, columns: Mapping[str, bool]) -> dict[str, Glance]:
        return closer(self._database, SOURCE, {name: (self._types[name], whole) for name, whole in columns.items()})

    def _codes_of(self, columns: Sequence[str]) -> str:
        return ", ".join(f"{code(name, self._encodings[name])}::BIGINT AS c{i}" for i, name in enumerate(columns))

    def _coded(self, sql: str) -> Iterator[list[Ints]]:
        for batch in self._database.batches(sql):
            if any(column.null_count for column in batch.columns):
                raise Unfit("a cell outside its encoding")
            yield [numbers(column) for column in batch.columns]

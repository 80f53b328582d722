"""DuckDB as the engine of the custodian's side: embedded, in memory alone, nothing to start."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.columns import column_of, numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.look import closer, dates, glance, sample, tally, written_so
from discreet.engine.duck.parts import Rows, count_alone, count_distinct, distinct, parts_for, write_sorted
from discreet.engine.duck.sources import EVERYTHING, Looked, blanked, cut, joined, keep_source, open_source, replaced
from discreet.engine.duck.sql import (
    code,
    digest,
    digest_within,
    identifier,
    long_digest,
    narrow,
    rank,
    type_of,
    written,
)
from discreet.engine.duck.types import column_type
from discreet.engine.encoding import Encoding
from discreet.engine.engine import ColumnType, Glance
from discreet.engine.faults import Unfit
from discreet.engine.memory_file import MemoryFile
from discreet.engine.source import CsvFiles, Source
from discreet.errors import OutOfMemory
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell

_ROWS = "rows_in_domain"  # the encoded columns
_KEPT = f"{_ROWS}_kept"  # the same where they are kept, and digests
_ATTACHED = "attached_columns"
_LONG = 16  # bytes of a digest that is kept


class DuckEngine:
    """One table's rows in a private DuckDB database, none of them on disk: an `engine.engine.Engine`, and `Looks`."""

    def __init__(self, *, memory: str | None = None) -> None:
        self._database = Database(memory=memory, spills=False)
        self._decoded: list[MemoryFile] = []
        self._given: dict[str, str] = {}
        self._types: dict[str, ColumnType] = {}
        self._source, self._looked_at = EVERYTHING, Looked()
        self._text = False  # reading it again is dear, so it is kept
        self._digested: dict[str, str] = {}  # columns as given, and where their long digests are kept
        self._encodings: dict[str, Encoding] = {}
        self._attached: dict[str, NDArray[Any]] = {}

    def open(self, source: Source, wanted: Collection[str], *, keep: bool = False) -> dict[str, ColumnType]:
        """Take the rows of a source; with `keep`, text is parsed here and now, and kept as it is if it fits."""
        self._text = isinstance(source, CsvFiles)
        if isinstance(source, CsvFiles) and source.encoding is not None:
            for path in source.paths:
                self._decoded.append(MemoryFile(path, source.encoding, self._database.limit))
            source = replace(source, paths=tuple(each.path for each in self._decoded), encoding=None)
        self._given = open_source(self._database, source)
        self._types = {name: column_type(kind) for name, kind in self._given.items()}
        if keep:
            folded = {name.casefold() for name in wanted}
            columns = [name for name in self._given if not folded or name.casefold() in folded]
            self._looked_at = keep_source(self._database, source, columns)
        return self._types

    def blank(self, cells: Mapping[str, Sequence[str]]) -> None:
        if cells:
            self._read(blanked(cells), "blanked")

    def join(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        told = {name: spellings for name, spellings in cells.items() if spellings and self._types[name].kind == "text"}
        if told:
            self._read(joined(told), "joined")

    def _read(self, cells: Mapping[str, str], how: str) -> None:
        """From now on, some cells are read otherwise."""
        self._source = replaced(self._database, self._source, cells, how)
        self._looked_at = self._looked_at.read(cells)

    def persons(self, column: str) -> tuple[int, int, int]:
        if column in self._digested:
            cell, relation = self._digested[column], _KEPT
        else:
            cell, relation = written(column, self._types[column].name), self._source
        rows, filled = self._database.rows(f"SELECT count(*), count({cell}) FROM {relation}")[0]
        parts = parts_for(self._database, rows, _LONG)
        return rows, count_distinct(self._database, cell, relation, parts), rows - filled

    def encode(self, columns: Mapping[str, tuple[str, Encoding]], digested: Sequence[str] = ()) -> None:
        places = {name: f"d{number}" for number, name in enumerate(digested)} if self._text else {}
        beside = {place: long_digest(name, self._types[name].name) for name, place in places.items()}
        try:
            kept = beside if self._text else None
            self._database.encode(_ROWS, self._source, columns, types=self._given, small=True, beside=kept)
        except OutOfMemory:
            raise OutOfMemory(
                "the table's rows need more memory than the engine may have; raise its limit, or convert the text to "
                "Parquet, which is read where it is"
            ) from None
        self._digested = places
        self._encodings = {name: encoding for name, (_, encoding) in columns.items()}

    def misfits(self) -> tuple[int, dict[str, tuple[int, int]]]:
        return self._database.misfits(_ROWS)

    def strangers(self, column: str, most: int) -> list[tuple[str, int]]:
        return self._database.strangers(_ROWS, column, most)

    def histogram(self, column: str) -> dict[Any, int]:
        return dict(self._database.rows(f"SELECT {identifier(column)}, count(*) FROM {_ROWS} GROUP BY ALL"))

    def codes(self, columns: Sequence[str]) -> Iterator[list[Ints]]:
        return self._coded(self._database.batches(f"SELECT {self._codes_of(columns)} FROM {_ROWS}"))

    def digests(self, columns: Sequence[str]) -> Iterator[list[NDArray[np.uint64]]]:
        if set(columns) <= set(self._digested):
            cells, relation = [digest_within(self._digested[each]) for each in columns], _KEPT
        else:
            cells, relation = [digest(each, self._types[each].name) for each in columns], self._source
        listed = ", ".join(f"{cell} AS d{number}" for number, cell in enumerate(cells))
        for batch in self._database.batches(f"SELECT {listed} FROM {relation}"):
            yield [numbers(column) for column in batch.columns]

    def distinct(self, columns: Sequence[str]) -> Iterator[list[Ints]]:
        most = prod(len(self._encodings[each]) for each in columns)
        parts = parts_for(self._database, min(self._rows(), most), self._width(columns))
        listed = ", ".join(map(identifier, columns))
        return self._coded(distinct(self._database, listed, self._codes_of(columns), _ROWS, parts))

    def alone(self, columns: Sequence[str]) -> int:
        parts = parts_for(self._database, self._rows(), self._width(columns))
        return count_alone(self._database, ", ".join(map(identifier, columns)), _ROWS, parts)

    def attach(self, column: str, values: NDArray[Any]) -> None:
        self._attached[column] = values

    def write_sorted(self, columns: Sequence[str], by: Sequence[str], to: Path) -> None:
        order = [rank(each, self._encodings[each]) if each in self._encodings else identifier(each) for each in by]
        key = code(by[0], self._encodings[by[0]]) if by[0] in self._encodings else identifier(by[0])
        needed = list(dict.fromkeys([*columns, *by]))
        parts = parts_for(self._database, self._rows(), self._width(needed))
        with self._attaching() as relation:
            rows = Rows(
                relation=f"(SELECT {', '.join(map(identifier, needed))} FROM {relation})",
                shown=", ".join(map(self._published, columns)),
                order=order,
                key=key,
                enumerations={
                    f"{_ROWS}_{number}": each
                    for number, each in enumerate(self._encodings.values())
                    if each.kind == "text"
                },
            )
            write_sorted(self._database, rows, to, parts)

    @contextmanager
    def _attaching(self) -> Iterator[str]:
        """The rows as a relation, with the columns that were attached, which are let go at the end."""
        if not self._attached:
            yield _ROWS
            return
        columns = pa.Table.from_arrays([column_of(each) for each in self._attached.values()], [*self._attached])
        self._database.register(_ATTACHED, columns)
        try:
            yield f"{_ROWS} POSITIONAL JOIN {_ATTACHED}"
        finally:
            self._database.forget(_ATTACHED)
            self._attached.clear()

    def watched(self, tell: Tell) -> AbstractContextManager[None]:
        return self._database.watched(tell)

    def close(self) -> None:
        self._database.close()
        for each in self._decoded:
            each.close()

    def first_row(self) -> list[str]:
        return [str(cell) for cell in self._database.rows(f"SELECT * FROM {self._looked_at.relation} LIMIT 1")[0]]

    def glance(self, columns: Collection[str]) -> tuple[int, dict[str, Glance]]:
        return glance(self._database, self._looked_at, {name: self._types[name] for name in columns})

    def tally(self, columns: Mapping[str, bool], rows: int) -> dict[str, dict[str, int]]:
        return tally(self._database, self._looked_at, columns, rows)

    def closer(self, columns: Mapping[str, bool]) -> dict[str, Glance]:
        database, source = self._database, self._looked_at
        kinds = {name: (self._types[name], whole) for name, whole in columns.items()}
        return closer(database, source, kinds, lambda cell, name: count_distinct(database, cell, source.of([name]), 2))

    def written_so(self, columns: Collection[str], texts: Collection[str]) -> dict[str, dict[str, int]]:
        return written_so(self._database, self._looked_at, columns, texts)

    def dates(self, columns: Sequence[str]) -> dict[str, tuple[int, str | None, str | None]]:
        return dates(self._database, self._looked_at, columns)

    def cut(self, dates: Mapping[str, str]) -> None:
        if dates:
            self._looked_at = self._looked_at.read(cut(dates))

    def sample(
        self, columns: Sequence[str], most: int, blank: Mapping[str, Sequence[str]]
    ) -> dict[str, NDArray[np.uint32]]:
        return sample(self._database, self._looked_at, columns, most, blank)

    def unlike(self, columns: Sequence[str], rows: int) -> int:
        relation = self._looked_at.of(columns)
        parts = parts_for(self._database, rows, _LONG * len(columns))
        return count_alone(self._database, ", ".join(map(identifier, columns)), relation, parts)

    def _codes_of(self, columns: Sequence[str]) -> str:
        return ", ".join(f"{code(name, self._encodings[name])}::BIGINT AS c{i}" for i, name in enumerate(columns))

    def _coded(self, batches: Iterator[pa.RecordBatch]) -> Iterator[list[Ints]]:
        for batch in batches:
            if any(column.null_count for column in batch.columns):
                raise Unfit("a cell outside its encoding")
            yield [numbers(column) for column in batch.columns]

    def _rows(self) -> int:
        return int(self._database.rows(f"SELECT count(*) FROM {_ROWS}")[0][0])

    def _width(self, columns: Iterable[str]) -> int:
        """Bytes of a row of encoded or attached columns."""
        attached = {name: values.itemsize for name, values in self._attached.items()}
        return sum(attached[each] if each in attached else narrow(self._encodings[each])[1] for each in columns)

    def _published(self, column: str) -> str:
        """The SQL of a column as it is written: the type of whole numbers tells nothing of how they were kept."""
        name = identifier(column)
        if column not in self._encodings:
            return name
        enumeration = f"{_ROWS}_{list(self._encodings).index(column)}"
        encoding = self._encodings[column]
        kind = enumeration if encoding.kind == "text" else type_of(encoding)
        return f"CAST({name} AS {kind}) AS {name}"

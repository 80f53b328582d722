"""A table of noisy counts, read a column at a time; which columns and how many rows it must have is known before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.columns import cells_of, filled, numbers
from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.pages import check_pages
from discreet.verifier.files import Files

UNIT = 1024  # counts are whole multiples of 1 / UNIT
MOST_COUNT = 2**52
Types = tuple[pa.DataType, ...]
TEXTS: Types = (pa.string(), pa.large_string())
WHOLE: Types = (pa.int64(),)
COUNTS: Types = (pa.float64(),)


@dataclass(frozen=True)
class Rows:
    """The rows of a table that has the columns and the number of rows that it must have."""

    name: str
    number: int
    file: pq.ParquetFile

    def codes(self, column: str, encoding: Encoding) -> Ints:
        """The codes of a column's cells; raises ReleaseError where one is none of those that may stand there.

        Texts are looked up once for each that differs: a small file may repeat a long one.
        """
        found, known = self._read(column), cells_of(encoding)
        if pa.types.is_dictionary(found.type):
            entries = _looked_up(found.dictionary, known)
            absent = len(encoding) - 1 if encoding.missing else -1
            codes = np.append(entries, absent)[filled(found.indices, len(entries))]
        else:
            codes = _looked_up(found, known)
        if outside := int((codes < 0).sum()):
            raise ReleaseError(f"{column} in {self.name} is outside its domain in {outside:,} rows")
        return np.asarray(codes, dtype=np.int64)

    def alike(self, column: str) -> Ints:
        """A number for each text of a column: texts that differ have different numbers."""
        return np.asarray(filled(self._read(column).indices, -1), dtype=np.int64)

    def whole(self, column: str) -> Ints:
        """Noisy numbers of people."""
        found = numbers(self._known(column))
        if ((found > MOST_COUNT) | (found < -MOST_COUNT)).any():
            raise ReleaseError(f"{column} in {self.name} must be counts of people with noise")
        return found

    def empty(self, column: str) -> bool:
        """Whether a column has no cell at all."""
        return bool(self._read(column).null_count == self.number)

    def counts(self) -> Ints:
        """Counts in units: none negative, not even a nought (a bit nobody sees), none finer than a unit."""
        found = numbers(self._known("COUNT")) * UNIT
        if not (np.isfinite(found) & ~np.signbit(found) & (found <= MOST_COUNT)).all():
            raise ReleaseError(f"COUNT in {self.name} must not be negative")
        if (found != np.floor(found)).any():
            raise ReleaseError(f"COUNT in {self.name} must be whole multiples of 1/{UNIT}")
        return np.asarray(found, dtype=np.int64)

    def _known(self, column: str) -> pa.Array:
        found = self._read(column)
        if found.null_count:
            raise ReleaseError(f"{column} in {self.name} must be a number in every row")
        return found

    def _read(self, column: str) -> pa.Array:
        found = self.file.read(columns=[column], use_threads=False)[column]
        return (found.unify_dictionaries() if pa.types.is_dictionary(found.type) else found).combine_chunks()


def _looked_up(cells: pa.Array, known: pa.Array) -> Ints:
    import pyarrow.compute as pc  # when a table is read, and not before: it takes long to load

    return filled(pc.index_in(cells.cast(known.type), value_set=known), -1).astype(np.int64)


def rows_of(files: Files, name: str, columns: Mapping[str, Types], number: int) -> Rows:
    """A table that has exactly these columns in this order, each of one of its types, and so many rows."""
    path = files.path(name)
    footer = pq.read_metadata(path)
    if footer.metadata:
        raise ReleaseError(f"{name} carries metadata that nobody declared")
    if footer.num_rows != number:
        raise ReleaseError(f"{name} must have {number:,} rows, one for each count, and has {footer.num_rows:,}")
    check_pages(path, footer)
    found = footer.schema.to_arrow_schema()
    if found.names != list(columns):
        raise ReleaseError(f"{name} must have exactly the columns {', '.join(columns)}")
    for column, types in columns.items():
        if found.field(column).type not in types:
            raise ReleaseError(f"{column} in {name} must be of type {types[0]}")
    texts = [column for column, types in columns.items() if types is TEXTS]
    return Rows(name, number, pq.ParquetFile(path, metadata=footer, read_dictionary=texts))


def types_of(encoding: Encoding) -> Types:
    """The types that a column of a domain may have."""
    own = cells_of(encoding.only([0])).type
    return TEXTS if own in TEXTS else (own,)

"""A table of noisy counts, read a column at a time: bytes from a stranger, of which only so many are ever unpacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engine.columns import cells_of, filled, numbers, texts_of
from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.ground.arrays import Ints
from discreet.release.diffgen.leaves import UNIT
from discreet.release.pages import check_pages
from discreet.release.plain import plain_file

MOST_COUNT = 2**52
Types = tuple[pa.DataType, ...]
TEXTS: Types = (pa.string(), pa.large_string())
WHOLE: Types = (pa.int64(),)
NUMBERS: Types = (pa.float64(),)


@dataclass(frozen=True)
class Columns:
    """The columns of a table, none of which is read before it is asked for."""

    name: str
    file: pq.ParquetFile

    def has(self, column: str, known: pa.Array, places: Ints) -> bool:
        """Whether a column holds, row by row, these of the cells that are known."""
        return np.array_equal(self._places(column, known), places)

    def check(self, column: str, labels: Sequence[str], places: Ints) -> None:
        """Raise ReleaseError where a column does not hold these of the labels, which may stand there more than once."""
        first = {label: place for place, label in reversed(list(enumerate(labels)))}
        if not self.has(column, texts_of(labels), np.array([first[label] for label in labels])[places]):
            raise ReleaseError(f"{self.name} must have a row for each count, in order: {column} is another")

    def _places(self, column: str, known: pa.Array) -> Ints:
        found = self._read(column)
        if not pa.types.is_dictionary(found.type):
            return _places(found, known)
        entries = np.append(_places(found.dictionary, known), _places(pa.nulls(1, known.type), known))
        return np.asarray(entries[filled(found.indices, len(found.dictionary))])

    def alike(self, column: str) -> Ints:
        """A number for each text: different texts have different numbers."""
        return filled(self._read(column).indices, -1).astype(np.int64)

    def whole(self, column: str) -> Ints:
        """Noisy counts; none missing."""
        found = self._read(column)
        if found.null_count:
            raise ReleaseError(f"{column} in {self.name} must be whole numbers")
        noisy = numbers(found)
        if ((noisy > MOST_COUNT) | (noisy < -MOST_COUNT)).any():
            raise ReleaseError(f"{column} in {self.name} must be counts of people with noise")
        return noisy

    def empty(self, column: str) -> bool:
        """Whether a column has no cell at all."""
        return bool(self._read(column).null_count == self.file.metadata.num_rows)

    def counts(self) -> Ints:
        """Counts in units; none missing, none negative, none finer than a unit."""
        column = self._read("COUNT")
        if column.null_count:
            raise ReleaseError(f"COUNT in {self.name} must not be missing")
        units = numbers(column) * UNIT
        if not np.isfinite(units).all() or (units < 0).any() or (units > MOST_COUNT).any():
            raise ReleaseError(f"COUNT in {self.name} must not be negative")
        if (units != np.floor(units)).any():
            raise ReleaseError(f"COUNT in {self.name} must be whole multiples of 1/{UNIT}")
        return np.asarray(units, dtype=np.int64)

    def _read(self, column: str) -> pa.Array:
        try:
            found = self.file.read(columns=[column], use_threads=False)[column]
            whole = (found.unify_dictionaries() if pa.types.is_dictionary(found.type) else found).combine_chunks()
            whole.validate(full=True)  # a damaged file has cells that are none of its dictionary
            return whole
        except (pa.ArrowException, OSError, ValueError):
            raise ReleaseError(f"{self.name} must be a Parquet file that can be read") from None


def columns_of(folder: Path, name: str, types: Mapping[str, Types], rows: int) -> Columns:
    """A table that has exactly these columns and so many rows, and is no larger than what is ever unpacked."""
    path = plain_file(folder, name)
    try:
        footer = pq.read_metadata(path)
        found = footer.schema.to_arrow_schema()
        if footer.num_rows != rows or footer.metadata:
            raise ReleaseError(f"{name} must have {rows:,} rows, one for each count, and no metadata")
        if found.names != list(types) or any(
            own not in types[column] for column, own in zip(*_shown(found), strict=True)
        ):
            raise ReleaseError(f"{name} must have exactly the columns {', '.join(types)}")
        check_pages(path, footer)
        texts = [column for column, own in zip(*_shown(found), strict=True) if own in TEXTS]
        return Columns(name, pq.ParquetFile(path, metadata=footer, read_dictionary=texts))
    except (pa.ArrowException, OSError, ValueError):
        raise ReleaseError(f"{name} must be a Parquet file that can be read") from None


def _shown(schema: pa.Schema) -> tuple[list[str], list[pa.DataType]]:
    return schema.names, schema.types


def types_of(encoding: Encoding) -> Types:
    """The types that a column of a domain may have."""
    own = cells_of(encoding.only([0])).type
    return TEXTS if own in TEXTS else (own,)


def _places(texts: pa.Array, known: pa.Array) -> Ints:
    import pyarrow.compute as pc  # when a table is read, and not before: it takes long to load

    return filled(pc.index_in(texts.cast(known.type), value_set=known), -1).astype(np.int64)

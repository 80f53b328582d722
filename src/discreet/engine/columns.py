"""Between Arrow and numpy, without a copy where there need be none and without pandas.

pyarrow's own ways (`to_numpy`, `pa.array`) import pandas wherever it is installed: half a second for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.engine.encoding import WIDTH, Encoding
from discreet.ground.arrays import Ints


def numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """A column of numbers as an array that may be read only; raises TypeError where a cell is missing or no number."""
    if isinstance(column, pa.ChunkedArray):
        return numbers(column.chunk(0)) if column.num_chunks == 1 else _joined(column)
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise TypeError(f"a column of {column.type} must hold a number in every cell")
    kind = np.dtype(column.type.to_pandas_dtype())  # numpy's own, in spite of its name
    if not len(column):
        return np.empty(0, kind)
    found = np.frombuffer(column.buffers()[1], kind, len(column), column.offset * kind.itemsize)
    found.flags.writeable = False
    return found


def filled(column: pa.Array, gap: int) -> NDArray[Any]:
    """A column of whole numbers with one more of them in place of each missing cell."""
    one = pa.py_buffer(np.array([gap], dtype=np.dtype(column.type.to_pandas_dtype())))
    return numbers(column.fill_null(pa.Array.from_buffers(column.type, 1, [None, one])[0]))  # -1 would load pandas


def _joined(column: pa.ChunkedArray) -> NDArray[Any]:
    """None or several pieces, as one."""
    return numbers(pa.concat_arrays([pa.nulls(0, column.type), *column.chunks]))


def column_of(values: NDArray[Any]) -> pa.Array:
    """Numbers as a column; they must not change while it is used."""
    packed = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(packed.dtype), len(packed), [None, pa.py_buffer(packed)])


def texts_of(values: Sequence[str]) -> pa.Array:
    """Texts as a column."""
    cells = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, cells)], dtype=np.int64)
    return pa.Array.from_buffers(
        pa.large_string(), len(cells), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(cells))]
    )


def cells_of(encoding: Encoding) -> pa.Array:
    """The values of an encoding as a column, in the order of their codes."""
    if encoding.kind == "text":
        values = texts_of(cast("tuple[str, ...]", encoding.values))
    else:
        values = _whole_or_decimal(np.array(encoding.values, dtype=np.int64), encoding.scale, None)
    return pa.concat_arrays([values, pa.nulls(int(encoding.missing), values.type)])


def decoded(encoding: Encoding, codes: NDArray[Any]) -> pa.Array:
    """Codes as a column of their values, a dictionary where they are text."""
    missing = codes == len(encoding.values) if encoding.missing else None
    absent = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    known = codes if missing is None else np.where(missing, 0, codes)
    if encoding.kind != "text":
        return _whole_or_decimal(np.array(encoding.values, dtype=np.int64)[known], encoding.scale, absent)
    places = pa.Array.from_buffers(pa.int32(), len(codes), [absent, pa.py_buffer(known.astype(np.int32))])
    return pa.DictionaryArray.from_arrays(places, texts_of(cast("tuple[str, ...]", encoding.values)))


def _whole_or_decimal(values: Ints, scale: int, absent: pa.Buffer | None) -> pa.Array:
    """Whole numbers as they are, or as the decimals that they stand for."""
    if not scale:
        return pa.Array.from_buffers(pa.int64(), len(values), [absent, pa.py_buffer(values)])
    wide = np.stack([values, values >> 63], axis=1)  # 128 bits: the number, and its sign all over the upper half
    return pa.Array.from_buffers(pa.decimal128(WIDTH, scale), len(values), [absent, pa.py_buffer(wide)])

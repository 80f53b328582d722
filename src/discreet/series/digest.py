"""A digest of rows that ignores their order, and one that does not: how a series knows a table again.

The term of art is a keyed multiset hash, by addition.

Each value gets 128 random bits from the series' key and its own text, a row the sum of its values' bits, well mixed,
and the table the sum over its rows. It does not depend on the order of rows or columns, on the policy's order of
values, or on the version of any library.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.engine.encoding import Cell, Encoding
from discreet.series.words import Words, mix

Codes = NDArray[np.integer[Any]]


class RowDigest:
    """Feed batches of codes, one array for each column; ask for the two digests at the end."""

    def __init__(self, key: bytes, columns: Sequence[tuple[str, Encoding]]) -> None:
        self._tables = [_table(key, name, encoding) for name, encoding in columns]
        self._total = np.zeros(2, dtype=np.uint64)
        self._ordered = hashlib.blake2b(key=key[:32], digest_size=16)
        self._rows = 0

    def update(self, codes: Sequence[Codes]) -> None:
        """Add the next rows."""
        lanes = np.zeros((2, len(codes[0])), dtype=np.uint64)
        for table, column in zip(self._tables, codes, strict=True):
            lanes += table(column)
        mixed = mix(lanes)
        self._total += mixed.sum(axis=1, dtype=np.uint64)
        self._ordered.update(mixed[0].tobytes())
        self._rows += mixed.shape[1]

    @property
    def rows(self) -> bytes:
        """The same for the same rows in any order."""
        return self._rows.to_bytes(8, "big") + self._total.astype(">u8").tobytes()

    @property
    def ordered(self) -> bytes:
        """The same only for the same rows in the same order."""
        return self._ordered.digest()


def _table(key: bytes, name: str, encoding: Encoding) -> Callable[[Codes], Words]:
    """From a column's codes to the bits of its values."""
    if not isinstance(encoding.values, range) or encoding.scale:
        texts = [f"missing {name}" if value is None else f"value {name}\0{_text(value)}" for value in encoding]
        listed = _bits(key, texts)
        return lambda codes: listed[:, codes]
    first, odd = encoding.values[0], _bits(key, [f"column {name}"]) | np.uint64(1)

    def spread(codes: Codes) -> Words:
        return mix((codes.astype(np.int64) + first).astype(np.uint64)[None, :] * odd + odd)

    return spread


def _text(value: Cell) -> str:
    """A value as it is written, however many digits after the point its domain has."""
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)


def _bits(key: bytes, texts: Iterable[str]) -> Words:
    """128 bits for each text, as two rows of words."""
    digests = [hashlib.blake2b(text.encode(), key=key[:32], digest_size=16).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").reshape(-1, 2).T.astype(np.uint64)

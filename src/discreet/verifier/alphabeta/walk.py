"""One walk over a table of tuples: whether they stand in order, and how many there are of which values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code
from discreet.engine.encoding import Encoding
from discreet.ground.arrays import Bools, Ints
from discreet.verifier.files import Files

_FEW = 100  # tuples, of which chance alone says too little
_MOST = 1_000  # blocks of a column
_WORD = 1 << 62


@dataclass(frozen=True)
class Column:
    """A column of tuples, its values cut into blocks of equal width."""

    name: str
    encoding: Encoding
    width: int

    @property
    def blocks(self) -> int:
        return -(-len(self.encoding) // self.width)


def columns_of(encodings: Sequence[tuple[str, Encoding]], noise: int) -> tuple[Column, ...]:
    """The columns, with as many blocks as so many expected tuples of noise allow if each is to have some."""
    most = max(1, min(noise // _FEW, _MOST))
    return tuple(Column(name, each, -(-len(each) // min(most, len(each)))) for name, each in encodings)


@dataclass
class Walk:
    """What was seen on the way: tuples, one that is below the one before it, how many are the same, and blocks."""

    columns: tuple[Column, ...]
    rows: int = 0
    falls: bool = False
    repeats: int = 0
    counts: list[Ints] = field(default_factory=list)  # of each column, block by block
    _last: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.counts = [np.zeros(column.blocks, dtype=np.int64) for column in self.columns]

    def on(self, batch: pa.RecordBatch) -> None:
        """The next tuples."""
        codes = [numbers(column) for column in batch.columns]
        if not len(codes[0]):
            return
        for column, counts, own in zip(self.columns, self.counts, codes, strict=True):
            if column.blocks > 1:
                counts += np.bincount(own if column.width == 1 else own // column.width, minlength=column.blocks)
        words = self._packed(codes)
        first = [int(word[0]) for word in words]
        self.falls, self.repeats = self.falls or first < self._last, self.repeats + (first == self._last)
        tied: Bools = np.ones(len(codes[0]) - 1, dtype=np.bool_)
        for word in words:
            before, after = word[:-1], word[1:]
            self.falls = self.falls or bool((tied & (after < before)).any())
            tied &= after == before
        self.repeats += int(tied.sum())
        self.rows, self._last = self.rows + len(codes[0]), [int(word[-1]) for word in words]

    def _packed(self, codes: list[Ints]) -> list[Ints]:
        """The tuples as whole numbers in the same order, as few a tuple as hold it."""
        words, room = list[Ints](), 0
        for column, own in zip(self.columns, codes, strict=True):
            size = len(column.encoding)
            if room >= size:
                words[-1] = words[-1] * size + own
                room //= size
            else:
                words.append(own)
                room = _WORD // size
        return words


def walk(files: Files, relation: str, columns: tuple[Column, ...]) -> Walk:
    """Over a checked table, in the order in which it stands."""
    codes = ", ".join(f"{code(each.name, each.encoding)}::BIGINT" for each in columns)
    found = Walk(columns)
    for batch in files.engine.batches(f"SELECT {codes} FROM {relation}_in_domain"):
        found.on(batch)
    return found

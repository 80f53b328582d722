"""What the custodian's side asks of an engine: a few verbs over the rows of one table. An engine knows no privacy word.

A second engine is one more room beside `duck/` that keeps these protocols; nothing outside of `engine/` writes a
statement for the custodian's rows. Errors of its library do not get out: it raises `EngineError` where it fails itself,
and `Unfit` where the rows or files are at fault.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.engine.encoding import Encoding
from discreet.engine.source import Source
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell


@dataclass(frozen=True, kw_only=True)
class ColumnType:
    """What a column as given can hold: the engine's name of its type, and its kind.

    `kind` is whole, fraction, date, text or other. `as_whole` and `as_text`: a domain of whole numbers, or of text, can
    take its cells.
    """

    name: str
    kind: str
    as_whole: bool
    as_text: bool


class Engine(Protocol):
    """The rows of one table: opened where they are, encoded by public domains, read in their order, written sorted.

    Nothing of them gets to the disk but what is written on request. Where a file cannot be written, its verb raises
    OSError with the system's number.
    """

    def open(self, source: Source, wanted: Collection[str]) -> dict[str, ColumnType]:
        """Take the rows of a source, with the columns wanted at least (letter case aside); what all its columns are."""

    def blank(self, cells: Mapping[str, Sequence[str]]) -> None:
        """From now on, cells of these columns as given that are written so are empty."""

    def join(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        """From now on, cells of these columns as given that are text and written so are written otherwise."""

    def persons(self, column: str) -> tuple[int, int, int]:
        """Of a column as given: rows, distinct cells however they are written, empty cells."""

    def encode(self, columns: Mapping[str, tuple[str, Encoding]], digested: Sequence[str] = ()) -> None:
        """From now on the rows have these columns: for each new name, the column as given and its encoding.

        Rows that are kept, because reading them again is dear, are kept with the digests of the columns `digested`.
        """

    def misfits(self) -> tuple[int, dict[str, tuple[int, int]]]:
        """The rows and, for each encoded column, its empty cells and those outside the encoding."""

    def strangers(self, column: str, most: int) -> list[tuple[str, int]]:
        """The most frequent cells outside a column's encoding, with how often they occur."""

    def histogram(self, column: str) -> dict[Any, int]:
        """How often each value of an encoded column occurs; None is the empty cell."""

    def codes(self, columns: Sequence[str]) -> Iterator[list[Ints]]:
        """Encoded columns as codes, in row order, batch by batch; raises Unfit where a cell is outside its encoding."""

    def digests(self, columns: Sequence[str]) -> Iterator[list[NDArray[np.uint64]]]:
        """Columns as given, any of the source, as `digest_of` their cells, in row order, batch by batch."""

    def distinct(self, columns: Sequence[str]) -> Iterator[list[Ints]]:
        """The distinct combinations of encoded columns as codes, in any order, batch by batch."""

    def alone(self, columns: Sequence[str]) -> int:
        """How many rows have a combination of encoded columns that no other row has."""

    def attach(self, column: str, values: NDArray[Any]) -> None:
        """Give the rows one more column, by position; it stays until the next `write_sorted` is done."""

    def write_sorted(self, columns: Sequence[str], by: Sequence[str], to: Path) -> None:
        """Write columns to one Parquet file, sorted by columns: encoded ones by code, attached ones by value."""

    def watched(self, tell: Tell) -> AbstractContextManager[None]:
        """Run one verb inside; `tell` hears how much of it is done."""

    def close(self) -> None:
        """Let go of the rows."""


@dataclass(frozen=True, kw_only=True)
class Glance:
    """What one scan tells of a column: filled cells, about how many are distinct, limits, how many are whole numbers,
    and the average length of text. What does not apply is None.
    """

    filled: int
    distinct: int
    low: Any = None
    high: Any = None
    whole: int | None = None
    length: float | None = None


class Looks(Protocol):
    """What a look at a table without a policy takes, beyond opening it."""

    def first_row(self) -> list[str]:
        """The cells of the first row, as text."""

    def glance(self, columns: Collection[str]) -> tuple[int, dict[str, Glance]]:
        """One scan: the number of rows, and what it tells of columns as given."""

    def tally(self, columns: Mapping[str, bool], rows: int) -> dict[str, dict[str, int]]:
        """One scan: how often each value of each column occurs, as text; True: its cells are counted as whole numbers.

        Empty cells are left out.
        """

    def closer(self, columns: Mapping[str, bool]) -> dict[str, Glance]:
        """One scan: `distinct` exactly; True: also how many texts are whole numbers, and the limits of those."""

    def written_so(self, columns: Collection[str], texts: Collection[str]) -> dict[str, dict[str, int]]:
        """One scan: how often cells of columns of text are one of these texts (spaces around them and letter case
        aside), by how they are written.
        """

    def dates(self, columns: Sequence[str]) -> dict[str, tuple[int, str | None, str | None]]:
        """One scan: how many cells of each column are dates, and the first and the last of them, as 2020-03-31."""

    def cut(self, dates: Mapping[str, str]) -> None:
        """From now on, dates of these columns are cut to a day, month or year."""

    def sample(
        self, columns: Sequence[str], most: int, blank: Mapping[str, Sequence[str]]
    ) -> dict[str, NDArray[np.uint32]]:
        """Columns of the same rows, `most` of them at most and any, as numbers: equal cells have equal ones, and an
        empty cell, or one of a column's `blank` texts, has 0.
        """

    def unlike(self, columns: Sequence[str], rows: int) -> int:
        """How many of so many rows have a combination of columns as given that no other row has."""

    def persons(self, column: str) -> tuple[int, int, int]:
        """Of a column as given: rows, distinct cells however they are written, empty cells."""

    def join(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        """From now on, cells of these columns as given that are text and written so are written otherwise."""

    def blank(self, cells: Mapping[str, Sequence[str]]) -> None:
        """From now on, cells of these columns that are written so are empty."""

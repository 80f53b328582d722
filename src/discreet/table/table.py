"""The sensitive side: rows that were checked against the policy's domains, and nothing of them in any message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.engine.encoding import Encoding
from discreet.engine.engine import Engine
from discreet.engine.faults import Unfit
from discreet.errors import TableError
from discreet.ground.arrays import Ints
from discreet.ground.closing import Closes
from discreet.ground.progress import Tell
from discreet.schema.schema import Schema

Stamp = tuple[str, int, int, int]


@dataclass(frozen=True, kw_only=True)
class Table(Closes):
    """Rows of which every published cell lies in its declared domain; `histogram` counts the sensitive values.

    `columns` are all columns as the source spells them; `given` has that spelling for each name of the policy.
    """

    name: str = "in memory"  # for messages
    engine: Engine
    schema: Schema
    rows: int
    histogram: dict[object, int]
    files: tuple[Stamp, ...] = ()  # the files that the rows are read from again and again
    parsed: tuple[Stamp, ...] = ()  # those that were text, of which the engine kept what is published
    columns: tuple[str, ...] = ()
    given: Mapping[str, str] = field(default_factory=dict)
    digested: tuple[str, ...] = ()  # columns as given of which the engine may have kept the digests
    person: str | None = None
    identifiers: tuple[str, ...] = ()

    @property
    def encodings(self) -> tuple[tuple[str, Encoding], ...]:
        return tuple((name, self.schema.domains[name].given) for name in self.schema.columns)

    def codes(self, *names: str, tell: Tell | None = None) -> Iterator[list[Ints]]:
        """Columns (by default all that are published) as positions in their domains, in row order, batch by batch.

        `tell` hears how much was used.
        """
        used = 0
        with self._as_it_was():
            for codes in self.engine.codes(names or self.schema.columns):
                yield codes
                used += len(codes[0])
                if tell is not None:
                    tell(used / self.rows)

    def digests(self, *columns: str, tell: Tell | None = None) -> Iterator[list[NDArray[np.uint64]]]:
        """Columns as the source spells them, any of them, as digests of their cells, in row order, batch by batch.

        Text is read again for columns that were not kept: raises TableError where its rows are not those that were
        checked. `tell` hears how much was used.
        """
        used = 0
        with self._as_it_was():
            for digests in self.engine.digests(columns):
                yield digests
                used += len(digests[0])
                if tell is not None:
                    tell(used / self.rows)
        if not set(columns) <= set(self.digested):
            check_stamps(self.parsed)
        if used != self.rows:
            raise changed(self.name)

    def distinct(self) -> Iterator[list[Ints]]:
        """The distinct rows as positions in the domains, in any order, batch by batch."""
        with self._as_it_was():
            yield from self.engine.distinct(self.schema.columns)

    def alone(self) -> int:
        """How many rows have quasi-identifiers that no other row has."""
        with self._as_it_was():
            return self.engine.alone(self.schema.quasi_identifiers)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read the rows inside; raises TableError where the files are not those that were checked."""
        with self._as_it_was():
            yield
        check_stamps(self.files)

    def close(self) -> None:
        """Let go of the rows."""
        self.engine.close()

    @contextmanager
    def _as_it_was(self) -> Iterator[None]:
        try:
            yield
        except Unfit:
            raise changed(self.name) from None


def changed(name: str) -> TableError:
    """What is said where rows are not those that were checked."""
    return TableError(f"table ({name}) changed or went away while it was read; publish again when nobody writes to it")


def check_stamps(files: Sequence[Stamp]) -> None:
    """Raise TableError where a file is not as it was."""
    for each in files:
        if each != stamp(Path(each[0])):
            raise changed(Path(each[0]).name)


def stamp(path: Path) -> Stamp:
    """What tells one state of a file from another."""
    try:
        found = path.stat()
    except OSError:
        return (str(path), -1, -1, -1)
    return (str(path), found.st_ino, found.st_size, found.st_mtime_ns)

"""A table without a policy, open for questions that follow from its profile: what columns tell of each other, who has
several rows, who is alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from discreet.engine.engine import Looks
from discreet.ground.arrays import Ints
from discreet.ground.progress import Steps, Tell
from discreet.table.giveaway import numbered

MOST_ROWS = 100_000  # by which columns are compared: a share of them is right within half a percent
_MOST_CELLS = 5 * 10**7  # of them together: fewer rows where there are more than 500 columns


@dataclass(frozen=True, kw_only=True)
class Cells:
    """A sensitive column's values as numbers from 0, and which of the numbers are no value."""

    values: Ints
    unknown: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Looking:
    """The open rows; `steps` is how the work that is done with them is told."""

    engine: Looks
    steps: Steps

    @contextmanager
    def step(self, name: str) -> Iterator[Tell]:
        """Tell of one step of the work inside."""
        with self.steps.step(name) as tell:
            yield tell

    def cells(self, columns: Sequence[str], sensitive: str, unknown: Sequence[str]) -> tuple[dict[str, Ints], Cells]:
        """Columns of the same rows, MOST_ROWS of them or fewer, as numbers; and those of the sensitive column, from 0.

        Its empty cells, and the texts that mean nothing is known, are `unknown`.
        """
        most = min(MOST_ROWS, _MOST_CELLS // (len(columns) + 1))
        found = self.engine.sample([*columns, sensitive], most, {sensitive: unknown})
        own = found[sensitive]
        cells = Cells(values=numbered(own), unknown=(0,) if len(own) and own.min() == 0 else ())
        return {name: numbered(found[name]) for name in columns}, cells

    def join(self, cells: Mapping[str, Mapping[str, str]]) -> None:
        """From now on, texts of these columns are read as others."""
        self.engine.join(cells)

    def cut(self, dates: Mapping[str, str]) -> None:
        """From now on, dates of these columns are cut to a day, month or year."""
        self.engine.cut(dates)

    def unlike(self, columns: Sequence[str], rows: int) -> int:
        """How many of all rows have a combination of these columns that no other row has."""
        return self.engine.unlike(columns, rows)

    def people(self, column: str) -> int:
        """How many different cells a column has."""
        return self.engine.persons(column)[1]

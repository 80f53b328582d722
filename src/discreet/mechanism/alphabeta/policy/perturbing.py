"""What alpha-beta and FRAPP share of publishing: tuples drawn by coins, one table of them, no memory but the coins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.ground.progress import Steps
from discreet.mechanism.alphabeta.making.make import Made
from discreet.mechanism.alphabeta.making.write import write_tables
from discreet.mechanism.plan import Alternatives
from discreet.release.alphabeta.manifest import EARLIER, VIEW, AlphaBetaNumbers
from discreet.release.manifest import write_manifest
from discreet.schema.json_schema import NUMBER
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table

READ, NOISE, WRITE = "collecting the tuples", "inserting other tuples", "writing the view"
PRIOR = {
    "description": "How probable a tuple may seem before the release: a probability below 1, or k for k times "
    "public_rows / domain."
} | NUMBER


class Perturbing(ABC):
    """A mechanism that publishes true tuples among random ones of the public domains."""

    kind: ClassVar[str]
    blamed: ClassVar[str] = "posterior"
    compared: ClassVar[tuple[str, ...]] = ()
    explains: ClassVar[bool] = False
    part_tells: ClassVar[bool] = False  # noise goes with the domain
    any_order: ClassVar[bool] = True  # coins belong to tuples, not to rows
    cost: ClassVar[Fraction] = Fraction(0)
    shows_rows: ClassVar[bool] = False
    steps: ClassVar[Mapping[str, float]] = {READ: 0.3, NOISE: 0.3, WRITE: 0.4}

    @property
    @abstractmethod
    def views(self) -> int:
        """How many states of the table one promise covers."""

    @abstractmethod
    def draw(self, table: Table, place: Place, coins: Coins, steps: Steps) -> Made:
        """The tuples that are published."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Every public parameter."""

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return ()

    def alternatives(self, table: Table, over: str) -> Alternatives:
        raise PolicyError(f"{self.kind} has one plan; there is nothing to compare")

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        """Nothing: rows, policy and coins decide it all."""
        return ""

    def make(self, table: Table, place: Place, coins: Coins, folder: Path, *, csv: bool, steps: Steps) -> bytes:
        """Draw the view, and write it with what earlier ones showed."""
        made = self.draw(table, place, coins, steps)
        tables = {VIEW: made.view, **({EARLIER: made.earlier} if self.views > 1 else {})}
        with steps.step(WRITE):
            write_tables(tables, made.radix, table, folder, csv=csv)
            write_manifest(
                folder,
                table.schema,
                mechanism=self.as_json(),
                guarantee=made.guarantee,
                numbers=AlphaBetaNumbers(tuples=made.view.shape[1], view=made.number, earlier=made.earlier.shape[1]),
                csv=csv,
                continued=place.continued,
                seeded=coins.seeded,
            )
        return made.digest

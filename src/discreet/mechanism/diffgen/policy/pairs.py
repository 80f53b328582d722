"""Pairs: noisy tables of single columns and of chosen pairs of columns, from which any count is answered.

Paper: none; chosen by measuring and choosing in turn, as workload-adaptive synthetic data does, for pure epsilon.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.ground.exact import Number, exact, toml_number
from discreet.ground.progress import Progress, Steps
from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.mechanism.diffgen.making.noise import OpenDpNoise, SeededNoise
from discreet.mechanism.diffgen.making.pairs.counting import counted
from discreet.mechanism.diffgen.making.pairs.measure import measure_pairs
from discreet.mechanism.diffgen.making.pairs.write import write_pairs
from discreet.mechanism.diffgen.planning.pairs_plan import PairsPlan, plan_of, possible_parts
from discreet.mechanism.diffgen.policy.epsilon import EPSILON, MISSING, read_epsilon
from discreet.mechanism.mechanism import check_public_rows, check_stated
from discreet.mechanism.plan import Alternatives
from discreet.release.diffgen.pairs.course import course_of
from discreet.release.diffgen.pairs.layout import setting_of, taxonomies_of
from discreet.release.diffgen.pairs.measured import measured_from_json
from discreet.release.diffgen.pairs.read import MOST_COLUMN_COUNTS
from discreet.release.diffgen.pairs.walk import Setting
from discreet.release.manifest import write_manifest
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.once import once
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table

_MEASURE, _WRITE = "measuring with noise", "fitting and writing tables"


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """epsilon-DP tables of columns and of pairs of columns; which pairs, and how finely, follows from noisy numbers."""

    epsilon: Number

    kind: ClassVar[str] = "pairs"
    blamed: ClassVar[str] = "epsilon"
    compared: ClassVar[tuple[str, ...]] = ()
    explains: ClassVar[bool] = False
    part_tells: ClassVar[bool] = False  # noise is the same, however many people there are
    any_order: ClassVar[bool] = True
    views: ClassVar[int] = 1
    shows_rows: ClassVar[bool] = False
    steps: ClassVar[Mapping[str, float]] = {_MEASURE: 0.7, _WRITE: 0.3}

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        for name in section:
            if name != "epsilon":
                complain((name,), f"{name} is not a parameter of pairs{did_you_mean(name, ('epsilon',))}")
        if "epsilon" not in section:
            complain((), MISSING)
            return None
        try:
            found = cls(epsilon=section["epsilon"])
            found.check(schema)
        except PolicyError as error:
            complain(error.key, str(error))
            return None
        return found

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where columns have too many values, or epsilon is too long for a release to state."""
        cells = sum(self.setting(schema).sizes)
        if cells > MOST_COLUMN_COUNTS:
            raise PolicyError(
                f"published columns ({cells:,} cells) must have at most {MOST_COLUMN_COUNTS:,} cells together; publish "
                "fewer columns, or coarser domains"
            )
        for parts in possible_parts(self.setting(schema), schema.columns):
            check_stated(self.as_json(), EpsilonPrivacy(epsilon=self.cost, parts=parts), ("epsilon",))

    @property
    def cost(self) -> Fraction:
        return exact("epsilon", self.epsilon)

    @once
    def taxonomies(self, schema: Schema) -> tuple[Taxonomy, ...]:
        """The cells of every published column."""
        return taxonomies_of(schema)

    @once
    def setting(self, schema: Schema) -> Setting:
        """What is public before anything is measured."""
        return setting_of(self.cost, self.taxonomies(schema))

    def fits(self, table: Table) -> None:
        check_public_rows(table, table.rows)

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return ()

    def plan(self, table: Table, progress: Progress | None = None) -> PairsPlan:
        """What a release would cost and hold; the rows are not looked at."""
        return plan_of(self.setting(table.schema))

    def alternatives(self, table: Table, over: str) -> Alternatives:
        raise PolicyError(f"{self.kind} has one plan; there is nothing to compare")

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        """The noisy measurements: they are paid for once, and the same ones give the same release."""
        noise = SeededNoise(coins.stream("noise")) if coins.seeded else OpenDpNoise()
        with steps.step(_MEASURE) as tell:
            rows = counted(table, self.taxonomies(table.schema), tell)
            return measure_pairs(rows, self.setting(table.schema), noise).as_json()

    def make(self, table: Table, place: Place, coins: Coins, folder: Path, *, csv: bool, steps: Steps) -> bytes:
        """What follows from the measurements, written down; the rows are not looked at again."""
        schema = table.schema
        with steps.step(_WRITE):
            measured = measured_from_json(place.memo)
            course = course_of(self.setting(schema), measured)
            numbers = write_pairs(self.taxonomies(schema), course, measured, folder, csv=csv)
            write_manifest(
                folder,
                schema,
                mechanism=self.as_json(),
                guarantee=EpsilonPrivacy(
                    epsilon=self.cost, parts=course.parts(schema.columns, measured), before=place.spent
                ),
                numbers=numbers,
                csv=csv,
                continued=place.continued,
                seeded=coins.seeded,
            )
        return hashlib.blake2b(place.memo.encode(), digest_size=16).digest()

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return {"required": ["epsilon"], "properties": {"epsilon": EPSILON}}

    def as_toml(self) -> dict[str, Any]:
        return {"epsilon": toml_number(self.cost)}

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": str(self.cost)}

"""DiffGen: a differentially private table over taxonomy trees, for range counts and for training classifiers.

Paper: [QSL]; [MCFY].
Departs: by default every choice is made from noisy tables that are paid for once (guide = "histogram"); the paper's
    way, each choice by the exponential mechanism, is guide = "exponential".
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
from discreet.ground.progress import Progress, Steps, Tell
from discreet.ground.shown import shown
from discreet.guarantee.epsilon import EpsilonPrivacy
from discreet.mechanism.diffgen.making.make import make_leaves, measure
from discreet.mechanism.diffgen.making.measurements import Measurements, measurements_from_json
from discreet.mechanism.diffgen.making.noise import Noise, OpenDpNoise, SeededNoise
from discreet.mechanism.diffgen.making.write import write_leaves
from discreet.mechanism.diffgen.planning.limits import MOST_TABLE_COUNTS, RESERVED
from discreet.mechanism.diffgen.planning.plan import DiffGenPlan, notes_of, plan_of, possible_parts
from discreet.mechanism.diffgen.planning.score import SCORES
from discreet.mechanism.diffgen.planning.settings import Settings
from discreet.mechanism.diffgen.policy.epsilon import EPSILON, MISSING, read_epsilon
from discreet.mechanism.mechanism import check_public_rows, check_stated
from discreet.mechanism.plan import Alternatives
from discreet.release.diffgen.manifest import DiffGenNumbers
from discreet.release.manifest import write_manifest
from discreet.schema.json_schema import COLUMN
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.once import once
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import taxonomy_of
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table

CONSISTENCIES = ("exact", "paper", "none")
GUIDES = ("histogram", "exponential")
MOST_SPECIALIZATIONS = 1_000
_MEASURE, _WRITE = "measuring with noise", "writing leaves and tables"


@dataclass(frozen=True, kw_only=True)
class DiffGen:
    """epsilon-DP leaves and tables; `specializations` is h (by default as many as the noisy total is worth)."""

    epsilon: Number
    specializations: int | None = None
    score: str = "information_gain"
    consistency: str = "exact"
    guide: str = "histogram"
    target: str | None = None

    kind: ClassVar[str] = "diffgen"
    blamed: ClassVar[str] = "epsilon"
    compared: ClassVar[tuple[str, ...]] = ()
    explains: ClassVar[bool] = False
    part_tells: ClassVar[bool] = False  # noise is the same, however many people there are
    any_order: ClassVar[bool] = True
    views: ClassVar[int] = 1
    shows_rows: ClassVar[bool] = False
    steps: ClassVar[Mapping[str, float]] = {_MEASURE: 0.6, _WRITE: 0.4}

    def __post_init__(self) -> None:
        epsilon = read_epsilon(self.epsilon)
        h = self.specializations
        if h is not None and (type(h) is not int or not 1 <= h <= MOST_SPECIALIZATIONS):
            raise PolicyError(
                f"specializations ({shown(h)}) must be a whole number from 1 to {MOST_SPECIALIZATIONS:,}; leave it out "
                "to have as many as are worth it",
                key=("specializations",),
            )
        for name, known in (("score", SCORES), ("consistency", CONSISTENCIES), ("guide", GUIDES)):
            if getattr(self, name) not in known:
                given = shown(getattr(self, name))
                raise PolicyError(f"{name} ({given}) must be one of {', '.join(known)}", key=(name,))
        if self.guide == "histogram" and self.consistency == "paper":
            raise PolicyError(
                "consistency (paper) must be exact or none where tables guide, for the paper's formula is for trees; "
                'say guide = "exponential" for it',
                key=("consistency",),
            )
        if self.target is not None and not isinstance(self.target, str):
            raise PolicyError(f"target ({shown(self.target)}) must be the name of a published column", key=("target",))
        object.__setattr__(self, "epsilon", epsilon)

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        known = ("epsilon", "specializations", "score", "consistency", "guide", "target")
        for name in section:
            if name not in known:
                complain((name,), f"{name} is not a parameter of diffgen{did_you_mean(name, known)}")
        if "epsilon" not in section:
            complain((), MISSING)
            return None
        try:
            found = cls(**{name: value for name, value in section.items() if name in known})
            found.check(schema)
        except PolicyError as error:
            complain(error.key, str(error))
            return None
        return found

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the columns cannot be generalized or the class has nothing to tell apart."""
        if self.target is not None and self.target not in schema.columns:
            raise PolicyError(
                f"target ({shown(self.target)}) must be a published column{did_you_mean(self.target, schema.columns)}",
                key=("target",),
            )
        if taken := [name for name in schema.columns if name.upper() in RESERVED]:
            raise PolicyError(
                f"a published column must not be called {taken[0]}; a release adds its own",
                key=schema.role_key(taken[0]),
            )
        target, classes = self.target_of(schema), self.classes(schema)
        if classes < 2:
            raise PolicyError(
                f"target ({shown(target)}) must have two values or more, for it is what the leaves tell apart; name "
                "another column as target",
                key=("target",),
            )
        counts = self.settings(schema).table_counts
        if counts > MOST_TABLE_COUNTS:
            raise PolicyError(
                f"target ({shown(target)}) must have fewer values: with {classes:,} there would be {counts:,} noisy "
                f"counts, at most {MOST_TABLE_COUNTS:,} are made; group its values or those of other columns",
                key=("target",),
            )
        for parts in possible_parts(self.settings(schema)):
            check_stated(self.as_json(), EpsilonPrivacy(epsilon=self.cost, parts=parts), ("epsilon",))

    def target_of(self, schema: Schema) -> str:
        """The class: the sensitive column unless another is named."""
        return schema.sensitive if self.target is None else self.target

    def classes(self, schema: Schema) -> int:
        return len(schema.domains[self.target_of(schema)])

    @property
    def cost(self) -> Fraction:
        return exact("epsilon", self.epsilon)

    @once
    def settings(self, schema: Schema) -> Settings:
        """What these parameters ask for over a schema, with the taxonomies of all published columns but the class."""
        target = self.target_of(schema)
        return Settings(
            epsilon=self.cost,
            specializations=self.specializations,
            score=self.score,
            consistency=self.consistency,
            guide=self.guide,
            target=target,
            classes=self.classes(schema),
            taxonomies=tuple(taxonomy_of(schema, name) for name in schema.columns if name != target),
        )

    def fits(self, table: Table) -> None:
        check_public_rows(table, table.rows)

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return notes_of(self.settings(schema))

    def plan(self, table: Table, progress: Progress | None = None) -> DiffGenPlan:
        """What a release would cost and hold; the rows are not looked at."""
        return plan_of(self.settings(table.schema))

    def alternatives(self, table: Table, over: str) -> Alternatives:
        raise PolicyError(f"{self.kind} has one plan; there is nothing to compare")

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        """The noisy measurements: they are paid for once, and the same ones give the same release."""
        noise = SeededNoise(coins.stream("noise")) if coins.seeded else OpenDpNoise()
        with steps.step(_MEASURE) as tell:
            return self.measure(table, noise, tell).as_json()

    def measure(self, table: Table, noise: Noise, tell: Tell) -> Measurements:
        """What is seen of the rows: noisy numbers alone."""
        return measure(table, self.settings(table.schema), noise, tell)

    def make(self, table: Table, place: Place, coins: Coins, folder: Path, *, csv: bool, steps: Steps) -> bytes:
        """What follows from the measurements, written down; the rows are not looked at again."""
        with steps.step(_WRITE):
            made = make_leaves(measurements_from_json(place.memo), self.settings(table.schema), place.spent)
            write_leaves(table, made.fitted, self.target_of(table.schema), folder, csv=csv)
            numbers = DiffGenNumbers(
                leaves=made.fitted.leaves.size, specializations=made.specializations, levels=made.levels
            )
            write_manifest(
                folder,
                table.schema,
                mechanism=self.as_json(),
                guarantee=made.guarantee,
                numbers=numbers,
                csv=csv,
                continued=place.continued,
                seeded=coins.seeded,
            )
        return hashlib.blake2b(place.memo.encode(), digest_size=16).digest()

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        return {
            "required": ["epsilon"],
            "properties": {
                "epsilon": EPSILON,
                "specializations": {
                    "description": "How many values are specialized; by default as many as the noisy total is worth.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_SPECIALIZATIONS,
                },
                "score": {"description": "What makes a specialization good.", "enum": list(SCORES)},
                "consistency": {
                    "description": "How counts that overlap are made to agree; paper is for the exponential guide.",
                    "enum": list(CONSISTENCIES),
                },
                "guide": {
                    "description": "Choose from noisy tables that are paid for once, or pay for each choice as the "
                    "paper does.",
                    "enum": list(GUIDES),
                },
                "target": {"description": "The class that leaves tell apart; by default the sensitive column."}
                | COLUMN,
            },
        }

    def as_toml(self) -> dict[str, Any]:
        stated = {name: value for name, value in self.as_json().items() if value is not None and name != "kind"}
        return {**stated, "epsilon": toml_number(self.cost)}

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": str(self.cost),
            "specializations": self.specializations,
            "score": self.score,
            "consistency": self.consistency,
            "guide": self.guide,
            "target": self.target,
        }

"""What a DiffGen release states: leaves, tables, how they were specialized, and the parts of epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import ReleaseError
from discreet.ground.exact import exact
from discreet.guarantee.epsilon import EpsilonPrivacy, epsilon_from_json
from discreet.release.fields import Fields, field_of
from discreet.release.statement import Manifest, Statement, whole_numbers
from discreet.schema.schema import Schema

LEAVES = "data/leaves.parquet"
TABLES = "data/tables.parquet"
NUMBERS = ("leaves", "specializations", "levels")


@dataclass(frozen=True, kw_only=True)
class StatedDiffGen:
    """The parameters of DiffGen; no `specializations` is as many as were worth it, no `target` the sensitive column."""

    epsilon: Fraction
    specializations: int | None
    score: str
    consistency: str
    guide: str
    target: str | None

    kind: ClassVar[str] = "diffgen"

    def target_of(self, schema: Schema) -> str:
        """The class of a release; raises ReleaseError where it is no published column."""
        target = schema.sensitive if self.target is None else self.target
        if target not in schema.columns:
            raise ReleaseError("target must be a published column")
        return target

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "epsilon": str(self.epsilon),
            "specializations": self.specializations,
            "score": self.score,
            "consistency": self.consistency,
            "guide": self.guide,
            "target": self.target,
        }


@dataclass(frozen=True, kw_only=True)
class DiffGenNumbers:
    """How many counts the leaves have, after how many specializations, and how many of them a record's path is in."""

    leaves: int
    specializations: int
    levels: int

    def as_json(self) -> dict[str, Any]:
        return {"leaves": self.leaves, "specializations": self.specializations, "levels": self.levels}


DiffGenStatement = Statement[StatedDiffGen, EpsilonPrivacy, DiffGenNumbers]
DiffGenManifest = Manifest[StatedDiffGen, EpsilonPrivacy, DiffGenNumbers]


def files_of(statement: DiffGenStatement) -> tuple[str, ...]:
    """The leaves, and the tables of each attribute."""
    return (LEAVES, TABLES)


def fields_of(statement: DiffGenStatement, path: str) -> Fields:
    """The columns of leaves, or of tables: labels of generalized values, the class, and a count."""
    schema, target = statement.schema, statement.mechanism.target_of(statement.schema)
    labels = [name for name in schema.columns if name != target] if path == LEAVES else ["ATTRIBUTE", "VALUE", "CELL"]
    count = {"name": "COUNT", "type": "number", "constraints": {"required": True, "minimum": 0}}
    texts = [{"name": name, "type": "string", "constraints": {"required": True}} for name in labels]
    return [*texts, field_of(schema, target), count]


def mechanism_from_json(data: Mapping[str, Any]) -> StatedDiffGen:
    """The parameters that a release states; raises ReleaseError where they are not all there, or others are."""
    match data:
        case {
            "kind": "diffgen",
            "epsilon": str(epsilon),
            "specializations": (int() | None) as steps,
            "score": ("max" | "information_gain") as score,
            "consistency": ("exact" | "paper" | "none") as consistency,
            "guide": ("histogram" | "exponential") as guide,
            "target": (str() | None) as target,
            **rest,
        } if not rest and type(steps) is not bool:
            return StatedDiffGen(
                epsilon=exact("epsilon", epsilon),
                specializations=steps,
                score=score,
                consistency=consistency,
                guide=guide,
                target=target,
            )
        case _:
            raise ReleaseError("the mechanism must state its kind and its parameters and nothing else")


def guarantee_from_json(data: Any, mechanism: StatedDiffGen) -> EpsilonPrivacy:
    """The epsilon and its parts that a release states; raises PolicyError where they are none."""
    return epsilon_from_json(data)


def numbers_from_json(block: Mapping[str, Any]) -> DiffGenNumbers:
    """Leaves, specializations and levels; raises ReleaseError where they are no such numbers."""
    return DiffGenNumbers(**whole_numbers(block, *NUMBERS))

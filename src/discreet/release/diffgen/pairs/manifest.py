"""What a release of pairs states: tables of columns and of chosen pairs of columns, and the parts of epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import ReleaseError
from discreet.ground.exact import exact
from discreet.guarantee.epsilon import EpsilonPrivacy, epsilon_from_json
from discreet.release.fields import Fields
from discreet.release.statement import Manifest, Statement

COLUMNS = "data/columns.parquet"
PAIRS = "data/pairs.parquet"
NUMBERS = ("total", "rounds")
LEVELS = ("cells", "groups")
MOST_ROUNDS = 1_000
MOST_TOTAL = 10**15


@dataclass(frozen=True, kw_only=True)
class StatedPairs:
    """The parameter of Pairs."""

    epsilon: Fraction

    kind: ClassVar[str] = "pairs"

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": str(self.epsilon)}


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What one round chose: two columns, each in its cells or in groups of them."""

    columns: tuple[str, str]
    levels: tuple[str, str]

    def as_json(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "levels": list(self.levels)}


@dataclass(frozen=True, kw_only=True)
class PairNumbers:
    """The noisy number of people, and what each round chose; None is a round that found nothing worth its noise."""

    total: int
    rounds: tuple[Chosen | None, ...]

    def as_json(self) -> dict[str, Any]:
        return {"total": self.total, "rounds": [each and each.as_json() for each in self.rounds]}


PairStatement = Statement[StatedPairs, EpsilonPrivacy, PairNumbers]
PairManifest = Manifest[StatedPairs, EpsilonPrivacy, PairNumbers]


def files_of(statement: PairStatement) -> tuple[str, ...]:
    """The tables of single columns, and those of pairs."""
    return (COLUMNS, PAIRS)


def fields_of(statement: PairStatement, path: str) -> Fields:
    """The columns of either table: which cells, what was measured of them, and what all of it together says."""
    texts = ["ATTRIBUTE", "CELL"] if path == COLUMNS else ["FIRST", "FIRST_VALUE", "SECOND", "SECOND_VALUE"]
    labels = [{"name": name, "type": "string", "constraints": {"required": True}} for name in texts]
    number = {"name": "GROUP" if path == COLUMNS else "ROUND", "type": "integer"}
    placed = {**number, "constraints": {"required": True, "minimum": 1}}
    measured: Fields = [{"name": "MEASURED", "type": "integer", "constraints": {"required": True}}]
    if path == COLUMNS:
        measured.append({"name": "AGAIN", "type": "integer"})
    count = {"name": "COUNT", "type": "number", "constraints": {"required": True, "minimum": 0}}
    return [*labels, placed, *measured, count] if path == COLUMNS else [placed, *labels, *measured, count]


def mechanism_from_json(data: Mapping[str, Any]) -> StatedPairs:
    """The parameter that a release states; raises ReleaseError where it is not there, or others are."""
    match data:
        case {"kind": "pairs", "epsilon": str(epsilon), **rest} if not rest:
            return StatedPairs(epsilon=exact("epsilon", epsilon))
        case _:
            raise ReleaseError("the mechanism must state its kind and its epsilon and nothing else")


def guarantee_from_json(data: Any, mechanism: StatedPairs) -> EpsilonPrivacy:
    """The epsilon and its parts that a release states; raises PolicyError where they are none."""
    return epsilon_from_json(data)


def numbers_from_json(block: Mapping[str, Any]) -> PairNumbers:
    """The noisy total and the rounds; raises ReleaseError where they are none."""
    total, rounds = block["total"], block["rounds"]
    if type(total) is not int or abs(total) > MOST_TOTAL:
        raise ReleaseError("total in the block 'discreet' must be a whole number")
    if type(rounds) is not list or len(rounds) > MOST_ROUNDS:
        raise ReleaseError(f"rounds in the block 'discreet' must be a list of at most {MOST_ROUNDS:,}")
    return PairNumbers(total=total, rounds=tuple(map(_chosen, rounds)))


def _chosen(data: Any) -> Chosen | None:
    match data:
        case None:
            return None
        case {
            "columns": [str(one), str(two)],
            "levels": [("cells" | "groups") as own, ("cells" | "groups") as other],
            **rest,
        } if not rest and one != two:
            return Chosen(columns=(one, two), levels=(own, other))
        case _:
            raise ReleaseError("rounds must be a list of {columns, levels}, or null where nothing was worth its noise")

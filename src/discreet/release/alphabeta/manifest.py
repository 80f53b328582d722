"""What an alpha-beta or FRAPP release states: a view of tuples, and those that earlier views showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import ReleaseError
from discreet.ground.exact import exact
from discreet.guarantee.dgamma import MOST_SLOTS, MOST_VIEWS, DGammaPrivacy, dgamma_from_json
from discreet.guarantee.frapp import FrappPrivacy, frapp_from_json
from discreet.guarantee.source import Source, source_of
from discreet.release.fields import Fields, field_of
from discreet.release.statement import Manifest, Statement, whole_numbers
from discreet.schema.once import once
from discreet.schema.schema import Schema

VIEW = "data/view.parquet"
EARLIER = "data/earlier.parquet"
SLOT = "SLOT"  # the column that tells the copies of a tuple apart, where records are counted
NUMBERS = ("tuples", "view", "earlier")


@dataclass(frozen=True, kw_only=True)
class StatedAlphaBeta:
    """The parameters of alpha-beta."""

    prior: Fraction
    posterior: Fraction
    adversary: str
    tuning: str
    views: int
    slots: int
    source: Mapping[str, Any]  # for some columns, public shares by value

    kind: ClassVar[str] = "alphabeta"
    copies: ClassVar[bool] = False  # no tuple stands twice

    @once
    def weighed(self, schema: Schema) -> Source:
        """The public source over a schema, read once; raises PolicyError where it does not fit the domains."""
        return source_of(self.source, schema)

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "prior": str(self.prior),
            "posterior": str(self.posterior),
            "adversary": self.adversary,
            "tuning": self.tuning,
            "views": self.views,
            "slots": self.slots,
            "source": dict(self.source),
        }


@dataclass(frozen=True, kw_only=True)
class StatedFrapp:
    """The parameters of FRAPP."""

    prior: Fraction
    posterior: Fraction

    kind: ClassVar[str] = "frapp"
    adversary: ClassVar[str] = "independent"
    copies: ClassVar[bool] = True
    views: ClassVar[int] = 1
    slots: ClassVar[int] = 1
    source: ClassVar[Mapping[str, Any]] = {}

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "prior": str(self.prior), "posterior": str(self.posterior)}


@dataclass(frozen=True, kw_only=True)
class AlphaBetaNumbers:
    """How many tuples the view has, which of its series' views it is, and how many tuples earlier ones showed."""

    tuples: int
    view: int = 1
    earlier: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"tuples": self.tuples, "view": self.view, "earlier": self.earlier}


StatedMechanism = StatedAlphaBeta | StatedFrapp
AlphaBetaGuarantee = DGammaPrivacy | FrappPrivacy
AlphaBetaStatement = Statement[StatedMechanism, AlphaBetaGuarantee, AlphaBetaNumbers]
AlphaBetaManifest = Manifest[StatedMechanism, AlphaBetaGuarantee, AlphaBetaNumbers]


def files_of(statement: AlphaBetaStatement) -> tuple[str, ...]:
    """The view; and, where there may be several, what earlier ones showed."""
    return (VIEW, EARLIER) if statement.mechanism.views > 1 else (VIEW,)


def fields_of(statement: AlphaBetaStatement, path: str) -> Fields:
    """The columns of a table of tuples; where copies have slots, their number is a column too."""
    fields = [field_of(statement.schema, name) for name in statement.schema.columns]
    slots = statement.mechanism.slots
    if slots == 1:
        return fields
    constraints = {"required": True, "minimum": 0, "maximum": slots - 1}
    return [*fields, {"name": SLOT, "type": "integer", "constraints": constraints}]


def domain_size(schema: Schema, slots: int = 1) -> int:
    """m: how many tuples the public domains, and the slots, allow."""
    return schema.tuples * slots


def mechanism_from_json(data: Mapping[str, Any]) -> StatedMechanism:
    """The parameters that a release states; raises ReleaseError where they are not all there, or others are."""
    match data:
        case {
            "kind": "alphabeta",
            "prior": str(prior),
            "posterior": str(posterior),
            "adversary": str(adversary),
            "tuning": ("optimal" | "paper") as tuning,
            "views": int(views),
            "slots": int(slots),
            "source": dict(source),
            **rest,
        } if not rest and _between(views, MOST_VIEWS) and _between(slots, MOST_SLOTS):
            return StatedAlphaBeta(
                prior=exact("prior", prior),
                posterior=exact("posterior", posterior),
                adversary=adversary,
                tuning=tuning,
                views=views,
                slots=slots,
                source=source,
            )
        case {"kind": "frapp", "prior": str(prior), "posterior": str(posterior), **rest} if not rest:
            return StatedFrapp(prior=exact("prior", prior), posterior=exact("posterior", posterior))
        case _:
            raise ReleaseError(
                "the mechanism must state its kind, prior and posterior, for alphabeta adversary, tuning, views, slots "
                "and source too, and nothing else"
            )


def _between(number: object, most: int) -> bool:
    return type(number) is int and 1 <= number <= most


def guarantee_from_json(data: Any, mechanism: StatedMechanism) -> AlphaBetaGuarantee:
    """The guarantee that a release of this mechanism states; raises PolicyError where it is another."""
    return frapp_from_json(data) if isinstance(mechanism, StatedFrapp) else dgamma_from_json(data)


def numbers_from_json(block: Mapping[str, Any]) -> AlphaBetaNumbers:
    """Tuples, view and earlier; raises ReleaseError where they are no such numbers."""
    return AlphaBetaNumbers(**whole_numbers(block, *NUMBERS))

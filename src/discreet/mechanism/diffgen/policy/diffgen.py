"""DiffGen: a differentially private table over taxonomy trees, for range counts and for training classifiers.

Paper: [QSL]; [MCFY].
Departs: by default every choice is made from noisy tables that are paid for once (guide = "histogram"); the paper's
    way, each choice by the exponential mechanism, is guide = "exponential".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.guarantee.epsilon import LEAST, MOST
from discreet.guarantee.tolerance import Number, exact
from discreet.mechanism.diffgen.making.cuts import most_steps
from discreet.mechanism.diffgen.making.score import SCORES
from discreet.mechanism.diffgen.planning.budget import (
    ExponentialBudget,
    HistogramBudget,
    exponential_budget,
    histogram_budget,
)
from discreet.schema.mechanisms import Complain, Mechanism, register
from discreet.schema.nearest import did_you_mean, shown
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import Taxonomy, taxonomy_of
from discreet.schema.write import toml_number

CONSISTENCIES = ("exact", "paper", "none")
GUIDES = ("histogram", "exponential")
RESERVED = ("ATTRIBUTE", "VALUE", "CELL")  # columns of a release's tables
MOST_TABLE_COUNTS = 100_000  # cells x classes over all attributes, each with noise of its own
MOST_SPECIALIZATIONS = 1_000
DEFAULT_SPECIALIZATIONS = 10  # of the exponential guide, which must know beforehand what it pays for


@register
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

    def __post_init__(self) -> None:
        epsilon = exact("epsilon", self.epsilon)
        if epsilon <= 0:
            raise PolicyError(f"epsilon ({shown(self.epsilon)}) must be above 0; write it such as 0.5")
        if not LEAST <= epsilon <= MOST:
            raise PolicyError(
                f"epsilon ({shown(self.epsilon)}) must be between {LEAST} and {MOST}; beyond, the promise says "
                "nothing; below, the noise leaves nothing"
            )
        h = self.specializations
        if h is not None and (type(h) is not int or not 1 <= h <= MOST_SPECIALIZATIONS):
            raise PolicyError(
                f"specializations ({shown(h)}) must be a whole number from 1 to {MOST_SPECIALIZATIONS:,}; leave it out "
                "to have as many as are worth it"
            )
        for name, known in (("score", SCORES), ("consistency", CONSISTENCIES), ("guide", GUIDES)):
            if getattr(self, name) not in known:
                raise PolicyError(f"{name} ({shown(getattr(self, name))}) must be one of {', '.join(known)}")
        if self.guide == "histogram" and self.consistency == "paper":
            raise PolicyError(
                "consistency (paper) must be exact or none where tables guide, for the paper's formula is for trees; "
                'say guide = "exponential" for it'
            )
        if self.target is not None and not isinstance(self.target, str):
            raise PolicyError(f"target ({shown(self.target)}) must be the name of a published column")
        object.__setattr__(self, "epsilon", epsilon)

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        known = ("epsilon", "specializations", "score", "consistency", "guide", "target")
        for name in section:
            if name not in known:
                complain((name,), f"{name} is not a parameter of diffgen{did_you_mean(name, known)}")
        if "epsilon" not in section:
            complain((), "epsilon is missing; give what the release may cost, such as epsilon = 0.5")
            return None
        try:
            found = cls(**{name: value for name, value in section.items() if name in known})
            found.check(schema)
        except PolicyError as error:
            complain((str(error).split(" ", 1)[0],), str(error))
            return None
        return found

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the columns cannot be generalized or the class has nothing to tell apart."""
        if self.target is not None and self.target not in schema.columns:
            raise PolicyError(
                f"target ({shown(self.target)}) must be a published column{did_you_mean(self.target, schema.columns)}"
            )
        if taken := [name for name in schema.columns if name.upper() in RESERVED]:
            raise PolicyError(f"a published column must not be called {taken[0]}; a release adds its own")
        target, classes = self.target_of(schema), self.classes(schema)
        if classes < 2:
            raise PolicyError(
                f"target ({shown(target)}) must have two values or more, for it is what the leaves tell apart; name "
                "another column as target"
            )
        counts = sum(map(len, self.taxonomies(schema))) * classes
        if counts > MOST_TABLE_COUNTS:
            raise PolicyError(
                f"target ({shown(target)}) must have fewer values: with {classes:,} there would be {counts:,} noisy "
                f"counts, at most {MOST_TABLE_COUNTS:,} are made; group its values or those of other columns"
            )

    def target_of(self, schema: Schema) -> str:
        """The class: the sensitive column unless another is named."""
        return schema.sensitive if self.target is None else self.target

    def attributes(self, schema: Schema) -> tuple[str, ...]:
        """All published columns but the class."""
        return tuple(name for name in schema.columns if name != self.target_of(schema))

    def taxonomies(self, schema: Schema) -> tuple[Taxonomy, ...]:
        return tuple(taxonomy_of(schema, name) for name in self.attributes(schema))

    def classes(self, schema: Schema) -> int:
        return len(schema.domains[self.target_of(schema)])

    @property
    def exact_epsilon(self) -> Fraction:
        return exact("epsilon", self.epsilon)

    @property
    def steps(self) -> int:
        """h, as the exponential guide pays for it."""
        return self.specializations or DEFAULT_SPECIALIZATIONS

    def histogram_budget(self, taxonomies: tuple[Taxonomy, ...]) -> HistogramBudget:
        return histogram_budget(self.exact_epsilon, [len(each) for each in taxonomies])

    def exponential_budget(self, taxonomies: tuple[Taxonomy, ...]) -> ExponentialBudget:
        """What is reserved: for h choices, or as many as the taxonomies allow."""
        steps = max(1, min(self.steps, most_steps(taxonomies)))
        return exponential_budget(self.exact_epsilon, sum(each.ordered for each in taxonomies), steps)

    def as_toml(self) -> dict[str, Any]:
        return {"epsilon": toml_number(self.exact_epsilon), **self._rest()}

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": str(self.exact_epsilon), **self._rest()}

    def _rest(self) -> dict[str, Any]:
        given = {"specializations": self.specializations, "target": self.target}
        named = {"score": self.score, "consistency": self.consistency, "guide": self.guide}
        return {**named, **{name: value for name, value in given.items() if value is not None}}

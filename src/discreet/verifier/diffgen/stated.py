"""What a release of this family states, read as it stands: what it was asked for, the parts of epsilon, its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import ReleaseError
from discreet.schema.schema import Schema
from discreet.verifier.stated import fraction, keys, one_of, whole

NOTION = "epsilon-differential privacy"
LEAST, MOST = Fraction(1, 10_000), Fraction(20)  # between which epsilon is
MOST_ASKED = 1_000  # specializations
MOST_BEFORE = 10**9
Parts = list[tuple[str, Fraction]]  # what each part of epsilon was for, in order, and its share


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The promise: epsilon, its parts as they are stated, and what earlier releases of the series cost.

    `asked` is the epsilon that the mechanism states.
    """

    epsilon: Fraction
    asked: Fraction
    parts: Parts
    before: Fraction

    @property
    def broken(self) -> str | None:
        """What does not hold of the parts, whatever they are for."""
        if self.asked != self.epsilon:
            return "the guarantee is not for the epsilon that the mechanism states"
        whole = sum((share for _, share in self.parts), Fraction(0))
        return None if whole == self.epsilon else "the parts do not add up to epsilon"


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What a release of leaves states; `asked` is how many specializations the policy named, if it did."""

    spent: Spent
    asked: int | None
    score: str
    consistency: str
    guide: str
    target: str
    leaves: int
    specializations: int
    levels: int

    @property
    def guided(self) -> bool:
        """Whether noisy tables guided every choice."""
        return self.guide == "histogram"


def spent_of(block: Mapping[str, Any]) -> Spent:
    """The guarantee, with what the mechanism asked for; raises ReleaseError where it is none."""
    given = keys(block["guarantee"], "guarantee", "notion", "epsilon", "parts", "before")
    one_of(given["notion"], "notion", NOTION)
    epsilon, before = fraction(given["epsilon"], "epsilon"), fraction(given["before"], "before")
    if not LEAST <= epsilon <= MOST:
        raise ReleaseError(f"epsilon must be between {LEAST} and {MOST}")
    if before > MOST_BEFORE:
        raise ReleaseError(f"before must be at most {MOST_BEFORE:,}")
    if type(given["parts"]) is not dict:
        raise ReleaseError("parts must be an object")
    parts = [(name, fraction(share, "parts")) for name, share in given["parts"].items()]
    asked = fraction(block["mechanism"]["epsilon"], "epsilon")
    return Spent(epsilon=epsilon, asked=asked, parts=parts, before=before)


def stated_of(block: Mapping[str, Any], schema: Schema) -> Stated:
    """Everything that a release of leaves states; raises ReleaseError where it is no such thing."""
    given = keys(
        block["mechanism"],
        "mechanism",
        "kind",
        "epsilon",
        "specializations",
        "score",
        "consistency",
        "guide",
        "target",
    )
    one_of(given["kind"], "kind", "diffgen")
    guide = one_of(given["guide"], "guide", "histogram", "exponential")
    ways = ("exact", "none") if guide == "histogram" else ("exact", "paper", "none")
    asked, target = given["specializations"], given["target"]
    return Stated(
        spent=spent_of(block),
        asked=None if asked is None else whole(asked, "specializations", 1, MOST_ASKED),
        score=one_of(given["score"], "score", "max", "information_gain"),
        consistency=one_of(given["consistency"], "consistency", *ways),
        guide=guide,
        target=schema.sensitive if target is None else one_of(target, "target", *schema.columns),
        leaves=whole(block["leaves"], "leaves", 1),
        specializations=whole(block["specializations"], "specializations"),
        levels=whole(block["levels"], "levels", 1),
    )

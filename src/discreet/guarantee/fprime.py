"""F'-privacy: a tolerance for the probability with which each sensitive value may be inferred.

Paper: [WWFW] Definitions 1 and 2.
Symbols: f'_x the tolerance of value x; |g, x| records with x in bucket g; |g| the bucket's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import PolicyError
from discreet.guarantee.words import again_warning, percent

NAME = "F'-privacy"

ADVERSARY = (
    "Knows that the person is in the table, knows the person's quasi-identifiers, knows how the release was made, "
    "and uses the person's bucket alone. Does not know the secret key or any other person's sensitive value."
)
NOT_COVERED = (
    "Presence: that a person is in the table can be learned; quasi-identifiers are published as they are.",
    "Identity: a row of the published quasi-identifiers can be linked to a named person.",
    "What all buckets together teach: relations between quasi-identifiers and sensitive values can be learned from "
    "the whole release and sharpen a guess about one person beyond the tolerance.",
    "Other people's values: one who already knows the sensitive values of others in the same bucket learns more.",
    "Several rows of one person: the promise is for each row; the table must hold one row a person.",
    "A second release of the same people: intersecting two releases can single out a value.",
    "Values that a person does not have: which values are absent from a bucket is visible.",
)


@dataclass(frozen=True, kw_only=True)
class FPrimePrivacy:
    """In every bucket, the share of value x is at most its tolerance, so Pr(x | person, bucket) <= f'_x."""

    tolerance: tuple[tuple[object, Fraction], ...]

    def facts(self, *, continued: bool = False) -> dict[str, Any]:
        """The promise for people and for programs; `continued` says that an earlier release of such a table exists."""
        strictest, limit = min(self.tolerance, key=lambda pair: pair[1])
        free = sum(1 for _, number in self.tolerance if number == 1)
        words = (
            f"Whoever looks up a person's bucket in this release infers none of the {len(self.tolerance)} sensitive "
            f"values with a probability above that value's tolerance. The strictest tolerance is {percent(limit)} "
            f"({strictest})" + (f"; {free} of the values count as not sensitive (tolerance 1)." if free else ".")
        )
        facts: dict[str, Any] = {
            "notion": NAME,
            "words": words,
            "adversary": ADVERSARY,
            "inequality": "Pr(x | person, bucket) = COUNT(bucket, x) / size(bucket) <= tolerance(x), for every bucket "
            "and value x",
            "unit": "one row of the table",
            "not_covered": list(NOT_COVERED),
        }
        return {**facts, **again_warning(continued)}

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "tolerance": [[value, f"{number.numerator}/{number.denominator}"] for value, number in self.tolerance],
        }


def fprime_from_json(data: Any) -> FPrimePrivacy:
    """Read the guarantee back from a release; raises PolicyError where it is not one."""
    match data:
        case {"notion": "F'-privacy", "tolerance": [*pairs], **rest} if not rest and pairs:
            return FPrimePrivacy(tolerance=tuple(_pair(pair) for pair in pairs))
        case _:
            raise PolicyError(f"guarantee must be {NAME} with a tolerance for each value")


def _pair(pair: Any) -> tuple[object, Fraction]:
    match pair:
        case [(str() | int() | None) as value, str(number)] if len(number) <= 80:
            top, _, bottom = number.partition("/")
            if top.isascii() and top.isdigit() and bottom.isascii() and bottom.isdigit() and int(bottom) > 0:
                limit = Fraction(int(top), int(bottom))
                if 0 < limit <= 1:
                    return value, limit
    raise PolicyError("a tolerance must be [value, 'a/b'] with 0 < a/b <= 1")

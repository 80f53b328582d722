"""F'-privacy: a tolerance for the probability with which each sensitive value may be inferred.

Paper: [WWFW] Definitions 1 and 2.
Symbols: f'_x the tolerance of value x; |g, x| records with x in bucket g; |g| the bucket's size.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.exact import exact_value, fraction_text, plain_number, stated

NAME = "F'-privacy"


@dataclass(frozen=True, kw_only=True)
class FPrimePrivacy:
    """In every bucket, the share of value x is at most its tolerance, so Pr(x | person, bucket) <= f'_x."""

    tolerance: tuple[tuple[object, Fraction], ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "tolerance": [[plain_number(value), fraction_text(number)] for value, number in self.tolerance],
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
        case [(str() | int() | float() | None) as value, number]:
            limit = stated(number)
            if limit is not None and 0 < limit <= 1:
                return exact_value(value), limit
    raise PolicyError("a tolerance must be [value, 'a/b'] with 0 < a/b <= 1")

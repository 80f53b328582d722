"""F'-privacy: a tolerance for the probability with which each sensitive value may be inferred.

Paper: [WWFW] Definitions 1 and 2.
Symbols: f'_x the tolerance of value x; |g, x| records with x in bucket g; |g| the bucket's size; q how many others of
    the bucket may be known.
Departs: with q the bound is |g, x| / (|g| - q) <= f'_x. Whoever knows the values of q others, or holds any belief about
    them that does not depend on the person's own value, is left with |g| - q equally likely records: given what he
    knows, all ways to give people records are equally likely, and fixing those of q people leaves uniform ways for the
    others. A belief is a mixture of such knowledge.
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
    """In every bucket, the share of value x is at most its tolerance, so Pr(x | person, bucket) <= f'_x; also of the
    records that are left beside `known` others.
    """

    tolerance: tuple[tuple[object, Fraction], ...]
    known: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "tolerance": [[plain_number(value), fraction_text(number)] for value, number in self.tolerance],
            **({"known": self.known} if self.known else {}),
        }


def fprime_from_json(data: Any) -> FPrimePrivacy:
    """Read the guarantee back from a release; raises PolicyError where it is not one."""
    match data:
        case {"notion": "F'-privacy", "tolerance": [*pairs], **rest} if pairs and set(rest) <= {"known"}:
            known = rest.get("known", 0)
            if type(known) is not int or (rest and known < 1):
                raise PolicyError("known must be a whole number, 1 or more, or be left out")
            return FPrimePrivacy(tolerance=tuple(_pair(pair) for pair in pairs), known=known)
        case _:
            raise PolicyError(f"guarantee must be {NAME} with a tolerance for each value")


def _pair(pair: Any) -> tuple[object, Fraction]:
    match pair:
        case [(str() | int() | float() | None) as value, number]:
            limit = stated(number)
            if limit is not None and 0 < limit <= 1:
                return exact_value(value), limit
    raise PolicyError("a tolerance must be [value, 'a/b'] with 0 < a/b <= 1")

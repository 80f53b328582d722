"""epsilon-differential privacy: what adding or removing one record can change, and where the budget went.

Paper: [QSL] Definition II.1.
Departs: neighbours differ by adding or removing one record; the paper also says "modified", which would cost twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.exact import fraction_text
from discreet.guarantee.dgamma import number_from
from discreet.guarantee.spent import For, Part, part_named

NAME = "epsilon-differential privacy"
MOST = 20
LEAST = Fraction(1, 10_000)
_MOST_PARTS = 2_000
_MOST_TOTAL = 10**9


@dataclass(frozen=True, kw_only=True)
class EpsilonPrivacy:
    """The promise of one release: `parts` say what each measurement cost, and add up to epsilon exactly.

    `before` is what earlier releases of the same series cost.
    """

    epsilon: Fraction
    parts: tuple[Part, ...]
    before: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not LEAST <= self.epsilon <= MOST:
            raise PolicyError(
                f"epsilon ({float(self.epsilon):.4g}) must be between {LEAST} and {MOST}; beyond, the promise says "
                "nothing; below, the noise leaves nothing"
            )
        if not 0 <= self.before <= _MOST_TOTAL or not all(0 <= part.share <= MOST for part in self.parts):
            raise PolicyError("parts of epsilon must not be negative, nor more than epsilon may be")

    @property
    def holds(self) -> bool:
        """Whether the parts add up to epsilon, in exact arithmetic."""
        return sum((part.share for part in self.parts), Fraction(0)) == self.epsilon

    @property
    def counts_cost(self) -> bool:
        """Whether everything that was counted cost something: what is free would be exact."""
        counted = [part.share for part in self.parts if part.paid.counts]
        return bool(counted) and all(share > LEAST / 10**6 for share in counted)

    @property
    def total(self) -> Fraction:
        """What all releases of the series cost together, this one included."""
        return self.before + self.epsilon

    @property
    def unspent(self) -> Fraction:
        return self.share(For.UNSPENT) or Fraction(0)

    def share(self, paid: For, column: str | None = None, round: int | None = None) -> Fraction | None:
        """What one part cost; None where there is none."""
        wanted = paid, column, round
        return next((part.share for part in self.parts if (part.paid, part.column, part.round) == wanted), None)

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "epsilon": fraction_text(self.epsilon),
            "parts": {part.name: fraction_text(part.share) for part in self.parts},
            "before": fraction_text(self.before),
        }


def laplace_variance(epsilon: Fraction | float) -> float:
    """The variance of discrete Laplace noise on a count that costs epsilon."""
    p = math.exp(-float(epsilon))
    return 2 * p / (1 - p) ** 2


def epsilon_from_json(data: Any) -> EpsilonPrivacy:
    """Read the guarantee back from a release; raises PolicyError where it is not one."""
    match data:
        case {
            "notion": "epsilon-differential privacy",
            "epsilon": str(epsilon),
            "parts": dict(parts),
            "before": str(before),
            **rest,
        } if not rest and len(parts) <= _MOST_PARTS and all(isinstance(each, str) for each in parts.values()):
            shares = tuple(part_named(str(name), number_from(share)) for name, share in parts.items())
            return EpsilonPrivacy(epsilon=number_from(epsilon), parts=shares, before=number_from(before))
        case _:
            raise PolicyError(f"guarantee must be {NAME} with epsilon, parts and before")

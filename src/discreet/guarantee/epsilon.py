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
from discreet.guarantee.dgamma import number_from
from discreet.guarantee.words import again_warning, fraction_text

NAME = "epsilon-differential privacy"
UNSPENT = "not needed"  # the part that choices which were not needed left over
MOST = 20
LEAST = Fraction(1, 10_000)
_MOST_PARTS = 2_000
_MOST_TOTAL = 10**9
_CHOICES = ("selections", "split points", UNSPENT)


@dataclass(frozen=True, kw_only=True)
class EpsilonPrivacy:
    """The promise of one release: `parts` say what each measurement cost, and add up to epsilon exactly.

    `before` is what earlier releases of the same series cost.
    """

    epsilon: Fraction
    parts: tuple[tuple[str, Fraction], ...]
    before: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not LEAST <= self.epsilon <= MOST:
            raise PolicyError(
                f"epsilon ({float(self.epsilon):.4g}) must be between {LEAST} and {MOST}; beyond, the promise says "
                "nothing; below, the noise leaves nothing"
            )
        if not 0 <= self.before <= _MOST_TOTAL or not all(0 <= share <= MOST for _, share in self.parts):
            raise PolicyError("parts of epsilon must not be negative, nor more than epsilon may be")

    @property
    def holds(self) -> bool:
        """Whether the parts add up to epsilon, in exact arithmetic."""
        return sum((share for _, share in self.parts), Fraction(0)) == self.epsilon

    @property
    def counts_cost(self) -> bool:
        """Whether everything that was counted cost something: what is free would be exact."""
        counted = [share for name, share in self.parts if name not in _CHOICES]
        return bool(counted) and all(share > LEAST / 10**6 for share in counted)

    @property
    def total(self) -> Fraction:
        """What all releases of the series cost together, this one included."""
        return self.before + self.epsilon

    @property
    def unspent(self) -> Fraction:
        return dict(self.parts).get(UNSPENT, Fraction(0))

    def share(self, name: str) -> Fraction | None:
        """What one part cost."""
        return dict(self.parts).get(name)

    def facts(self, *, continued: bool = False) -> dict[str, Any]:
        """The promise for people and for programs."""
        series = (
            f" With the earlier releases of this series, all together cost epsilon = {_plain(self.total)}, a factor of "
            f"{_factor(self.total)}."
            if self.before
            else ""
        )
        return {
            "notion": NAME,
            "words": "Whether or not a person's record is in the table, any release is almost as probable: at most "
            f"{_factor(self.epsilon)} times as probable with it as without it, or without it as with it "
            f"(epsilon = {_plain(self.epsilon)}).{series}",
            "adversary": "Anyone, whatever else he knows: even all other records of the table.",
            "inequality": "Pr(release | table) <= e^epsilon Pr(release | table with one record added or removed), with "
            f"epsilon = {_plain(self.epsilon)}",
            "unit": "one record, added or removed",
            "epsilon": fraction_text(self.epsilon),
            "total_epsilon": fraction_text(self.total),
            "parts": {name: fraction_text(share) for name, share in self.parts},
            "unspent": f"{_plain(self.unspent)} of epsilon was reserved for choices that were not needed; nothing was "
            "done with it"
            if self.unspent
            else "nothing is left over",
            "not_covered": [
                "People with several records, and groups: k records together may change the probability by e^(k "
                "epsilon).",
                "What the release teaches about people in general, and so about those who were not in the table too.",
                "The domains, hierarchies and bounds: they are public, and must not have been taken from the table.",
                "Other releases about the same people: their epsilons add up. Those of this series are counted in "
                "total_epsilon.",
                "The number of rows is not released; the total of the counts is a noisy one.",
            ],
            **again_warning(continued),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "epsilon": fraction_text(self.epsilon),
            "parts": {name: fraction_text(share) for name, share in self.parts},
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
            shares = tuple((str(name), number_from(share)) for name, share in parts.items())
            return EpsilonPrivacy(epsilon=number_from(epsilon), parts=shares, before=number_from(before))
        case _:
            raise PolicyError(f"guarantee must be {NAME} with epsilon, parts and before")


def _factor(epsilon: Fraction) -> str:
    """e^epsilon as people read it."""
    return f"{math.exp(float(epsilon)):.4g}" if epsilon <= MOST else f"e^{_plain(epsilon)}"


def _plain(number: Fraction) -> str:
    return f"{float(number):.6g}"

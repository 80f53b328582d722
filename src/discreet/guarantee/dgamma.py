"""(d, gamma)-privacy: a tuple that seemed improbable stays improbable, and is not ruled out either.

Paper: [RSH] Definitions 2.1 to 2.3 and 6.2, Theorems 4.2 and 6.3.
Symbols: d bounds the prior of a tuple, gamma its posterior; s = alpha + beta is the probability to keep a tuple of the
    table, beta that to insert any other tuple of the domain; R = gamma (1 - d) / (d (1 - gamma)).
Departs: Theorem 4.2 states sufficient conditions; the exact ones are s / beta <= R and
    (1 - s) / (1 - beta) >= d / gamma. Theorem 6.3 has a factor 2 that is not needed: s (1 - beta) <= R beta (1 - s) is
    exact, so beta >= 1 / (1 + R) at s = 1/2, for d <= 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import PolicyError

NAME = "(d, gamma)-privacy"
ADVERSARIES = ("exclusive", "independent")

_WHO = {
    "independent": "Believes of each tuple of the domain, one independently of the other, that it is in the table "
    "with a "
    "probability of at most d (or knows it for certain), and knows how the release was made.",
    "exclusive": "Knows sets of tuples of which exactly one is in the table (a person whose tuple is one of many), "
    "holds "
    "each of them for at most as probable as d, and knows how the release was made.",
}
_INEQUALITY = {
    "independent": "Pr(t in table | release) <= gamma and Pr(t in table | release) >= (d / gamma) Pr(t in table), for "
    "every tuple t with Pr(t in table) <= d",
    "exclusive": "Pr(t in table | release) <= gamma, for every tuple t with Pr(t in table) <= d",
}


@dataclass(frozen=True, kw_only=True)
class DGammaPrivacy:
    """What a release made with these probabilities promises to whom."""

    d: Fraction
    gamma: Fraction
    adversary: str
    keep: Fraction  # s
    insert: Fraction  # beta
    candidates: int  # the tuples that are left for one who knows every quasi-identifier

    def __post_init__(self) -> None:
        if not 0 < self.d < self.gamma < 1:
            raise PolicyError("prior and posterior must be probabilities with prior below posterior")
        if self.adversary not in ADVERSARIES:
            raise PolicyError(f"adversary ({self.adversary}) must be one of {', '.join(ADVERSARIES)}")

    @property
    def holds(self) -> bool:
        """Whether these probabilities keep the promise, in exact arithmetic."""
        if not 0 < self.insert < self.keep < 1:
            return False
        if self.adversary == "exclusive":
            ratio = odds(self.d, self.gamma)
            return self.d <= Fraction(1, 2) and self.keep * (1 - self.insert) <= ratio * self.insert * (1 - self.keep)
        return self._holds_for_independent

    @property
    def _holds_for_independent(self) -> bool:
        seen = self.keep <= odds(self.d, self.gamma) * self.insert
        return seen and (1 - self.keep) * self.gamma >= self.d * (1 - self.insert)

    def linked(self, candidates: Fraction | int) -> Fraction:
        """The posterior of one who is left with that many equally probable candidates and sees one of them alone."""
        kept, noise = self.keep * (1 - self.insert), (candidates - 1) * (1 - self.keep) * self.insert
        return kept / (kept + noise)

    @property
    def epsilon(self) -> float:
        """How far apart the release is for two tables that differ in one tuple (add or remove), as a log ratio."""
        return max(math.log(self.keep / self.insert), math.log((1 - self.insert) / (1 - self.keep)))

    def facts(self, *, continued: bool = False) -> dict[str, Any]:
        """The promise for people and for programs."""
        least, known = 1 / self.d, self.linked(self.candidates)
        words = (
            f"A tuple that an adversary holds for at most {_percent(self.d)} probable before seeing this release is "
            f"at most "
            f"{_percent(self.gamma)} probable to him afterwards."
        )
        uncovered = [
            f"One who can narrow a person down to fewer than {math.ceil(least):,} equally probable tuples: his "
            f"prior is above "
            f"d. One who knows all quasi-identifiers of a person in the table, and that nobody else has them, is "
            f"left with "
            f"{self.candidates:,} tuples and reaches {_percent(known)}.",
            "Several tuples that stand or fall together (relatives, rows of one person): seeing them together tells "
            "more.",
            "That a tuple is not in the table: its absence from the release makes it less probable."
            if self.adversary == "exclusive"
            else f"One who knows that exactly one of {math.ceil(least):,} tuples is in the table reaches "
            f'{_percent(self.linked(least))}; adversary = "exclusive" bounds him.',
            "Copies: the table is taken as a set of distinct tuples, and all counts are of distinct tuples.",
            "A second release of the same people with fresh coins: a tuple seen twice is hardly noise.",
        ]
        facts: dict[str, Any] = {
            "notion": NAME,
            "words": words,
            "adversary": _WHO[self.adversary],
            "inequality": self._inequality,
            "unit": "one distinct tuple of the published columns",
            "not_covered": uncovered,
        }
        if continued:
            facts["warning"] = (
                "The custodian has released rows from this series before and said that this release stands on its "
                "own. If "
                "the same people are in both, the promise does not cover what the two releases give away together."
            )
        return facts

    @property
    def _inequality(self) -> str:
        numbers = f", with d = {_percent(self.d)}, gamma = {_percent(self.gamma)}"
        if self.adversary == "exclusive" and self._holds_for_independent:
            return (
                f"{_INEQUALITY['exclusive']}{numbers}; for an adversary who holds tuples for independent, also that "
                + ("Pr(t in table | release) >= (d / gamma) Pr(t in table)")
            )
        return _INEQUALITY[self.adversary] + numbers

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "d": _text(self.d),
            "gamma": _text(self.gamma),
            "adversary": self.adversary,
            "keep": _text(self.keep),
            "insert": _text(self.insert),
            "candidates": self.candidates,
        }


def dgamma_from_json(data: Any) -> DGammaPrivacy:
    """Read the guarantee back from a release; raises PolicyError where it is not one."""
    match data:
        case {
            "notion": "(d, gamma)-privacy",
            "d": str(d),
            "gamma": str(gamma),
            "adversary": str(adversary),
            "keep": str(keep),
            "insert": str(insert),
            "candidates": int(candidates),
            **rest,
        } if not rest and candidates > 0:
            numbers = [_number(each) for each in (d, gamma, keep, insert)]
            return DGammaPrivacy(
                d=numbers[0],
                gamma=numbers[1],
                adversary=adversary,
                keep=numbers[2],
                insert=numbers[3],
                candidates=candidates,
            )
        case _:
            raise PolicyError(f"guarantee must be {NAME} with d, gamma, adversary, keep, insert and candidates")


def odds(d: Fraction, gamma: Fraction) -> Fraction:
    """R: how much more probable a tuple may become, as a ratio of odds."""
    return gamma * (1 - d) / (d * (1 - gamma))


def _number(text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    if len(text) > 4_000 or not (
        top.isascii() and top.isdigit() and bottom.isascii() and bottom.isdigit() and int(bottom)
    ):
        raise PolicyError("probabilities must be fractions 'a/b' in digits")
    return Fraction(int(top), int(bottom))


def _text(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"


def _percent(number: Fraction) -> str:
    return f"{float(number) * 100:.4g} %"

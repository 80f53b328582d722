"""What FRAPP promises: (d, gamma)-privacy of tuples that the release shows at most once.

Paper: [RSH] section 5 compares with FRAPP; the parameter for (d, gamma) is not in the paper.
Symbols: each of n records keeps its tuple with probability g and else becomes a uniform other tuple of the m in the
    domain, each with e = (1 - g) / (m - 1). A tuple of the table is shown once with
    g (1 - e)^(n-1) + (1 - g) (n - 1) e (1 - e)^(n-2), another one with n e (1 - e)^(n-1); the ratio of both is `rise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.ground.exact import fraction_text
from discreet.ground.most import MOST_ROWS
from discreet.guarantee.dgamma import number_from, odds

NAME = "(d, gamma)-privacy of tuples seen once"


@dataclass(frozen=True, kw_only=True)
class FrappPrivacy:
    """What a release made with this probability promises."""

    d: Fraction
    gamma: Fraction
    keep: Fraction  # g
    rows: int  # n
    domain: int  # m
    candidates: int  # the tuples that are left for one who knows every quasi-identifier

    slots: ClassVar[int] = 1  # copies need none: every record is there

    def __post_init__(self) -> None:
        if not 0 < self.d < self.gamma < 1:
            raise PolicyError("prior and posterior must be probabilities with prior below posterior")
        if not 1 <= self.rows <= MOST_ROWS or self.domain < 2 or not 0 < self.keep < 1:
            raise PolicyError("rows, domain and keep must be those of a table with other tuples to change to")

    @cached_property
    def other(self) -> Fraction:
        """e: the probability that a record becomes a certain other tuple."""
        return (1 - self.keep) / (self.domain - 1)

    @property
    def of_records(self) -> bool:
        """Whether counts are of records, and not of distinct tuples."""
        return True

    @property
    def insert(self) -> Fraction:
        """The same, by the name that noise has in alpha-beta."""
        return self.other

    @property
    def times(self) -> int:
        """How often noise may show a tuple: any record may become it."""
        return self.rows

    def rise(self, times: int = 1) -> Fraction:
        """How much likelier a tuple becomes by being shown that many times, as a ratio of odds."""
        n, e = self.rows, self.other
        return times * self.keep / (n * e) + (1 - self.keep) * max(n - times, 0) / (n * (1 - e))

    @cached_property
    def fall(self) -> Fraction:
        """How much less likely a tuple becomes by not being shown."""
        return (1 - self.keep) / (1 - self.other)

    @property
    def possible(self) -> bool:
        """Whether a record is likelier to have its own tuple than another one."""
        return self.other < self.keep

    @property
    def holds(self) -> bool:
        """Whether this probability keeps the promise, in exact arithmetic."""
        return self.possible and self.rise() <= odds(self.d, self.gamma) and self.fall * self.gamma >= self.d

    def posterior(self, times: int) -> Fraction:
        """Of a tuple of prior d that is shown that many times."""
        raised = self.d * self.rise(times)
        return raised / (raised + 1 - self.d)

    @property
    def whole(self) -> Fraction:
        """The most that a certain record's tuple of prior d can reach, from all that the release shows.

        Whatever the other records are, a release is at most g / e times as probable with it as with another one.
        """
        raised = self.d * self.keep
        return raised / (raised + (1 - self.d) * self.other)

    def linked(self, candidates: Fraction | int) -> Fraction:
        """The posterior of one who is left with that many equally probable candidates and sees one of them once."""
        rise = self.rise()
        return rise / (rise + (candidates - 1) * self.fall)

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": NAME,
            "d": fraction_text(self.d),
            "gamma": fraction_text(self.gamma),
            "keep": fraction_text(self.keep),
            "rows": self.rows,
            "domain": str(self.domain),
            "candidates": self.candidates,
        }


def frapp_from_json(data: Any) -> FrappPrivacy:
    """Read the guarantee back from a release; raises PolicyError where it is not one."""
    match data:
        case {
            "notion": "(d, gamma)-privacy of tuples seen once",
            "d": str(d),
            "gamma": str(gamma),
            "keep": str(keep),
            "rows": int(rows),
            "domain": str(domain),
            "candidates": int(candidates),
            **rest,
        } if not rest and candidates > 0 and bool not in (type(candidates), type(rows)):
            return FrappPrivacy(
                d=number_from(d),
                gamma=number_from(gamma),
                keep=number_from(keep),
                rows=rows,
                domain=_whole(domain),
                candidates=candidates,
            )
        case _:
            raise PolicyError(f"guarantee must be {NAME} with d, gamma, keep, rows, domain and candidates")


def _whole(text: str) -> int:
    number = number_from(text)
    if number.denominator != 1:
        raise PolicyError("domain must be a whole number in digits")
    return number.numerator

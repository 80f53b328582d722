"""(d, gamma)-privacy: a tuple that seemed improbable stays improbable, and is not ruled out either.

Paper: [RSH] Definitions 2.1 to 2.3 and 6.2, Theorems 4.2 and 6.3, sections 4.4.1 and 4.4.2.
Symbols: d bounds the prior of a tuple, gamma its posterior; s = alpha + beta is the probability to keep a tuple of the
    table, beta that to insert any other tuple of the domain; R = gamma (1 - d) / (d (1 - gamma)). For several views,
    beta_i is the beta of view i, and q the probability to show again a tuple that an earlier view showed. With a public
    source, w(t) is the weight of a tuple, 1 on average: beta, s and the bound on its prior are those of weight 1, and
    beta w(t), alpha + beta w(t) and d w(t) those of the tuple.
Departs: Theorem 4.2 states sufficient conditions; the exact ones are s / beta <= R and
    (1 - s) / (1 - beta) >= d / gamma. Theorem 6.3 has a factor 2 that is not needed: s (1 - beta) <= R beta (1 - s) is
    exact, so beta >= 1 / (1 + R) at s = 1/2, for d <= 1/2. Section 4.4.1 looks at tables that do not change, and calls
    them the worst case; a tuple that joins later is worse, so here every history of a tuple is covered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.ground.exact import LONGEST, fraction_text, stated

NAME = "(d, gamma)-privacy"
ADVERSARIES = ("exclusive", "independent")
MOST_VIEWS = 50
MOST_SLOTS = 10_000
EVEN = (Fraction(1), Fraction(1))


@dataclass(frozen=True, kw_only=True)
class DGammaPrivacy:
    """What releases made with these probabilities promise to whom."""

    d: Fraction
    gamma: Fraction
    adversary: str
    keep: Fraction  # s
    insert: Fraction  # beta, of the first view
    candidates: int  # the tuples that are left for one who knows every quasi-identifier
    later: tuple[Fraction, ...] = ()  # beta_2, ..., beta_v
    again: Fraction = Fraction(0)  # q, where there are several views
    weights: tuple[Fraction, Fraction] = EVEN  # the least and the largest w(t)
    slots: int = 1  # a tuple has this many places for its copies

    times: ClassVar[int] = 1  # that noise may show a tuple

    def __post_init__(self) -> None:
        if not 0 < self.d < self.gamma < 1:
            raise PolicyError("prior and posterior must be probabilities with prior below posterior")
        if self.adversary not in ADVERSARIES:
            raise PolicyError(f"adversary ({self.adversary}) must be one of {', '.join(ADVERSARIES)}")
        if self.later and self.weights != EVEN:
            raise PolicyError("views and source must not be combined")
        if not 0 < self.weights[0] <= 1 <= self.weights[1] or not 1 <= self.slots <= MOST_SLOTS:
            raise PolicyError("weights and slots must be those of a domain")

    @property
    def of_records(self) -> bool:
        """Whether counts are of records, and not of distinct tuples."""
        return self.slots > 1

    @property
    def inserts(self) -> tuple[Fraction, ...]:
        """beta_1, ..., beta_v."""
        return (self.insert, *self.later)

    @property
    def views(self) -> int:
        return 1 + len(self.later)

    @cached_property
    def heaviest(self) -> tuple[Fraction, Fraction, Fraction]:
        """The bound on the prior, s and beta of the tuple of the largest weight: what holds for it holds for all.

        For a weight w, alpha / beta <= w (R(d w) - 1), and the same with `fall`, is hardest where w is largest.
        """
        more = self.insert * (self.weights[1] - 1)
        return self.d * self.weights[1], self.keep + more, self.insert + more

    @cached_property
    def possible(self) -> bool:
        """Whether these are probabilities under which a tuple of the table is likelier to be there than another."""
        _, keep, insert = self.heaviest
        return 0 < insert < keep < 1 and all(0 < each < keep for each in self.later) and 0 <= self.again < keep

    @property
    def holds(self) -> bool:
        """Whether these probabilities keep the promise, in exact arithmetic."""
        d = self.heaviest[0]
        if not self.possible or d >= self.gamma or (self.later and max(self.inserts) > self.again):
            return False
        if self.adversary == "exclusive":
            return d <= Fraction(1, 2) and self._most <= odds(d, self.gamma) * self.fall
        return self.holds_for_independent

    @cached_property
    def holds_for_independent(self) -> bool:
        """Whether they keep it for one who holds tuples for independent, whoever it is made for."""
        d = self.heaviest[0]
        return self._most <= odds(d, self.gamma) and self.fall * self.gamma >= d

    @cached_property
    def _most(self) -> Fraction:
        """How much likelier a tuple of the largest weight can become: that is what must be allowed."""
        return self._rise(self.weights[1])

    @cached_property
    def _least(self) -> Fraction:
        """How much likelier a tuple of the least weight can become: it stands out most."""
        return self._rise(self.weights[0])

    def _rise(self, weight: Fraction) -> Fraction:
        """How much likelier a tuple of that weight can become, as a ratio of odds, by all views.

        Seen first in view j, and then in every one: (s / beta_j) (s / q)^(v - j).
        """
        if not self.later:
            return (self.keep - self.insert) / (self.insert * weight) + 1
        last = self.views - 1
        return max(self.keep / each * (self.keep / self.again) ** (last - j) for j, each in enumerate(self.inserts))

    @cached_property
    def fall(self) -> Fraction:
        """How much less likely a tuple can become, by never being seen."""
        _, keep, insert = self.heaviest
        return math.prod(((1 - keep) / (1 - each) for each in (insert, *self.later)), start=Fraction(1))

    @property
    def posterior(self) -> Fraction:
        """Of a tuple of prior d that every view shows, to one who holds tuples for independent."""
        d = self.heaviest[0]
        raised = d * self._rise(self.weights[1])
        return raised / (raised + 1 - d)

    def linked(self, candidates: Fraction | int) -> Fraction:
        """The posterior of one who is left with that many equally probable candidates and sees one of them alone.

        With a source, for a tuple of the least weight, which stands out most.
        """
        return self._least / (self._least + (candidates - 1) * self.fall)

    @property
    def epsilon(self) -> float:
        """How far apart the releases are for two tables that differ in one tuple (add or remove), as a log ratio."""
        return max(math.log(self._least), -math.log(self.fall))

    def as_json(self) -> dict[str, Any]:
        content: dict[str, Any] = {
            "notion": NAME,
            "d": fraction_text(self.d),
            "gamma": fraction_text(self.gamma),
            "adversary": self.adversary,
            "keep": fraction_text(self.keep),
            "insert": fraction_text(self.insert),
            "candidates": self.candidates,
            "slots": self.slots,
        }
        if self.later:
            content |= {"later": [fraction_text(each) for each in self.later], "again": fraction_text(self.again)}
        if self.weights != EVEN:
            content["weights"] = [fraction_text(each) for each in self.weights]
        return content


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
            "slots": int(slots),
            **rest,
        } if candidates > 0 and bool not in (type(candidates), type(slots)):
            return DGammaPrivacy(
                d=number_from(d),
                gamma=number_from(gamma),
                adversary=adversary,
                keep=number_from(keep),
                insert=number_from(insert),
                candidates=candidates,
                slots=slots,
                **_extras(rest),
            )
        case _:
            raise PolicyError("guarantee must be (d, gamma)-privacy with d, gamma, adversary, keep, insert, candidates")


def _extras(rest: Mapping[Any, Any]) -> dict[str, Any]:
    """What several views or a source add to a guarantee."""
    match rest:
        case {} if not rest:
            return {}
        case {"later": [*later], "again": str(again), **more} if not more and 0 < len(later) < MOST_VIEWS:
            return {"later": tuple(map(number_from, later)), "again": number_from(again)}
        case {"weights": [least, largest], **more} if not more:
            return {"weights": (number_from(least), number_from(largest))}
        case _:
            raise PolicyError("guarantee must have nothing but what its views or its source add")


def odds(d: Fraction, gamma: Fraction) -> Fraction:
    """R: how much more probable a tuple may become, as a ratio of odds."""
    return gamma * (1 - d) / (d * (1 - gamma))


def number_from(text: Any) -> Fraction:
    """A number of a guarantee, as a release states it; raises PolicyError where it is none."""
    found = stated(text)
    if found is None:
        raise PolicyError(f"probabilities must be fractions 'a/b' in digits, of at most {LONGEST} characters")
    return found

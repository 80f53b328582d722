"""Is a person in the table? He knows everybody else's record, and takes the noisy counts for or against it.

This is the adversary whom epsilon speaks of. Where raw counts are published (Pairs) he has exact log ratios, and the
noise itself shows what was really spent. Where counts are fitted before they are published (DiffGen), one release
cannot show that: it takes many releases of two tables.

Paper: [QSL] Definition II.1. Departs: neighbours differ by one record more or less, as the promise says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.diffgen.counts import Part, parts_of
from discreet.attack.diffgen.leaves import cells_of, published_of
from discreet.attack.diffgen.presence import Told, allowed, exact_leaning, leaning, rate_in, right
from discreet.attack.diffgen.worth import Seen, factor_of
from discreet.attack.rate import Rate, clustered, computed
from discreet.attack.target import NO_TABLE, Target
from discreet.errors import PolicyError
from discreet.ground.arrays import Floats, Ints
from discreet.ground.progress import Tell
from discreet.release.diffgen.pairs.shares import MOST_ROUNDS

MEASURES = "right answers to: is this person in, given all others, and is there one more just like him"
EVEN = "a coin"
LARGEST = "epsilon that the counts are worth about the person of whom they tell most"
CHOICES = "choices of pairs are not used: they could tell at most what they cost"
ALONE = (
    "counts were fitted to each other before they were published, which takes the exact ratios away and adds what "
    "other counts say; one release cannot show whether its noise is large enough"
)


@dataclass(frozen=True, kw_only=True)
class Membership:
    """He knows all other records, and asks of `targets` people, chosen by chance, whether they are in."""

    targets: int = 500

    name: ClassVar[str] = "membership"
    group: ClassVar[Group] = Group.SINGLING_OUT
    line: ClassVar[str] = "knows everybody else's record, and tells from noisy counts whether a person is in"
    needs: ClassVar[str] = "all other records"
    cost: ClassVar[float] = 3.0

    def __post_init__(self) -> None:
        if type(self.targets) is not int or self.targets < 1:
            raise PolicyError(f"targets ({self.targets}) must be a whole number of at least 1")

    def unfit(self, target: Target) -> str:
        if target.table is None:
            return NO_TABLE
        return "" if target.table.rows else "nobody is in the table"

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        if target.kind != "pairs":
            yield self._published(target)
            return
        parts = target.once(parts_of)
        told = self._told(target, parts)
        tell(0.3)
        yield self._guesses(target, told)
        tell(0.8)
        yield self._largest(target, told)
        yield from _worths(target, parts)

    def _people(self, target: Target) -> dict[str, Ints]:
        """Records of some people."""
        chosen = np.sort(target.coins(self.name).permutation(target.known.rows)[: self.targets])
        return {name: column[chosen] for name, column in target.codes.items()}

    def _told(self, target: Target, parts: Sequence[Part]) -> list[Told]:
        some = self._people(target)
        return [Told(share=part.share, noise=part.noise(target.codes), cell=part.cell(some)) for part in parts]

    def _guesses(self, target: Target, told: Sequence[Told]) -> Finding:
        return Finding(
            name=self.name,
            group=self.group,
            measures=MEASURES,
            rate=rate_in(told, target.confidence, target.coins(f"{self.name} worlds")),
            bound=allowed(_epsilon(target)),
            baseline=0.5,
            baseline_is=EVEN,
            covered=True,
            note=CHOICES,
            details=_sides(leaning(told, more=False), leaning(told, more=True)),
        )

    def _largest(self, target: Target, told: Sequence[Told]) -> Finding:
        """The log ratio that is furthest from 0; by the sum of the stated parts it cannot be more than epsilon."""
        ratios = leaning(told, more=False)
        worst = int(np.abs(ratios).argmax())
        exact = abs(exact_leaning(told, worst))
        return Finding(
            name=self.name,
            variant="the person of whom most is told",
            group=self.group,
            measures=LARGEST,
            rate=computed(float(exact), len(ratios)),
            bound=float(_epsilon(target)),  # rounded as the rate is, which may be equal to it
            covered=True,
            share=False,
            note=f"taken with the stated parts of epsilon, whose sum it cannot pass; {CHOICES}",
            details={
                "belief_from_even_odds": allowed(exact),
                "median": float(np.median(np.abs(ratios))),
                "share_of_people_told_in": float((ratios > 0).mean()),
            },
        )

    def _published(self, target: Target) -> Finding:
        """Guesses from counts that were fitted: each leans by how far it is from the truth."""
        codes = self._people(target)
        present, more = (leaning_of_leaves(target, codes, more=each) for each in (False, True))
        return Finding(
            name=self.name,
            group=self.group,
            measures=MEASURES,
            rate=clustered(right(present, more), cells_of(target, codes)[0], target.confidence),
            bound=allowed(_epsilon(target)),
            baseline=0.5,
            baseline_is=EVEN,
            covered=False,
            note=ALONE,
            details=_sides(present, more),
        )


def leaning_of_leaves(target: Target, codes: Mapping[str, Ints], *, more: bool) -> Floats:
    """How much published leaves and tables speak for records of the table, or that there is one `more` like each."""
    cells = cells_of(target, codes)
    found = np.zeros(len(cells[0]))
    for each in target.once(published_of):
        found += each.leaning(cells[each.place], more=more)
    return found


def _worths(target: Target, parts: Sequence[Part]) -> Iterator[Finding]:
    """What the noise is worth: of all counts together, and of the part that has least of it beside its share."""
    seen = [Seen.of(float(part.share), part.noise(target.codes)) for part in parts]
    spent = sum((part.share for part in parts), Fraction(0))
    yield _worth(
        "all noisy counts", factor_of(seen, target.confidence), spent, "epsilon that the noise of all counts is worth"
    )
    most = 1 + 2 * len(target.schema.columns) + MOST_ROUNDS  # parts that there can be, whatever the noise
    each_confidence = 1 - (1 - target.confidence) / most
    factors = [factor_of([own], each_confidence) for own in seen]
    worst = max(range(len(parts)), key=lambda place: factors[place].low)
    yield _worth(
        "the part with the least noise",
        factors[worst],
        parts[worst].share,
        f"epsilon that the noise of one part is worth ({parts[worst].name})",
    )


def _worth(variant: str, factor: Rate, share: Fraction, measures: str) -> Finding:
    paid = float(share)
    rate = Rate(rate=factor.rate * paid, low=factor.low * paid, high=factor.high * paid, attempts=factor.attempts)
    return Finding(
        name=Membership.name,
        variant=variant,
        group=Membership.group,
        measures=measures,
        rate=rate,
        bound=share,
        covered=True,
        share=False,
        note="of counts alone, beside what was paid for them: he who knows all records sees the noise itself",
        details={"factor": factor.rate, "right_answers_at_that": allowed(rate.rate)},
    )


def _sides(present: Floats, more: Floats) -> dict[str, float]:
    """How often he says yes to either question."""
    return {"said_in": float((present > 0).mean()), "said_one_more": float((more > 0).mean())}


def _epsilon(target: Target) -> Fraction:
    epsilon: Fraction = target.manifest.statement.guarantee.epsilon
    return epsilon

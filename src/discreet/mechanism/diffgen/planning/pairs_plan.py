"""What a release of pairs would cost and hold, from the policy alone: the rows are not looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.estimate.estimate import PEOPLE
from discreet.ground.exact import fraction_text
from discreet.guarantee.epsilon import laplace_variance
from discreet.guarantee.spent import For, Part
from discreet.mechanism.diffgen.planning.parts import Parts
from discreet.mechanism.plan import Stakes
from discreet.release.diffgen.pairs.shares import Shares
from discreet.release.diffgen.pairs.walk import Setting

TABLES = (1_000, 10_000, 100_000, 1_000_000)  # people, for which a plan says how epsilon would be divided


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What a table of about so many people would get: the share of single columns, rounds, and noise, in people."""

    people: int
    columns: Fraction
    rounds: int
    cell: float  # the standard error of a count of one column
    pair: float  # the same of a count of a chosen pair

    def as_json(self) -> dict[str, Any]:
        return {
            "people": self.people,
            "columns": fraction_text(self.columns),
            "rounds": self.rounds,
            "noise_of_a_cell": round(self.cell, 2),
            "noise_of_a_pair": round(self.pair, 2),
        }


@dataclass(frozen=True, kw_only=True)
class PairsPlan:
    """What is known before anything is measured, and how epsilon would be divided for tables of several sizes."""

    epsilon: Fraction
    total: Fraction
    columns: int
    cells: int
    outlooks: tuple[Outlook, ...]

    warnings: ClassVar[tuple[str, ...]] = ()  # nothing is asked for that could not be had

    @property
    def stakes(self) -> Stakes:
        """Epsilon; every person has the same promise."""
        return Stakes(number=float(self.epsilon), what="epsilon", unprotected=0, alone=None, size=self.cells)

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        return {
            "unit": PEOPLE,
            "epsilon": fraction_text(self.epsilon),
            "parts": {For.TOTAL.value: fraction_text(self.total)},
            "attributes": self.columns,
            "table_counts": self.cells,
            "outlooks": [each.as_json() for each in self.outlooks],
            "warnings": list(self.warnings),
        }

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        """How epsilon would be divided, by how many people there are; nothing of it depends on the rows."""
        yield f"epsilon = {float(self.epsilon):.6g} for adding or removing one record"
        yield f"{float(self.total):.6g} of it buys the noisy number of people, which divides the rest:"
        yield "  about so many people   single columns   pairs, in rounds   noise of a cell   of a pair's cell"
        for each in self.outlooks:
            rest = self.epsilon - self.total - each.columns
            yield (
                f"  {each.people:>20,}   {float(each.columns):>14.6g}   {float(rest):>10.6g} in {each.rounds:>3}   "
                f"{f'+-{each.cell:,.1f}':>15}   {f'+-{each.pair:,.1f}':>16}"
            )
        yield f"{self.cells:,} noisy counts of {self.columns} single columns, and those of the pairs that are chosen"
        yield f"its counts are of {PEOPLE}, with such noise; over more columns a model's own error comes on top"
        yield "the rows were not looked at: a plan that depended on them would have to be paid for"


def plan_of(setting: Setting) -> PairsPlan:
    """The plan; it is public, for a number that depended on the rows would have to be paid for."""
    return PairsPlan(
        epsilon=setting.epsilon,
        total=setting.total_share,
        columns=len(setting.sizes),
        cells=sum(setting.sizes),
        outlooks=tuple(_outlook(people, setting.shares(people)) for people in TABLES),
    )


def _outlook(people: int, shares: Shares) -> Outlook:
    measuring = shares.rest / shares.rounds * (1 - shares.choosing)
    return Outlook(
        people=people,
        columns=sum(shares.ones, Fraction(0)),
        rounds=shares.rounds,
        cell=math.sqrt(max(map(laplace_variance, shares.ones))),
        pair=math.sqrt(laplace_variance(measuring)),
    )


def possible_parts(setting: Setting, columns: Sequence[str]) -> Iterator[Parts]:
    """Parts of epsilon as releases of tables of several sizes may state them."""
    for people in (0, *TABLES):
        shares = setting.shares(people)
        parts = [Part(paid=For.TOTAL, share=shares.total)]
        parts += [Part(paid=For.TABLE, column=name, share=own) for name, own in zip(columns, shares.ones, strict=True)]
        each = shares.rest / shares.rounds
        for number in range(1, shares.rounds + 1):
            parts.append(Part(paid=For.CHOICE, share=each * shares.choosing, round=number))
            parts.append(Part(paid=For.PAIR, share=each * (1 - shares.choosing), round=number))
        yield tuple(parts)

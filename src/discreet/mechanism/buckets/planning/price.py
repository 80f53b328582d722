"""What it costs to defend a bucket against those who know others, and what fakes leave them: told before publishing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.guarantee.certainty import class_certainty
from discreet.guarantee.words import percent
from discreet.mechanism.buckets.making.fakes import balanced
from discreet.mechanism.buckets.planning.caps import Defence, caps_of
from discreet.series.coins import Coins

if TYPE_CHECKING:
    from discreet.mechanism.buckets.planning.plan import BucketPlan


@dataclass(frozen=True, kw_only=True)
class Price:
    """A plan beside the one for the same counts and tolerances `without` known others and fakes.

    `times` is how much further off unbiased counts are, in the median over values; None where no value has both
    forecasts. `certainty` is the most that one who knows all others, and the totals, can believe of a protected value
    by the law of the draw, whatever the coins give; without fakes he is certain.
    """

    defence: Defence
    loss: int
    without: int
    times: float | None
    certainty: Fraction

    def as_json(self) -> dict[str, Any]:
        return {
            "known": self.defence.known,
            "fakes": self.defence.fakes,
            "loss_without": self.without,
            "times_off": self.times,
            "certainty": str(self.certainty),
        }

    def lines(self) -> Iterator[str]:
        """What is bought, and what it costs."""
        if known := self.defence.known:
            others = "1 other person" if known == 1 else f"{known} others"
            yield f"known {known}: tolerances hold also against one who knows the values of {others} of a bucket"
        if fakes := self.defence.fakes:
            left = "may be certain" if self.certainty == 1 else f"believes at most {percent(self.certainty)}"
            made = "1 value that nobody has" if fakes == 1 else f"{fakes} values that nobody has"
            yield (
                f"fakes {fakes}: every bucket has {made}; one who knows all its others, and the totals, {left} of a "
                "protected value, by the law of the draw: no part of the promise"
            )
        off = (
            "" if self.times is None else f"; unbiased counts are off by {self.times:.2f} times as much, in the median"
        )
        yield f"their price: loss {self.loss:,} instead of {self.without:,}{off}"


def price_of(plan: BucketPlan, without: BucketPlan) -> Price:
    """What a plan costs beside another one without known others and fakes."""
    before = {each.value: each.off for each in without.forecast.outlooks}
    pairs = ((each.off, before.get(each.value)) for each in plan.forecast.outlooks)
    times = [one / two for one, two in pairs if one is not None and two]
    return Price(
        defence=plan.defence,
        loss=plan.loss,
        without=without.loss,
        times=median(times) if times else None,
        certainty=_certainty(plan) if plan.defence.fakes else Fraction(1),
    )


def _certainty(plan: BucketPlan) -> Fraction:
    """The most over all classes, for buckets that hold as much of a value as they may."""
    values = list(plan.allocation)
    limits, fakes, found = [plan.tolerance[value] for value in values], plan.defence.fakes, Fraction(0)
    stream = Coins.from_seed(0).stream("how many fakes")
    for size, _ in plan.classes:
        people = np.array([plan.allocation[value].get(size, 0) for value in values])
        made, caps = balanced(people, size, fakes, stream), caps_of(limits, np.array([size]), plan.defence)[:, 0]
        held = np.minimum(caps, people + made)
        protected = np.array([limit < 1 for limit in limits]) & (people > 0)
        there = np.flatnonzero(people)
        pairs = zip(people[there].tolist(), made[there].tolist(), strict=True)
        found = max(found, class_certainty(int(held[protected].max(initial=0)), pairs, fakes))
    return found

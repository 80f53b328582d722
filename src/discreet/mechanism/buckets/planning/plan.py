"""A plan for buckets: how many of which size, what they cost, and how that is said.

Paper: [WWFW] sections 3.4 and 4; [W14] chapter 3.
Symbols: o_i counts, f'_i tolerances, (S_j, b_j) classes, Loss = sum_j b_j (S_j - 1)^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from discreet.ground.arrays import Ints
from discreet.ground.exact import Number, exact
from discreet.ground.shown import and_more, name_of, name_some
from discreet.mechanism.buckets.planning.caps import NOTHING, Classes, Defence, smallest_size
from discreet.mechanism.buckets.planning.certificate import Certificate
from discreet.mechanism.buckets.planning.explain import Reason, reasons_for
from discreet.mechanism.buckets.planning.metrics import information_loss, mean_squared_error
from discreet.mechanism.plan import Stakes
from discreet.release.buckets.windows import Near
from discreet.schema.domain import key_of

if TYPE_CHECKING:
    from discreet.mechanism.buckets.planning.forecast import Forecast
    from discreet.mechanism.buckets.planning.price import Price

_FEW = 8  # values that are named as what drives the cost
_NAMED = 12  # values without protection that are named
_REASONS = 12  # values whose reasons are shown
_CLOCK = (
    "the search was stopped by the clock (seconds), so another day or machine may give another plan; leave seconds out "
    "for one that is the same everywhere"
)


@dataclass(frozen=True, kw_only=True)
class WindowPlan:
    """The plan of one window of near buckets, whose ids are `first` to `last`.

    `records` has a row for each of its `values`, by position, and a column for each of its classes.
    """

    rows: int
    first: int
    last: int
    classes: Classes
    kept_slack: Fraction
    values: Ints = field(repr=False, compare=False)
    records: Ints = field(repr=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class BucketPlan:
    """A valid bucket setting: how many buckets of which size, and how many records of each value in each class.

    `certificate` proves, to anyone who has the counts and the tolerances, that no setting with these limits on the
    sizes loses less than `lower_bound`; `proved_optimal` says that the loss meets it. `stopped_by_clock` says that the
    search would have gone on: on another day or machine the same counts may give another plan.

    `slack` was asked for and `kept_slack` is what is kept of it: the same, halved some times, or 0. `slacks` has the
    share of its caps that each value that occurs leaves unused, at least; none without slack. `composition` says how
    the buckets will be composed.

    Of near buckets, `near` says how large a window is, and `windows` have a plan each; the rest is of all of them
    together. `kept_slack` is the least that any of them keeps, and `slacks` are those of the whole table.

    Where a `defence` is asked for, against one who knows others of a bucket, `without` is the plan that there would be
    without it: for the price.
    """

    classes: Classes
    loss: int
    allocation: Mapping[object, Mapping[int, int]]
    tolerance: Mapping[object, Fraction]
    certificate: Certificate = field(repr=False)
    stopped_by_clock: bool = False
    slack: Fraction = Fraction(0)
    kept_slack: Fraction = Fraction(0)
    slacks: Mapping[object, Fraction] = field(default_factory=dict, repr=False)
    composition: str = "free"
    defence: Defence = NOTHING
    near: Near | None = None
    windows: tuple[WindowPlan, ...] = field(default=(), repr=False)
    without: BucketPlan | None = field(default=None, repr=False)

    @property
    def lower_bound(self) -> int:
        return self.certificate.bound

    @property
    def proved_optimal(self) -> bool:
        return self.loss == self.lower_bound

    @property
    def gap(self) -> float:
        """How far above the lower bound the loss is, as a share of the loss."""
        return (self.loss - self.lower_bound) / self.loss if self.loss else 0.0

    @property
    def times_least(self) -> float:
        """How many times the proved least the loss is."""
        return self.loss / self.lower_bound if self.lower_bound else 1.0 if self.proved_optimal else math.inf

    @property
    def records(self) -> int:
        return sum(size * buckets for size, buckets in self.classes)

    @property
    def buckets(self) -> int:
        return sum(buckets for _, buckets in self.classes)

    @property
    def mse(self) -> float:
        """The mean squared error of [WWFW] Eq. 1: 0 for the raw table, n - 1 for one bucket."""
        return mean_squared_error(self.loss, self.records)

    @property
    def information_loss(self) -> float:
        """The information loss IL of [W14] Definition 7, between 0 and 1."""
        return information_loss(self.loss, self.records)

    @property
    def counts(self) -> dict[object, int]:
        """How often each value occurs."""
        return {value: sum(shares.values()) for value, shares in self.allocation.items()}

    @property
    def unprotected(self) -> tuple[tuple[object, int], ...]:
        """Every value whose tolerance is 1, with how many records have it: a bucket may show it with certainty."""
        counts = self.counts
        return tuple((value, counts.get(value, 0)) for value, limit in self.tolerance.items() if limit == 1)

    @property
    def alone(self) -> int:
        """How many records stand in a bucket of their own."""
        return sum(buckets for size, buckets in self.classes if size == 1)

    @property
    def stakes(self) -> Stakes:
        """A person's mean tolerance, and who is not protected."""
        limits = sum(count * self.tolerance[value] for value, count in self.counts.items())
        return Stakes(
            number=float(limits / self.records),
            what="mean tolerance of people's values",
            unprotected=sum(records for _, records in self.unprotected),
            alone=self.alone,
            size=self.records,
        )

    @property
    def certain(self) -> int:
        """How many records, at least, stand in a bucket of one value, whatever the coins give: whoever looks it up
        knows the value; with fakes, where nobody in the buckets of that size has another.
        """
        if self.defence.fakes:
            return sum(size * buckets for size, buckets in self.classes if self._of_one_value(size))
        if self.composition == "free":  # which moves records between the sizes
            return self.alone + self._alike(self.classes, max(self.counts.values(), default=0))
        found = self.alone
        for size, buckets in self.classes:
            inside = max(shares.get(size, 0) for shares in self.allocation.values())
            found += self._alike(((size, buckets),), inside)
        return found

    def _of_one_value(self, size: int) -> bool:
        """Whether people in the buckets of a size have one value, and so have the fakes beside them."""
        return sum(size in shares for shares in self.allocation.values()) == 1

    @staticmethod
    def _alike(classes: Classes, inside: int) -> int:
        """How many records, at least, stand in buckets of several records and one value, which has `inside` of all:
        each of the others is in one bucket at most.
        """
        several = sorted(size for size, _ in classes if size > 1)
        others = sum(size * buckets for size, buckets in classes) - inside
        left = sum(buckets for size, buckets in classes if size > 1) - others
        known, found = dict(classes), 0
        for size in several:
            taken = max(0, min(left, known[size]))
            found, left = found + size * taken, left - taken
        return found

    def drivers(self) -> tuple[tuple[object, int, int], ...]:
        """What the cost comes from: values that cannot go to the smallest class, as (value, records, smallest size)."""
        known = self.defence.known
        occurring = ((value, count) for value, count in self.counts.items() if count)
        found = [(value, count, smallest_size(self.tolerance[value], known)) for value, count in occurring]
        costly = [driver for driver in found if driver[2] > self.classes[0][0]]
        return tuple(sorted(costly, key=lambda driver: (-driver[2], -driver[1])))

    def explain(self, relax: Number = "0.1") -> tuple[Reason, ...]:
        """For each value: the buckets that it forces and went to, and what a tolerance higher by `relax` would save.

        The saving is of the bound that no setting goes below, which the best setting follows closely; beside it stands
        what no setting can save more of this plan's loss than. Both are exact. Costliest first.
        """
        occurring = {value: count for value, count in self.counts.items() if count}
        sizes = range(self.certificate.min_size, self.certificate.max_size + 1)
        more, known = exact("relax", relax), self.defence.known
        return reasons_for(occurring, self.tolerance, self.allocation, self.classes, sizes, more, known)

    @cached_property
    def forecast(self) -> Forecast:
        """How far off answers about each value will be, about; it follows from the histogram and the plan alone."""
        from discreet.mechanism.buckets.planning.forecast import forecast_of

        return forecast_of(self)

    @cached_property
    def price(self) -> Price | None:
        """What the defence costs and buys; None where there is none, or nothing to compare with."""
        from discreet.mechanism.buckets.planning.price import price_of

        return None if self.without is None else price_of(self, self.without)

    @property
    def warnings(self) -> tuple[str, ...]:
        clock = (_CLOCK,) if self.stopped_by_clock else ()
        return (*clock, *self._unprotected())

    def _unprotected(self) -> Iterator[str]:
        """Who is not protected, by name and number."""
        if self.unprotected:
            listed = name_some([f"{name_of(value)} ({records:,})" for value, records in self.unprotected], most=_NAMED)
            people = sum(records for _, records in self.unprotected)
            yield (
                f"not protected, with tolerance 1: {listed}; that is {people:,} of {self.records:,} people, whose "
                "bucket may show their value with certainty. A ceiling below 1 protects them too"
            )
        if self.certain:
            alone = f" ({self.alone:,} of them alone)" if self.alone else " (none of them alone)"
            who = f"{self.certain:,} people or more stand in a bucket of one value"
            yield f"{who}{'' if self.defence.fakes else alone}, which shows it with certainty"

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        content: dict[str, Any] = {
            "loss": self.loss,
            "lower_bound": self.lower_bound,
            "proved_optimal": self.proved_optimal,
            "times_least": self.times_least if math.isfinite(self.times_least) else None,
            "gap": self.gap,
            "slack": str(self.slack),
            "kept_slack": str(self.kept_slack),
            "composition": self.composition,
            **self._near_json(),
            **({} if self.price is None else self.price.as_json()),
            "stopped_by_clock": self.stopped_by_clock,
            "mse": self.mse,
            "information_loss": self.information_loss,
            "classes": [{"size": size, "buckets": buckets} for size, buckets in self.classes],
            "records": self.records,
            "tolerance": {key_of(value): str(limit) for value, limit in self.tolerance.items()},
            "unprotected": {key_of(value): records for value, records in self.unprotected},
            "alone": self.alone,
            **self.forecast.as_json(),
        }
        return {**content, "reasons": [reason.as_json() for reason in self.explain()]} if explain else content

    def _near_json(self) -> dict[str, Any]:
        """The windows of near buckets, for programs."""
        if self.near is None:
            return {}
        return {
            **self.near.as_json(),
            "windows": [
                {
                    "rows": window.rows,
                    "classes": [{"size": size, "buckets": buckets} for size, buckets in window.classes],
                    "kept_slack": str(window.kept_slack),
                }
                for window in self.windows
            ],
        }

    def _near_lines(self) -> Iterator[str]:
        """The windows of near buckets, for people."""
        if self.near is None:
            return
        why = "declared" if self.near.declared else "by the rule"
        if len(self.windows) == 1:
            yield f"near buckets: one window ({self.near.window:,} rows, {why}), so any rows may share a bucket"
        else:
            last = self.windows[-1].rows
            rest = "" if last == self.near.window else f", the last of {last:,}"
            yield f"near buckets: {len(self.windows):,} windows of {self.near.window:,} rows ({why}){rest}"
        yield (
            "note: who of equal rows falls to which side of a window's end is a coin, and a release has coins of its "
            "own: its numbers differ a little, and publish may refuse a window that is just wide enough here"
        )

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        """The classes, the loss and what drives it."""
        yield f"{self.records:,} records in {self.buckets:,} buckets:"
        for size, buckets in self.classes:
            yield f"  {buckets:,} buckets of {size}"
        yield from self._near_lines()
        yield f"loss {self.loss:,} ({self._proved}); MSE {self.mse:.4f}, information loss {self.information_loss:.6f}"
        if self.slack:
            yield f"slack {float(self.kept_slack):g}{self._halved}: so much of every cap stays unused, less near it"
        if self.price is not None:
            yield from self.price.lines()
        if drivers := self.drivers():
            yield "the cost comes from values that cannot go into the smallest buckets:"
            for value, records, least in drivers[:_FEW]:
                limit = float(self.tolerance[value])
                yield f"  {name_of(value)}: tolerance {limit:.2%}, so buckets of {least} or more; {records:,} records"
            if more := and_more(len(drivers), _FEW):
                yield f"  {more} values"
        yield from self.forecast.lines()
        if explain:
            reasons = self.explain()
            yield "what a tolerance that is a tenth higher would save:"
            yield from (f"  {reason}" for reason in reasons[:_REASONS])
            if more := and_more(len(reasons), _REASONS):
                yield f"  {more} values"

    @property
    def _halved(self) -> str:
        if self.kept_slack == self.slack:
            return ""
        return f" of {float(self.slack):g}, for no setting was found that keeps more"

    @property
    def _proved(self) -> str:
        if self.proved_optimal:
            return "proved optimal"
        if self.slack and self.lower_bound:
            return f"{self.times_least:.2f} x {self.lower_bound:,}, which provably no setting goes below"
        if self.gap < 0.01:
            return f"certified to be within {self.gap:.1e} of the optimum"
        return f"no setting of any sizes can go below {self.lower_bound:,}"

"""What a plan's cost comes from: which value forces which buckets, and what a higher tolerance would save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.shown import name_of
from discreet.mechanism.buckets.planning.caps import Classes, Defence, buckets_of, caps_of, smallest_size
from discreet.mechanism.buckets.planning.cuts import Cuts
from discreet.mechanism.buckets.planning.groups import Groups
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.prices import Prices
from discreet.mechanism.buckets.planning.program import Program
from discreet.mechanism.buckets.planning.work import Work
from discreet.schema.domain import key_of

_NEAR = 1e-6  # of the loss: how exactly the first program is solved
_FIRST, _EACH = 100_000_000, 1_600_000  # cells: the first program, and about four runs for each value after it
_MOST = 256  # values for which a program of their own is solved: those that may save most


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A value's part in the cost: it needs buckets of `least_size` or more, and its records went to `sizes`.

    With the tolerance `relaxed` instead of its own, the bound that no setting goes below falls by `saves`, and no
    setting saves more than `at_most` of the plan's loss. Both are exact; the best setting follows the bound closely.
    """

    value: object
    records: int
    tolerance: Fraction
    least_size: int
    sizes: Mapping[int, int]
    relaxed: Fraction
    saves: int
    at_most: int

    def as_json(self) -> dict[str, Any]:
        return {
            "value": key_of(self.value),
            "records": self.records,
            "tolerance": str(self.tolerance),
            "least_size": self.least_size,
            "sizes": {str(size): records for size, records in self.sizes.items()},
            "relaxed": str(self.relaxed),
            "saves": self.saves,
            "at_most": self.at_most,
        }

    def __str__(self) -> str:
        listed = ", ".join(f"{records:,} in buckets of {size}" for size, records in sorted(self.sizes.items())[:4])
        more = ", ..." if len(self.sizes) > 4 else ""
        return (
            f"{name_of(self.value)}: {float(self.tolerance):.2%} to {float(self.relaxed):.2%} saves about "
            f"{self.saves:,} of the loss, {self.at_most:,} at most ({listed}{more})"
        )


def reasons_for(
    counts: Mapping[object, int],
    tolerance: Mapping[object, Fraction],
    allocation: Mapping[object, Mapping[int, int]],
    classes: Classes,
    sizes: Sequence[int],
    relax: Fraction,
    known: int = 0,
) -> tuple[Reason, ...]:
    """A reason for each value that occurs, the one that costs most first."""
    own = [tolerance[value] for value in counts]
    relaxed = [min(Fraction(1), limit * (1 + relax)) for limit in own]
    held, span = np.array(list(counts.values()), dtype=np.int64), np.array(sizes, dtype=np.int64)
    before, after = (caps_of(limits, span, Defence(known=known)) for limits in (own, relaxed))
    bounds = _Bounds(before, after, held, span, classes)
    reasons = []
    for i, ((value, count), bound) in enumerate(zip(counts.items(), bounds.relaxed(), strict=True)):
        reasons.append(
            Reason(
                value=value,
                records=count,
                tolerance=own[i],
                least_size=smallest_size(own[i], known),
                sizes=allocation[value],
                relaxed=relaxed[i],
                saves=max(0, bounds.now - bound),
                at_most=max(0, loss_of(classes) - bound),
            )
        )
    return tuple(sorted(reasons, key=lambda reason: (-reason.saves, -reason.least_size, -reason.records)))


class _Bounds:
    """The loss that no setting goes below, now and with other caps for one value: exact, from a program's prices."""

    def __init__(self, own: Ints, relaxed: Ints, counts: Ints, sizes: Ints, classes: Classes) -> None:
        self._relaxed, self._groups = relaxed, Groups.of(own, counts, sizes)
        self._inside = buckets_of(classes, sizes).astype(np.float64)
        self._known: Bools | None = None
        self._prices = self._solve(self._groups)
        self.now = self._bound(self._prices, self._groups)

    def relaxed(self) -> list[int]:
        """The bound with the relaxed caps of each value in turn; where there are many, today's prices must do for those
        that save little.
        """
        keys = [(int(group), caps.tobytes()) for group, caps in zip(self._groups.member, self._relaxed, strict=True)]
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        known = {key: self._at_these_prices(key[0], self._relaxed[place]) for key, place in first.items()}
        for key in sorted((key for key in known if known[key] < self.now), key=known.__getitem__)[:_MOST]:
            groups = self._groups.with_one(key[0], self._relaxed[first[key]])
            known[key] = max(known[key], self._bound(self._solve(groups, key[0]), groups))
        return [known[key] for key in keys]

    def _at_these_prices(self, group: int, caps: Ints) -> int:
        """What today's prices prove with other caps for one value of a group: as much as today, or less."""
        if np.array_equal(caps, self._groups.caps[group]):
            return self.now
        groups = self._groups.with_one(group, caps)
        return min(self.now, self._bound(np.append(self._prices, self._prices[group]), groups))

    def _solve(self, groups: Groups, group: int | None = None) -> Floats:
        """The prices of a program that is solved nearly; it starts from the plan, and from the cuts of the first."""
        usable = groups.usable
        some, work = groups.only(usable), Work(most=_FIRST if self._known is None else _EACH)
        known = None if self._known is None else list(self._known[:, [*range(self._known.shape[1]), group]])
        cuts = Cuts(some, work, known)
        low, high = np.zeros_like(some.sizes), some.rows // some.sizes
        program = Program(cuts, low, some.rows, work)
        first = self._known is None
        point = program.solve_from(self._inside[usable], low, high, _NEAR) if first else program.solve(low, high)
        if point is None or point.buckets is None:
            return np.zeros(len(groups.counts))
        if self._known is None:
            self._inside[usable] = point.buckets
            tight = cuts.tight(point.buckets)
            self._known = np.array(cuts.values)[tight]
        return point.prices

    def _bound(self, prices: Floats, groups: Groups) -> int:
        some = groups.only(groups.usable)
        return Prices.near(some, prices).bound(np.zeros_like(some.sizes), some.rows // some.sizes)

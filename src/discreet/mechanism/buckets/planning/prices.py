"""What prices prove: the exact lower bound on the loss in a box, from the groups of values.

See certificate.py for why; it computes the same from the values, with code of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.buckets.planning.groups import Groups

_DENOMINATOR = 1 << 36  # so that the dearest bucket's price fits 64 bits


@dataclass(frozen=True, kw_only=True)
class Prices:
    """A price for each record of each group (numerator / denominator), what all records cost, and each size's rest.

    The rest of a size is what a bucket of it loses beyond the price of the dearest bucket.
    """

    numbers: tuple[int, ...]
    denominator: int
    total: int
    rests: tuple[int, ...]

    @classmethod
    def of(cls, groups: Groups, numbers: Sequence[int], denominator: int) -> Prices:
        dearest = sorted(range(len(numbers)), key=lambda i: -numbers[i])
        taken = np.diff(np.minimum(np.cumsum(groups.together[dearest], axis=0), groups.sizes), axis=0, prepend=0)
        largest = max(map(abs, numbers)) * int(groups.sizes.max())
        kind = np.int64 if largest < 2**62 else object
        costs = (np.array([numbers[i] for i in dearest], dtype=kind) @ taken.astype(kind)).tolist()
        sizes = zip(groups.sizes.tolist(), costs, strict=True)
        return cls(
            numbers=tuple(numbers),
            denominator=denominator,
            total=sum(a * b for a, b in zip(groups.records.tolist(), numbers, strict=True)),
            rests=tuple((size - 1) ** 2 * denominator - cost for size, cost in sizes),
        )

    @classmethod
    def near(cls, groups: Groups, prices: Floats) -> Prices:
        """The exact prices next to a solver's."""
        return cls.of(groups, [round(price * _DENOMINATOR) for price in prices.tolist()], _DENOMINATOR)

    def of_values(self, groups: Groups) -> tuple[int, ...]:
        """The same price for each value of a group."""
        return tuple(self.numbers[i] for i in groups.member.tolist())

    def bound(self, low: Ints, high: Ints) -> int:
        """The least loss that the prices allow with low <= buckets <= high, rounded up."""
        ends = zip(self.rests, low.tolist(), high.tolist(), strict=True)
        least = self.total + sum(rest * (fewest if rest >= 0 else most) for rest, fewest, most in ends)
        return int(-(-least // self.denominator))

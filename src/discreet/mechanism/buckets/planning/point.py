"""What a program gives, whoever solves it: a point and prices."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.ground.arrays import Floats


@dataclass(frozen=True, kw_only=True)
class Point:
    """Numbers of buckets with fractions, and a price for each record of each group.

    `buckets` is None where the box has no setting (`empty`); then the prices, taken often enough, show it.
    """

    buckets: Floats | None
    prices: Floats
    empty: bool = False

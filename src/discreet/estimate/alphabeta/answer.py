"""From parts with their laws to an estimate: unbiased, with a score interval."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.estimate.alphabeta.law import Part
from discreet.estimate.estimate import COINS, Estimate
from discreet.estimate.interval import Spread, Way

UNBIASED = "unbiased"


def estimate_of(
    parts: Sequence[Part],
    bounds: tuple[int, int],
    way: Way,
    *,
    over: str = COINS,
    note: str = "",
    design: Estimate | None = None,
) -> Estimate:
    """The sum of the parts, with a score interval within the bounds."""
    value = sum(part.value for part in parts)
    noise = sum(part.noise / part.slope**2 for part in parts)
    shares = [max(part.value, 1e-9) for part in parts]
    more = sum(part.more / part.slope**2 * share for part, share in zip(parts, shares, strict=True)) / sum(shares)
    return way.estimate(value, Spread(noise=noise, more=more), bounds, over=over, note=note, design=design)

"""What a plan's cost comes from: which value forces which buckets, and what a higher tolerance would save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.mechanism.buckets.planning.caps import caps_of, smallest_size
from discreet.mechanism.buckets.planning.cuts import Cuts
from discreet.mechanism.buckets.planning.program import Program
from discreet.release.alike import name_of
from discreet.schema.domain import key_of


@dataclass(frozen=True, kw_only=True)
class Reason:
    """A value's part in the cost: it needs buckets of `least_size` or more, and its records went to `sizes`.

    With the tolerance `relaxed` instead of its own, the best setting would lose about `saves` less.
    """

    value: object
    records: int
    tolerance: Fraction
    least_size: int
    sizes: Mapping[int, int]
    relaxed: Fraction
    saves: int

    def as_json(self) -> dict[str, Any]:
        return {
            "value": key_of(self.value),
            "records": self.records,
            "tolerance": str(self.tolerance),
            "least_size": self.least_size,
            "sizes": {str(size): records for size, records in self.sizes.items()},
            "relaxed": str(self.relaxed),
            "saves": self.saves,
        }

    def __str__(self) -> str:
        listed = ", ".join(f"{records:,} in buckets of {size}" for size, records in sorted(self.sizes.items())[:4])
        more = ", ..." if len(self.sizes) > 4 else ""
        return (
            f"{name_of(self.value)}: {float(self.tolerance):.2%} to {float(self.relaxed):.2%} saves about "
            f"{self.saves:,} of the loss ({listed}{more})"
        )


def reasons_for(
    counts: Mapping[object, int],
    tolerance: Mapping[object, Fraction],
    allocation: Mapping[object, Mapping[int, int]],
    sizes: Sequence[int],
    relax: Fraction,
) -> tuple[Reason, ...]:
    """A reason for each value that occurs, the one that costs most first."""
    own = [tolerance[value] for value in counts]
    held = np.array(list(counts.values()), dtype=np.int64)
    span = np.array(sizes, dtype=np.int64)
    now = _least_loss(own, held, span)
    reasons = []
    for i, (value, count) in enumerate(counts.items()):
        relaxed = min(Fraction(1), own[i] * (1 + relax))
        changed = [*own[:i], relaxed, *own[i + 1 :]]
        saves = max(0.0, now - _least_loss(changed, held, span)) if relaxed > own[i] else 0.0
        reasons.append(
            Reason(
                value=value,
                records=count,
                tolerance=own[i],
                least_size=smallest_size(own[i]),
                sizes=allocation[value],
                relaxed=relaxed,
                saves=round(saves),
            )
        )
    return tuple(sorted(reasons, key=lambda reason: (-reason.saves, -reason.least_size, -reason.records)))


def _least_loss(limits: Sequence[Fraction], counts: np.ndarray[tuple[int], np.dtype[np.int64]], sizes: object) -> float:
    """The linear program's loss: the best setting's, but for rounding."""
    span = np.asarray(sizes)
    caps = caps_of(limits, span)
    usable = caps.sum(axis=0) >= span
    cuts = Cuts(caps[:, usable], counts, span[usable])
    nothing = np.zeros_like(cuts.sizes)
    point = Program(cuts, nothing, cuts.rows).solve(nothing, cuts.rows // cuts.sizes)
    if point is None or point.buckets is None:
        return 0.0
    return float(((cuts.sizes - 1) ** 2) @ point.buckets)

"""Stray: how far true counts may be from a model of single columns and pairs, seen from the pairs that were measured.

Each measured table was once expected by a model that had not seen it. How far it was from that, beyond its noise, is
how far the model may be from counts that nothing measured.

Symbols: mu what a model expects of a cell; theta_P the stray of a cell as a variance, over mu^P.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.release.diffgen.pairs.shrink import Shrunk

FEW = 4  # with fewer measured pairs, stray is known badly
_POWERS = (1.0, 1.5)  # strays that grow with what is expected, and faster
_LATEST = 2  # pairs that are looked at, at least, of the latest half


@dataclass(frozen=True, kw_only=True)
class Stray:
    """theta_P for each power P that is looked at; the least variance counts."""

    thetas: tuple[tuple[float, float], ...]
    pairs: int

    def variance(self, people: float, components: Sequence[tuple[float, float]]) -> float:
        """Of a count: for each component of a condition, its variance over independent columns and its share."""
        return min(
            theta * math.pow(people, power) * sum(part * math.pow(share, power - 1) for part, share in components)
            for power, theta in self.thetas
        )


def stray_of(pairs: Sequence[Shrunk]) -> Stray:
    """The mean over the latest half of the measured pairs: those before stray further, for they were chosen for it."""
    latest = pairs[-max(_LATEST, (len(pairs) + 1) // 2) :]
    return Stray(
        thetas=tuple((power, max(0.0, _mean([_theta(each, power) for each in latest]))) for power in _POWERS),
        pairs=len(pairs),
    )


def _theta(table: Shrunk, power: float) -> float:
    beyond = ((table.counts - table.implied) ** 2).sum() - table.cells * table.variance
    return float(beyond / (table.implied**power).sum())


def _mean(found: Sequence[float]) -> float:
    return sum(found) / len(found) if found else 0.0

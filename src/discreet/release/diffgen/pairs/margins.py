"""Margins: what all noisy tables together say of one column, as parts of the people, none negative."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Floats, Ints

FLOOR = 1e-5  # of a cell's even share: no cell is impossible
Counts = tuple[Floats, float]  # noisy counts, each with this variance


def settled(cells: Sequence[Counts], sums: Sequence[Counts], groups: Ints, people: int) -> Floats:
    """The counts of a column's cells that add up to the people, from noisy `cells` and noisy `sums` of its groups.

    They are generalized least squares, then the nearest counts, in squares, that are not negative and add up.
    """
    found, variance = _mean(cells)
    if sums:
        wanted, spread = _mean(sums)
        below = np.bincount(groups, minlength=len(wanted))
        off = wanted - np.bincount(groups, weights=found, minlength=len(wanted))
        found = found + (variance * off / (below * variance + spread))[groups]
    least = FLOOR * people / len(found)
    floored = np.maximum(projected(found, float(people)), least)
    return np.asarray(floored * (people / floored.sum()))


def projected(wanted: Floats, total: float) -> Floats:
    """The numbers nearest to the wanted ones, in squares, that are not negative and add up to a total above 0."""
    falling = np.sort(wanted)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    held = np.flatnonzero(falling > excess)[-1]
    return np.asarray(np.maximum(wanted - excess[held], 0.0))


def _mean(given: Sequence[Counts]) -> Counts:
    """The mean by inverse variance, and its variance."""
    weights = [1 / variance for _, variance in given]
    found = sum((counts * weight for (counts, _), weight in zip(given, weights, strict=True)), np.zeros(1))
    return np.asarray(found / sum(weights)), 1 / sum(weights)

"""Noisy attribute x class tables made to agree: the same class totals in all, and none negative."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mechanism.diffgen.tree import Floats
from discreet.mechanism.diffgen.whole import nearest_split


@dataclass(frozen=True, eq=False)
class Settled:
    """Tables (cells x classes) that agree on the totals of the classes."""

    tables: tuple[Floats, ...]
    totals: Floats


def settle(tables: Sequence[NDArray[np.generic]], variances: Sequence[float]) -> Settled:
    """The tables moved as little as possible: totals from all tables by their precision, no cell negative."""
    found = [np.asarray(table, dtype=np.float64) for table in tables]
    weights = [1 / (len(table) * variance) for table, variance in zip(found, variances, strict=True)]
    sums = np.array([table.sum(axis=0) for table in found])
    totals = np.maximum(np.average(sums, axis=0, weights=weights), 0.0)
    return Settled(tuple(fitted(table, totals) for table in found), totals)


def fitted(table: Floats, totals: Floats) -> Floats:
    """The nearest table without a negative cell whose columns have these totals."""
    return np.stack([nearest_split(table[:, place], float(total)) for place, total in enumerate(totals)], axis=1)


def within(table: Floats, groups: NDArray[np.int64], totals: Floats) -> Floats:
    """The same, where the cells of each group have a total of their own (groups x classes)."""
    found = np.zeros_like(table)
    for group in range(len(totals)):
        chosen = groups == group
        found[chosen] = fitted(table[chosen], totals[group])
    return found


def grouped(table: Floats, groups: NDArray[np.int64], number: int) -> Floats:
    """The sums of the cells of each group."""
    found = np.zeros((number, table.shape[1]))
    np.add.at(found, groups, table)
    return found

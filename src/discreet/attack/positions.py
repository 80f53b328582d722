"""What positions tell: of rows in a file beside their cells, and of numbers that coins gave to groups.

A file in the order of its cells says nothing by its order: whoever has the cells can make the order again. So a row
tells something only where it stands otherwise than its cells do. Numbers that coins gave out are in no order at all: of
two groups, whichever, each has the smaller number with probability 1/2, and disjoint pairs are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attack.rate import Rate, rate_of
from discreet.ground.arrays import Bools, Ints

Columns = Sequence[NDArray[np.integer[Any]]]


def falls(columns: Columns) -> Bools:
    """For each row but the first, whether it stands below the row before it by the first column that differs."""
    rows = len(columns[0])
    tied, found = np.ones(max(rows - 1, 0), dtype=np.bool_), np.zeros(max(rows - 1, 0), dtype=np.bool_)
    for column in columns:
        found |= tied & (column[1:] < column[:-1])
        tied &= column[1:] == column[:-1]
    return found


def ranks(columns: Columns) -> Ints:
    """The place of each row in the order of its cells, from 0; equal rows have the same place."""
    order = np.lexsort([np.asarray(each) for each in reversed(columns)])
    fresh = np.zeros(len(order), dtype=np.int64)
    for column in columns:
        fresh[1:] |= np.diff(np.asarray(column, dtype=np.int64)[order]) != 0
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.cumsum(fresh)
    return found


def contrary(group: Ints, cells: Ints, other: Ints) -> Bools:
    """Of neighbours in a group that cells and something else put the other way round: whether they stand as that does.

    All arrays are in the order of the file. In a file in the order of its cells none does.
    """
    one = np.sign(np.diff(cells))
    two = np.sign(np.diff(other))
    asked = (np.diff(group) == 0) & (one * two < 0)
    found: Bools = two[asked] > 0
    return found


def displaced(cells: Ints) -> Ints:
    """How much later each row stands than its cells do; 0 everywhere in a file in the order of its cells."""
    found = np.empty(len(cells), dtype=np.int64)
    order = np.argsort(cells, kind="stable")
    found[order] = order - np.arange(len(cells))
    return found


def pairs_apart(feature: Ints, window: Ints, coins: np.random.Generator) -> tuple[Ints, Ints]:
    """Disjoint pairs of groups of one window, in each the one with less of a feature first; never two alike."""
    order = np.lexsort((coins.random(len(feature)), feature, window))
    starts = np.flatnonzero(np.diff(window[order], prepend=-1))
    half = np.diff(starts, append=len(order)) // 2
    first = np.repeat(starts - np.cumsum(half) + half, half) + np.arange(half.sum())
    second = first + np.repeat(np.diff(starts, append=len(order)) - half, half)
    low, high = order[first], order[second]
    differ = feature[low] != feature[high]
    return low[differ], high[differ]


def folded(rate: Rate) -> Rate:
    """The rate of one who may turn his guess round: at least a half, with the interval turned likewise."""
    if rate.rate >= 1 / 2:
        return rate
    return Rate(rate=1 - rate.rate, low=1 - rate.high, high=1 - rate.low, attempts=rate.attempts)


def in_order(number: Ints, low: Ints, high: Ints, confidence: float) -> Rate:
    """How often the smaller number belongs to the first of a pair, or to the second if that is more often.

    Where coins gave the numbers out, the hits are those of a fair coin, and the interval is exact both ways.
    """
    return folded(rate_of(int((number[low] < number[high]).sum()), len(low), confidence))

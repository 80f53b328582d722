"""Rows that are alike in every quasi-identifier are one pattern; its values are numbered through all columns.

Numbers of levels, the order of columns and that of patterns follow from counts alone: renaming or reordering anything
gives the same patterns, so that the same is learned.

A column of very many values says little value by value, and would cost much: one with an order is cut into stretches of
about as many rows each, any other keeps its frequent values, and the rare ones count as one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints

MOST_LEVELS = 1024  # of one column
_STRETCHES = 256  # that an ordered column of more levels is cut into
_WIDEST = 2**62
_COUNTED = 1 << 24  # codes below this are counted one by one

Codes = NDArray[np.integer[Any]]
Small = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """The distinct rows: a number among all columns' values for each column, which row has which, and how many."""

    codes: Small
    pattern: Small
    levels: int

    @property
    def number(self) -> Ints:
        """How many rows have each pattern."""
        return np.bincount(self.pattern, minlength=len(self.codes))

    @property
    def columns(self) -> list[Ints]:
        """Each pattern's values, column by column, numbered from 0 in each."""
        return [column - column.min() for column in self.codes.T.astype(np.int64)] if len(self.codes) else []


def patterns_of(rows: int, columns: Iterable[tuple[Codes, bool]], marks: Ints | None = None) -> Patterns:
    """The patterns of rows given by columns of codes; each says whether its codes have an order.

    `marks` is a number of each row: what as many rows have is told apart by the sums of them.
    """
    marks = np.ones(rows, dtype=np.int64) if marks is None else marks
    parts = sorted((_levels(*each, marks) for each in columns), key=lambda part: part[1:])
    key, span, levels = np.zeros(rows, dtype=np.int64), 1, 0
    for level, number, _ in parts:
        if span * len(number) >= _WIDEST:
            key, span = _ranked(key)
        key, span = key * len(number) + level, span * len(number)
    _, first, pattern = np.unique(key, return_index=True, return_inverse=True)
    own = np.empty((len(first), len(parts)), dtype=np.int32)
    for j, (level, number, _) in enumerate(parts):
        own[:, j] = level[first] + levels
        levels += len(number)
    return Patterns(codes=own, pattern=pattern.astype(np.int32), levels=levels)


def _ranked(key: Ints) -> tuple[Ints, int]:
    own, place = np.unique(key, return_inverse=True)
    return place.astype(np.int64), len(own)


def _levels(codes: Codes, ordered: bool, marks: Ints) -> tuple[Small, list[int], list[float]]:
    """Codes that occur, numbered from 0, the most frequent first; how many rows each has, and their marks' sum."""
    if int(codes.max(initial=0)) < _COUNTED:
        every = np.bincount(codes)
        level, number = (np.cumsum(every > 0) - 1)[codes], every[every > 0]
    else:
        _, level, number = np.unique(codes, return_inverse=True, return_counts=True)
    if len(number) > MOST_LEVELS:
        level, number = _cut(level, number, ordered)
    sums = np.bincount(level, marks, minlength=len(number))
    order = np.lexsort((sums, -number))
    return np.argsort(order).astype(np.int32)[level], number[order].tolist(), sums[order].tolist()


def _cut(level: Ints, number: Ints, ordered: bool) -> tuple[Ints, Ints]:
    """Fewer levels: stretches of neighbours, or all rare ones as the last."""
    if ordered:
        before = np.cumsum(number) - number
        fewer = before * _STRETCHES // len(level)
    else:
        fewer = np.full(len(number), MOST_LEVELS - 1)
        fewer[np.argsort(-number, kind="stable")[: MOST_LEVELS - 1]] = np.arange(MOST_LEVELS - 1)
    _, joined = np.unique(fewer, return_inverse=True)
    return joined[level], np.bincount(joined)

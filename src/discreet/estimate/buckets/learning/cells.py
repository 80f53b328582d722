"""Random questions to a release, from what it holds alone: rows by some of their columns, and some of the values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.estimate.buckets.learning.patterns import Patterns
from discreet.ground.arrays import Ints

_SHARES = (0.02, 0.1, 0.3)  # of the values of a column that a question takes
_MOST_COLUMNS = 3


def random_cells(
    patterns: Patterns, order: Ints, number: int, coins: np.random.Generator
) -> Iterator[tuple[int, Ints, tuple[int, ...]]]:
    """So many questions, but those that no row meets: which it is, its rows, and its values out of `order`."""
    columns = patterns.columns
    for each in range(number if columns else 0):
        share = _SHARES[each % len(_SHARES)]
        asked = coins.choice(len(columns), min(len(columns), int(coins.integers(1, _MOST_COLUMNS + 1))), replace=False)
        meets = np.ones(len(patterns.codes), dtype=np.bool_)
        for column in asked.tolist():
            levels = int(columns[column].max()) + 1
            chosen = np.zeros(levels, dtype=np.bool_)
            chosen[_some(levels, share, coins)] = True
            meets &= chosen[columns[column]]
        own = tuple(sorted(order[_some(len(order), share, coins)].tolist()))
        if meets.any():
            yield each, np.flatnonzero(meets[patterns.pattern]), own


def _some(number: int, share: float, coins: np.random.Generator) -> Ints:
    """A random share of so many, one at least."""
    return coins.choice(number, max(1, round(share * number)), replace=False)

"""Who in a bucket has which of its values, for one who has beliefs about everybody in it: all ways, weighed exactly.

Symbols: W_ix how probable the value x is for row i by these beliefs, c_x how often the bucket holds x. A way gives each
    row one value, each value c_x times, and weighs prod_i W_i,x(i); Pr(i has x) is the weight of the ways in which i
    has x over the weight of all: a ratio of permanents. No bound below 1 holds for every W.
Summed by dynamic programming: after i rows a state says how often each value was used, and there are prod (c_x + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]  # decimal numbers, or fractions in an array of objects


def states_of(counts: Sequence[int]) -> int:
    """How many states a bucket with these counts has."""
    return math.prod(count + 1 for count in counts)


def posterior(beliefs: Numbers, counts: Sequence[int]) -> Numbers:
    """Pr(i has x), rows by values, from beliefs W of the same shape; exact in fractions if W holds fractions.

    Raises ValueError where the beliefs exclude every way.
    """
    shape, rows = tuple(count + 1 for count in counts), len(beliefs)
    one, none = beliefs.dtype.type(1) if beliefs.dtype != object else 1, np.zeros(shape, dtype=beliefs.dtype)
    before = [none.copy()]
    before[0][(0,) * len(shape)] = one
    for own in beliefs:
        following = none.copy()
        for x, weight in enumerate(own):
            taken, free = _ends(x, len(shape))
            following[taken] += before[-1][free] * weight
        before.append(_scaled(following))
    after = none.copy()
    after[tuple(counts)] = one
    found = np.zeros(beliefs.shape, dtype=beliefs.dtype)
    for i in range(rows - 1, -1, -1):
        previous = none.copy()
        for x, weight in enumerate(beliefs[i]):
            taken, free = _ends(x, len(shape))
            found[i, x] = (before[i][free] * after[taken]).sum() * weight
            previous[free] += after[taken] * weight
        after = _scaled(previous)
        if not (total := found[i].sum()):
            raise ValueError("the beliefs exclude every way to give the bucket's values to its rows")
        found[i] = found[i] / total
    return found


def _ends(axis: int, axes: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """The states in which a value was used at least once, and those from which it can be used once more."""
    every = (slice(None),) * axes
    return (*every[:axis], slice(1, None), *every[axis + 1 :]), (*every[:axis], slice(-1), *every[axis + 1 :])


def _scaled(states: Numbers) -> Numbers:
    """Decimal numbers divided by the largest, so that products of many do not vanish; fractions as they are."""
    if states.dtype == object or not (most := states.max()):
        return states
    return np.asarray(states / most)

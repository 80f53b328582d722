"""Combinations of columns as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints

_WIDE = 1 << 62  # numbers of combinations beyond which those that occur are counted through


def keys_of(*sides: Mapping[str, NDArray[np.integer[Any]]], names: tuple[str, ...]) -> list[Ints]:
    """A number for each combination of some columns, the same for the same combination on every side.

    Numbers are dense and ascend with the combinations, so they do not hang on the order of rows.
    """
    lengths = [len(next(iter(side.values()))) for side in sides]
    key, most = np.zeros(sum(lengths), dtype=np.int64), 1
    for name in names:
        column = np.concatenate([np.asarray(side[name], dtype=np.int64) for side in sides])
        size = int(column.max(initial=0)) + 1
        if most * size >= _WIDE:
            _, key = np.unique(key, return_inverse=True)
            most = int(key.max(initial=0)) + 1
        if most * size >= _WIDE:
            distinct, column = np.unique(column, return_inverse=True)
            size = len(distinct)
        key, most = key * size + column, most * size
    dense = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return np.split(dense, np.cumsum(lengths)[:-1])

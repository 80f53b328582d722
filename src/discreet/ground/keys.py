"""Combinations of columns as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints


def keys_of(*sides: Mapping[str, NDArray[np.integer[Any]]], names: tuple[str, ...]) -> list[Ints]:
    """A number for each combination of some columns, the same for the same combination on every side.

    Numbers are dense and ascend with the combinations.
    """
    lengths = [len(next(iter(side.values()))) for side in sides]
    key = np.zeros(sum(lengths), dtype=np.int64)
    for name in names:
        column = np.concatenate([np.asarray(side[name], dtype=np.int64) for side in sides])
        size = int(column.max(initial=0)) + 1
        if int(key.max(initial=0)) >= (2**62) // size:
            key = np.unique(key, return_inverse=True)[1]
        key = key * size + column
    key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    return [np.asarray(part, dtype=np.int64) for part in np.split(key, np.cumsum(lengths)[:-1])]

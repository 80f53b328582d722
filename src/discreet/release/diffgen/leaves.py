"""The arithmetic of leaves that publisher and analyst share: the unit of a count, and which sums overlap."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Floats

UNIT = 1024  # counts are whole multiples of 1 / UNIT, so that sums are exact


def common_leaves(sizes: Sequence[int]) -> Floats:
    """How many leaves the sums over two values have in common, for all values of attributes with so many each."""
    number = float(math.prod(sizes))
    each = np.concatenate([np.full(size, number / size) for size in sizes])
    common = np.outer(each, each) / number
    start = 0
    for size in sizes:
        common[start : start + size, start : start + size] = np.eye(size) * (number / size)
        start += size
    return common

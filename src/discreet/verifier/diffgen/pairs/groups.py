"""Groups of cells, as the release format has them: eight of each column that has more cells, from its noisy counts."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, pairwise

import numpy as np

from discreet.ground.arrays import Ints

GROUPS = 8


def grouped(noisy: Ints, *, ordered: bool) -> Ints:
    """The group of each cell, from 0.

    Starts of groups are added one at a time, in the middle of what the heaviest group weighs: of two places that are
    equally near to it the first, of groups that are equally heavy the first.
    """
    number = len(noisy)
    order = np.arange(number) if ordered else np.lexsort((np.arange(number), -noisy))
    up_to = [0, *accumulate(number * max(count, 0) + 1 for count in noisy[order].tolist())]
    starts = [0, number]
    while len(starts) <= min(GROUPS, number):
        weights = [up_to[end] - up_to[start] if end - start > 1 else 0 for start, end in pairwise(starts)]
        heaviest = weights.index(max(weights))
        start, end = starts[heaviest], starts[heaviest + 1]
        whole = up_to[start] + up_to[end]
        after = bisect_left(up_to, whole, start + 1, end - 1, key=lambda each: 2 * each)
        before = max(after - 1, start + 1)
        nearer = before if whole - 2 * up_to[before] <= abs(2 * up_to[after] - whole) else after
        starts.insert(heaviest + 1, nearer)
    found = np.empty(number, dtype=np.int64)
    found[order] = np.searchsorted(starts, np.arange(number), side="right") - 1
    return found

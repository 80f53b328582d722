"""Groups of cells: a column's coarse level, from its noisy table alone, in whole numbers."""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Ints

GROUPS = 8  # of a column; one with no more cells has no groups


def groups_of(noisy: Ints, *, ordered: bool) -> Ints:
    """The group of each cell: the heaviest group is split at the median of its mass until there are eight.

    Cells stand in the order of the domain where it is `ordered`, else the most frequent first. A cell weighs what its
    noisy count says, nothing where that is negative; where groups weigh the same, one with more cells is heavier. Of
    several halves that are equally even the first is taken, of several groups that are equally heavy too.
    """
    number = len(noisy)
    order = list(range(number)) if ordered else sorted(range(number), key=lambda cell: (-int(noisy[cell]), cell))
    weights = [max(int(noisy[cell]), 0) * number + 1 for cell in order]
    below = [0]
    for weight in weights:
        below.append(below[-1] + weight)
    parts = [(0, number)]
    while len(parts) < min(GROUPS, number):
        at = max(
            (place for place, (low, high) in enumerate(parts) if high - low > 1),
            key=lambda place: (below[parts[place][1]] - below[parts[place][0]], -place),
        )
        low, high = parts[at]
        whole = below[low] + below[high]
        cut = min(range(low + 1, high), key=lambda each: (abs(2 * below[each] - whole), each))
        parts[at : at + 1] = [(low, cut), (cut, high)]
    found = np.zeros(number, dtype=np.int64)
    for group, (low, high) in enumerate(parts):
        found[order[low:high]] = group
    return found

"""The papers' heuristic for many sizes: split a class in two wherever that lowers the loss, again and again.

Paper: [WWFW] Algorithm 2; [W14] Programs 5.1 and 6.1.
Symbols: a_ij = min(floor(f'_i S_j) b_j, o_i).
Departs: the papers move the surplus of the small class to the large one value by value, in the order in which they
    happen to be listed. Here the values of the smallest tolerance go first: they need large buckets anyway, and a
    small class of tolerant values can be split further. `order="listed"` is the papers' way. Sizes are split on the
    condition of Program 6.1.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.two_size import best_two_sizes


def best_top_down(caps: Ints, counts: Ints, sizes: Ints, unit: int = 1, order: str = "tolerant last") -> Classes | None:
    """Classes (size, buckets) found from the top down; None where no two sizes work to begin with.

    Caps and counts are in parts of a record, `unit` of them to a record.
    """
    ranks = np.argsort(caps.sum(axis=1), kind="stable") if order == "tolerant last" else np.arange(len(counts))
    caps, counts = caps[ranks], counts[ranks]
    column = {size: j for j, size in enumerate(sizes.tolist())}
    found: Counter[int] = Counter()
    first = best_two_sizes(caps, counts, sizes, unit)
    if first is None:
        return None
    waiting = [(counts, first)]
    while waiting:
        records, classes = waiting.pop()
        if len(classes) == 1:
            found.update(dict(classes))
            continue
        small, few = classes[0]
        most_1, most_2 = (caps[:, column[size]] * buckets for size, buckets in classes)
        parts = _partition(records, most_1, most_2, small * few * unit)
        for part, (size, buckets) in zip(parts, classes, strict=True):
            split = _split(part, caps, sizes, unit)
            kept: Classes = ((size, buckets),)
            waiting.append((part, split if split is not None and loss_of(split) < loss_of(kept) else kept))
    return tuple(sorted(found.items()))


def _partition(records: Ints, most_1: Ints, most_2: Ints, needed: int) -> tuple[Ints, Ints]:
    """All that fits goes to the small class; its surplus moves to the large one.  # [W14] Program 5.1"""
    first = np.minimum(most_1, records)
    room = np.minimum(most_2, records) - (records - first)
    surplus = int(first.sum()) - needed
    moved = np.clip(surplus - (np.cumsum(room) - room), 0, room)
    return first - moved, records - first + moved


def _split(records: Ints, caps: Ints, sizes: Ints, unit: int) -> Classes | None:
    present = records > 0
    return best_two_sizes(caps[present], records[present], sizes, unit)

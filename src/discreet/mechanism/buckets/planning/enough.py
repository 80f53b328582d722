"""Enough buckets to tell values apart: as many as the values that can only stand in such large ones, and half more.

Values of a small tolerance stand in large buckets only. Where a small table has fewer of those than such values, the
counts of the buckets determine sums of them alone, and answers about each are unknown, whatever the slack. Larger
tables have enough without being asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.cuts import Cuts

Needs = Sequence[tuple[int, int]]  # a size, and how many buckets of that size or more there should be


def needs_of(caps: Ints, sizes: Ints) -> Needs:
    """For each smallest size of a value how many buckets of it or larger tell apart the values that need them."""
    entering = (caps > 0).any(axis=1)
    least = sizes[np.argmax(caps > 0, axis=1)][entering]
    return [(size, -(-3 * int((least >= size).sum()) // 2)) for size in np.unique(least).tolist()]


def enough(classes: Classes, needs: Needs) -> bool:
    """Whether a setting has as many buckets of each size or more as it should."""
    return all(sum(buckets for size, buckets in classes if size >= least) >= number for least, number in needs)


def with_needs(cuts: Cuts, needs: Needs) -> Cuts:
    """The same cuts, and as many more: the numbers of buckets of a size or more are large enough."""
    sizes = cuts.groups.sizes // cuts.groups.unit
    for least, number in needs:
        cuts.coefficients.append(-(sizes >= least).astype(np.int64))
        cuts.limits.append(-number)
        cuts.values.append(np.zeros(len(cuts.groups.counts), dtype=np.bool_))
    return cuts

"""The best setting with at most two bucket sizes, without a search along the list of pairs.

Paper: [WWFW] Theorem 3, Lemma 4 and section 5.1; [W14] chapter 5.
Symbols: (S1, S2) sizes, (b1, b2) numbers of buckets, Gamma(S1, S2) all pairs that fill the table, indexed by k.
Departs: the papers search Gamma by binary search for each value. The privacy constraint of a value is
    cap_1 b1 + cap_2 b2 >= o (the minima in Eq. 3 change nothing), which is linear in k, so it holds on one prefix or
    one suffix; the fill constraint of a size is b <= most_buckets(S). The first valid k follows by division.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.caps import Classes, merge_equal_caps, most_buckets
from discreet.mechanism.buckets.planning.one_size import best_one_size

NONE = np.int64(2**62)


def best_two_sizes(caps: Ints, counts: Ints, sizes: Ints, unit: int = 1) -> Classes | None:
    """The classes (size, buckets) of least loss with at most two sizes, or None where no pair is valid.

    Caps and counts are in parts of a record, `unit` of them to a record.
    """
    if len(sizes) < 2:
        return best_one_size(caps, counts, sizes, unit)
    rows = int(counts.sum()) // unit
    small, large = np.triu_indices(len(sizes), k=1)
    first, second, step_1, step_2, last = _pairs(sizes[small], sizes[large], rows)
    most = most_buckets(caps, counts, sizes * unit)
    low, high = _fill(first, second, step_1, step_2, last, most[[small, large]])
    merged = merge_equal_caps(caps, counts, unit)
    low, high = _privacy(*merged, small, large, (first, second, step_1, step_2), low, high)
    valid = low <= high
    if not valid.any():
        return None
    k = np.where(valid, low, 0)
    buckets_1, buckets_2 = first - k * step_1, second + k * step_2
    loss = buckets_1 * (sizes[small] - 1) ** 2 + buckets_2 * (sizes[large] - 1) ** 2
    best = int(np.argmin(np.where(valid, loss, NONE)))
    found = ((sizes[small[best]], buckets_1[best]), (sizes[large[best]], buckets_2[best]))
    return tuple((int(size), int(buckets)) for size, buckets in found if buckets)


def _pairs(small: Ints, large: Ints, rows: int) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """The first pair of each Gamma(S1, S2), its steps and its last index; -1 where no pair fills the table."""
    common = np.gcd(small, large)
    step_1, step_2 = large // common, small // common
    second = (rows // common) % step_2 * _inverses(int(large.max()))[step_2, step_1 % step_2] % step_2
    first = (rows - second * large) // small
    possible = (rows % common == 0) & (first >= 0)
    last = np.where(possible, first // step_1, -1)
    return np.where(possible, first, 0), np.where(possible, second, 0), step_1, step_2, last


@cache
def _inverses(largest: int) -> Ints:
    """For each modulus (rows) and number below it (columns) the number whose product with it leaves 1, or 0."""
    found = np.zeros((largest, largest), dtype=np.int64)
    for modulus in range(2, largest):
        below = np.arange(modulus)
        number, inverse = np.nonzero(np.outer(below, below) % modulus == 1)
        found[modulus, number] = inverse
    return found


def _fill(first: Ints, second: Ints, step_1: Ints, step_2: Ints, last: Ints, most: Ints) -> tuple[Ints, Ints]:
    """The range of k in which both sizes can be filled: b1 <= most[0] from some k on, b2 <= most[1] up to some k."""
    low = np.maximum(0, -((most[0] - first) // step_1))
    high = np.minimum(last, (most[1] - second) // step_2)
    return low, high


def _privacy(
    caps: Ints,
    counts: Ints,
    small: Ints,
    large: Ints,
    gamma: tuple[Ints, Ints, Ints, Ints],
    low: Ints,
    high: Ints,
) -> tuple[Ints, Ints]:
    """Narrow the range of k to where every value fits: cap_1 b1 + cap_2 b2 >= o.  # [WWFW] Eq. 15"""
    first, second, step_1, step_2 = gamma
    for cap, count in zip(caps, counts, strict=True):
        base = cap[small] * first + cap[large] * second - count
        slope = cap[large] * step_2 - cap[small] * step_1
        up, down = slope > 0, slope < 0
        safe = np.where(slope == 0, 1, slope)
        low = np.where(up, np.maximum(low, -(base // safe)), low)
        high = np.where(down, np.minimum(high, base // -safe), high)
        high = np.where((slope == 0) & (base < 0), -1, high)
    return low, high

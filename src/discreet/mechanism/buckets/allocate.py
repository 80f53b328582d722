"""How many records of each value go to each class of buckets.

Paper: [WWFW] section 4.3.
Symbols: u_ij = floor(f'_i S_j) b_j, a_ij = min(u_ij, o_i).
Departs: the paper moves the surplus value by value, in any order. Here every value gives the same share of what it may
    give, rounded so that the class is filled exactly: no value is pushed wholly into one class without need.
"""

from __future__ import annotations

import numpy as np

from discreet.mechanism.buckets.caps import Ints


def allocate(caps: Ints, counts: Ints, classes: tuple[tuple[int, int], ...]) -> Ints:
    """Records of each value (rows) in each of at most two classes (columns); `caps` has the classes' columns."""
    if len(classes) == 1:
        return counts[:, None].copy()
    (size, buckets), (_, others) = classes
    most = np.minimum(caps[:, 0] * buckets, counts)
    least = counts - np.minimum(caps[:, 1] * others, counts)
    first = least + _share(most - least, size * buckets - int(least.sum()))
    return np.stack([first, counts - first], axis=1)


def _share(room: Ints, wanted: int) -> Ints:
    """Split `wanted` over the values in proportion to their room, within their room, in exact integers."""
    total = int(room.sum())
    if total == 0:
        return np.zeros_like(room)
    products = [int(each) * wanted for each in room]
    shares = np.array([product // total for product in products], dtype=np.int64)
    rests = np.array([product % total for product in products], dtype=object)
    missing = wanted - int(shares.sum())
    shares[np.argsort(-rests, kind="stable")[:missing]] += 1
    return shares

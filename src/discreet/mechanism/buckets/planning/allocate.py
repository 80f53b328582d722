"""How many records of each value go to each class of buckets.

Paper: [WWFW] section 4.3.
Symbols: u_ij = floor(f'_i S_j) b_j, a_ij = min(u_ij, o_i).
Departs: the paper moves the surplus value by value, in any order. Here every value gives the same share of what it may
    give, rounded so that the class is filled exactly: no value is pushed wholly into one class without need. With more
    than two classes the shares are found by scaling rows and columns in turn within the caps, rounded down, and an
    exact maximum flow places what is left. Values that are alike (see groups.py) get the same of each class, but for
    one record.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.flow import route
from discreet.mechanism.buckets.planning.groups import Groups

_ROUNDS = 50
_JUST_BELOW = 1 - 1e-12  # sums of floating-point shares must not pass a whole number


def allocate(caps: Ints, counts: Ints, classes: Classes) -> Ints:
    """Records of each value (rows) in each class (columns) of a valid setting; `caps` has the classes' columns."""
    if len(classes) == 1:
        return counts[:, None].copy()
    if len(classes) > 2:
        return _allocate_many(caps, counts, classes)
    (size, buckets), (_, others) = classes
    most = np.minimum(caps[:, 0] * buckets, counts)
    least = counts - np.minimum(caps[:, 1] * others, counts)
    first = least + _share(most - least, size * buckets - int(least.sum()))
    return np.stack([first, counts - first], axis=1)


def allocate_with_slack(caps: Ints, counts: Ints, classes: Classes, unit: int, most: Ints) -> Ints:
    """The same for caps in parts of a record: within their floor as far as that goes, else within their ceiling, but
    never more than `most`.

    A setting that is valid in parts of a record is valid in whole ones within the ceilings, for a flow with whole
    limits has a whole solution. Where `most` is below them, some records may find no place.
    """
    sizes, buckets = (np.array(part, dtype=np.int64) for part in zip(*classes, strict=True))
    needs, room = sizes * buckets, np.minimum(caps * buckets, (counts * unit)[:, None])
    start = np.floor(even_shares(caps / unit, counts, sizes, buckets)).astype(np.int64)
    least = np.minimum(room // unit, most)
    below = route(least, counts, needs, np.minimum(start, least)).records
    return route(np.minimum(-(-room // unit), most), counts, needs, below).records


def _allocate_many(caps: Ints, counts: Ints, classes: Classes) -> Ints:
    """The groups of like values first; their records are then dealt to the values in turn."""
    sizes, buckets = (np.array(part, dtype=np.int64) for part in zip(*classes, strict=True))
    groups = Groups.of(caps, counts, sizes)
    start = np.floor(even_shares(groups.together, groups.records, sizes, buckets)).astype(np.int64)
    through = np.cumsum(groups.fill(buckets, start).records, axis=1)[groups.member]
    number, turn = groups.number[groups.member], groups.turn
    dealt = (through - turn[:, None] + number[:, None] - 1) // number[:, None]
    return np.diff(dealt, axis=1, prepend=0)


def even_shares(caps: Ints | Floats, counts: Ints, sizes: Ints, buckets: Ints | Floats) -> Floats:
    """Records of each value in each class, with fractions: within the caps and, nearly, what both sides have."""
    most, needs = np.minimum(caps * buckets, counts[:, None]), sizes * buckets
    shares = most.astype(np.float64)
    for _ in range(_ROUNDS):
        shares = np.minimum(shares * (counts / np.maximum(shares.sum(axis=1), 1e-9))[:, None], most)
        shares *= np.minimum(1, needs / np.maximum(shares.sum(axis=0), 1e-9))
    return np.asarray(shares * _JUST_BELOW)


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

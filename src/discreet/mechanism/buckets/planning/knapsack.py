"""A bound that needs no solver: the buckets hold the table, and no value enters a bucket that is too small for it.

Where all tolerances are alike nothing else matters, and the best setting is proved with this alone.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.groups import Groups
from discreet.mechanism.buckets.planning.point import Point


def solve_capacity(groups: Groups, low: Ints, high: Ints) -> Point:
    """The least loss with low <= buckets <= high that holds the table, fractions allowed; caps are not looked at.

    A record in a bucket of size S costs (S - 1)^2 / S, which grows with S: the smallest sizes are filled first. A
    record costs at least what it does in the smallest bucket that its value may enter.
    """
    sizes = groups.sizes
    costs = (sizes - 1) ** 2 / sizes
    left = groups.rows - int(sizes @ low)
    room = np.cumsum((high - low) * sizes)
    if left < 0 or left > room[-1]:
        price = -1.0 if left < 0 else 1.0
        return Point(buckets=None, prices=np.full(len(groups.counts), price), empty=True)
    taken = np.diff(np.minimum(room, left), prepend=0)
    last = int(np.searchsorted(room, left))
    least = costs[np.argmax(groups.caps > 0, axis=1)]
    return Point(buckets=low + taken / sizes, prices=np.maximum(least, costs[last]))

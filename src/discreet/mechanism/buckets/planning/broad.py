"""Broad classes for fakes: as many buckets of each size as it takes for every value to have a fake among them.

A class with fewer fakes than values leaves some values without any, and whoever knows that knows which records are
people's. A class of least loss may have a bucket or two, for the rows that are left over; it is made broader by taking
rows from another class.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.metrics import loss_of


def wanted_of(values: int, fakes: int) -> int:
    """How many buckets of a size have a fake for each of so many values."""
    return -(-values // fakes)


def broadened(classes: Classes, wanted: int) -> Classes | None:
    """The same rows in classes of so many buckets or more; None where there is no such way, or they have them."""
    found = classes
    while small := [size for size, buckets in found if buckets < wanted]:
        better = min(_moved(found, small[0], wanted), key=loss_of, default=None)
        if better is None:
            return None
        found = better
    return None if found == classes else found


def _moved(classes: Classes, size: int, wanted: int) -> Iterator[Classes]:
    """Ways to take rows of one other class for a size that has too few buckets, or to give it up."""
    own = dict(classes)
    for other, buckets in classes:
        if other == size:
            continue
        step, less = other // math.gcd(size, other), size // math.gcd(size, other)
        times = -(-(wanted - own[size]) // step)
        if buckets - times * less >= wanted:
            yield _with(own, {size: own[size] + times * step, other: buckets - times * less})
        if own[size] % step == 0:
            yield _with(own, {size: 0, other: buckets + own[size] // step * less})


def _with(own: dict[int, int], changed: dict[int, int]) -> Classes:
    return tuple((size, buckets) for size, buckets in {**own, **changed}.items() if buckets)

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

_SEVERAL = 8  # ways that are looked at together


def wanted_of(values: int, fakes: int) -> int:
    """How many buckets of a size have a fake for each of so many values."""
    return -(-values // fakes)


def broadened(classes: Classes, wanted: int) -> tuple[Classes, ...]:
    """The same rows in classes of so many buckets or more, of several ways those of the least loss first: the best may
    have no room for what the plan has these sizes for. Empty where there are none, or where the classes have them as
    they are.
    """
    ways = [classes]
    while any(small := [_narrow(each, wanted) for each in ways]):
        found = {
            better
            for each, size in zip(ways, small, strict=True)
            for better in (_moved(each, size, wanted) if size else [each])
        }
        ways = sorted(found, key=lambda each: (loss_of(each), each))[:_SEVERAL]
    return tuple(each for each in ways if each != classes)


def _narrow(classes: Classes, wanted: int) -> int:
    """A size that has too few buckets; 0 where none has."""
    return next((size for size, buckets in classes if buckets < wanted), 0)


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
    return tuple((size, buckets) for size, buckets in sorted({**own, **changed}.items()) if buckets)

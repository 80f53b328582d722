"""Classes of nearly the least loss in milliseconds, for the many windows of near buckets: nothing is proved of them.

The linear program over the numbers of buckets is solved as for the best setting, and its point is rounded down or up
instead of being searched around. The two smallest sizes that it uses take the rows that are left. A setting is checked
by an exact flow, so a rounding can cost quality but not truth. It cost 1 to 2 % of the loss in windows of 5,000 rows.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.cuts import Cuts
from discreet.mechanism.buckets.planning.enough import Needs, enough, needs_of, with_needs
from discreet.mechanism.buckets.planning.groups import Groups
from discreet.mechanism.buckets.planning.program import Program
from discreet.mechanism.buckets.planning.rounding import nearby
from discreet.mechanism.buckets.planning.work import Work

_FROM = (0.0, 0.25, 0.5, 0.75, 1.0)  # the fractions of a bucket above which a number is rounded up
_WHOLE = 1e-6  # as near to a whole number as a solver comes
_GAP = 0.01  # of the integer program, where no rounding is valid


def quick_sizes(caps: Ints, counts: Ints, sizes: Ints, unit: int) -> Classes | None:
    """Classes for caps and counts in parts of a record, `unit` of them to a record; None where none is found.

    There are enough buckets to tell all values apart (enough.py), else it is none.
    """
    usable = caps.sum(axis=0) >= sizes * unit
    if not usable.any():
        return None
    caps, sizes = caps[:, usable], sizes[usable]
    work, needs = Work(None), needs_of(caps, sizes)
    cuts = with_needs(Cuts(Groups.of(caps, counts, sizes, unit), work), needs)
    groups = cuts.groups
    low, high = np.zeros_like(groups.sizes), groups.rows // groups.sizes
    point = Program(cuts, low, groups.rows // unit, work).solve(low, high)
    if point is None or point.buckets is None:
        return None
    buckets = _rounded(cuts, point.buckets, sizes, needs)
    if buckets is None:
        buckets = nearby(cuts, point.buckets, _GAP, work)
    return None if buckets is None else _classes(sizes, buckets)


def _rounded(cuts: Cuts, point: Floats, sizes: Ints, needs: Needs) -> Ints | None:
    """The first valid setting among some roundings of a point."""
    down = np.floor(point + _WHOLE).astype(np.int64)
    used, part = np.flatnonzero(point > _WHOLE)[:2], point - down
    for start in _FROM:
        buckets = _filled(down + (part > max(start, _WHOLE)), sizes, used, cuts.groups.rows // cuts.groups.unit)
        if buckets is None or not enough(_classes(sizes, buckets), needs):
            continue
        if not cuts.separate_exactly(buckets):
            return buckets
    return None


def _filled(buckets: Ints, sizes: Ints, used: Ints, rows: int) -> Ints | None:
    """The same with more or fewer buckets of the one or two sizes `used`, so that they hold the rows; None if none do.

    As few of the second as possible: there are most of the first.
    """
    left = rows - int(sizes @ buckets)
    first, second = int(used[0]), int(used[-1])
    for change in sorted(range(-int(sizes[first]), int(sizes[first]) + 1), key=abs) if first < second else (0,):
        rest = left - int(sizes[second]) * change
        found = buckets.copy()
        found[second] += change
        found[first] += rest // int(sizes[first])
        if rest % int(sizes[first]) == 0 and (found >= 0).all():
            return found
    return None


def _classes(sizes: Ints, buckets: Ints) -> Classes:
    return tuple((size, number) for size, number in zip(sizes.tolist(), buckets.tolist(), strict=True) if number)

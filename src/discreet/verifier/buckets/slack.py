"""Whether the sizes of a release leave the slack that it states: an allocation that does must exist, in whole numbers.

Symbols: n_x people with value x, (S, b) classes, f'_x tolerances, s_x = min(s, (1 - f_x / f'_x) / 2), halved with s. No
    class may hold more than ceil((1 - s_x) floor(f'_x (S - q)) b) of x, where q others may be known, or S b where f'_x
    is 1. With sigma fakes it is S / (S + sigma) of that, before it is rounded.
The published buckets need not be such an allocation, for free compositions move people between sizes; the classes and
    the counts by value must allow one. This shares no code with the planner.

That more was kept than is stated can be seen where the search for a plan is exhaustive: with at most two sizes, as many
    as were asked for, without fakes, and in windows unless any number of sizes was allowed. Plans are made in
    parts of 1/10,000 of a record, rounded towards more slack, so that is how an allocation must leave it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

import numpy as np

from discreet.ground.arrays import Ints
from discreet.verifier.buckets.held import classes, counts, counts_by_window
from discreet.verifier.buckets.stated import stated
from discreet.verifier.files import Files

_PARTS = (1, 2, 4, 8, 16)  # of the slack that was asked for, one may be kept
_UNIT = 10_000  # parts of a record
_MOST = 2**60 // _UNIT  # rows times values: larger tables are planned without slack
Classes = Sequence[tuple[int, int]]


def broken_slack(files: Files) -> str | None:
    """What is wrong with the slack that is stated to be kept, in the whole table or in a window."""
    own = files.once(stated)
    if not is_part_of(own.kept_slack, own.slack):
        return (
            f"kept_slack ({own.kept_slack}) is not the slack that the mechanism states ({own.slack}), halved at most "
            "four times, or 0"
        )
    if own.kept_slack and not _leave(files, own.kept_slack):
        return f"no allocation of the people to these sizes leaves the stated slack ({own.kept_slack})"
    more = own.kept_slack * 2 or own.slack / _PARTS[-1]
    if own.kept_slack < own.slack and _was_exhaustive(files) and _leave(files, more, surely=True):
        return f"kept_slack ({own.kept_slack}) is less than these sizes leave, and any search finds them with more"
    return None


def _leave(files: Files, kept: Fraction, *, surely: bool = False) -> bool:
    """Whether the sizes leave a slack, in the whole table or in every window."""
    own, held = files.once(stated), files.once(counts_by_window)
    asked = own.slack, kept, own.known, own.fakes
    return all(
        leaves_slack(held[part], own.limits, found, *asked, surely=surely)
        for part, found in files.once(classes).items()
    )


def _was_exhaustive(files: Files) -> bool:
    """Whether the stated search, with more slack, would have found these sizes or others."""
    own = files.once(stated)
    if own.fakes or (own.near and own.any_sizes):
        return False
    few = all(len(found) <= min(2, own.most_sizes) for found in files.once(classes).values())
    return few and own.rows * len(files.once(counts)) <= _MOST


def is_part_of(kept: Fraction, slack: Fraction) -> bool:
    """Whether one slack is another that was halved four times at most, or nothing of it."""
    return not kept or slack / kept in _PARTS


def leaves_slack(
    counts: Mapping[object, int],
    limits: Mapping[object, Fraction],
    classes: Classes,
    slack: Fraction,
    kept: Fraction,
    known: int = 0,
    fakes: int = 0,
    *,
    surely: bool = False,
) -> bool:
    """Whether some allocation of all people to the classes leaves what is kept of the slack: but for a part of a
    record of each value in each class or, `surely`, without that, and then parts of records may be allocated.
    """
    rows, unit = sum(counts.values()), _UNIT if surely else 1
    most = []
    for value, count in counts.items():
        limit = limits[value]
        used = 1 - min(slack, (1 - Fraction(count, rows) / limit) / 2) * (kept / slack)
        if surely:
            used = Fraction(floor(used * unit), unit)
        caps = [(_cap(limit, size, known, fakes), size, buckets) for size, buckets in classes]
        most.append([min(count * unit, _most(cap, used, size, buckets * unit, fakes)) for cap, size, buckets in caps])
    needs = np.array([size * buckets * unit for size, buckets in classes], dtype=np.int64)
    people = np.array([count * unit for count in counts.values()], dtype=np.int64)
    return _all_placed(np.array(most, dtype=np.int64), people, needs)


def _cap(limit: Fraction, size: int, known: int, fakes: int) -> int:
    return size + fakes if limit == 1 else max(0, limit.numerator * (size - known) // limit.denominator)


def _most(cap: int, used: Fraction, size: int, buckets: int, fakes: int) -> int:
    if cap >= size + fakes:
        return size * buckets
    return ceil(used * Fraction(size, size + fakes) * cap * buckets)


def _all_placed(most: Ints, rest: Ints, needs: Ints) -> bool:
    """Whether people fill every class within `most`: put some there, then move along shortest ways, class by class."""
    placed = np.zeros_like(most)
    for j in range(len(needs)):
        _move(placed[:, j], np.minimum(most[:, j], rest), int(needs[j]), rest)
    while True:
        short = needs - placed.sum(axis=0)
        if not short.any():
            return True
        way = _way(placed, most, rest, short)
        if not way:
            return False
        sources = [rest, *(placed[:, j] for j in way[:-1])]
        rooms = [np.minimum(held, most[:, j] - placed[:, j]) for held, j in zip(sources, way, strict=True)]
        moved = min(int(short[way[-1]]), *(int(room.sum()) for room in rooms))
        for held, room, j in zip(sources, rooms, way, strict=True):
            _move(placed[:, j], room, moved, held)


def _way(placed: Ints, most: Ints, rest: Ints, short: Ints) -> list[int]:
    """The classes through which people without a place reach one that is short of people; empty where none can."""
    room = placed < most
    ways = {j: [j] for j in np.flatnonzero((room & (rest > 0)[:, None]).any(axis=0)).tolist()}
    for j in (waiting := list(ways)):  # grows while it is walked
        if short[j]:
            return ways[j]
        for other in np.flatnonzero((room & (placed[:, j] > 0)[:, None]).any(axis=0)).tolist():
            if other not in ways:
                ways[other] = [*ways[j], other]
                waiting.append(other)
    return []


def _move(target: Ints, room: Ints, amount: int, source: Ints) -> None:
    """Move so many people into a class, of the values in proportion to their room, within it."""
    total = int(room.sum())
    share = np.array([each * amount // total for each in room.tolist()], dtype=np.int64) if total > amount else room
    spare = room - share
    before = np.cumsum(spare) - spare
    share = share + np.clip(amount - int(share.sum()) - before, 0, spare)
    target += share
    source -= share

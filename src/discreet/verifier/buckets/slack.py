"""Whether the sizes of a release leave the slack that it states: an allocation that does must exist, in whole numbers.

Symbols: n_x people with value x, (S, b) classes, f'_x tolerances, s_x = min(s, (1 - f_x / f'_x) / 2), halved with s. No
    class may hold more than ceil((1 - s_x) floor(f'_x (S - q)) b) of x, where q others may be known, or S b where f'_x
    is 1. With sigma fakes it is S / (S + sigma) of that, before it is rounded.
The published buckets need not be such an allocation, for free compositions move people between sizes; the classes and
    the counts by value must allow one. This shares no code with the planner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.verifier.buckets.held import classes, counts_by_window
from discreet.verifier.buckets.stated import stated
from discreet.verifier.files import Files

_PARTS = (1, 2, 4, 8, 16)  # of the slack that was asked for, one may be kept
Classes = Sequence[tuple[int, int]]


def broken_slack(files: Files) -> str | None:
    """What is wrong with the slack that is stated to be kept, in the whole table or in a window."""
    own = files.once(stated)
    if not is_part_of(own.kept_slack, own.slack):
        return (
            f"kept_slack ({own.kept_slack}) is not the slack that the mechanism states ({own.slack}), halved at most "
            "four times, or 0"
        )
    if not own.kept_slack:
        return None
    held, asked = files.once(counts_by_window), (own.slack, own.kept_slack, own.known, own.fakes)
    if all(leaves_slack(held[part], own.limits, found, *asked) for part, found in files.once(classes).items()):
        return None
    return f"no allocation of the people to these sizes leaves the stated slack ({own.kept_slack})"


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
) -> bool:
    """Whether some allocation of all people to the classes leaves what is kept of the slack."""
    rows = sum(counts.values())
    most = []
    for value, count in counts.items():
        limit = limits[value]
        used = 1 - min(slack, (1 - Fraction(count, rows) / limit) / 2) * (kept / slack)
        caps = [(_cap(limit, size, known, fakes), size, buckets) for size, buckets in classes]
        most.append([min(count, _most(cap, used, size, buckets, fakes)) for cap, size, buckets in caps])
    needs = np.array([size * buckets for size, buckets in classes], dtype=np.int64)
    return _all_placed(np.array(most, dtype=np.int64), np.array(list(counts.values()), dtype=np.int64), needs)


def _cap(limit: Fraction, size: int, known: int, fakes: int) -> int:
    return size + fakes if limit == 1 else max(0, limit.numerator * (size - known) // limit.denominator)


def _most(cap: int, used: Fraction, size: int, buckets: int, fakes: int) -> int:
    if cap >= size + fakes:
        return size * buckets
    share = used * Fraction(size, size + fakes)
    return -(-share.numerator * cap * buckets // share.denominator)


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

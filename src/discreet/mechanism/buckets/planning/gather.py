"""Gathering values in classes where they are not rare, for fakes.

A value with fewer people in a class than it takes for a whole fake gets one all the same, and then its people are worth
more to one who knows the totals than those of others. So its people go to a class where it has more, and people of
frequent values come back for them, within every class's room.
Symbols: sigma fakes in a bucket of S people; v people take v sigma / S fakes.
"""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Ints

_FEW = 5  # fakes: with fewer, rounding them makes a value stand out


def gathered(shares: Ints, room: Ints, sizes: Ints, fakes: int) -> Ints:
    """The same people of each value (rows) in the classes (columns), of which each stays full, with fewer rare ones."""
    found, least = shares.copy(), -(-_FEW * sizes // fakes)
    rare = (found > 0) & (found < least)
    for x, j in np.argwhere(rare).tolist():
        people = int(found[x, j])
        able = np.flatnonzero((found[x] > 0) & (room[x] - found[x] >= people))
        able = able[able != j]
        if not people or not len(able):
            continue
        i = int(able[np.argmax(found[x, able])])
        if moved := _exchanged(found, room, least, (j, i), people):
            found[x, j], found[x, i] = 0, found[x, i] + people
            for y, number in moved:
                found[y, i] -= number
                found[y, j] += number
    return found


def _exchanged(found: Ints, room: Ints, least: Ints, way: tuple[int, int], people: int) -> list[tuple[int, int]]:
    """Which values, and how many people of each, come to class j for so many from class i; none are made rare."""
    j, i = way
    able = np.minimum(found[:, i] - least[i], room[:, j] - found[:, j])
    able[found[:, j] < least[j]] = 0
    able = np.maximum(able, 0)
    if int(able.sum()) < people:
        return []
    order = np.argsort(-able, kind="stable")
    upto = np.cumsum(able[order])
    taken = np.minimum(able[order], np.maximum(people - (upto - able[order]), 0))
    return [(y, number) for y, number in zip(order.tolist(), taken.tolist(), strict=True) if number]

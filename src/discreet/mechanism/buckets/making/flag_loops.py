"""Loops over entries and their flags, compiled. An entry is a bucket and a value that meet; entries stand bucket after
bucket, and `starts` says where each begins. No random number is drawn in here: words come from the publisher's coins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.ground.compiled import compiled

Whole = NDArray[np.integer[Any]]
Words = NDArray[np.uint32]


@compiled
def by_bucket(bucket: Whole, count: Whole, ends: Ints, starts: Ints, place: Ints, value: Whole, sorted_: Whole) -> None:
    """Turn entries that stand value after value into those that stand bucket after bucket: where each goes, the values
    there and the counts there.
    """
    cursor = starts[:-1].copy()
    for x in range(len(ends) - 1):
        for e in range(ends[x], ends[x + 1]):
            g = bucket[e]
            at = cursor[g]
            cursor[g] += 1
            place[e], value[at], sorted_[at] = at, x, count[e]


@compiled
def draw_flags(starts: Ints, count: Whole, fakes: int, words: Words, flag: Whole) -> None:
    """In every bucket `fakes` of its slots, one after the other, each slot as likely as any other that is left."""
    for g in range(len(starts) - 1):
        left = np.int64(0)
        for e in range(starts[g], starts[g + 1]):
            left += count[e]
        for k in range(fakes):
            r = np.int64((np.uint64(words[g * fakes + k]) * np.uint64(left - k)) >> np.uint64(32))
            for e in range(starts[g], starts[g + 1]):
                r -= count[e] - flag[e]
                if r < 0:
                    flag[e] += 1
                    break


@compiled
def settle_flags(
    starts: Ints,
    bucket: Whole,
    value: Whole,
    count: Whole,
    flag: Whole,
    place: Ints,
    ends: Ints,
    made: Ints,
    rare: Ints,
) -> bool:
    """Move flags until each value has as many as it is to have; whether there is a way.

    Of each value, from `ends[x]` on, `bucket` has its buckets and `place` where it stands in them. A flag goes from
    value z to y in a bucket that holds a flagged z and an unflagged y; the shortest way is looked for from a value that
    has too few, rare ones first.
    """
    values = len(made)
    excess = -made.astype(np.int64)
    for e in range(len(value)):
        excess[value[e]] += flag[e]
    seen, queue = np.full(values, -1, np.int64), np.empty(values, np.int64)
    give, take = np.empty(values, np.int64), np.empty(values, np.int64)
    last = ends[:-1].copy()  # where a way out of each value was found last: the next is near
    turn = np.int64(-1)
    for x in rare:
        while excess[x] < 0:
            turn += 1
            seen[x], queue[0], head, tail, found = turn, x, 0, 1, np.int64(-1)
            while head < tail and found < 0:
                y = queue[head]
                head += 1
                own = ends[y + 1] - ends[y]
                begin = last[y] - ends[y]
                for k in range(own):
                    at = ends[y] + (begin + k) % own
                    e = place[at]
                    if flag[e] >= count[e]:
                        continue
                    g = bucket[at]
                    for other in range(starts[g], starts[g + 1]):
                        z = value[other]
                        if flag[other] > 0 and seen[z] != turn:
                            seen[z], give[z], take[z] = turn, other, e
                            queue[tail] = z
                            tail += 1
                            if excess[z] > 0:
                                found, last[y] = z, at
                                break
                    if found >= 0:
                        break
            if found < 0:
                return False
            excess[found] -= 1
            excess[x] += 1
            while found != x:
                flag[give[found]] -= 1
                flag[take[found]] += 1
                found = value[take[found]]
    return True


@compiled
def exchange_flags(
    starts: Ints,
    value: Whole,
    count: Whole,
    flag: Whole,
    fakes: int,
    pairs: NDArray[np.uint32],
    words: NDArray[np.uint32],
) -> None:
    """Proposals: a flagged x of one bucket becomes a y, and a flagged y of another an x, where both have one unflagged.

    From u_gy and u_hx unflagged slots to choose from, u_gx + 1 and u_hy + 1 on the way back: taken with the ratio.
    """
    for k in range(len(pairs)):
        g, h = pairs[k, 0], pairs[k, 1]
        if g == h:
            continue
        one = _flagged(starts, flag, g, fakes, words[k, 0])
        two = _flagged(starts, flag, h, fakes, words[k, 1])
        x, y = value[one], value[two]
        if x == y:
            continue
        here, there = _entry(starts, value, g, y), _entry(starts, value, h, x)
        if here < 0 or there < 0:
            continue
        ways = np.int64(count[here] - flag[here]) * np.int64(count[there] - flag[there])
        back = np.int64(count[one] - flag[one] + 1) * np.int64(count[two] - flag[two] + 1)
        if np.int64((np.uint64(words[k, 2]) * np.uint64(back)) >> np.uint64(32)) < ways:
            flag[one] -= 1
            flag[two] -= 1
            flag[here] += 1
            flag[there] += 1


@compiled
def _flagged(starts: Ints, flag: Whole, g: int, fakes: int, word: np.uint32) -> int:
    """The entry of one of a bucket's flagged slots, each as likely as any other."""
    r = np.int64((np.uint64(word) * np.uint64(fakes)) >> np.uint64(32))
    for e in range(starts[g], starts[g + 1]):
        r -= flag[e]
        if r < 0:
            return e
    return -1  # no bucket has fewer


@compiled
def _entry(starts: Ints, value: Whole, g: int, x: int) -> int:
    """The entry of a value in a bucket; -1 where it is not there."""
    for e in range(starts[g], starts[g + 1]):
        if value[e] == x:
            return e
    return -1

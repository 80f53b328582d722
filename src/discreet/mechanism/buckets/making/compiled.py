"""Loops over slots, compiled: swaps of pairs of buckets, and the counts of what they hold.

Imported by what composes freely only, for it loads the compiler. No random number is drawn in here: the words come from
the publisher's coins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.ground.compiled import compiled

Whole = NDArray[np.integer[Any]]
Code = NDArray[np.unsignedinteger[Any]]


@compiled
def swap_pairs(slots: Code, starts: Ints, kinds: Ints, caps: Whole, order: Ints, words: NDArray[np.uint32]) -> None:
    """One round: neighbours in `order` are a pair, and exchange records slot by slot wherever both stay within caps.

    A proposal takes one word, 16 bits for a slot of each bucket: it is as likely in one direction as back.
    """
    inside, beside = np.zeros(caps.shape[1], dtype=np.int16), np.zeros(caps.shape[1], dtype=np.int16)
    used = 0
    for pair in range(len(order) // 2):
        g, h = order[2 * pair], order[2 * pair + 1]
        own, other = slots[starts[g] : starts[g + 1]], slots[starts[h] : starts[h + 1]]
        limit, bound = caps[kinds[g]], caps[kinds[h]]
        for x in own:
            inside[x] += 1
        for x in other:
            beside[x] += 1
        proposals = (len(own) + len(other)) // 2
        for word in words[used : used + proposals]:
            i = ((word >> np.uint32(16)) * np.uint32(len(own))) >> np.uint32(16)
            j = ((word & np.uint32(0xFFFF)) * np.uint32(len(other))) >> np.uint32(16)
            x, y = own[i], other[j]
            if x != y and inside[y] < limit[y] and beside[x] < bound[x]:
                own[i], other[j] = y, x
                inside[x] -= 1
                inside[y] += 1
                beside[y] -= 1
                beside[x] += 1
        used += proposals
        for x in own:
            inside[x] = 0
        for x in other:
            beside[x] = 0


@compiled
def count_meetings(slots: Code, starts: Ints, found: Ints) -> None:
    """Add to `found` how many buckets hold each value."""
    last = np.full(len(found), -1, dtype=np.int64)
    for g in range(len(starts) - 1):
        for x in slots[starts[g] : starts[g + 1]]:
            if last[x] != g:
                last[x] = g
                found[x] += 1


@compiled
def place_meetings(slots: Code, starts: Ints, names: Whole, bucket: Whole, count: Whole, ends: Ints) -> None:
    """Append to each value's part of `bucket` and `count`, which `ends` there so far, the buckets that hold it."""
    held = np.zeros(len(ends), dtype=np.uint8)
    for g in range(len(starts) - 1):
        for x in slots[starts[g] : starts[g + 1]]:
            held[x] += 1
        for x in slots[starts[g] : starts[g + 1]]:
            if held[x]:
                bucket[ends[x]] = names[g]
                count[ends[x]] = held[x]
                ends[x] += 1
                held[x] = 0

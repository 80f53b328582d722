"""Free compositions: uniformly random among all that keep the caps, by swaps.

Paper: [WWFW] section 4.1 (round robin), where every block begins.
Departs: the promise needs the caps alone, so a bucket need not hold floor or ceil of each value's mean; the more the
    buckets differ, the more can be learned from their counts. In each round the buckets of a block, of all sizes, are
    paired at random; a pair proposes to swap a slot of one with a slot of the other, and does unless a cap forbids it.
    A proposal is as likely as its reverse, so the law tends to the uniform one over all assignments of records to slots
    that swaps within the caps lead to: a composition weighs prod S_g! / prod c_gx!. Only counts and coins are used.
Symbols: S_g the size of bucket g, c_gx its records of value x.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.mechanism.buckets.making.compose import Counts, Ids
from discreet.mechanism.buckets.making.cut import BLOCK, Block, cut
from discreet.series.coins import Coins

ROUNDS = 20  # of half as many proposals as there are slots

Code = NDArray[np.unsignedinteger[Any]]


def compose_freely(
    records: Ints, buckets: Ints, caps: Ints, names: Ids, coins: Coins, tell: Tell = lambda done: None
) -> tuple[Ids, Counts, Ints]:
    """The buckets that hold each value, value after value, how often, and how many they are.

    `records` and `caps` have a row for each value and a column for each class; `names` are the buckets' ids.
    """
    from discreet.mechanism.buckets.making.compiled import count_meetings, place_meetings

    found = np.zeros(len(records), dtype=np.int64)
    held, sizes = np.empty(int(records.sum()), dtype=_code(len(records))), np.empty(len(names), dtype=np.uint8)
    done = end = 0
    for block in cut(records, buckets, coins):
        slots, starts = compose_block(block, caps, coins)
        count_meetings(slots, starts, found)
        held[end : end + len(slots)] = slots
        sizes[done : done + len(starts) - 1] = np.diff(starts)
        done, end = done + len(starts) - 1, end + len(slots)
        tell(done / len(names))
    ends = np.cumsum(found) - found
    bucket, count = np.empty(int(found.sum()), dtype=np.int32), np.empty(int(found.sum()), dtype=np.uint8)
    end = 0
    for first in range(0, len(names), BLOCK):
        some = slice(first, first + BLOCK)
        starts = np.concatenate([[0], np.cumsum(sizes[some], dtype=np.int64)])
        place_meetings(held[end : end + starts[-1]], starts, names[some], bucket, count, ends)
        end += int(starts[-1])
    return bucket, count, found


def compose_block(block: Block, caps: Ints, coins: Coins) -> tuple[Code, Ints]:
    """The value in each slot of a block, bucket after bucket, and where each bucket begins and the last ends."""
    from discreet.mechanism.buckets.making.compiled import swap_pairs

    stream = coins.stream(f"composition of block {block.number}")
    slots, starts, kinds = _in_turn(block, stream)
    limits = np.ascontiguousarray(caps.T, dtype=np.int16)
    for _ in range(ROUNDS if len(kinds) > 1 else 0):
        order = stream.permutation(len(kinds))
        words = stream.integers(0, 1 << 32, size=len(slots) // 2 + 1, dtype=np.uint32)
        swap_pairs(slots, starts, kinds, limits, order, words)
    return slots, starts


def _in_turn(block: Block, coins: np.random.Generator) -> tuple[Code, Ints, Ints]:
    """Round robin in each class, the values in random order: caps hold; also each bucket's class."""
    values = len(block.records)
    parts, sizes = [], np.zeros(len(block.buckets), dtype=np.int64)
    for j in np.flatnonzero(block.buckets).tolist():
        order = coins.permutation(values).astype(_code(values))
        dealt = np.repeat(order, block.records[order, j]).reshape(-1, block.buckets[j])
        sizes[j] = len(dealt)
        parts.append(dealt.T.ravel())
    kinds = np.repeat(np.arange(len(sizes)), block.buckets)
    return np.concatenate(parts), np.concatenate([[0], np.cumsum(sizes[kinds])]), kinds


def _code(values: int) -> type[np.unsignedinteger[Any]]:
    """The type of a slot: large enough for every value, and no larger."""
    return np.uint16 if values <= 1 << 16 else np.uint32

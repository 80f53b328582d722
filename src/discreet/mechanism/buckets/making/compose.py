"""Which values a bucket holds: random compositions within the caps.

The term of art is controlled rounding: every count goes down or up to a whole number, and all sums stay.

Paper: [WWFW] section 4.1 (round robin).
Departs: round robin makes the buckets' compositions nearly collinear, and unbiased answers useless. Here each class of
    b buckets is halved again and again; a value with e records left over for a node of L buckets sends floor(e/2) or
    ceil(e/2) of them to each half, and which values round up is a uniformly random half of the odd ones. Where L is
    odd, one bucket is drawn first as a systematic sample in random order with inclusion e/L. Every bucket ends with
    floor(v/b) or ceil(v/b) records of a value, so the caps hold as they do for round robin (Lemma 2).
Symbols: v records of each value in the class, b buckets, S their size, e the extras above v // b.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Bools, Ints
from discreet.ground.progress import Tell

BLOCK = 1 << 18  # buckets that are composed together in memory
_RANDOM_BITS = 38

Ids = NDArray[np.int32]
Counts = NDArray[np.uint8]  # a bucket has at most 200 records
Extras = Iterator[tuple[Ints, Ints]]  # buckets, and the value that each holds one more of


def meetings(records: Ints, buckets: int) -> Ints:
    """How many buckets of a class hold each value: all of them, or one for each record."""
    return np.minimum(records, buckets)


def compose(
    records: Ints,
    buckets: int,
    how: str,
    coins: np.random.Generator,
    into: tuple[Ids, Counts, Ints],
    tell: Tell = lambda done: None,
) -> None:
    """Write, for each value, the buckets (from 0) of one class that hold it and how often.

    `into` is an array for the buckets, one for the counts, and where in both each value's part begins. A large class
    is written in place, for it is most of the memory that publishing needs.
    """
    bucket, count, starts = into
    base, extra = np.divmod(records, buckets)
    for x in np.flatnonzero(base).tolist():
        bucket[starts[x] : starts[x] + buckets] = np.arange(buckets, dtype=np.int32)
        count[starts[x] : starts[x] + buckets] = base[x]
    extras = _extras_in_turn(extra, buckets) if how == "round-robin" else _extras_at_random(extra, buckets, coins)
    ends, placed = starts.copy(), 0
    for which, value in extras:
        everywhere = base[value] > 0
        count[starts[value[everywhere]] + which[everywhere]] += np.uint8(1)
        which, value = which[~everywhere], value[~everywhere]
        order = np.argsort(value, kind="stable")
        found = np.bincount(value, minlength=len(records))
        firsts = np.cumsum(found) - found
        target = ends[value[order]] + np.arange(len(order)) - firsts[value[order]]
        bucket[target] = which[order]
        count[target] = 1
        ends += found
        placed += len(everywhere)
        tell(placed / max(1, int(extra.sum())))


def _extras_in_turn(extra: Ints, buckets: int) -> Extras:
    """Round robin: the extras of one value follow those of the one before, around the buckets."""
    value = np.repeat(np.arange(len(extra), dtype=np.int64), extra)
    yield np.arange(len(value), dtype=np.int64) % buckets, value


def _extras_at_random(extra: Ints, buckets: int, coins: np.random.Generator) -> Extras:
    """Halve the class until its parts are small enough to be composed together."""
    present = np.flatnonzero(extra)
    waiting = [(0, buckets, present, extra[present])]
    while waiting:
        start, length, value, e = waiting.pop()
        if length <= BLOCK:
            done = [(start + bucket, held) for bucket, held in _block(length, value, e, coins)]
            if done:
                yield np.concatenate([bucket for bucket, _ in done]), np.concatenate([held for _, held in done])
            continue
        node = np.zeros(len(value), dtype=np.int64)
        if length % 2:
            taken, e = _peel(length, node, e, coins)
            yield np.full(int(taken.sum()), start + length - 1, dtype=np.int64), value[taken]
            length -= 1
        left = _left(node, e, coins)
        for half, part in ((0, left), (1, e - left)):
            kept = part > 0
            waiting.append((start + half * (length // 2), length // 2, value[kept], part[kept]))


def _block(length: int, value: Ints, e: Ints, coins: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Compose `length` buckets together; all nodes of one level have the same number of buckets."""
    node = np.zeros(len(value), dtype=np.int64)
    nodes, end = 1, length
    while len(value):
        if length % 2:
            taken, e = _peel(length, node, e, coins)
            end -= nodes
            yield end + node[taken], value[taken]
            kept = e > 0
            node, value, e, length = node[kept], value[kept], e[kept], length - 1
            continue
        left = _left(node, e, coins)
        e = np.concatenate([left, e - left])
        kept = e > 0
        node = np.concatenate([2 * node, 2 * node + 1])[kept]
        value = np.concatenate([value, value])[kept]
        e, nodes, length = e[kept], 2 * nodes, length // 2


def _left(node: Ints, e: Ints, coins: np.random.Generator) -> Ints:
    """What each value sends to the left half: every node has an even number of odd ones, and half of them round up."""
    left = e // 2
    odd = np.flatnonzero(e % 2)
    order = odd[_shuffled_by_node(node[odd], coins)]
    left[order[::2]] += 1
    return left


def _peel(length: int, node: Ints, e: Ints, coins: np.random.Generator) -> tuple[Bools, Ints]:
    """One bucket from each node: a systematic sample in random order; e/L of value x is its chance to be in it.

    The extras of a node add up to a multiple of L, so one running sum serves all nodes.
    """
    order = _shuffled_by_node(node, coins)
    offset = coins.integers(0, length, size=int(node.max(initial=0)) + 1)[node[order]]
    upto = np.cumsum(e[order]) + offset
    taken = np.zeros(len(e), dtype=np.bool_)
    taken[order] = upto // length > (upto - e[order]) // length
    return taken, e - taken


def _shuffled_by_node(node: Ints, coins: np.random.Generator) -> NDArray[np.intp]:
    """The entries grouped by node, in random order within each."""
    return np.argsort((node << _RANDOM_BITS) | coins.integers(0, 1 << _RANDOM_BITS, size=len(node)))

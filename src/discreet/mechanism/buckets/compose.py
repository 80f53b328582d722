"""Which values a bucket holds: random compositions within the caps.

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

from discreet.engine.progress import Tell
from discreet.mechanism.buckets.caps import Ints

BLOCK = 1 << 18  # buckets that are composed together in memory
_RANDOM_BITS = 38

Ids = NDArray[np.int32]
Counts = NDArray[np.uint8]  # a bucket has at most 200 records
Extras = Iterator[tuple[Ints, Ints]]  # buckets, and the value that each holds one more of


def compose(
    records: Ints, buckets: int, how: str, coins: np.random.Generator, tell: Tell = lambda done: None
) -> Iterator[tuple[int, Ids, Counts]]:
    """For each value, the buckets (from 0) of one class that hold it, and how often."""
    base, extra = np.divmod(records, buckets)
    extras = _extras_at_random(extra, buckets, coins) if how == "random" else _extras_in_turn(extra, buckets)
    held: list[list[Ids]] = [[] for _ in records]
    placed = 0
    for bucket, value in extras:
        order = np.argsort(value, kind="stable")
        ends = np.cumsum(np.bincount(value, minlength=len(records)))
        for x, part in enumerate(np.split(bucket[order].astype(np.int32), ends[:-1])):
            held[x].append(part)
        placed += len(value)
        tell(placed / max(1, int(extra.sum())))
    for x in np.flatnonzero(records).tolist():
        more = np.concatenate(held[x]) if held[x] else np.empty(0, dtype=np.int32)
        held[x] = []
        if base[x]:
            count = np.full(buckets, base[x], dtype=np.uint8)
            count[more] += 1
            yield x, np.arange(buckets, dtype=np.int32), count
        else:
            yield x, more, np.ones(len(more), dtype=np.uint8)


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


def _peel(length: int, node: Ints, e: Ints, coins: np.random.Generator) -> tuple[NDArray[np.bool_], Ints]:
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

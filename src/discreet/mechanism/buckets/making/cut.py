"""Cutting the classes of a plan into blocks with fixed counts, so that each block can be composed by itself.

Every block gets the floor or the ceiling of its share of each class's buckets. The records of a class of L buckets that
is parted into L1 + L2 go to both in proportion, rounded: a value with v records gives floor or ceil of v L1/L to the
first part, and which values round up is a systematic sample in random order with inclusion (v L1 mod L)/L. So every
part is exactly full, and v <= cap L stays true in each, for cap is a whole number.

Symbols: v records of each value (rows) in each class (columns), b buckets of each class, K blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.ground.arrays import Ints
from discreet.series.coins import Coins

BLOCK = 1 << 16  # buckets that are composed together


@dataclass(frozen=True, kw_only=True)
class Block:
    """Some buckets of every class, with records of each value that fill them within the caps."""

    number: int
    buckets: Ints  # of each class
    records: Ints  # of each value (rows) in each class (columns)


def layout(buckets: Ints) -> Ints:
    """How many buckets of each class (columns) each block (rows) has: shares and sums are rounded down or up."""
    blocks = -(-int(buckets.sum()) // BLOCK)
    base, extra = np.divmod(buckets, blocks)
    first = np.cumsum(extra) - extra  # the extras of a class follow those of the one before, around the blocks
    turn = (np.arange(blocks)[:, None] - first[None, :]) % blocks
    return np.asarray(base[None, :] + (turn < extra[None, :]), dtype=np.int64)


def cut(records: Ints, buckets: Ints, coins: Coins, only: int | None = None) -> Iterator[Block]:
    """The blocks in order, or `only` one of them; each cut has coins of its own, so that one is the same as among all.

    What waits to be cut is one table of values by classes for each time that the blocks are halved.
    """
    shares = layout(buckets)
    waiting = [(0, len(shares), records)]
    while waiting:
        start, stop, v = waiting.pop()
        if only is not None and not start <= only < stop:
            continue
        if stop - start == 1:
            yield Block(number=start, buckets=shares[start], records=v)
            continue
        middle = (start + stop) // 2
        stream = coins.stream(f"cut of blocks {start} to {stop}")
        first = _first(v, shares[start:middle].sum(axis=0), shares[start:stop].sum(axis=0), stream)
        waiting += [(middle, stop, v - first), (start, middle, first)]


def _first(v: Ints, part: Ints, whole: Ints, coins: np.random.Generator) -> Ints:
    """What each value gives to the first `part` of the `whole` buckets of each class."""
    first = np.zeros_like(v)
    for j in np.flatnonzero(part).tolist():
        down, rest = np.divmod(v[:, j] * part[j], whole[j])
        order = coins.permutation(len(v))
        upto = np.cumsum(rest[order]) + coins.integers(0, whole[j])  # the rests add up to a multiple of the whole
        first[:, j] = down
        first[order, j] += upto // whole[j] > (upto - rest[order]) // whole[j]
    return first

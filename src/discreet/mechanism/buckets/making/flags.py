"""Which slots of a class are fakes: uniformly random among all choices with the totals of each value.

Departs: [WWFW] section 6 adds fakes to buckets that are there. Here the slots are there, and sigma of each bucket are
    drawn. First every bucket draws by itself; then paths of buckets along which a flag can be moved from a value that
    has too many to one that has too few mend the totals (a maximum flow), so that a choice is found wherever there is
    one. Last, pairs of buckets exchange flags many times: whoever holds a flagged x takes a flagged y instead, while
    the other does the reverse. An exchange is taken with the probability that makes its reverse as likely, so the law
    tends to the uniform one over the choices that exchanges lead to.
Symbols: c_gx slots of bucket g with value x, sigma fakes in every bucket, m_x fakes with value x in the class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.making.compose import Counts, Ids
from discreet.series.coins import Coins

Whole = NDArray[np.integer[Any]]
NEAR, FAR = 8, 2  # proposals for each fake, within a stretch of buckets that a processor has at hand, and beyond
_STRETCH = 1 << 14  # buckets
_AT_ONCE = 1 << 20


def drawn_flags(
    bucket: Ids, count: Counts, held: Ints, made: Ints, buckets: int, fakes: int, coins: Coins
) -> Counts | None:
    """How many of each entry's slots are fakes, `fakes` in each bucket and `made` of each value; None if none fit.

    Entries stand value after value, `held` of each, and say in which `bucket` (from 0) how often the value is.
    """
    from discreet.mechanism.buckets.making.flag_loops import by_bucket, draw_flags, settle_flags

    starts = np.concatenate([[0], np.cumsum(np.bincount(bucket, minlength=buckets))])
    ends = np.concatenate([[0], np.cumsum(held)])
    place = np.empty(len(bucket), dtype=np.int64)
    value, counts = np.empty(len(bucket), dtype=np.int32), np.empty(len(bucket), dtype=np.int16)
    by_bucket(bucket, count, ends, starts, place, value, counts)
    flags, stream = np.zeros(len(bucket), dtype=np.int16), coins.stream("fakes")
    for first, last in _stretches(0, buckets, _AT_ONCE):
        words = stream.integers(0, 1 << 32, size=(last - first) * fakes, dtype=np.uint32)
        draw_flags(starts[first : last + 1], counts, fakes, words, flags)
    rare = np.argsort(made, kind="stable")
    if not settle_flags(starts, bucket, value, counts, flags, place, ends, made, rare):
        return None
    for first, last in _stretches(0, buckets, _STRETCH):
        _exchanged(starts, value, counts, flags, fakes, (first, last), NEAR * (last - first) * fakes, stream)
    _exchanged(starts, value, counts, flags, fakes, (0, buckets), FAR * buckets * fakes, stream)
    return flags[place].astype(np.uint8)


def _exchanged(
    starts: Ints,
    value: Ids,
    count: Whole,
    flags: Whole,
    fakes: int,
    span: tuple[int, int],
    proposals: int,
    stream: np.random.Generator,
) -> None:
    """So many proposals between random buckets of a span."""
    from discreet.mechanism.buckets.making.flag_loops import exchange_flags

    for first, last in _stretches(0, proposals, _AT_ONCE):
        pairs = stream.integers(*span, size=(last - first, 2), dtype=np.uint32)
        words = stream.integers(0, 1 << 32, size=(last - first, 3), dtype=np.uint32)
        exchange_flags(starts, value, count, flags, fakes, pairs, words)


def _stretches(first: int, last: int, step: int) -> Iterator[tuple[int, int]]:
    return ((start, min(last, start + step)) for start in range(first, last, step))

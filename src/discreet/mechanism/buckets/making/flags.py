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

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.making.compose import Counts, Ids
from discreet.series.coins import Coins

EXCHANGES = 10  # proposals for each fake
_AT_ONCE = 1 << 20


def drawn_flags(
    bucket: Ids, count: Counts, held: Ints, made: Ints, buckets: int, fakes: int, coins: Coins
) -> Counts | None:
    """How many of each entry's slots are fakes, `fakes` in each bucket and `made` of each value; None if none fit.

    Entries stand value after value, `held` of each, and say in which `bucket` (from 0) how often the value is.
    """
    from discreet.mechanism.buckets.making.flag_loops import draw_flags, exchange_flags, settle_flags

    order = np.argsort(bucket, kind="stable")  # bucket after bucket, and within it by value
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    value = np.repeat(np.arange(len(held), dtype=np.int32), held)[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(bucket, minlength=buckets))])
    ends = np.concatenate([[0], np.cumsum(held)])
    counts, flags = count[order].astype(np.int16), np.zeros(len(order), dtype=np.int16)
    stream = coins.stream("fakes")
    for first in range(0, buckets, _AT_ONCE):
        last = min(buckets, first + _AT_ONCE)
        words = stream.integers(0, 1 << 32, size=(last - first) * fakes, dtype=np.uint32)
        draw_flags(starts[first : last + 1], counts, fakes, words, flags)
    rare = np.argsort(made, kind="stable")
    if not settle_flags(starts, bucket[order], value, counts, flags, place, ends, made, rare):
        return None
    for done in range(0, EXCHANGES * buckets * fakes if buckets > 1 else 0, _AT_ONCE):
        several = min(_AT_ONCE, EXCHANGES * buckets * fakes - done)
        pairs = stream.integers(0, buckets, size=(several, 2))
        words = stream.integers(0, 1 << 32, size=(several, 3), dtype=np.uint32)
        exchange_flags(starts, value, counts, flags, fakes, pairs, words)
    return flags[place].astype(np.uint8)

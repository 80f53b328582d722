"""Slack: plans that leave every cap a little unused, so that buckets can differ and answers become exact.

A plan of least loss fills the caps of many values, and values that stand at their cap in every bucket of a class are
known as a sum only. With slack no class holds more than a share 1 - s_x of what the caps of a value x allow:

    v_xS <= (1 - s_x) cap_xS b_S wherever cap_xS < S, with s_x = min(s, (1 - f_x / f'_x) / 2).

Where no setting keeps that, all s_x are halved, four times at most; then there is none. The promise needs the caps
alone, so it does not depend on the slack.

Everything is compared in whole numbers: caps are multiplied by 10,000 minus the numerator of s_x, rounded up, and
counts and sizes by 10,000.
Symbols: f_x the value's share of the rows, f'_x its tolerance, v_xS its records in the b_S buckets of size S.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Ints
from discreet.ground.exact import Number, exact
from discreet.ground.shown import shown

UNIT = 10_000  # caps with slack are whole numbers of this part of a record
DEFAULT = Fraction(3, 10)
_HALVINGS = 4
_FINEST = 10**9  # the largest denominator
_MOST = 2**60  # records, in parts, of all values together: sums of 64 bits hold them


def read_slack(number: Number) -> Fraction:
    """The slack as a fraction; raises PolicyError where it is none."""
    found = exact("slack", number)
    if not 0 <= found < 1:
        raise PolicyError(f"slack ({shown(number)}) must be at least 0 and below 1; 0.3 is the default", key=("slack",))
    if found.denominator > _FINEST:
        raise PolicyError(f"slack ({shown(number)}) must have fewer digits; give a number such as 0.3", key=("slack",))
    return found


def steps_of(slack: Fraction, counts: Ints) -> Iterator[Fraction]:
    """The slacks to be tried, largest first; none for tables that are too large to be planned in parts of a record."""
    if int(counts.sum()) * len(counts) <= _MOST // UNIT:
        yield from (slack / 2**halved for halved in range(_HALVINGS + 1) if slack)


def slacks_of(counts: Ints, limits: Sequence[Fraction], slack: Fraction, kept: Fraction) -> list[Fraction]:
    """s_x of each value where `kept`, which is `slack` halved some times, is kept."""
    rows = int(counts.sum())
    scale = kept / slack if slack else Fraction(0)
    shares = (Fraction(int(count), rows) / limit for count, limit in zip(counts, limits, strict=True))
    return [min(slack, (1 - share) / 2) * scale for share in shares]


def scaled_caps(caps: Ints, sizes: Ints, slacks: Sequence[Fraction], fakes: int = 0) -> Ints:
    """How many people of each value a bucket of each size may hold on average, in parts of a record, rounded down; up
    where there is no slack to keep, for then whole people are counted before a setting is taken.
    """
    parts = [UNIT + (-slack.numerator * UNIT // slack.denominator) for slack in slacks]
    used = np.where(caps < sizes + fakes, caps * np.array(parts, dtype=np.int64)[:, None], caps * UNIT)
    if not fakes:
        return used
    return used * sizes // (sizes + fakes) if any(slacks) else -(-used * sizes // (sizes + fakes))

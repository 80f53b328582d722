"""Caps: how many records of a value one bucket may hold, in exact integers.

Symbols: caps[i, j] = floor(f'_i (S_j - q)), where q others of a bucket may be known; all slots where f'_i is 1. With
    sigma fakes a bucket of S_j people has S_j + sigma slots, the caps are of both together, and of cap b slots in b
    buckets cap b S_j / (S_j + sigma) are people's: the fakes of a value are in proportion to its people. A floor taken
    in floating point is a privacy bug: floor(0.58 * 50) is 28 in doubles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.kinds import kinds_of

Classes = tuple[tuple[int, int], ...]  # (size, number of buckets), smallest size first
LARGEST = 200  # sizes beyond this make a release useless, and pairs of sizes grow with the square
MOST_BESIDE = 50  # known others, and fakes: with both the largest bucket has fewer slots than a byte counts


@dataclass(frozen=True)
class Defence:
    """Against whom a bucket is filled: one who knows the values of up to `known` others, and `fakes` beside them."""

    known: int = 0
    fakes: int = 0

    def __bool__(self) -> bool:
        return bool(self.known or self.fakes)


NOTHING = Defence()


def caps_of(tolerance: Sequence[Fraction], sizes: Ints, defence: Defence = NOTHING) -> Ints:
    """floor(f'_i (S_j - known)) for every value i (rows) and size j (columns); all slots where f'_i is 1."""
    top = [number.numerator for number in tolerance]
    bottom = [number.denominator for number in tolerance]
    largest = int(sizes.max(initial=1))
    fits = max(bottom, default=1) < 2**62 // largest  # numerators are at most the denominators
    kind = np.int64 if fits else object
    unknown = np.maximum(sizes - defence.known, 0)
    product = np.array(top, dtype=kind)[:, None] * unknown.astype(kind)[None, :]
    caps = np.asarray(product // np.array(bottom, dtype=kind)[:, None], dtype=np.int64)
    if defence:
        caps[[number == 1 for number in tolerance]] = sizes + defence.fakes
    return caps


def most_people(caps: Ints, classes: Classes, fakes: int) -> Ints:
    """How many people of each value (rows) a class (columns) may have, so that its fakes fit within the caps too."""
    sizes, buckets = (np.array(each, dtype=np.int64) for each in zip(*classes, strict=True))
    return np.asarray(caps * buckets * sizes // (sizes + fakes))


def smallest_size(tolerance: Fraction, known: int = 0) -> int:
    """The smallest bucket that may hold one record of a value: ceil(1/f') beside those who are known; 1 if f' is 1."""
    return 1 if tolerance == 1 else known - (-tolerance.denominator // tolerance.numerator)


def buckets_of(classes: Classes, sizes: Ints) -> Ints:
    """The number of buckets of each size, 0 where a class is missing."""
    known = dict(classes)
    return np.array([known.get(size, 0) for size in sizes.tolist()], dtype=np.int64)


def merge_equal_caps(caps: Ints, counts: Ints, unit: int = 1) -> tuple[Ints, Ints]:
    """One row for all values with the same caps, with the largest of their counts: all that privacy asks for."""
    kinds = kinds_of(caps, unit)
    order = np.argsort(kinds, kind="stable")
    starts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
    return caps[order[starts]], np.maximum.reduceat(counts[order], starts)


def most_buckets(caps: Ints, counts: Ints, sizes: Ints, number: Ints | None = None) -> Ints:
    """The largest number of buckets of each size that the records can fill within the caps (the fill constraint).

    `number` says how many values there are of each kind, where it is not one.

    h(b) = sum_i min(cap_i b, o_i) - S b is concave with h(0) = 0, so it is non-negative up to one point; Newton's
    method from the right reaches that point from above in a few steps, rounding down at each.  # [WWFW] Eq. 4
    """
    number = np.ones_like(counts) if number is None else number
    records, together = counts * number, caps * number[:, None]
    most = int(records.sum()) // sizes
    while True:
        full = caps * most[None, :] >= counts[:, None]  # values whose records all fit
        fixed = records @ full
        slope = np.where(full, 0, together).sum(axis=0)
        short = fixed + slope * most < sizes * most
        if not short.any():
            return most
        most = np.where(short, fixed // np.maximum(sizes - slope, 1), most)

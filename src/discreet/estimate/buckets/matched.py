"""What a question asks of the buckets, and the hard limits of its answer: true whatever the coins and the data were.

The limits are the Frechet bounds of two margins, bucket by bucket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.estimate.buckets.composition import Composition
from discreet.ground.arrays import Ints


@dataclass(frozen=True, kw_only=True)
class Matched:
    """A question to the buckets: a sum over parts of the people with a value in `chosen` who meet the part's condition.

    `matches` are the rows of each bucket that meet it, `held` the records with those values, `limits` the hard bounds;
    `joint` has, for pairs of parts, the rows of each bucket that meet both conditions. `plain` says that each part asks
    for rows or for values alone, so that every release of the table answers it exactly. `rows` are the rows that meet
    each part's condition, where somebody wants to know them.
    """

    chosen: Sequence[tuple[int, ...]]
    matches: Sequence[Ints]
    held: Sequence[Ints]
    joint: Mapping[tuple[int, int], Ints]
    limits: tuple[int, int]
    plain: bool
    rows: Sequence[Ints] = ()


def matched_of(
    composition: Composition,
    chosen: Sequence[tuple[int, ...]],
    matches: Sequence[Ints],
    joint: Mapping[tuple[int, int], Ints],
    rows: Sequence[Ints] = (),
) -> Matched:
    """The question with what the buckets hold of it."""
    held = [composition.held(values) for values in chosen]
    limits = bounds(matches, held, composition.sizes)
    plain = all(
        (a == composition.sizes).all() or (c == composition.sizes).all() or not a.any() or not c.any()
        for a, c in zip(matches, held, strict=True)
    )
    return Matched(chosen=chosen, matches=matches, held=held, joint=joint, limits=limits, plain=plain, rows=rows)


def bounds(matches: Sequence[Ints], held: Sequence[Ints], sizes: Ints) -> tuple[int, int]:
    """sum over buckets and parts of [max(0, a + c - S), min(a, c)]: of c records with the part's values, some of a
    rows match.
    """
    low = high = 0
    for a, c in zip(matches, held, strict=True):
        low += int(np.maximum(0, a + c - sizes).sum())
        high += int(np.minimum(a, c).sum())
    return low, high

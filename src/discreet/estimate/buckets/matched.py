"""What a question asks of the buckets, and the hard limits of its answer: true whatever the coins and the data were.

The limits are the Frechet bounds of two margins, bucket by bucket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.estimate.buckets.composition import Composition
from discreet.ground.arrays import Floats, Ints


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
    held: Sequence[Ints | Floats]
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
    if composition.fakes:
        limits = bounds_with_fakes(composition, chosen, matches, held)
    else:
        limits = bounds(matches, held, composition.sizes)
    plain = all(
        (a == composition.sizes).all() or (c == composition.slots).all() or not a.any() or not c.any()
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


def bounds_with_fakes(
    composition: Composition, chosen: Sequence[tuple[int, ...]], matches: Sequence[Ints], held: Sequence[Ints]
) -> tuple[int, int]:
    """The same where some of a bucket's records are fakes: between c - sigma and c of them are people's. In the buckets
    of one size it is known how many people have the values, so the bounds of these margins hold too.
    """
    kind, sizes, fakes = composition.kind, composition.sizes, composition.fakes
    number = int(kind.max()) + 1
    rows = np.bincount(kind, sizes, number)
    low = high = 0
    for values, a, c in zip(chosen, matches, held, strict=True):
        people = np.asarray(composition.people)[list(values)].sum(axis=0)
        some = np.bincount(kind, a, number)
        least = np.bincount(kind, np.maximum(0, a + np.maximum(0, c - fakes) - sizes), number)
        most = np.bincount(kind, np.minimum(a, c), number)
        low += int(np.maximum(least, some + people - rows).sum())
        high += int(np.minimum(most, np.minimum(some, people)).sum())
    return low, high

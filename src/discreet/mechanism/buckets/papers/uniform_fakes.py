"""Fakes as the paper draws them: from the domain, whatever people have. For simulations, never for people.

Paper: [WWFW] section 6: a fake is from the domain of the sensitive attribute and distinct in its bucket.
Departs: values that nobody of the table has are left out, for who knows the totals sees that they are fakes. Where a
    bucket leaves too few values, one that it has is drawn again.
Whoever knows the others of a bucket tells these fakes from people by how frequent values are (`making/fakes.py` draws
those that he does not). `verify` refuses such a release: its fakes are not in proportion to people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.arrays import Bools, Ints
from discreet.ground.progress import Steps, Tell
from discreet.guarantee.certainty import class_certainty
from discreet.mechanism.buckets.making.compose import Counts, Ids
from discreet.mechanism.buckets.making.slots import WithFakes, compose_classes
from discreet.mechanism.buckets.planning.caps import Classes, Defence
from discreet.mechanism.buckets.policy.buckets import Buckets
from discreet.series.coins import Coins
from discreet.table.table import Table

_CELLS = 1 << 22  # buckets by values that are drawn at a time


def compose_with_uniform_fakes(
    classes: Classes,
    people: Ints,
    limits: Sequence[Fraction],
    composition: str,
    names: Ids,
    coins: Coins,
    defence: Defence,
    tell: Tell = lambda done: None,
) -> tuple[Ids, Counts, Counts, Ints, Fraction]:
    """As compose_with_fakes: the people of each class are composed alone, then each bucket gets fakes of its own."""
    alone, there = replace(defence, fakes=0), people.sum(axis=1) > 0
    protected = np.array([limit < 1 for limit in limits])
    parts, first, sure = [], 0, Fraction(0)
    for j, (size, buckets) in enumerate(classes):
        own, ids = coins.derive(b"class", size.to_bytes(8, "big")), np.arange(buckets, dtype=np.int32)
        part = compose_classes(((size, buckets),), people[:, [j]], limits, composition, ids, own, alone)
        cell, count, real = _with_values(part, uniform_values(part, there, buckets, defence.fakes, own))
        most, made = np.zeros(len(people), dtype=np.int64), np.bincount(cell // buckets, count - real, len(people))
        np.maximum.at(most, cell // buckets, count)
        sure = max(sure, _certainty(most, people[:, j], made.astype(np.int64), protected, defence.fakes))
        parts.append((cell // buckets, names[first : first + buckets][cell % buckets], count, real))
        first += buckets
        tell(first / len(names))
    value, bucket, count, real = (np.concatenate([part[place] for part in parts]) for place in range(4))
    order = np.argsort(value, kind="stable")
    return bucket[order], count[order], real[order], np.bincount(value, minlength=len(people)), sure


def _with_values(part: tuple[Ids, Counts, Ints], drawn: Ints) -> tuple[Ints, Counts, Counts]:
    """The cells of a class, value after value, how often each counts, and how often people do."""
    bucket, count, held = part
    buckets = len(drawn)
    cells = np.repeat(np.arange(len(held)), held) * buckets + bucket
    fakes = drawn * buckets + np.arange(buckets)[:, None]
    met, place = np.unique(np.concatenate([cells, fakes.ravel()]), return_inverse=True)
    real = np.bincount(place[: len(count)], count, minlength=len(met)).astype(np.uint8)
    made = np.bincount(place[len(count) :], minlength=len(met)).astype(np.uint8)
    return met.astype(np.int64), real + made, real


def _certainty(most: Ints, people: Ints, made: Ints, protected: Bools, fakes: int) -> Fraction:
    """What one who knows all others of a bucket, and the totals, can believe at most of a class' protected values."""
    pairs = zip(people[people > 0].tolist(), made[people > 0].tolist(), strict=True)
    return class_certainty(int(most[protected & (people > 0)].max(initial=0)), pairs, fakes)


def uniform_values(part: tuple[Ids, Counts, Ints], there: Bools, buckets: int, fakes: int, coins: Coins) -> Ints:
    """So many values for each bucket, drawn uniformly from those that are there and that it does not have."""
    draw = coins.stream("uniform fakes")
    bucket, value = part[0], np.repeat(np.arange(len(there)), part[2])
    found = np.empty((buckets, fakes), dtype=np.int64)
    order = np.argsort(bucket, kind="stable")
    ranked = bucket[order]
    step = max(1, _CELLS // len(there))
    for first in range(0, buckets, step):
        last = min(buckets, first + step)
        rank = draw.random((last - first, len(there)))
        own = order[slice(*np.searchsorted(ranked, [first, last]))]
        rank[bucket[own] - first, value[own]] += 1
        rank[:, ~there] = np.inf
        found[first:last] = np.argsort(rank, axis=1)[:, :fakes]
    return found


@dataclass(frozen=True, kw_only=True)
class UniformFakes(Buckets):
    """Buckets of several sizes with the paper's fakes; one that publishes with a seed only."""

    with_fakes: ClassVar[WithFakes] = staticmethod(compose_with_uniform_fakes)

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        if not coins.seeded:
            raise PolicyError(
                "seed must be given: this mechanism is for simulations, and its fakes do not hide anybody"
            )
        return super().memo(table, coins, steps)

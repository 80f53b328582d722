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
) -> tuple[Ids, Counts, Counts, Ints]:
    """As compose_with_fakes: the people of each class are composed alone, then each bucket gets fakes of its own."""
    alone, buckets = replace(defence, fakes=0), len(names)
    parts, first = [], 0
    for j, (size, number) in enumerate(classes):
        own, its = coins.derive(b"class", size.to_bytes(8, "big")), names[first : first + number]
        parts.append(compose_classes(((size, number),), people[:, [j]], limits, composition, its, own, alone))
        first += number
        tell(first / buckets)
    bucket = np.concatenate([part[0] for part in parts]).astype(np.int64) - 1
    count = np.concatenate([part[1] for part in parts])
    value = np.concatenate([np.repeat(np.arange(len(people)), part[2]) for part in parts])
    drawn = uniform_values(bucket, value, people.sum(axis=1) > 0, buckets, defence.fakes, coins)
    fakes = drawn * buckets + np.arange(buckets)[:, None]
    met, place = np.unique(np.concatenate([value * buckets + bucket, fakes.ravel()]), return_inverse=True)
    real = np.bincount(place[: len(count)], count, minlength=len(met)).astype(np.uint8)
    every = real + np.bincount(place[len(count) :], minlength=len(met)).astype(np.uint8)
    held = np.bincount(met // buckets, minlength=len(people))
    return (met % buckets + 1).astype(np.int32), every, real, held


def uniform_values(bucket: Ints, value: Ints, there: Bools, buckets: int, fakes: int, coins: Coins) -> Ints:
    """So many values for each bucket, drawn uniformly from those that are there and that it does not have."""
    draw = coins.stream("uniform fakes")
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

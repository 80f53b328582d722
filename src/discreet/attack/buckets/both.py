"""People who are found in two bucket releases, by what both publish of them.

Whoever is like no other in either release, by the columns that both have, is taken for one person. That is wrong where
two people who are alike are in one release each: nothing in the files tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.ground.arrays import Bools, Ints
from discreet.ground.keys import keys_of
from discreet.schema.domain import key_of

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition
    from discreet.estimate.buckets.release import BucketRelease

NOWHERE = -1


@dataclass(frozen=True, kw_only=True)
class Both:
    """People who are found in both releases: the row of each in the first and in the second.

    `same` are those whose bucket is one and the same in both. `columns` are those by which they were found.
    """

    rows: Ints = field(repr=False)
    others: Ints = field(repr=False)
    same: Bools = field(repr=False)
    columns: tuple[str, ...]


def found_in_both(first: BucketRelease, second: BucketRelease) -> Both:
    """Everybody who is like no other in either release."""
    named = [name for name in first.schema.quasi_identifiers if name in second.schema.quasi_identifiers]
    sides: tuple[dict[str, Ints], dict[str, Ints]] = ({}, {})
    for name in named:
        one, two = _codes(first, second, name)
        if np.isin(one, two).any():  # else it is published otherwise in the second
            sides[0][name], sides[1][name] = one, two
    if not (columns := tuple(sides[0])):
        none = np.zeros(0, dtype=np.int64)
        return Both(rows=none, others=none, same=none > 0, columns=())
    keys = keys_of(*sides, names=columns)
    length = max(int(each.max()) for each in keys) + 1
    places = [_place(each, length) for each in keys]
    there = np.flatnonzero((places[0] != NOWHERE) & (places[1] != NOWHERE))
    rows, others = places[0][there], places[1][there]
    marks = _marks(first, keys[0], second, keys[1])
    same = marks[0][first.qit.bucket[rows]] == marks[1][second.qit.bucket[others]]
    return Both(rows=rows, others=others, same=same, columns=columns)


def _codes(first: BucketRelease, second: BucketRelease, name: str) -> tuple[Ints, Ints]:
    """A column of both releases in numbers that are equal where the values are."""
    one, two = (np.asarray(release.qit.codes(name), dtype=np.int64) for release in (first, second))
    domains = [release.schema.domains[name] for release in (first, second)]
    if domains[0].as_json() == domains[1].as_json():
        return one, two
    numbers: dict[str, int] = {}
    told: list[Ints] = []
    for codes, domain in zip((one, two), domains, strict=True):
        occurring, inverse = np.unique(codes, return_inverse=True)
        known = [numbers.setdefault(key_of(domain.encoding[code]), len(numbers)) for code in occurring.tolist()]
        told.append(np.array(known, dtype=np.int64)[inverse])
    return told[0], told[1]


def _place(keys: Ints, length: int) -> Ints:
    """The row of each key that one row only has."""
    found = np.full(length, NOWHERE, dtype=np.int64)
    found[keys] = np.arange(len(keys))
    found[np.bincount(keys, minlength=length) != 1] = NOWHERE
    return found


def _marks(first: BucketRelease, keys: Ints, second: BucketRelease, others: Ints) -> list[Ints]:
    """A number of each bucket of both releases, the same where it has the same people and the same counts.

    Sums of random numbers of 64 bits: two buckets that differ have the same one with a chance of 2^-63.
    """
    coins = np.random.default_rng(0)
    of_key = coins.integers(1 << 63, size=int(max(keys.max(), others.max())) + 1, dtype=np.uint64)
    place = values_in(second.composition, first.composition)
    of_value = coins.integers(1 << 63, size=len(first.composition.values) + 1, dtype=np.uint64)  # the last: not there
    found = []
    for release, known, value in ((first, keys, None), (second, others, place)):
        composition = release.composition
        marks = np.zeros(len(composition.ids), dtype=np.uint64)
        np.add.at(marks, release.qit.bucket, of_key[known])
        entry = composition.value if value is None else value[composition.value]
        np.add.at(marks, composition.bucket, of_value[entry] * composition.count.astype(np.uint64))
        found.append(marks.astype(np.int64))
    return found


def values_in(own: Composition, other: Composition) -> Ints:
    """The position in the other of each value that the own has; of one that it has not, minus one."""
    positions = {key_of(value): place for place, value in enumerate(other.values)}
    return np.array([positions.get(key_of(value), NOWHERE) for value in own.values], dtype=np.int64)

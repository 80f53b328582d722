"""What two bucket releases together say of people who are found in both: exact where few hang together.

People hang together who share a bucket of either release. Where few do, all their worlds are enumerated. Of whoever
hangs together with many, the worlds of those who share one of his two buckets are, as far as they are few; and where
that goes too far, the product form is left, which looks at nobody else.

Symbols: c1_x, c2_x records of value x in a person's bucket of each release, p_x the share of x, in the mean of both.
    The product form holds x for c1_x c2_x / p_x, which for two releases of one table is c1_x c2_x / n_x.
Departs: among many, what people further away leave over for a person is left out. A bucket that comes back as it was,
    with the same people and counts, teaches nothing more: no coins were tossed for it again. Of fakes he knows nothing:
    they are the records that are nobody's, any of a bucket's as probably as the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.attack.buckets.beliefs import shares
from discreet.attack.buckets.both import NOWHERE, Both, values_in
from discreet.attack.buckets.worlds import worlds
from discreet.ground.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition
    from discreet.estimate.buckets.release import BucketRelease

MOST_PEOPLE = 10  # whose worlds are enumerated together
MOST_WORLDS = 1 << 13
_MOST_NEAR = 1 << 10  # the same where they are enumerated for one of them
_CELLS = 1 << 22  # numbers of people by values that are held at a time


def product_form(first: Floats, second: Floats, prior: Floats) -> Floats:
    """What two buckets say of each person, by values, taken for independent; all zero where nothing is left."""
    weight = first * second / prior
    whole = weight.sum(axis=1, keepdims=True)
    found: Floats = np.divide(weight, whole, out=np.zeros_like(weight), where=whole > 0)
    return found


@dataclass(frozen=True, kw_only=True)
class Together:
    """Both releases, and some of the people in both; `exact` are those of whom what is believed is no approximation.

    `known` is what is believed of those whose worlds were enumerated, alone or with others.
    """

    first: BucketRelease
    second: BucketRelease
    both: Both
    exact: Bools = field(repr=False)
    known: dict[int, dict[int, Fraction]] = field(default_factory=dict, repr=False)

    def alone(self, some: Ints) -> Floats:
        """What the first release says of some of these people, by its values."""
        return shares(self.first)(self.both.rows[some])

    def rough(self, some: Ints) -> Floats:
        """What both say of some of these people by the product form, by values of the first release."""
        one = self.alone(some)
        place = values_in(self.first.composition, self.second.composition)
        there = np.flatnonzero(place != NOWHERE)
        prior = np.array([float(share) for share in _prior(self.first, self.second).values()])
        two = shares(self.second)(self.both.others[some])[:, place[there]]
        found = np.zeros_like(one)
        found[:, there] = product_form(one[:, there], two, prior)
        return found

    def believed(self, some: Ints) -> Floats:
        """What both say of some of these people, as well as it is known."""
        found, same = self.rough(some), self.both.same[some]
        found[same] = self.alone(some[same])
        for at, belief in ((at, self.known.get(person)) for at, person in enumerate(some.tolist())):
            if belief is not None:
                found[at] = 0.0
                found[at, list(belief)] = [float(share) for share in belief.values()]
        return found

    def parts(self, people: Ints | None = None) -> Iterator[Ints]:
        """These people, or all in both, some at a time."""
        whole = np.arange(len(self.both.rows)) if people is None else people
        step = max(1, _CELLS // len(self.first.composition.values))
        yield from (whole[start : start + step] for start in range(0, len(whole), step))


def together(first: BucketRelease, second: BucketRelease, both: Both, asked: Ints) -> Together:
    """Both releases together, for those people in both of whom it is asked."""
    bucket = first.qit.bucket[both.rows].astype(np.int64)
    other = second.qit.bucket[both.others].astype(np.int64)
    rough = Together(first=first, second=second, both=both, exact=both.same)
    group = _groups(bucket, other, len(first.composition.ids), len(second.composition.ids))
    left = np.concatenate([(rough.rough(part) > 0).sum(axis=1) for part in rough.parts()])
    people = np.bincount(group)
    few = (people <= MOST_PEOPLE) & (np.bincount(group, np.log2(np.maximum(left, 1))) <= np.log2(MOST_WORLDS))
    exact: Bools = both.same | few[group] | (people[group] == 1)
    enumerate_ = _Enumerated(bucket=bucket, other=other, left=left, rough=rough)
    members = _listed(group)
    open_ = asked[~both.same[asked] & (people[group[asked]] > 1)]
    known: dict[int, dict[int, Fraction]] = {}
    for whole in np.unique(group[open_[exact[open_]]]).tolist():
        if found := enumerate_.of(members(whole)):
            known |= found
        else:
            exact[members(whole)] = False
    near_one, near_other = _listed(bucket), _listed(other)
    for person in open_[~exact[open_]].tolist():
        near = np.concatenate([near_one(int(bucket[person])), near_other(int(other[person]))])
        if found := enumerate_.of(enumerate_.few(person, near)):
            known[person] = found[person]
    return Together(first=first, second=second, both=both, exact=exact, known=known)


@dataclass(frozen=True, kw_only=True)
class _Enumerated:
    """Enumerates worlds of some of the people in both; `left` values are in both of each one's buckets."""

    bucket: Ints
    other: Ints
    left: Ints
    rough: Together

    def few(self, person: int, near: Ints) -> Ints:
        """A person and those near, from those on of whom least is open, as far as their worlds are few."""
        around = np.unique(near[(near != person) & (self.left[near] > 0)])  # of whom none is left, he is another
        around = around[np.argsort(self.left[around], kind="stable")][: MOST_PEOPLE - 1]
        fit = np.cumprod(self.left[around], dtype=np.float64) * self.left[person] <= _MOST_NEAR
        found: Ints = np.concatenate([[person], around[fit]]).astype(np.int64)
        return found

    def of(self, some: Ints) -> dict[int, dict[int, Fraction]]:
        """What is believed of each of these people over all their worlds; nothing where there is no world."""
        one, two, prior = self._held
        people = list(zip(self.bucket[some].tolist(), self.other[some].tolist(), strict=True))
        found = worlds(people, {g: one(g) for g, _ in people}, {h: two(h) for _, h in people}, prior)
        return dict(zip(some.tolist(), found.beliefs, strict=True)) if found.number else {}

    @cached_property
    def _held(self) -> tuple[Callable[[int], dict[int, int]], Callable[[int], dict[int, int]], dict[int, Fraction]]:
        first, second = self.rough.first, self.rough.second
        one = _held(first.composition, np.arange(len(first.composition.values)))
        return one, _held(second.composition, values_in(second.composition, first.composition)), _prior(first, second)


def _listed(number: Ints) -> Callable[[int], Ints]:
    """Who has a number, for each number."""
    order = np.argsort(number, kind="stable")
    begins = np.searchsorted(number[order], np.arange(int(number.max()) + 2))
    return lambda each: order[begins[each] : begins[each + 1]]


def _groups(one: Ints, two: Ints, ones: int, twos: int) -> Ints:
    """The group of each person: who hangs together through buckets of either release."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(one)), (one, ones + two)), shape=(ones + twos, ones + twos))
    _, label = connected_components(links, directed=False)
    group: Ints = np.unique(label[one], return_inverse=True)[1].astype(np.int64)
    return group


def _held(composition: Composition, names: Ints) -> Callable[[int], dict[int, int]]:
    """How many records a bucket holds of each value, under other names; those without a name are left out."""
    begins = np.searchsorted(composition.bucket, np.arange(len(composition.ids) + 1))

    def held(bucket: int) -> dict[int, int]:
        entries = slice(begins[bucket], begins[bucket + 1])
        named = zip(names[composition.value[entries]].tolist(), composition.count[entries].tolist(), strict=True)
        return {x: count for x, count in named if x != NOWHERE}

    return held


def _prior(first: BucketRelease, second: BucketRelease) -> dict[int, Fraction]:
    """p_x for the values of the first release that the second has."""
    one, two = first.composition.totals, second.composition.totals
    n, m = int(one.sum()), int(two.sum())
    place = values_in(first.composition, second.composition).tolist()
    return {
        x: (Fraction(int(one[x]), n) + Fraction(int(two[at]), m)) / 2 for x, at in enumerate(place) if at != NOWHERE
    }

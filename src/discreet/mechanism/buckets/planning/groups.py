"""Values that are alike: the same count and the same caps, so whatever holds for one of them holds for all.

A table with thousands of values has few kinds of them. A setting is valid for the groups exactly where it is valid for
the values: the condition sum_i min(o_i, sum_j u_ij) >= sum_j S_j b_j has the same term for each value of a group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.ground.arrays import Bools, Ints
from discreet.mechanism.buckets.planning.flow import Flow, fill
from discreet.mechanism.buckets.planning.kinds import kinds_of


@dataclass(frozen=True, kw_only=True)
class Groups:
    """The caps and the count of one value of each group, how many there are, and the group of each value."""

    caps: Ints
    counts: Ints
    number: Ints
    sizes: Ints
    member: Ints
    unit: int = 1  # parts of a record in which caps, counts and sizes are

    @classmethod
    def of(cls, caps: Ints, counts: Ints, sizes: Ints, unit: int = 1) -> Groups:
        """The groups of some values; caps and counts are in parts of a record, sizes in records."""
        kinds = kinds_of(caps, unit)
        order = np.lexsort((counts, kinds))
        new = (np.diff(kinds[order], prepend=-1) != 0) | (np.diff(counts[order], prepend=-1) != 0)
        first = np.flatnonzero(new)
        member = np.empty(len(counts), dtype=np.int64)
        member[order] = np.cumsum(new) - 1
        number = np.diff(np.append(first, len(order)))
        return cls(
            caps=caps[order[first]],
            counts=counts[order[first]],
            number=number,
            sizes=sizes * unit,
            member=member,
            unit=unit,
        )

    def with_one(self, group: int, caps: Ints) -> Groups:
        """The same with other caps for one value of a group, which becomes the last group."""
        number = np.append(self.number, 1)
        number[group] -= 1
        return replace(
            self,
            caps=np.vstack([self.caps, caps]),
            counts=np.append(self.counts, self.counts[group]),
            number=number,
        )

    def only(self, columns: Bools) -> Groups:
        """The same with these sizes only."""
        return self if columns.all() else replace(self, caps=self.caps[:, columns], sizes=self.sizes[columns])

    @property
    def usable(self) -> Bools:
        """The sizes of which one bucket at least can be filled."""
        return np.asarray(self.together.sum(axis=0) >= self.sizes)

    @property
    def costs(self) -> Ints:
        """The loss of one bucket of each size."""
        return (self.sizes // self.unit - 1) ** 2

    @property
    def rows(self) -> int:
        return int(self.records.sum())

    @property
    def records(self) -> Ints:
        """How many records each group has."""
        return self.counts * self.number

    @property
    def turn(self) -> Ints:
        """The place of each value among those of its group, from 0."""
        order = np.argsort(self.member, kind="stable")
        turn = np.empty_like(order)
        turn[order] = np.arange(len(order)) - np.repeat(np.cumsum(self.number) - self.number, self.number)
        return turn

    @property
    def together(self) -> Ints:
        """How many records of each group one bucket may hold."""
        return self.caps * self.number[:, None]

    def fill(self, buckets: Ints, start: Ints | None = None) -> Flow:
        """Send the groups' records to the buckets within their caps."""
        return fill(self.together, self.records, self.sizes, buckets, start)

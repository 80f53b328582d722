"""Where people are found in a bucket release by one who knows their quasi-identifiers and no bucket.

People whom nothing tells apart form a group, and so do the rows that may be theirs. Whoever looks for one of them is
left with all rows of the group; what he believes of the person is the mean of what he believes of these rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.attack.buckets.beliefs import Beliefs, bucket_release
from discreet.attack.target import Target, codes_of
from discreet.ground.arrays import Floats, Ints
from discreet.ground.keys import keys_of
from discreet.schema.domain import key_of

if TYPE_CHECKING:
    from discreet.table.table import Table

_CELLS = 1 << 22  # numbers of rows by values that are held at a time
NOWHERE = -1


@dataclass(frozen=True, kw_only=True)
class People:
    """Everybody of a table: the group of each person and the true value, by position among those that occur.

    `rows` are the release's rows, group after group from `begins` on. NOWHERE stands for a person whom no row fits, and
    for a value that the release does not have.
    """

    group: Ints
    value: Ints
    rows: Ints = field(repr=False)
    begins: Ints = field(repr=False)
    values: int

    @property
    def group_of_row(self) -> Ints:
        """The group of each row of the release."""
        found = np.empty(len(self.rows), dtype=np.int64)
        found[self.rows] = np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))
        return found

    def pooled(self, beliefs: Beliefs) -> Iterator[tuple[Ints, Floats]]:
        """Groups, some at a time, and what is believed of a person of each: the mean over the group's rows."""
        lengths = np.diff(self.begins)
        step = max(int(lengths.max(initial=1)), _CELLS // max(1, self.values))
        starts = np.searchsorted(self.begins[:-1], np.arange(0, len(self.rows), step))
        for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(lengths)], strict=True):
            if first == last:
                continue
            part = self.rows[self.begins[first] : self.begins[last]]
            sums = np.add.reduceat(beliefs(part), self.begins[first:last] - self.begins[first], axis=0)
            yield np.arange(first, last), sums / lengths[first:last, None]


def people_of(target: Target) -> People:
    """The target's people."""
    return people_in(target, target.known)


def people_in(target: Target, table: Table, names: tuple[str, ...] = ()) -> People:
    """The people of a table with the target's columns, found in its release by some of them, or by all."""
    release, schema = bucket_release(target), target.schema
    names = names or schema.quasi_identifiers
    codes = target.codes if table is target.table else codes_of(table)
    shown = {name: np.asarray(release.qit.codes(name)) for name in names}
    person_key, row_key = keys_of(codes, shown, names=names)
    order = np.argsort(row_key, kind="stable")
    keys, begins = np.unique(row_key[order], return_index=True)
    place = np.minimum(np.searchsorted(keys, person_key), len(keys) - 1)
    position = {key_of(value): place for place, value in enumerate(release.composition.values)}
    domain = schema.domains[schema.sensitive]
    positions = np.array([position.get(key_of(value), NOWHERE) for value in domain])
    return People(
        group=np.where(keys[place] == person_key, place, NOWHERE),
        value=positions[codes[schema.sensitive]],
        rows=order,
        begins=np.append(begins, len(order)),
        values=len(release.composition.values),
    )


def found_by_fewer(target: Target, table: Table) -> Iterator[tuple[Ints, People]]:
    """People of a table, each once, with what they were found by: all columns, or as few less as can be.

    The column that is left out next is the one without which most of those who are left are found.
    """
    names = target.schema.quasi_identifiers
    people = people_in(target, table)
    left = np.arange(len(people.group))
    while len(left):
        found = people.group[left] != NOWHERE
        if found.any():
            yield left[found], people
        left = left[~found]
        if len(names) < 2 or not len(left):
            return
        shorter = [tuple(each for each in names if each != name) for name in names]
        tried = [people_in(target, table, each) for each in shorter]
        best = int(np.argmax([(each.group[left] != NOWHERE).sum() for each in tried]))
        names, people = shorter[best], tried[best]

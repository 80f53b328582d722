"""Who really has which value, row by row of a release: what a custodian knows of it, who has the table.

People with equal quasi-identifiers may be in different buckets. The files and the table leave open who of them is
where, and the coins made all assignments that fit equally likely; so a row has a value with the probability that this
leaves. It is found by scaling to all that is known: one value a row, the counts of every bucket, the values of all
people who are alike. A guess of a row is right with that probability, so that rates over many rows are right as if
everybody's bucket were known (on Adult to within .001 of what the coins say).

Symbols: T_ix the probability that row i has value x, for the values of its bucket: bucket after bucket, within it value
    after value, and of each value row after row, as the estimator's posterior is laid out.
    With fakes sigma slots of every bucket are nobody's, and of each value as many, in the buckets of one size, as the
    release states: cells of the bucket's values by nobody are scaled with the others.
Departs: scaling gives the distribution of most entropy within these sums, which is near the uniform one over
    assignments and not equal to it. For people who are like no other it is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.attack.buckets.beliefs import bucket_release
from discreet.attack.buckets.people import NOWHERE, people_of
from discreet.attack.target import Target
from discreet.errors import TableError
from discreet.ground.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition

_Goals = tuple[Floats, Floats, Floats]  # what people of a group, entries and rows add up to
_ROUNDS = 400
_NEAR = 1e-4  # how far sums may be off, beside what they are to be, where scaling may stop
_FAR = 0.02  # where no assignment fits
_CERTAIN = 1e-3


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The cells of rows by the values of their buckets, in the order of the posterior."""

    row: Ints
    value: Ints
    entry: Ints  # of the composition


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true of each row, as far as it is known; of rows that are `certain` nothing was left open."""

    layout: Layout = field(repr=False)
    weight: Floats = field(repr=False)
    certain: Bools = field(repr=False)

    @property
    def value(self) -> Ints:
        """The value of each row; of rows that are not certain the most probable one."""
        order = np.argsort(self.weight, kind="stable")
        found = np.empty(len(self.certain), dtype=np.int64)
        found[self.layout.row[order]] = self.layout.value[order]
        return found

    def of(self, guess: Ints) -> Floats:
        """How probable it is, for each row, that its guess is right; NOWHERE is never right."""
        hit = self.layout.value == guess[self.layout.row]
        found: Floats = np.bincount(self.layout.row[hit], self.weight[hit], minlength=len(guess)).astype(np.float64)
        return found


def layout_of(composition: Composition) -> Layout:
    """The cells of a release."""
    sizes = composition.sizes[composition.bucket]
    entry = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.cumsum(composition.sizes) - composition.sizes
    inside = np.arange(len(entry)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Layout(
        row=begins[composition.bucket][entry] + inside, value=composition.value[entry].astype(np.int64), entry=entry
    )


def truth_of(target: Target) -> Truth:
    """The truth of each row of the release; raises TableError where the table cannot be what it was made of."""
    composition = bucket_release(target).composition
    people = target.once(people_of)
    layout = layout_of(composition)
    group_of_row = people.group_of_row
    values = len(composition.values)
    known = np.flatnonzero((people.group != NOWHERE) & (people.value != NOWHERE))
    cells, have = np.unique(people.group[known] * values + people.value[known], return_counts=True)
    wanted = group_of_row[layout.row] * values + layout.value
    place = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    there = cells[place] == wanted
    open_cells = _Cells(
        row=layout.row[there], entry=layout.entry[there], group=place[there], start=np.ones(there.sum())
    )
    goals = have.astype(float), composition.count.astype(float), np.ones(len(group_of_row))
    if composition.fakes:
        open_cells, goals = _with_nobody(open_cells, goals, composition)
    kept, off = _scaled(open_cells, goals)
    weight = np.zeros(len(layout.row))
    weight[there] = kept[: int(there.sum())]
    if off > _FAR:
        raise TableError(
            "the table must be the one that the release was made of; its people cannot be put into the buckets so that "
            "all counts hold"
        )
    open_ = np.bincount(layout.row, np.minimum(weight, 1 - weight))
    return Truth(layout=layout, weight=weight, certain=open_ < _CERTAIN)


@dataclass(frozen=True, kw_only=True)
class _Cells:
    """Cells that are scaled, with what each starts from, and the row, the entry and the people that each adds to."""

    row: Ints
    entry: Ints
    group: Ints
    start: Floats


def _with_nobody(cells: _Cells, goals: _Goals, composition: Composition) -> tuple[_Cells, _Goals]:
    """The same with a cell of each entry for those of its slots that are nobody's."""
    have, count, ones = goals
    kinds, buckets = int(composition.kind.max()) + 1, len(composition.ids)
    own = composition.value * kinds + composition.kind[composition.bucket]
    people = np.asarray(composition.people).ravel()
    made = np.maximum(np.bincount(own, composition.count, minlength=len(people)) - people, 0).astype(float)
    found = _Cells(
        row=np.concatenate([cells.row, len(ones) + composition.bucket]),
        entry=np.concatenate([cells.entry, np.arange(len(count))]),
        group=np.concatenate([cells.group, len(have) + own]),
        start=np.concatenate([cells.start, np.full(len(count), float(composition.fakes))]),
    )
    fakes = np.full(buckets, float(composition.fakes))
    return found, (np.concatenate([have, made]), count, np.concatenate([ones, fakes]))


def _scaled(cells: _Cells, goals: _Goals) -> tuple[Floats, float]:
    """Weights of the cells with all sums as known, and how far off they still are."""
    sums = tuple(zip((cells.group, cells.entry, cells.row), goals, strict=True))
    kept = cells.start
    off = 1.0
    for _ in range(_ROUNDS):
        off = 0.0
        for index, goal in sums:
            found = np.bincount(index, kept, minlength=len(goal))
            off = max(off, float(np.abs(found - goal).sum() / goal.sum()))
            kept = kept * np.divide(goal, found, out=np.zeros_like(goal), where=found > 0)[index]
        if off < _NEAR:
            break
    return kept, off

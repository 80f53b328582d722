"""People who have a set of candidate tuples for themselves: which of these a view shows, and what is guessed of them.

Whoever holds all candidates for equally probable guesses one of those that are shown most, by chance. He is right with
a chance that does not depend on which of them is true, nor on how others are spread: noise favours none. Sets of
different people have no tuple in common, so one is guessed independently of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from discreet.attack.alphabeta.pool import Pool
from discreet.attack.alphabeta.posterior import Promise, frapp_ratio
from discreet.attack.target import Target
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.keys import keys_of
from discreet.guarantee.frapp import FrappPrivacy

_LOW, _IMPROBABLE = 1e-3, 0.9
_CELLS = 1 << 23  # people by values that are held
_TRIED = 12  # columns beyond which those with most values are forgotten first, untried


@dataclass(frozen=True, kw_only=True)
class Left:
    """Sets of `candidates` tuples, each set with one row of the table in it; and all tuples of them that are shown."""

    known: tuple[str, ...]
    candidates: int
    people: int
    owner: Ints = field(repr=False)  # of each shown tuple, whose candidate it is
    shown: Ints = field(repr=False)  # how often it is shown
    true: Bools = field(repr=False)
    slots: int

    @property
    def kinds(self) -> Ints:
        """How many of each person's candidates are shown."""
        return np.bincount(self.owner, self.shown if self.slots > 1 else None, self.people).astype(np.int64)

    def guessed(self, promise: Promise) -> tuple[Floats, Floats]:
        """For each person how probable he believes his guess is, and how probable it is that it is right.

        With slots a guess is of the tuple, in whichever slot.
        """
        unseen = self.slots * ratio(promise, 0)
        weight = np.zeros(int(self.shown.max(initial=0)) + 1)
        for times in np.unique(self.shown).tolist():
            weight[times] = _of_tuple(promise, times)
        own = weight[self.shown]
        best = np.zeros(self.people)
        np.maximum.at(best, self.owner, own)
        at_best = own >= best[self.owner] * (1 - 1e-12)
        ties = np.bincount(self.owner, at_best, self.people)
        hits = np.bincount(self.owner, at_best & self.true, self.people)
        tuples = self.candidates / self.slots
        distinct = np.bincount(self.owner, minlength=self.people)
        whole = np.bincount(self.owner, own, self.people) + (tuples - distinct) * unseen
        believed = np.where(ties > 0, best, unseen) / whole
        right = np.where(ties > 0, hits / np.maximum(ties, 1), 1 / tuples)
        return believed, right


def ratio(promise: Promise, times: int) -> float:
    """How much more probable it is to show a place so often if it is true than if not."""
    if isinstance(promise, FrappPrivacy):
        return float(frapp_ratio(promise, times))
    return float(promise.keep / promise.insert if times else (1 - promise.keep) / (1 - promise.insert))


def _of_tuple(promise: Promise, times: int) -> float:
    """The same of a tuple with all its slots, of which so many are shown; one of them is the true one."""
    if isinstance(promise, FrappPrivacy):
        return ratio(promise, times)
    return times * ratio(promise, 1) + (promise.slots - times) * ratio(promise, 0)


def alone(target: Target, pool: Pool, known: Sequence[str]) -> Left:
    """The people of whom no other row has the same values in the known columns."""
    key = _keys(pool, known)
    groups = int(key.max(initial=-1)) + 1
    single = _rows(pool, key, groups) == 1
    person = np.cumsum(single) - 1
    mine = single[key] & (pool.shown > 0)
    sizes = [len(target.schema.domains[name]) for name in target.schema.columns if name not in known]
    slots = target.manifest.statement.mechanism.slots
    return Left(
        known=tuple(known),
        candidates=prod(sizes) * slots,
        people=int(single.sum()),
        owner=person[key[mine]],
        shown=pool.shown[mine],
        true=pool.real[mine],
        slots=slots,
    )


def few_enough(target: Target, pool: Pool, least: int) -> tuple[str, ...] | None:
    """Quasi-identifiers that leave at least so many candidates; None where no others do.

    They are forgotten one by one, each time the one without which most people are still alone. The view has no say.
    """
    schema = target.schema
    sizes = {name: len(schema.domains[name]) for name in schema.columns}
    known = schema.quasi_identifiers
    slots = target.manifest.statement.mechanism.slots
    real = Pool(
        codes={name: column[pool.real] for name, column in pool.codes.items()},
        shown=pool.shown[pool.real],
        before=pool.before[pool.real],
        copies=pool.copies[pool.real],
    )
    while slots * prod(size for name, size in sizes.items() if name not in known) < least:
        if not known:
            return None
        if len(known) > _TRIED:
            known = _without(known, max(known, key=lambda name: sizes[name]))
            continue
        known = max((_without(known, name) for name in known), key=lambda some: _singles(real, some))
    return known


def shares_of(target: Target, pool: Pool, promise: Promise) -> tuple[Floats, Floats] | None:
    """How probably one who knows all quasi-identifiers guesses right who holds drawn values for improbable.

    Without the release and with it; None where nobody is alone or there are slots.
    """
    schema = target.schema
    values = len(schema.domains[schema.sensitive])
    left = alone(target, pool, schema.quasi_identifiers)
    if not left.people or left.slots > 1 or values > _CELLS:
        return None
    key = _keys(pool, schema.quasi_identifiers)
    single = _rows(pool, key, int(key.max(initial=-1)) + 1) == 1
    person = (np.cumsum(single) - 1)[key]
    people = min(left.people, _CELLS // values)
    mine = single[key] & (person < people)
    value = pool.codes[schema.sensitive]
    truth = np.zeros(people, dtype=np.int64)
    truth[person[mine & pool.real]] = value[mine & pool.real]
    prior = np.where(target.coins("low-priors").random((people, values)) < _IMPROBABLE, _LOW, 1.0)
    prior[np.arange(people), truth] = 1.0
    weight = prior * ratio(promise, 0)
    for times in np.unique(pool.shown[mine & (pool.shown > 0)]).tolist():
        which = mine & (pool.shown == times)
        weight[person[which], value[which]] = prior[person[which], value[which]] * ratio(promise, times)
    return _picked(prior, truth), _picked(weight, truth)


def _picked(weight: Floats, truth: Ints) -> Floats:
    """How probable it is that one of the largest weights, by chance, is the true one's."""
    best = weight >= weight.max(axis=1, keepdims=True) * (1 - 1e-12)
    found: Floats = best[np.arange(len(truth)), truth] / best.sum(axis=1)
    return found


def _singles(pool: Pool, known: Sequence[str]) -> int:
    key = _keys(pool, known)
    return int((_rows(pool, key, int(key.max(initial=-1)) + 1) == 1).sum())


def _rows(pool: Pool, key: Ints, groups: int) -> Ints:
    """How many rows of the table are in each group; groups of tuples that are only shown have none."""
    return np.bincount(key, pool.copies, groups).astype(np.int64)


def _keys(pool: Pool, known: Sequence[str]) -> Ints:
    if not known:
        return np.zeros(len(pool.shown), dtype=np.int64)
    return keys_of(pool.codes, names=tuple(known))[0]


def _without(known: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(each for each in known if each != name)

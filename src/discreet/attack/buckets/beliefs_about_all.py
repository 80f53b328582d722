"""An adversary with a model of beliefs about everybody: how probable each value is for each person, before the buckets.

In the bucket his beliefs about the others tell him of the person too: what fits them better is not left for the person.
The promise does not speak of him, and no bound below 1 holds for him. Two kinds of beliefs are tried: frequencies that
statistics of the table may tell, by one quasi-identifier, and by all of them as if these were independent given the
value; and what is learned of such people from the release itself, which is what the learning attacker believes: there
it is only measured how far the quick posterior is from the exact one.

Symbols: W as in `permanents.py`; buckets of up to 1,024 states are summed exactly, larger ones by the estimator's
    approximation (Bethe messages, `estimate/buckets/learning/posterior.py`). Each of sigma fakes is one more row, of
    which he believes what the totals say of fakes: m_x of all m in the buckets of one size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import Beliefs, bucket_release, general, weighed
from discreet.attack.buckets.guessing import guess, scored
from discreet.attack.buckets.people import NOWHERE, people_of
from discreet.attack.buckets.permanents import posterior, states_of
from discreet.attack.rate import computed
from discreet.attack.target import Target
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.progress import Tell

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition
    from discreet.estimate.buckets.release import BucketRelease

_PEOPLE = 50  # for each value of the column, by sensitive value: fewer, and its frequencies are single people
_TABLE = 1 << 24  # a column by sensitive values: where there are more, it is not looked at
_CHECKED = 100  # buckets whose posterior is summed exactly to compare it
_STATES = 1 << 14  # of such a bucket, at most
_SUMMED = 1 << 10  # states up to which the estimator sums exactly
_SCALINGS = 200  # at most, so that the sums of large buckets hold
_CELLS = 1 << 22  # numbers of rows by values that are held at a time
_LEAST = 1e-6  # of the usual share: nobody's value is taken for impossible
NO_BOUND = "no bound below 1 holds for beliefs about everybody; the tolerances are shown for comparison"


@dataclass(frozen=True, kw_only=True)
class BeliefsAboutAll:
    """He believes of everybody what frequencies by quasi-identifiers say, and reckons each bucket through."""

    name: ClassVar[str] = "beliefs"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "has beliefs about everybody in a bucket, and weighs all ways to give them its values"
    needs: ClassVar[str] = "the table, for frequencies by quasi-identifiers"
    cost: ClassVar[float] = 6.0

    def unfit(self, target: Target) -> str:
        if target.table is None and "learned" not in target.release.estimators:
            return "nothing is learned from this release, and frequencies come from the table"
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        release = bucket_release(target)
        if target.table is not None:
            for number, (columns, variant) in enumerate(_ways(target)):
                beliefs = frequencies(target, columns)
                weights = matched(release, beliefs)
                guesses = guess(target, weighed(release, weights), lambda done: None)
                tell(0.3 * (number + 1))
                details = {"columns": len(columns), "summed_exactly": summed_exactly(release)}
                for each in scored(self.name, guesses, target, covered=False, variant=variant, note=NO_BOUND):
                    yield replace(each, details={**each.details, **details})
        if "learned" in release.estimators:
            release.learn(lambda _, done: tell(0.6 + 0.3 * done))
            if (release.knowledge.kept >= 0).all():
                yield self._compared(target)

    def _compared(self, target: Target) -> Finding:
        """How far the quick posterior, by which is learned, is from the exact one of the same beliefs."""
        release = bucket_release(target)
        prior = general(release)
        quick = weighed(release, matched(release, prior))
        off, buckets, small = differences(release, prior, quick, target.coins(self.name))
        return Finding(
            name=self.name,
            variant="quick and exact",
            group=self.group,
            measures=f"the mean distance of the quick posterior from the exact one, in {buckets} random buckets",
            rate=computed(float(off.mean()) if len(off) else 0.0, len(off)),
            covered=False,
            share=False,
            note="his right guesses are those of the attack learning; buckets that are too large to be summed are not "
            "compared",
            details={
                "largest": float(off.max(initial=0)),
                "root_mean_square": float(np.sqrt((off**2).mean())) if len(off) else 0.0,
                "summed_by_the_estimator": small,
            },
        )


def _ways(target: Target) -> Iterator[tuple[tuple[str, ...], str]]:
    """The quasi-identifiers by which frequencies are taken: the one that tells most, and all."""
    told = {name: information(joint) for name, joint in target.once(tables_of).items()}
    if not told:
        return
    most = max(told, key=lambda name: told[name])
    yield (most,), "frequencies by one quasi-identifier"
    if len(told) > 1:
        yield tuple(told), "frequencies by every quasi-identifier"


def tables_of(target: Target) -> dict[str, Floats]:
    """People by each quasi-identifier and the sensitive value: those that are statistics, and not people one by one."""
    schema, people = target.schema, target.once(people_of)
    values, known = people.values, people.value != NOWHERE
    found = {}
    for name in schema.quasi_identifiers:
        codes, size = target.codes[name], len(schema.domains[name].encoding)
        if size * values <= _TABLE and len(np.unique(codes)) * values * _PEOPLE <= len(codes):
            joint = np.bincount(codes[known] * values + people.value[known], minlength=size * values)
            found[name] = joint.reshape(size, values).astype(np.float64)
    return found


def information(joint: Floats) -> float:
    """How much a column tells of the sensitive value: their mutual information in nats, less what chance gives."""
    share = joint / joint.sum()
    rows, columns = share.sum(axis=1, keepdims=True), share.sum(axis=0, keepdims=True)
    met = share > 0
    found = float((share[met] * np.log(share[met] / (rows * columns)[met])).sum())
    free = (int((rows > 0).sum()) - 1) * (int((columns > 0).sum()) - 1)
    return found - free / (2 * float(joint.sum()))


def frequencies(target: Target, columns: tuple[str, ...]) -> Beliefs:
    """What the table's frequencies by some columns say of rows, as if columns were independent given the value."""
    release, tables = bucket_release(target), target.once(tables_of)
    usual = release.composition.totals / release.composition.totals.sum()
    tilt = {}
    for name in columns:
        joint = tables[name] + usual  # one more person, who is like all: no value is impossible
        tilt[name] = np.log(joint / joint.sum(axis=1, keepdims=True) / usual)

    def believe(rows: Ints) -> Floats:
        logs = np.log(usual)[None, :].repeat(len(rows), axis=0)
        for name, table in tilt.items():
            logs += table[np.asarray(release.qit.codes(name), dtype=np.int64)[rows]]
        found = np.exp(logs - logs.max(axis=1, keepdims=True))
        found = np.maximum(found / found.sum(axis=1, keepdims=True), _LEAST * usual)
        return np.asarray(found)

    return believe


def matched(release: BucketRelease, beliefs: Beliefs) -> Floats:
    """The posterior of every row in its bucket, in the order of the estimator's: exact in small buckets."""
    from discreet.estimate.buckets.learning.places import Places  # it loads the compiler

    own = release.composition
    rows = np.concatenate([[0], np.cumsum(own.slots)])
    entries = np.searchsorted(own.bucket, np.arange(len(own.ids) + 1))
    begins = np.concatenate([[0], np.cumsum(own.slots * np.diff(entries))])
    found = np.empty(int(begins[-1]))
    beliefs = with_nobody(own, beliefs)
    step = max(int(own.slots.max()), _CELLS // len(own.values))
    cuts = np.unique(np.searchsorted(rows, np.append(np.arange(0, rows[-1], step), rows[-1])))
    for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        some = np.arange(rows[first], rows[last])
        inside = slice(entries[first], entries[last])
        places = Places(
            codes=np.empty((len(some), 0), dtype=np.int32),
            number=np.ones(len(some), dtype=np.float32),
            pattern=np.arange(len(some), dtype=np.int32),
            rows=rows[first : last + 1] - rows[first],
            entries=entries[first : last + 1] - entries[first],
            value=own.value[inside].astype(np.int32),
            count=own.count[inside].astype(np.int32),
            values=len(own.values),
            levels=0,
        )
        logs = np.log(np.maximum(beliefs(some), 1e-300)).astype(np.float32)
        found[begins[first] : begins[last]] = places.match(logs, _SCALINGS)
    return found[peoples(own)] if own.fakes else found


def peoples(own: Composition) -> Bools:
    """Which cells are people's, of buckets whose rows are their people and, after them, their fakes."""
    slots, sizes = own.slots[own.bucket], own.sizes[own.bucket]
    inside = np.arange(int(slots.sum())) - np.repeat(np.cumsum(slots) - slots, slots)
    return np.asarray(inside < np.repeat(sizes, slots))


def with_nobody(own: Composition, beliefs: Beliefs) -> Beliefs:
    """The same beliefs of rows that are, bucket after bucket, its people and then its fakes."""
    if not own.fakes:
        return beliefs
    people = np.asarray(own.people, dtype=np.float64)
    cell = own.value * people.shape[1] + own.kind[own.bucket]
    made = np.maximum(np.bincount(cell, own.count, minlength=people.size).reshape(people.shape) - people, 0)
    shares = np.maximum(made / made.sum(axis=0), _LEAST * (people > 0) / len(people)).T
    ends, before = np.cumsum(own.slots), np.cumsum(own.slots) - own.slots

    def believe(rows: Ints) -> Floats:
        bucket = np.searchsorted(ends, rows, side="right")
        inside = rows - before[bucket]
        real = inside < own.sizes[bucket]
        found = np.empty((len(rows), len(own.values)))
        found[real] = beliefs((rows - own.fakes * bucket)[real])
        found[~real] = shares[own.kind[bucket[~real]]]
        return found

    return believe


def summed_exactly(release: BucketRelease) -> float:
    """The share of people in buckets that are small enough to be summed exactly."""
    own = release.composition
    logs = np.bincount(own.bucket, np.log2(own.count + 1.0), minlength=len(own.ids))
    return float(own.sizes[logs <= np.log2(_SUMMED) + 1e-9].sum() / own.sizes.sum())


def differences(
    release: BucketRelease, prior: Beliefs, believed: Beliefs, coins: np.random.Generator
) -> tuple[Floats, int, float]:
    """How far what is believed of rows is from the exact posterior, cell by cell of some buckets; how many buckets, and
    the share of them that the estimator sums exactly too.
    """
    own = release.composition
    entries = np.searchsorted(own.bucket, np.arange(len(own.ids) + 1))
    rows, slots = (np.concatenate([[0], np.cumsum(each)]) for each in (own.sizes, own.slots))
    prior = with_nobody(own, prior)
    logs = np.bincount(own.bucket, np.log2(own.count + 1.0), minlength=len(own.ids))
    open_ = np.flatnonzero((np.diff(entries) > 1) & (logs <= np.log2(_STATES) + 1e-9))
    chosen = np.sort(coins.choice(open_, min(_CHECKED, len(open_)), replace=False)) if len(open_) else open_
    off, small = [np.empty(0)], 0
    for g in chosen.tolist():
        some, inside = np.arange(rows[g], rows[g + 1]), slice(entries[g], entries[g + 1])
        counts, values = own.count[inside].tolist(), own.value[inside]
        every = np.arange(slots[g], slots[g + 1])
        exact = posterior(np.maximum(prior(every)[:, values], 1e-30), counts)[: len(some)]
        off.append(np.abs(exact - believed(some)[:, values]).ravel())
        small += states_of(counts) <= _SUMMED
    return np.concatenate(off), len(chosen), small / max(1, len(chosen))

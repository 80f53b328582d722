"""The corruption attack: he knows the values of some others in a person's bucket, strikes these, and guesses.

Paper: [WWFW] section 6, after Tao, Xiao, Li and Zhang (ICDE 2008).
The laws are in `knowing.py`. What he gets in the mean over who is known follows from the ST alone, whoever has what.
With the table it is also measured, on buckets of which it is certain who has what; with fakes also for one who knows
how many people have each value (`totals.py`). The promise covers as many known others as it states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import bucket_release
from discreet.attack.buckets.guessing import RIGHT, tolerances_of
from discreet.attack.buckets.knowing import expected_right, most_of_people
from discreet.attack.buckets.totals import Scores, by_totals
from discreet.attack.buckets.truth import truth_of
from discreet.attack.rate import clustered, computed
from discreet.attack.target import Target
from discreet.ground.arrays import Bools, Ints
from discreet.ground.progress import Tell

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition

_NUMBERS = (0, 1, 2, 3, 5, 10, 20, 50, 100)  # of others that are known
_TARGETS = 20_000  # people who are attacked where it is measured
_TIE = 1e-9  # what chance decides between scores
_CELLS = 1 << 22  # numbers of people by values or by rows of a bucket that are held at a time
ALL, AND_TOTALS = "all others", "and the totals"
USUAL = "always the most frequent value"
TOTALS = "there are no fakes, so whoever knows the exact totals too, as everybody does, gets nothing more from them"
UNIFORM = "by the law of fakes that are a uniform choice of the slots, for one who does not look at the totals"
BY_LAW = "by the law of the draw, approximate; no promise covers what fakes add"
ANYHOW = "whatever he knows of the fakes"


@dataclass(frozen=True, kw_only=True)
class Corruption:
    """He knows the sensitive values of so many others of the person's bucket, drawn at random from it."""

    name: ClassVar[str] = "corruption"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "knows what some others in a person's bucket have, strikes their values and guesses"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 3.0

    def unfit(self, target: Target) -> str:
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        composition, (known, fakes) = bucket_release(target).composition, stated(target)
        rows = composition.sizes
        numbers = numbers_up_to(int(rows.max()) - 1, known)
        right = expected(composition, fakes, numbers, lambda done: tell(0.6 * done))
        limits = tolerances_of(target)
        usual = float(composition.totals.max() / composition.totals.sum())
        for others, rate in zip(numbers, right, strict=True):
            posterior, limit = largest(target, others)
            yield Finding(
                name=self.name,
                variant=named(others, numbers),
                group=self.group,
                measures=f"{RIGHT}, in the mean over who the others are",
                rate=computed(rate, int(rows.sum())),
                bound=usual_bound(limits, composition, min(others, known)),
                baseline=usual,
                baseline_is=USUAL,
                covered=others <= known,
                note=UNIFORM if fakes else "" if others else TOTALS,
                details={"others": others, "fakes": fakes, "largest": float(posterior), "tolerance": float(limit)},
            )
        for others in (known, known + 1):
            yield self._most(target, others, fakes, covered=others == known)
        if fakes:
            yield self._certain(target)
        if target.table is not None:
            yield from self._measured(target, fakes, numbers, right, lambda done: tell(0.6 + 0.4 * done))

    def _most(self, target: Target, others: int, fakes: int, *, covered: bool) -> Finding:
        """The most that may be believed of any person, beside the tolerance; from files alone."""
        posterior, limit = largest(target, others)
        return Finding(
            name=self.name,
            variant=f"the most that {_people(others)} may give away",
            group=self.group,
            measures="the largest posterior of a value beside its tolerance, whoever the others are",
            rate=computed(posterior, bucket_release(target).rows),
            bound=limit,
            covered=covered,
            note=ANYHOW if fakes else "",
            details={"others": others, "fakes": fakes},
        )

    def _certain(self, target: Target) -> Finding:
        """The stated certainty: a bound of what all others and the totals give away."""
        return Finding(
            name=self.name,
            variant=f"the most that {ALL} {AND_TOTALS} may give away",
            group=self.group,
            measures="the largest posterior of a protected value, as the release states it",
            rate=computed(stated_certainty(target), bucket_release(target).rows),
            covered=False,
            note=BY_LAW,
        )

    def _measured(
        self, target: Target, fakes: int, numbers: list[int], right: list[Fraction], tell: Tell
    ) -> Iterator[Finding]:
        """How often he is right, where it is certain who has what."""
        release, truth = bucket_release(target), target.once(truth_of)
        bucket = release.qit.bucket.astype(np.int64)
        whole = np.bincount(bucket, ~truth.certain, minlength=len(release.composition.ids)) == 0
        share = float(whole[bucket].mean())
        coins = target.coins(self.name)
        people = np.flatnonzero(whole[bucket])
        if len(people) > _TARGETS:
            people = np.sort(coins.choice(people, _TARGETS, replace=False))
        for done, (others, rate) in enumerate(zip(numbers, right, strict=True)):
            if not others or not len(people):
                continue
            said = f"for all buckets the files say {float(rate):.1%}; "
            for totals in (False, True) if fakes else (False,):
                scores = by_totals(release.composition) if totals else None
                hit = guess_right(release.composition, bucket, truth.value, people, others, coins, scores)
                yield Finding(
                    name=self.name,
                    variant=f"{named(others, numbers)}{f' {AND_TOTALS}' * totals}, measured",
                    group=self.group,
                    measures=f"{RIGHT}, of those in whose bucket it is certain who has what",
                    rate=clustered(hit, bucket[people], target.confidence),
                    bound=stated_certainty(target) if totals and others == numbers[-1] else None,
                    baseline=float(rate) if totals else None,
                    baseline_is="without the totals" if totals else "",
                    covered=False,
                    note=f"{f'the bound is {BY_LAW}; ' if totals else said}those in which it is certain hold "
                    f"{share:.2%} of people, and are no random choice of them",
                    details={"others": others, "fakes": fakes, "share_certain": share},
                )
            tell((done + 1) / len(numbers))


def stated(target: Target) -> tuple[int, int]:
    """How many known others the promise allows for, and how many fakes every bucket has; none where none are stated."""
    mechanism = target.manifest.statement.mechanism
    return int(getattr(mechanism, "known", 0)), int(getattr(mechanism, "fakes", 0))


def stated_certainty(target: Target) -> Fraction:
    """What a release with fakes says that one can be certain of who knows all others and the totals."""
    return Fraction(target.manifest.statement.numbers.certainty)


def numbers_up_to(most: int, known: int = 0) -> list[int]:
    """How many others are known in turn: a few numbers below `most`, and `most` of them, which is all."""
    return sorted({*(number for number in _NUMBERS if number < most), min(known, most), max(0, most)})


def named(others: int, numbers: list[int]) -> str:
    """What a finding is called; numbers end with all others of the largest bucket."""
    return ALL if others == numbers[-1] and others else f"{_people(others)} known"


def _people(others: int) -> str:
    return "nobody" if not others else f"{others} other{'s' * (others > 1)}"


def expected(composition: Composition, fakes: int, numbers: list[int], tell: Tell) -> list[Fraction]:
    """How often the best guess is right, exactly: the mean over people, and over who the others are."""
    right = [Fraction(0)] * len(numbers)
    people, done = 0, 0
    kinds = np.bincount(composition.bucket, minlength=len(composition.ids))
    ranked = composition.count[np.lexsort((composition.count, composition.bucket))]
    begins = np.cumsum(kinds) - kinds
    for number in np.unique(kinds).tolist():
        own = np.flatnonzero(kinds == number)
        counts, often = np.unique(ranked[begins[own][:, None] + np.arange(number)], axis=0, return_counts=True)
        for each, buckets in zip(counts.tolist(), often.tolist(), strict=True):
            slots = sum(each)
            rows = slots - fakes
            lefts = [slots - min(others, rows - 1) for others in numbers]
            for place, share in enumerate(expected_right(each, lefts)):
                right[place] += rows * buckets * share
            people += rows * buckets
        done += len(own)
        tell(done / len(kinds))
    return [total / people for total in right]


def usual_bound(limits: list[Fraction], composition: Composition, others: int = 0) -> Fraction:
    """What the promise allows one who knows so many others, and guesses what is left most often in each bucket; where
    that may be several values, the one with the largest tolerance.
    """
    order = np.lexsort((composition.value, -composition.count, composition.bucket))
    first = order[np.flatnonzero(np.diff(composition.bucket[order], prepend=-1))]
    value = composition.value[first]
    if others:
        rank = np.argsort(np.argsort([float(limit) for limit in limits], kind="stable"), kind="stable")
        may = composition.count >= composition.count[first][composition.bucket] - others
        most = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(most, composition.bucket[may], rank[composition.value[may]])
        value = np.argsort(rank)[most]
    often = np.bincount(value, composition.sizes, minlength=len(limits)).astype(np.int64)
    return sum((limit * int(n) for limit, n in zip(limits, often, strict=True)), Fraction(0)) / int(often.sum())


def largest(target: Target, others: int) -> tuple[Fraction, Fraction]:
    """The posterior that goes furthest beyond its tolerance, or stays nearest below it, and the tolerance; of protected
    values where there are some, and whatever is known of fakes.
    """
    limits, own = tolerances_of(target), bucket_release(target).composition
    protected = np.array([limit < 1 for limit in limits])
    listed = np.flatnonzero(protected[own.value]) if protected[own.value].any() else np.arange(len(own.value))
    cells = np.unique(np.stack([own.value, own.count, own.sizes[own.bucket]])[:, listed], axis=1)
    best = Fraction(-1), Fraction(0), Fraction(1)
    for x, count, people in cells.T.tolist():
        posterior = most_of_people(count, people, others)
        best = max(best, (posterior / limits[x], posterior, limits[x]))
    return best[1], best[2]


def guess_right(
    composition: Composition,
    bucket: Ints,
    value: Ints,
    people: Ints,
    others: int,
    coins: np.random.Generator,
    scores: Scores | None = None,
) -> Bools:
    """Whether his best guess of each person is right: of the values that are left when the others' are struck, the most
    frequent one, or the one with the highest of `scores`, ties by chance. `bucket` and `value` are those of every row,
    bucket after bucket.
    """
    begins = np.searchsorted(bucket, np.arange(len(composition.ids) + 1))
    wide, values = int(np.diff(begins).max()), len(composition.values)
    entries = np.searchsorted(composition.bucket, np.arange(len(composition.ids) + 1))
    hit = np.zeros(len(people), dtype=np.bool_)
    step = max(1, _CELLS // max(wide, values))
    for start in range(0, len(people), step):
        some = people[start : start + step]
        own = bucket[some]
        left = coins.random((len(some), values))  # less than one: it decides ties
        for place, g in enumerate(own.tolist()):
            part = slice(entries[g], entries[g + 1])
            left[place, composition.value[part]] += composition.count[part]
        rank = coins.random((len(some), wide))
        rank[np.arange(wide) >= np.diff(begins)[own][:, None]] = np.inf
        rank[np.arange(len(some)), some - begins[own]] = np.inf
        order = np.argsort(rank, axis=1)[:, :others]
        who, nth = np.nonzero(np.isfinite(np.take_along_axis(rank, order, axis=1)))
        np.subtract.at(left, (who, value[begins[own[who]] + order[who, nth]]), 1)
        if scores is not None:
            slots = np.maximum(np.floor(left), 0).astype(np.int64)
            left = scores(own, slots) + (left - np.floor(left)) * _TIE
        hit[start : start + len(some)] = left.argmax(axis=1) == value[some]
    return hit

"""The attack of one who holds some values of a person for improbable, and strikes them in the person's bucket.

He has his beliefs from statistics, which half of the people teach him before the other half is attacked, or they are
drawn: nine in ten of the values that a person does not have he holds for less probable by a factor.

Paper: [RSH] section 2.4, "k-anonymity".
Departs: the paper takes the values of the others for equally probable. Here he holds of the others what is true of all
    people, so that one whose beliefs of a person are those of anybody learns what the bucket says and no more. With
    fakes he takes of each value the people that are expected in the bucket.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import bucket_release
from discreet.attack.buckets.guessing import tolerances_of
from discreet.attack.buckets.priors import People, drawn, statistics
from discreet.attack.buckets.truth import Truth, truth_of
from discreet.attack.rate import clustered
from discreet.attack.target import NO_TABLE, Target
from discreet.errors import PolicyError
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.keys import keys_of
from discreet.ground.progress import Tell

LEVELS = (0.5, 0.9)
ALONE = "his beliefs alone, before he sees the bucket"
NOTE = (
    "the promise speaks of one who holds of the person what he holds of the others in the bucket; where few values are "
    "probable before, much of this is known without the release"
)
MEAN = "what is believed of people's true value, in the mean"
_CELLS = 1 << 24  # numbers of people or groups by values that are held
_LEAST = 1e-3  # by which a further column must make known people's values likelier, in logarithms


@dataclass(frozen=True, kw_only=True)
class LowPrior:
    """He holds values for improbable: by statistics of half of the people, and by drawn priors with these ratios."""

    ratios: tuple[float, ...] = (0.1, 0.001)

    name: ClassVar[str] = "low-prior"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "holds some values of a person for improbable and strikes them in the bucket"
    needs: ClassVar[str] = "the table"
    cost: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        if not all(0 <= ratio <= 1 for ratio in self.ratios):
            told = ", ".join(f"{ratio:g}" for ratio in self.ratios)
            raise PolicyError(f"ratios ({told}) must be between 0 and 1; say 0.1 for a tenth as probable")

    def unfit(self, target: Target) -> str:
        if target.table is None:
            return NO_TABLE
        return "" if target.release.size > 1 else "half of one person teaches nothing"

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        release, coins = bucket_release(target), target.coins(self.name)
        true = drawn_truth(target.once(truth_of), coins)
        order, values = coins.permutation(len(true)), len(release.composition.values)
        known, others = order[: len(true) // 2], order[len(true) // 2 :]
        codes = {name: np.asarray(release.qit.codes(name)) for name in target.schema.quasi_identifiers}
        columns = telling_columns({name: column[known] for name, column in codes.items()}, true[known], values)
        tell(0.5)
        group = _group(codes, columns, len(true))
        people = _people(target, np.sort(others[: max(1, _CELLS // values)]), true, group)
        taught = statistics(group[known], true[known], int(group.max()) + 1, values)
        yield from self._scored(target, people, "statistics", taught[people.group], columns=len(columns))
        usual = release.composition.totals / release.composition.totals.sum()
        for nth, ratio in enumerate(self.ratios):
            tell(0.6 + 0.4 * nth / len(self.ratios))
            priors = drawn(people, ratio, coins) * usual
            priors /= priors.sum(axis=1, keepdims=True)
            yield from self._scored(target, people, f"drawn, r = {ratio:g}", priors)

    def _scored(self, target: Target, people: People, kind: str, priors: Floats, **more: float) -> Iterator[Finding]:
        """What is believed of the truth in the mean, and of how many people it is believed beyond a level."""
        limits, totals = tolerances_of(target), bucket_release(target).composition.totals
        alone = priors[np.arange(len(people.true)), people.true]
        reached = people.reached(priors / (totals / totals.sum()))
        often = np.bincount(people.true, minlength=len(limits))
        bound = sum((limit * int(number) for limit, number in zip(limits, often, strict=True)), Fraction(0))
        asked: list[tuple[str, str, Floats | Bools, Floats | Bools, Fraction | None]] = [
            ("", MEAN, reached, alone, bound / len(people.true))
        ]
        asked += [
            (
                f"above {level}",
                f"people whose true value is believed beyond {level}",
                reached > level,
                alone > level,
                None,
            )
            for level in LEVELS
        ]
        for which, measures, hit, before, limit in asked:
            yield Finding(
                name=self.name,
                variant=", ".join(filter(None, (kind, which))),
                group=self.group,
                measures=measures,
                rate=clustered(hit, people.bucket, target.confidence),
                bound=limit,
                baseline=float(before.mean()),
                baseline_is=ALONE,
                covered=False,
                note=NOTE,
                details={"from_the_bucket_alone": float(people.reached(np.ones_like(priors)).mean()), **more},
            )


def drawn_truth(truth: Truth, coins: np.random.Generator) -> Ints:
    """A value for each row, as probable as the files and the table leave it; where nothing is open, the true one."""
    order = np.argsort(truth.layout.row, kind="stable")
    row, weight = truth.layout.row[order], truth.weight[order]
    ends = np.cumsum(np.bincount(row, minlength=len(truth.certain))) - 1
    summed = np.cumsum(weight)
    before = np.concatenate([[0.0], summed[ends[:-1]]])
    asked = before + coins.random(len(ends)) * (summed[ends] - before)
    found: Ints = truth.layout.value[order][np.minimum(np.searchsorted(summed, asked, side="right"), ends)]
    return found


def telling_columns(codes: Mapping[str, Ints], true: Ints, values: int) -> tuple[str, ...]:
    """Which columns make statistics of known people tell most of others: of half of them, for the other half.

    One column after another, the one that makes the values of the other half likeliest, as long as one does.
    """
    half = len(true) // 2
    columns: tuple[str, ...] = ()
    if not half:
        return ()

    def told(names: tuple[str, ...]) -> float:
        group = _group(codes, names, len(true))
        groups = int(group.max()) + 1
        if groups * values > _CELLS:
            return -np.inf
        priors = statistics(group[:half], true[:half], groups, values)
        return float(np.log(priors[group[half:], true[half:]]).mean())

    best = told(columns)
    while further := [(*columns, name) for name in codes if name not in columns]:
        likelihood, names = max((told(names), names) for names in further)
        if likelihood < best + _LEAST:
            break
        best, columns = likelihood, names
    return columns


def _group(codes: Mapping[str, Ints], columns: tuple[str, ...], rows: int) -> Ints:
    """The group of each row by some columns, numbered from zero on."""
    return keys_of(codes, names=columns)[0] if columns else np.zeros(rows, dtype=np.int64)


def _people(target: Target, rows: Ints, true: Ints, group: Ints) -> People:
    """Some rows of the release as people whose buckets are known."""
    release = bucket_release(target)
    composition = release.composition
    buckets, own = np.unique(release.qit.bucket[rows], return_inverse=True)
    place = np.full(len(composition.ids), len(buckets))
    place[buckets] = np.arange(len(buckets))
    counts = np.zeros((len(buckets) + 1, len(composition.values)))
    counts[place[composition.bucket], composition.value] = composition.expected
    return People(bucket=own, true=true[rows], group=group[rows], counts=counts[:-1])

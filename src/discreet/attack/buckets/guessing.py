"""What an attacker gets who takes each person for the value that he believes in most.

He knows each person's bucket. The promise of buckets bounds what may be believed of a value x by its tolerance f'_x. Of
n guesses, of which the i-th is for value x_i, at most sum f'_(x_i) / n are right in the mean: that is the bound beside
every rate of right guesses. A second finding asks for the guess that dares most: of the protected values, the one that
is believed in most beside its tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import Beliefs, bucket_release
from discreet.attack.buckets.people import NOWHERE, found_by_fewer, people_in
from discreet.attack.buckets.truth import Truth, truth_of
from discreet.attack.rate import Rate, clustered, rate_of
from discreet.attack.target import Target
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.progress import Tell

if TYPE_CHECKING:
    from discreet.guarantee.fprime import FPrimePrivacy

_BINS = 10  # of the calibration: what was believed beside how often it was true
_CELLS = 1 << 22  # numbers of rows by values that are held at a time
RIGHT = "people whose value was guessed right"
DARING = "people of whom the guess was right that dares most beside the tolerance"


@dataclass(frozen=True, kw_only=True)
class Guesses:
    """One guess for each row, with what was believed of it and of the truth."""

    guess: Ints
    believed: Floats
    daring: Ints  # of the protected values; NOWHERE where there is none
    dared: Floats
    true: Floats  # what was believed of the true value
    above: Bools = field(repr=False)  # some protected value is believed in beyond its tolerance


def tolerances_of(target: Target) -> list[Fraction]:
    """The tolerance of each value that occurs, in their order; 1 where there is none."""
    guarantee: FPrimePrivacy = target.manifest.statement.guarantee
    stated = dict(guarantee.tolerance)  # 4.1 is 4.10
    return [stated.get(value, Fraction(1)) for value in bucket_release(target).composition.values]


def guess(target: Target, beliefs: Beliefs, tell: Tell) -> Guesses:
    """The guesses of one who believes this of every row."""
    truth: Truth = target.once(truth_of)
    tolerance = np.array([float(limit) for limit in tolerances_of(target)])
    rows, protected = len(truth.certain), np.flatnonzero(tolerance < 1)
    best, daring = np.zeros(rows, dtype=np.int64), np.full(rows, NOWHERE, dtype=np.int64)
    believed, dared, true, above = np.zeros(rows), np.zeros(rows), np.zeros(rows), np.zeros(rows, dtype=bool)
    by_row = np.argsort(truth.layout.row, kind="stable")
    ranked = truth.layout.row[by_row]
    step = max(1, _CELLS // max(1, len(tolerance)))
    for start in range(0, rows, step):
        some = np.arange(start, min(start + step, rows))
        belief = beliefs(some)
        best[some] = belief.argmax(axis=1)
        believed[some] = belief[some - start, best[some]]
        if len(protected):
            beside = belief[:, protected] / tolerance[protected]
            daring[some] = protected[beside.argmax(axis=1)]
            dared[some] = belief[some - start, daring[some]]
            above[some] = (belief[:, protected] > tolerance[protected] * (1 + 1e-9)).any(axis=1)
        cells = by_row[np.searchsorted(ranked, start) : np.searchsorted(ranked, start + step)]
        row, value = truth.layout.row[cells], truth.layout.value[cells]
        true += np.bincount(row, belief[row - start, value] * truth.weight[cells], minlength=rows)
        tell(float(some[-1] + 1) / rows)
    return Guesses(guess=best, believed=believed, daring=daring, dared=dared, true=true, above=above)


def scored(
    name: str,
    guesses: Guesses,
    target: Target,
    *,
    covered: bool,
    variant: str = "",
    note: str = "",
    control: Rate | None = None,
) -> Iterator[Finding]:
    """How often these guesses are right, beside what the promise allows and what the histogram alone gives.

    `control` is the rate of the first kind of guesses for people who were kept out.
    """
    truth, release = target.once(truth_of), bucket_release(target)
    limits, totals = tolerances_of(target), release.composition.totals
    kinds = ((guesses.guess, guesses.believed, RIGHT, ""), (guesses.daring, guesses.dared, DARING, "most daring guess"))
    for guessed, believed, measures, which in kinds:
        if not len(chosen := np.flatnonzero(guessed != NOWHERE)):
            continue
        right = truth.of(guessed)[chosen]
        often = np.bincount(guessed[chosen], minlength=len(limits))
        bound = sum((limits[x] * int(often[x]) for x in np.flatnonzero(often).tolist()), Fraction(0)) / len(chosen)
        base = (totals / totals.sum()) @ (often / len(chosen)) if which else totals.max() / totals.sum()
        yield Finding(
            name=name,
            variant=", ".join(filter(None, (variant, which))),
            group=Group.INFERENCE,
            measures=measures,
            rate=clustered(right, release.qit.bucket[chosen].astype(np.int64), target.confidence),
            bound=bound,
            baseline=float(base),
            baseline_is="the same guesses, handed out at random" if which else "always the most frequent value",
            covered=covered,
            control=None if which else control,
            note=note,
            details={
                "believed": float(believed[chosen].mean()),
                "mean_posterior_of_truth": float(guesses.true.mean()),
                "share_above_tolerance": float(guesses.above.mean()),
                "rows_certain": float(truth.certain.mean()),
                "calibration": calibration(believed[chosen], right),
            },
        )


def kept_out(target: Target, beliefs: Beliefs) -> Rate | None:
    """How often the same guesses are right for people who are not in the release; None where there are none.

    They have no bucket: he looks for rows that are like them in as many columns as can be, and takes the mean of what
    he believes of these. Of whom no row is like in anything, he guesses the most frequent value.
    """
    if target.kept_out is None:
        return None
    right = np.zeros(target.kept_out.rows, dtype=bool)
    seen = np.zeros(len(right), dtype=bool)
    for some, people in found_by_fewer(target, target.kept_out):
        guessed = np.zeros(len(people.begins) - 1, dtype=np.int64)
        for groups, belief in people.pooled(beliefs):
            guessed[groups] = belief.argmax(axis=1)
        right[some] = people.value[some] == guessed[people.group[some]]
        seen[some] = True
    if not seen.all():
        usual = int(bucket_release(target).composition.totals.argmax())
        right[~seen] = people_in(target, target.kept_out).value[~seen] == usual
    return rate_of(int(right.sum()), len(right), target.confidence)


def calibration(believed: Floats, right: Bools | Floats) -> list[dict[str, float]]:
    """What was believed of guesses, in bins, beside how often they were right."""
    bins = np.minimum((believed * _BINS).astype(np.int64), _BINS - 1)
    return [
        {
            "believed": float(believed[bins == each].mean()),
            "right": float(right[bins == each].mean()),
            "people": int((bins == each).sum()),
        }
        for each in np.unique(bins).tolist()
    ]

"""The attack of one who has a second release about the same people: two buckets of a person say more than one.

Each release keeps its promise by itself. Published again with fresh coins, a table puts a person among other values,
and his own is among those that both buckets have. So the series refuses a second release about the same people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import bucket_release
from discreet.attack.buckets.both import Both, found_in_both
from discreet.attack.buckets.guessing import tolerances_of
from discreet.attack.buckets.together import Together, together
from discreet.attack.buckets.truth import truth_of
from discreet.attack.rate import Rate, clustered, computed
from discreet.attack.target import Target
from discreet.errors import PolicyError
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.progress import Tell
from discreet.release.family import FAMILIES
from discreet.release.folder import read_manifest

if TYPE_CHECKING:
    from discreet.estimate.buckets.release import BucketRelease

ALONE = "from the first release alone"
FOUND = "people who are like no other in both releases, and so are found in both"
ONE_LEFT = "people found in both of whom both together leave one value only"
ABOVE = "people found in both whose true value is believed beyond its tolerance"
RIGHT = "people found in both whose value was guessed right"
LINKS = "who is alike may still be two people, where the tables overlap and are not the same"
BY_ITSELF = "each release promises for itself; the series refuses a second one about the same people"


@dataclass(frozen=True, kw_only=True)
class Intersection:
    """He finds people in two releases by their quasi-identifiers, and keeps the values that both buckets have.

    Of people found in both, at most so many are attacked, drawn at random.
    """

    most: int = 10_000

    name: ClassVar[str] = "intersection"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "finds people in two releases and keeps the values that both of their buckets have"
    needs: ClassVar[str] = "a further release about some of the same people"
    cost: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        if self.most < 1:
            raise PolicyError(f"most ({self.most}) must be at least 1; so many people are attacked")

    def unfit(self, target: Target) -> str:
        if not target.others:
            return "no further release about these people was handed in"
        if not target.once(_further):
            return "no further release is one of buckets with the same sensitive column"
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        further, first = target.once(_further), bucket_release(target)
        for done, (number, second) in enumerate(further.items(), start=1):
            variant = f"further release {number}" if len(target.others) > 1 else ""
            both = found_in_both(first, second)
            yield _found(both, first, variant)
            if len(both.rows):
                asked = np.sort(target.coins(self.name).permutation(len(both.rows))[: self.most])
                yield from _learnt(target, together(first, second, both, asked), asked, variant)
            tell(done / len(further))


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Of each person in both: how many values are left, the guess, and what was believed of the true value."""

    left: Ints
    guess: Ints
    believed: Floats  # of the guess
    alone: Floats  # how probable the best guess from the first release alone is
    true: Floats  # of the true value, by both releases; nothing where it is not known
    true_alone: Floats  # by the first


def _further(target: Target) -> dict[int, BucketRelease]:
    """The further releases of buckets with the same sensitive column, by their places among those handed in."""
    family = FAMILIES[target.kind].name
    return {
        number: cast("BucketRelease", each)
        for number, each in enumerate(target.others, start=1)
        if FAMILIES[read_manifest(each.path).kind].name == family and each.schema.sensitive == target.schema.sensitive
    }


def scores(found: Together, asked: Ints, truth: Ints | None) -> Scores:
    """What both releases say of each person asked for; `truth` is the value of each, where it is known."""
    people = len(asked)
    left, guess = np.zeros(people, dtype=np.int64), np.zeros(people, dtype=np.int64)
    believed, alone, true, true_alone = np.zeros((4, people))
    for some in found.parts(np.arange(people)):
        one, two = found.alone(asked[some]), found.believed(asked[some])
        left[some] = (two > 0).sum(axis=1)
        guess[some] = np.where(left[some] > 0, two.argmax(axis=1), one.argmax(axis=1))
        believed[some], alone[some] = two.max(axis=1), one.max(axis=1)
        if truth is not None:
            at = np.arange(len(some)), truth[some]
            true[some], true_alone[some] = two[at], one[at]
    return Scores(left=left, guess=guess, believed=believed, alone=alone, true=true, true_alone=true_alone)


def _found(both: Both, first: BucketRelease, variant: str) -> Finding:
    return Finding(
        name=Intersection.name,
        variant=", ".join(filter(None, (variant, "people found in both"))),
        group=Group.LINKABILITY,
        measures=FOUND,
        rate=computed(len(both.rows) / first.rows, first.rows),
        covered=False,
        note=LINKS,
        details={
            "columns": len(both.columns),
            "in_the_same_bucket_again": float(both.same.mean()) if len(both.rows) else 0.0,
        },
    )


def _learnt(target: Target, found: Together, asked: Ints, variant: str) -> Iterator[Finding]:
    """What both releases teach of the people in both."""
    truth = None if target.table is None else target.once(truth_of).value[found.both.rows[asked]]
    seen = scores(found, asked, truth)
    one_left = seen.left == 1
    whole = len(asked) == len(found.both.rows)
    yield _finding(
        variant,
        "one value left",
        ONE_LEFT,
        computed(one_left.mean(), len(asked)) if whole else _rate(one_left, found, asked, target.confidence),
        left_in_the_mean=float(seen.left.mean()),
        none_left=float((seen.left == 0).mean()),
        without_approximation=float(found.exact[asked].mean()),
    )
    if truth is not None:
        yield from _known(target, found, asked, seen, truth, variant)


def _known(target: Target, found: Together, asked: Ints, seen: Scores, truth: Ints, variant: str) -> Iterator[Finding]:
    """How often what both releases teach is true."""
    limits, one_left, right = tolerances_of(target), seen.left == 1, seen.guess == truth
    yield _finding(
        variant,
        "believed beyond the tolerance",
        ABOVE,
        _rate(_beyond(seen.true, truth, limits), found, asked, target.confidence),
        baseline=float(_beyond(seen.true_alone, truth, limits).mean()),
        mean_posterior_of_truth=float(seen.true.mean()),
        mean_posterior_from_one=float(seen.true_alone.mean()),
    )
    often = np.bincount(seen.guess, minlength=len(limits))
    yield _finding(
        variant,
        "",
        RIGHT,
        _rate(right, found, asked, target.confidence),
        bound=sum((limits[x] * int(often[x]) for x in np.flatnonzero(often).tolist()), Fraction(0)) / len(right),
        baseline=float(seen.alone.mean()),
        believed=float(seen.believed.mean()),
        right_where_one_is_left=float(right[one_left].mean()) if one_left.any() else None,
    )


def _finding(
    variant: str,
    which: str,
    measures: str,
    rate: Rate,
    *,
    bound: Fraction | None = None,
    baseline: float | None = None,
    **details: float | None,
) -> Finding:
    return Finding(
        name=Intersection.name,
        variant=", ".join(filter(None, (variant, which))),
        group=Intersection.group,
        measures=measures,
        rate=rate,
        bound=bound,
        baseline=baseline,
        baseline_is="" if baseline is None else ALONE,
        covered=False,
        note=BY_ITSELF,
        details=details,
    )


def _beyond(believed: Floats, truth: Ints, limits: list[Fraction]) -> Bools:
    """Whether the true value is believed beyond its tolerance."""
    tolerance = np.array([float(limit) for limit in limits])
    found: Bools = believed > tolerance[truth] * (1 + 1e-9)
    return found


def _rate(hit: Bools, found: Together, asked: Ints, confidence: float) -> Rate:
    """The rate with the wider interval of two: people hang together by their bucket of either release."""
    buckets = (
        found.first.qit.bucket[found.both.rows[asked]],
        found.second.qit.bucket[found.both.others[asked]],
    )
    rates = [clustered(hit, bucket.astype(np.int64), confidence) for bucket in buckets]
    return max(rates, key=lambda each: each.high - each.low)

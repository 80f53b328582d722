"""The attack that the promise of buckets is about: look up a person's bucket, and infer from what it holds.

Paper: [WWFW] section 2.2 and Definition 1; [W14] section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import bucket_release, expected, shares
from discreet.attack.buckets.guessing import guess, scored, tolerances_of
from discreet.attack.rate import computed
from discreet.attack.target import Target
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell


@dataclass(frozen=True, kw_only=True)
class WithinBucket:
    """He knows a person's bucket, and nothing of anybody's sensitive value."""

    name: ClassVar[str] = "within-bucket"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "looks up a person's bucket and takes its values as they stand there"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.5

    def unfit(self, target: Target) -> str:
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        yield self._most(target)
        if target.table is not None:
            guesses = guess(target, shares(bucket_release(target)), tell)
            yield from scored(self.name, guesses, target, covered=True)
            if bucket_release(target).composition.fakes:
                guesses = guess(target, expected(bucket_release(target)), tell)
                yield from scored(self.name, guesses, target, covered=True, variant="by the totals too")

    def _most(self, target: Target) -> Finding:
        """The share of any bucket that comes nearest to its tolerance, or goes furthest beyond; from files alone.

        It is of the people whom he may not know, with every record of the value taken for one of theirs.
        """
        limits, composition = tolerances_of(target), bucket_release(target).composition
        known = int(target.manifest.statement.mechanism.known)
        people = composition.sizes[composition.bucket]
        unknown = np.maximum(people - known, 1)
        entry = _nearest(limits, composition.value, np.minimum(composition.count, unknown), unknown)
        count, size = int(composition.count[entry]), int(people[entry])
        return Finding(
            name=self.name,
            variant="the share nearest to its tolerance",
            group=self.group,
            measures="the largest share of a value in a bucket, beside its tolerance",
            rate=computed(Fraction(min(count, int(unknown[entry])), int(unknown[entry])), len(composition.count)),
            bound=limits[int(composition.value[entry])],
            baseline=float(composition.totals[composition.value[entry]] / composition.totals.sum()),
            baseline_is="the value's share of the whole table",
            covered=True,
            details={"count": count, "size": size, "known": known},
        )


def _nearest(limits: list[Fraction], value: Ints, count: Ints, size: Ints) -> int:
    """The entry with the largest ratio of its share to its tolerance, in exact arithmetic; protected values first."""
    best, entry = Fraction(-1), 0
    protected = np.array([limit < 1 for limit in limits])
    listed = np.flatnonzero(protected[value]) if protected[value].any() else np.arange(len(value))
    cells, first = np.unique(np.stack([value[listed], count[listed], size[listed]]), axis=1, return_index=True)
    for (x, c, s), at in zip(cells.T.tolist(), first.tolist(), strict=True):
        if (ratio := Fraction(c, s) / limits[x]) > best:
            best, entry = ratio, int(listed[at])
    return entry

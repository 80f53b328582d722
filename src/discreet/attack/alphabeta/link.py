"""The linking adversary: he knows something of a person that leaves a set of tuples of which exactly one is true.

Who is left with at least 1/d candidates is promised gamma, where the release is made for exclusive adversaries. One who
knows all quasi-identifiers of a person has as many candidates as there are sensitive values, and nothing is promised.

Paper: [RSH] section 6.2, Definition 6.2, Theorem 6.3, Example 6.4; section 2.4.
Symbols: c candidates, of which the view shows j: one that is shown has the posterior A / (j A + (c - j) B).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np

from discreet.attack.alphabeta.by_value import highest_by_value
from discreet.attack.alphabeta.candidates import Left, alone, few_enough, shares_of
from discreet.attack.alphabeta.pool import IMPOSSIBLE, Pool, pool_of, promise_of
from discreet.attack.alphabeta.posterior import (
    Evidence,
    Promise,
    another_shown,
    evidence_of,
    heaviest,
    linked,
    several,
)
from discreet.attack.alphabeta.seen import measured, seen_of, sole
from discreet.attack.attack import Finding, Group
from discreet.attack.rate import Rate, computed, rate_of
from discreet.attack.target import Target
from discreet.ground.progress import Tell
from discreet.guarantee.dgamma import DGammaPrivacy

ALL, PART, LOW = "all quasi-identifiers known", "1/d candidates left", "low priors"
_FEW = "he is left with fewer than 1/d tuples, so his prior is above d"
_INDEPENDENT = "the release is made for adversaries who hold tuples for independent"


@dataclass(frozen=True, kw_only=True)
class Link:
    """He knows that exactly one of some tuples is in the table, and holds all of them for equally probable."""

    name: ClassVar[str] = "link"
    group: ClassVar[Group] = Group.LINKABILITY
    line: ClassVar[str] = "knows a person's quasi-identifiers, or some of them, and looks which of the tuples are shown"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.2

    def unfit(self, target: Target) -> str:
        return "" if promise_of(target).possible else IMPOSSIBLE

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        promise = promise_of(target)
        own = _stands_out(promise)
        every = len(target.schema.domains[target.schema.sensitive]) * promise.slots
        yield self._sole(promise, computed(linked(every, own), 1), ALL, every)
        heavy = evidence_of(promise)
        yield self._sole(promise, computed(linked(1 / heavy.prior, heavy), 1), PART, 1 / heavy.prior)
        yield self._another(promise, every, own)
        if target.table is None or several(promise):
            return
        pool = target.once(pool_of)
        yield from self._mixed(target, promise, pool)
        if _weighed(promise):
            return
        tell(0.3)
        names = target.schema.quasi_identifiers
        yield from self._measured(target, promise, alone(target, pool, names), ALL)
        tell(0.6)
        part = few_enough(target, pool, ceil(1 / promise.d))
        if part is not None and part != names:
            yield from self._measured(target, promise, alone(target, pool, part), PART)
        tell(0.9)
        yield from self._low_priors(target, promise, pool)

    def _covers(self, promise: Promise, candidates: Fraction | int, who: str) -> bool:
        return not self._why(promise, candidates, who)

    def _why(self, promise: Promise, candidates: Fraction | int, who: str) -> str:
        """Why the promise does not speak of him; empty where it does."""
        if not isinstance(promise, DGammaPrivacy) or promise.adversary != "exclusive":
            return _INDEPENDENT
        weight = promise.weights[who == PART]  # whose tuple it is that stands out: the lightest, or the heaviest
        return "" if candidates * promise.d * weight >= 1 else _FEW

    def _sole(
        self, promise: Promise, rate: Rate, who: str, candidates: Fraction | int, *, how: str = "largest posterior"
    ) -> Finding:
        return Finding(
            name=self.name,
            variant=f"{who}, {how}",
            group=self.group,
            measures=f"how probable a tuple is, where it alone of {ceil(candidates):,} candidates is shown",
            rate=rate,
            bound=promise.gamma,
            baseline=float(1 / Fraction(candidates)),
            baseline_is="one of the candidates at random",
            covered=self._covers(promise, candidates, who),
            note=self._why(promise, candidates, who),
        )

    def _mixed(self, target: Target, promise: Promise, pool: Pool) -> Iterator[Finding]:
        """Each true tuple among so many others that 1/d are candidates, by how many of both kinds are shown.

        The mean over all such mixtures, as for one who holds tuples for independent.
        """
        seen = seen_of(target, promise, pool, pool.shown > 0)
        if isinstance(promise, DGammaPrivacy) and seen.enough:
            candidates = 1 / evidence_of(promise).prior
            rate = measured(seen, target.confidence, sole(float(candidates)), float(heaviest(promise)))
            yield self._sole(promise, rate, PART, candidates, how="measured")
            highest = highest_by_value(target, promise, pool, sole(float(candidates)))
            if highest is not None:
                found = self._sole(promise, highest.rate, PART, candidates, how="measured by value")
                yield replace(found, note=f"{highest.note}; {found.note}" if found.note else highest.note)

    def _another(self, promise: Promise, candidates: int, own: Evidence) -> Finding:
        """Example 6.4: of a candidate that is not shown, where one other is."""
        return Finding(
            name=self.name,
            variant="another candidate is shown",
            group=self.group,
            measures="how many times less probable a candidate becomes to one who knows all quasi-identifiers, where "
            "another one alone is shown",
            rate=computed(1 / (candidates * another_shown(candidates, own)), 1),
            bound=promise.gamma / promise.d,
            baseline=1.0,
            baseline_is="as probable as before",
            covered=False,
            note="nothing is promised to linking adversaries about tuples that are not shown",
            share=False,
        )

    def _measured(self, target: Target, promise: Promise, left: Left, who: str) -> Iterator[Finding]:
        """His guesses of people who have their candidates for themselves, each of them in a set of its own."""
        if not left.people:
            return
        believed, right = left.guessed(promise)
        covered = self._covers(promise, left.candidates, who) and promise.slots == 1
        one = left.kinds == 1
        for which, variant, measures in (
            (np.ones(left.people, dtype=np.bool_), "right guesses", "share of people whose tuple he guesses right"),
            (
                one,
                "where one is shown",
                "share of true ones among tuples that are shown alone of their candidates",
            ),
        ):
            if which.any():
                note = self._why(promise, left.candidates, who)
                told = f"he believes {believed[which].mean():.3f} in the mean"
                yield Finding(
                    name=self.name,
                    variant=f"{who}, {variant}",
                    group=self.group,
                    measures=measures,
                    rate=rate_of(float(right[which].sum()), int(which.sum()), target.confidence),
                    bound=promise.gamma,
                    baseline=1 / left.candidates,
                    baseline_is="one of the candidates at random",
                    covered=covered,
                    note=f"{told}; {note}" if note else told,
                    details={"candidates": float(left.candidates), "known_columns": len(left.known)},
                )

    def _low_priors(self, target: Target, promise: Promise, pool: Pool) -> Iterator[Finding]:
        """[RSH] section 2.4: he also holds nine in ten of a person's values for improbable, and never the true one."""
        found = shares_of(target, pool, promise)
        if found is None:
            return
        before, after = found
        yield Finding(
            name=self.name,
            variant=f"{ALL}, {LOW}",
            group=self.group,
            measures="share of people whose tuple he guesses right; he rightly holds nine in ten of the other values "
            "for a thousand times less probable",
            rate=rate_of(float(after.sum()), len(after), target.confidence),
            bound=promise.gamma,
            baseline=float(before.mean()),
            baseline_is="what he holds before",
            covered=False,
            note="he knows that exactly one is true and hardly has a choice, so his prior is far above d",
        )


def _weighed(promise: Promise) -> bool:
    return isinstance(promise, DGammaPrivacy) and promise.weights[0] != promise.weights[1]


def _stands_out(promise: Promise) -> Evidence:
    """The ratios of the tuple that stands out most: with a public source one of least weight, among heavy ones."""
    own = evidence_of(promise)
    if isinstance(promise, DGammaPrivacy) and _weighed(promise):
        insert = promise.insert * promise.weights[0]
        rise = (promise.keep - promise.insert + insert) / insert
        return Evidence(prior=own.prior, rise=rise, fall=own.fall)
    return own

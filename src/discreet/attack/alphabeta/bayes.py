"""The adversary of the promise: he holds tuples for independent, none for more than d probable, and sees the view.

From the files alone follows what he may come to believe at most. With the table it is measured what he would be right
to believe: how probable true tuples and others really were to be shown. A publisher whose coins are not those that the
release states is found so.

Paper: [RSH] Definitions 2.1 to 2.3, sections 2.4 and 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from discreet.attack.alphabeta.by_value import highest_by_value
from discreet.attack.alphabeta.pool import (
    IMPOSSIBLE,
    Pool,
    pool_of,
    promise_of,
)
from discreet.attack.alphabeta.posterior import Promise, evidence_of, frapp_ratio, heaviest, independent, several
from discreet.attack.alphabeta.seen import less_probable, measured, posterior, seen_of
from discreet.attack.attack import Attack, Finding, Group
from discreet.attack.rate import Rate, computed
from discreet.attack.target import Target
from discreet.ground.progress import Tell
from discreet.guarantee.frapp import FrappPrivacy

SEVERAL = "it is one of several views; the attack `views` looks at all of them together"
SHOWN, UNSHOWN = "shown", "not shown"


@dataclass(frozen=True, kw_only=True)
class Bayes:
    """He holds every tuple for at most d probable, one independently of the other, and knows how the release was made.

    With a public source d is d times the weight of the tuple, and all is said of the tuple of the largest weight.
    """

    name: ClassVar[str] = "bayes"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "holds tuples for improbable and independent, and looks whether the view shows them"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.2

    def unfit(self, target: Target) -> str:
        promise = promise_of(target)
        if not promise.possible:
            return IMPOSSIBLE
        return SEVERAL if several(promise) else ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        promise = promise_of(target)
        yield from _stated(self, promise)
        if isinstance(promise, FrappPrivacy):
            yield from _beyond_one_tuple(self, promise)
        if target.table is None:
            return
        pool = target.once(pool_of)
        tell(0.5)
        yield from _measured(self, target, promise, pool)
        tell(0.8)
        if not isinstance(promise, FrappPrivacy):
            yield from _by_value(self, target, promise, pool)
            yield from _low_priors(self, promise, pool)


def _stated(attack: Attack, promise: Promise) -> Iterator[Finding]:
    """What follows from the probabilities that the release states."""
    own = evidence_of(promise)
    yield _above(attack, promise, computed(independent(own.prior, own.rise), 1), "as stated")
    yield _below(attack, promise, computed(1 / own.fall, 1), "as stated")


def _above(attack: Attack, promise: Promise, rate: Rate, variant: str, note: str = "") -> Finding:
    own = evidence_of(promise)
    once = " once" if isinstance(promise, FrappPrivacy) else ""
    return Finding(
        name=attack.name,
        variant=f"{SHOWN}{once}, {variant}",
        group=attack.group,
        measures=f"how probable a tuple of the largest covered prior is, where the view shows it{once}",
        rate=rate,
        bound=promise.gamma,
        baseline=float(own.prior),
        baseline_is="its prior",
        covered=True,
        note=note,
    )


def _below(attack: Attack, promise: Promise, rate: Rate, variant: str, note: str = "") -> Finding:
    covered = isinstance(promise, FrappPrivacy) or promise.holds_for_independent
    return Finding(
        name=attack.name,
        variant=f"{UNSHOWN}, {variant}",
        group=attack.group,
        measures="how many times less probable an improbable tuple becomes by not being shown; d / gamma allows "
        "gamma / d",
        rate=rate,
        bound=promise.gamma / evidence_of(promise).prior,
        baseline=1.0,
        baseline_is="as probable as before",
        covered=covered,
        note=note if covered else "an exclusive adversary is promised nothing about tuples that are not shown",
        share=False,
    )


def _beyond_one_tuple(attack: Attack, promise: FrappPrivacy) -> Iterator[Finding]:
    """What FRAPP does not promise: a tuple that is shown twice, and one who knows all other records."""
    found = {
        "shown twice": (
            independent(promise.d, frapp_ratio(promise, 2)) if promise.rows > 1 else None,
            "the promise is for tuples that are shown at most once",
        ),
        "knows all other records": (
            independent(promise.d, promise.keep / promise.other),
            "at most so much; the promise is for one who looks up a single tuple",
        ),
    }
    for variant, (reached, note) in found.items():
        if reached is not None:
            yield Finding(
                name=attack.name,
                variant=variant,
                group=attack.group,
                measures="how probable a tuple of prior d becomes",
                rate=computed(reached, 1),
                bound=promise.gamma,
                baseline=float(promise.d),
                baseline_is="its prior",
                covered=False,
                note=note,
            )


def _measured(attack: Attack, target: Target, promise: Promise, pool: Pool) -> Iterator[Finding]:
    """What he would be right to believe, by how many true tuples and others are shown."""
    prior, weight = float(evidence_of(promise).prior), float(heaviest(promise))
    note = "of all true tuples mixed with so many others that the share of true ones is the prior"
    if isinstance(promise, FrappPrivacy):
        note += "; tuples that several rows of the table have are left out"
    shown = seen_of(target, promise, pool, pool.shown == 1 if isinstance(promise, FrappPrivacy) else pool.shown > 0)
    if shown.enough:
        rate = measured(shown, target.confidence, posterior(prior), weight)
        yield _above(attack, promise, rate, "measured", note)
    at_all = seen_of(target, promise, pool, pool.shown > 0)
    if at_all.enough:
        rate = measured(at_all, target.confidence, less_probable, weight)
        yield _below(attack, promise, rate, "measured", note)


def _by_value(attack: Attack, target: Target, promise: Promise, pool: Pool) -> Iterator[Finding]:
    """The same among the tuples with one value, where it is highest: coins that favour some people are found so."""
    highest = highest_by_value(target, promise, pool, posterior(float(evidence_of(promise).prior)))
    if highest is not None:
        yield _above(attack, promise, highest.rate, "measured by value", highest.note)


def _low_priors(attack: Attack, promise: Promise, pool: Pool) -> Iterator[Finding]:
    """[RSH] section 2.4: he holds all that is not true of a person for improbable, and what is true for d."""
    shown = int((pool.real & (pool.shown > 0)).sum())
    own = evidence_of(promise)
    if shown:
        yield Finding(
            name=attack.name,
            variant="low priors",
            group=attack.group,
            measures="how probable a person's true tuple becomes, at most, to one who holds all other tuples of the "
            "person for a thousand times less probable",
            rate=computed(independent(own.prior, own.rise), shown),
            bound=promise.gamma,
            baseline=float(own.prior),
            baseline_is="its prior",
            covered=True,
            note="what he holds of other tuples changes nothing while he holds them for independent; the adversary of "
            "`link` knows that exactly one of them is true",
        )

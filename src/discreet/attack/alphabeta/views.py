"""Several views of one table: what all of them together say of a tuple, whenever it came and went.

Views of one series hide true tuples among noise that is shown again. Releases with fresh coins do not: noise that two
of them show is rare, and a tuple that both show is hardly noise.

Paper: [RSH] section 4.4.1.
Departs: the paper takes a table that does not change for the worst case; a tuple that joins later stands out more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from discreet.attack.alphabeta.pool import (
    IMPOSSIBLE,
    Pool,
    domain_of,
    pool_of,
    promise_of,
    times_in,
    tuples_in,
    view_number,
)
from discreet.attack.alphabeta.posterior import Promise, evidence_of, extremes, independent, several
from discreet.attack.alphabeta.seen import Seen, measured, plain, posterior
from discreet.attack.attack import Finding, Group
from discreet.attack.rate import Rate, computed
from discreet.attack.target import Codes, Target
from discreet.ground.arrays import Bools
from discreet.ground.keys import keys_of
from discreet.ground.progress import Tell
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.manifest import EARLIER, VIEW
from discreet.release.folder import read_manifest

if TYPE_CHECKING:
    from discreet.estimate.release import Release
    from discreet.release.statement import Manifest

FRESH = "a second release with fresh coins"
_MIXED = "of all true tuples mixed with so many others that the share of true ones is the prior"


@dataclass(frozen=True, kw_only=True)
class Views:
    """He holds tuples for independent, none for more than d probable, and has several releases of the same people."""

    name: ClassVar[str] = "views"
    group: ClassVar[Group] = Group.LINKABILITY
    line: ClassVar[str] = "puts together what several views, or several releases, show of a tuple"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.1

    def unfit(self, target: Target) -> str:
        return "" if promise_of(target).possible else IMPOSSIBLE

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        promise = promise_of(target)
        if isinstance(promise, DGammaPrivacy) and promise.later:
            yield from self._histories(target, promise)
        own = evidence_of(promise)
        twice = computed(independent(own.prior, own.rise, own.rise), 1)
        yield self._finding(promise, twice, f"shown by both, {FRESH}", covered=False, note=_fresh_note(promise))
        if target.table is None:
            return
        pool = target.once(pool_of)
        tell(0.4)
        if several(promise) and view_number(target) > 1:
            both = pool.before & (pool.shown > 0)
            variant = "shown by this view and an earlier one"
            yield from self._measured(target, promise, pool, both, variant, covered=True)
        if promise.slots > 1 or _weighed(promise):
            return
        others = _others(target, promise, pool)
        for place, (shown, of_series) in enumerate(others, start=1):
            variant = f"shown{_once(promise)} by this release and further release {place}"
            note = "" if of_series else _fresh_note(promise)
            yield from self._measured(target, promise, pool, shown, variant, covered=of_series, note=note)
        views = [shown for shown, of_series in others if of_series]
        if len(views) > 1:
            variant = f"shown by this view and {len(views)} further ones"
            yield from self._measured(target, promise, pool, np.logical_and.reduce(views), variant, covered=True)

    def _histories(self, target: Target, promise: DGammaPrivacy) -> Iterator[Finding]:
        """The best history for him, of all that the views so far, or all that are declared, can have."""
        number = view_number(target)
        for views in dict.fromkeys((number, promise.views)):
            most, least = extremes(promise, views)
            said = f"{views} of {promise.views} views"
            yield self._finding(
                promise, computed(independent(promise.d, most), 1), f"best history, {said}", covered=True
            )
            yield self._unseen(promise, computed(1 / least, 1), said)
        one_more = replace(promise, later=(*promise.later, promise.later[-1]))
        most, _ = extremes(one_more, one_more.views)
        reached = computed(independent(promise.d, most), 1)
        note = "if the last view were made once more; a series refuses that"
        yield self._finding(promise, reached, "best history, one view more than declared", covered=False, note=note)

    def _finding(self, promise: Promise, rate: Rate, variant: str, *, covered: bool, note: str = "") -> Finding:
        own = evidence_of(promise)
        return Finding(
            name=self.name,
            variant=variant,
            group=self.group,
            measures="how probable a tuple of the largest covered prior becomes",
            rate=rate,
            bound=promise.gamma,
            baseline=float(own.prior),
            baseline_is="its prior",
            covered=covered,
            note=note,
        )

    def _unseen(self, promise: DGammaPrivacy, rate: Rate, said: str) -> Finding:
        covered = promise.holds_for_independent
        return Finding(
            name=self.name,
            variant=f"never shown, {said}",
            group=self.group,
            measures="how many times less probable an improbable tuple becomes by the worst history; d / gamma allows "
            "gamma / d",
            rate=rate,
            bound=promise.gamma / promise.d,
            baseline=1.0,
            baseline_is="as probable as before",
            covered=covered,
            note="" if covered else "an exclusive adversary is promised nothing about tuples that are not shown",
            share=False,
        )

    def _measured(
        self, target: Target, promise: Promise, pool: Pool, shown: Bools, variant: str, *, covered: bool, note: str = ""
    ) -> Iterator[Finding]:
        seen = _seen(target, promise, pool, shown)
        if seen.enough:
            rate = measured(seen, target.confidence, posterior(float(promise.d)))
            told = f"{_MIXED}; {note}" if note else _MIXED
            yield self._finding(promise, rate, f"{variant}, measured", covered=covered, note=told)


def _others(target: Target, promise: Promise, pool: Pool) -> list[tuple[Bools, bool]]:
    """For each further release of tuples like these: which it shows too, and whether it is an earlier view."""
    found = []
    for other in target.others:
        manifest = read_manifest(other.path)
        if _alike(target, manifest):
            again = times_in(pool, tuples_in(other, VIEW))
            shown = (pool.shown == 1) & (again == 1) if _once(promise) else (pool.shown > 0) & (again > 0)
            found.append((shown, _same_series(target, promise, manifest, other)))
    return found


def _once(promise: Promise) -> str:
    """What is seen of FRAPP's tuples is that they are shown once."""
    return " once" if isinstance(promise, FrappPrivacy) else ""


def _seen(target: Target, promise: Promise, pool: Pool, shown: Bools) -> Seen:
    """FRAPP's law is that of a tuple which one row has; the other tuples of the table are left out."""
    true = pool.copies == 1 if isinstance(promise, FrappPrivacy) else pool.real
    return plain(
        hits=int((shown & true).sum()),
        places=int(true.sum()),
        stray=int((shown & ~pool.real).sum()),
        others=domain_of(target) - int(pool.real.sum()),
    )


def _fresh_note(promise: Promise) -> str:
    if several(promise):
        return "views of another series, or beyond those declared, are not covered"
    return "the promise is for one release; a series shows the same coins again, or refuses"


def _alike(target: Target, manifest: Manifest[Any, Any, Any]) -> bool:
    """Whether a further release has tuples of the same domain."""
    return manifest.kind in ("alphabeta", "frapp") and manifest.schema.as_json() == target.schema.as_json()


def _weighed(promise: Promise) -> bool:
    return isinstance(promise, DGammaPrivacy) and promise.weights[0] != promise.weights[1]


def _same_series(target: Target, promise: Promise, manifest: Manifest[Any, Any, Any], other: Release) -> bool:
    """Whether a further release is an earlier view of the same series: its tuples stand among the earlier ones."""
    if not several(promise) or manifest.statement.guarantee != promise:
        return False
    if int(manifest.statement.numbers.view) >= view_number(target):
        return False
    before = target.once(_earlier)
    own, known = keys_of(tuples_in(other, VIEW), before, names=target.schema.columns)
    return bool(len(own) and np.isin(own, known).all())


def _earlier(target: Target) -> Codes:
    return tuples_in(target.release, EARLIER)

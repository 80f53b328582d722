"""The negative association attack: he learns which values people like this one do not have, strikes them, and guesses.

Paper: [WWFW] section 6, after Li and Li, and Wong and others.
Symbols: N_vx people with value v of a quasi-identifier and the sensitive value x, N_v n_x / n what is usual, as if the
    two had nothing to do with each other; z (`doubt`) and r (`rare`) the attack's fields; E what is struck for a row.
    By unbiased estimates x is struck for everybody with v where max(N^, 0) + z SE(N^) <= r N_v n_x / n: even with the
    doubt added, few of those who would be usual. By the model it is struck where p(x | pattern) <= r n_x / n.
    Pr(x) = c_x / (S + sigma - c(E)) for x outside of E, with sigma fakes in each bucket, of which he knows nothing;
    c_x / (S + sigma) where E would be everything that the bucket holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import Beliefs, bucket_release, general, shares
from discreet.attack.buckets.guessing import guess, scored
from discreet.attack.buckets.truth import Truth, truth_of
from discreet.attack.rate import clustered, computed
from discreet.attack.target import Target
from discreet.errors import PolicyError
from discreet.estimate.buckets.regression import Weighted
from discreet.ground.arrays import Bools, Floats, Ints
from discreet.ground.progress import Tell

if TYPE_CHECKING:
    from discreet.estimate.buckets.regression import Regressed
    from discreet.estimate.buckets.release import BucketRelease

_CELLS = 1 << 22  # numbers of rows by values that are held at a time
_TABLE = 1 << 24  # a column by sensitive values: where there are more, hardly anybody has any of them
MODEL, ESTIMATES = "by what is learned", "by unbiased estimates"


@dataclass(frozen=True, kw_only=True)
class NegativeAssociation:
    """He strikes what is at most `rare` times as frequent as usual, with `doubt` standard errors to spare, among people
    of whom at least `expected` would have it.
    """

    doubt: float = 2.0
    rare: float = 0.25
    expected: float = 10.0

    name: ClassVar[str] = "negative-association"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "learns which values people like this one do not have, strikes them in the bucket and guesses"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 6.0

    def __post_init__(self) -> None:
        if not self.doubt >= 0 or not self.expected >= 0:
            raise PolicyError(f"doubt ({self.doubt}) and expected ({self.expected}) must be 0 or more; 0 is no caution")
        if not 0 < self.rare < 1:
            raise PolicyError(f"rare ({self.rare}) must be between 0 and 1; it is a share of what is usual")

    def unfit(self, target: Target) -> str:
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        release = bucket_release(target)
        ways: dict[str, Beliefs] = {ESTIMATES: self.by_estimates(release, lambda done: tell(0.4 * done))}
        if "learned" in release.estimators:
            release.learn(lambda _, done: tell(0.4 + 0.3 * done))
            if (release.knowledge.kept >= 0).all():
                ways[MODEL] = self.by_model(release)
        for number, (way, struck) in enumerate(ways.items()):
            start = 0.7 + 0.3 * number / len(ways)

            def told(done: float, start: float = start) -> None:
                tell(start + 0.3 * done / len(ways))

            yield from self._found(target, way, struck, told)

    def by_estimates(self, release: BucketRelease, tell: Tell = lambda done: None) -> Beliefs:
        """What is struck of each row, as 1 and 0, by the regression on the ST."""
        tables: dict[str, Bools] = {}
        names, bucket = release.schema.quasi_identifiers, release.qit.bucket.astype(np.int64)
        for done, name in enumerate(names):
            tell(done / len(names))
            domain = len(release.schema.domains[name].encoding)
            if domain * len(release.composition.values) <= _TABLE:
                codes = np.asarray(release.qit.codes(name), dtype=np.int64)
                tables[name] = struck_values(
                    release.regression, bucket, codes, domain, self.doubt, self.rare, self.expected
                )

        def strike(rows: Ints) -> Floats:
            found = np.zeros((len(rows), len(release.composition.values)), dtype=np.bool_)
            for name, table in tables.items():
                found |= table[np.asarray(release.qit.codes(name), dtype=np.int64)[rows]]
            return found.astype(np.float64)

        return strike

    def by_model(self, release: BucketRelease) -> Beliefs:
        """What is struck of each row by the model that answers questions."""
        before, totals = general(release), release.composition.totals
        usual = totals / totals.sum()
        return lambda rows: (before(rows) <= self.rare * usual).astype(np.float64)

    def _found(self, target: Target, way: str, struck: Beliefs, tell: Tell) -> Iterator[Finding]:
        """Who is struck; and with the table, who is struck wrongly, and what it gains."""
        release = bucket_release(target)
        struck = in_effect(release, struck)
        hit = reached(struck, release.rows, len(release.composition.values))
        yield Finding(
            name=self.name,
            variant=f"people struck, {way}",
            group=self.group,
            measures="people of whom some value that their bucket holds is struck",
            rate=computed(float(hit.mean()), len(hit)),
            covered=False,
            note=f"struck is what is at most {self.rare:.0%} as frequent as usual among people like these",
        )
        if target.table is None:
            return
        truth = target.once(truth_of)
        if hit.any():
            yield self._wrongly(target, way, wrongly(truth, struck), hit)
        before = guess(target, shares(release), lambda done: tell(done / 2))
        after = guess(target, left_over(release, struck), lambda done: tell((1 + done) / 2))
        details = {
            "people_struck": float(hit.mean()),
            "right_before": float(truth.of(before.guess).mean()),
            "posterior_of_truth_before": float(before.true.mean()),
            "posterior_of_truth_after": float(after.true.mean()),
        }
        note = (
            f"right before anything is struck {details['right_before']:.1%}; the truth is given "
            f"{details['posterior_of_truth_before']:.3f} before and {details['posterior_of_truth_after']:.3f} after"
        )
        for each in scored(self.name, after, target, covered=False, variant=way, note=note):
            yield replace(each, details={**each.details, **details})

    def _wrongly(self, target: Target, way: str, wrong: Floats, hit: Bools) -> Finding:
        bucket = bucket_release(target).qit.bucket
        return Finding(
            name=self.name,
            variant=f"wrongly struck, {way}",
            group=self.group,
            measures="of the people of whom something is struck, those of whom it is the truth",
            rate=clustered(wrong[hit], bucket[hit].astype(np.int64), target.confidence),
            covered=False,
        )


def struck_values(
    regression: Regressed, bucket: Ints, codes: Ints, size: int, doubt: float, rare: float, expected: float
) -> Bools:
    """For each value of a column (rows) which sensitive values (columns) are struck; `codes` are those of all rows."""
    composition = regression.composition
    totals, buckets = composition.totals, len(composition.ids)
    often = np.bincount(codes, minlength=size)
    usual = often[:, None] * (totals / len(codes))[None, :]
    found = np.zeros(usual.shape, dtype=np.bool_)
    by_code = np.argsort(codes, kind="stable")
    begins = np.cumsum(often) - often
    for x in np.flatnonzero((usual >= expected).any(axis=0)).tolist():
        if not regression.determined((x,)).all():
            continue
        weights = regression.weights((x,))
        estimate = np.maximum(np.bincount(codes, weights[bucket], minlength=size), 0)
        for v in np.flatnonzero((often > 0) & (usual[:, x] >= expected) & (estimate <= rare * usual[:, x])).tolist():
            own = by_code[begins[v] : begins[v] + often[v]]
            matches = np.bincount(bucket[own], minlength=buckets)
            error = regression.variance([Weighted(values=(x,), weights=weights, matches=matches)], {}) ** 0.5
            found[v, x] = estimate[v] + doubt * error <= rare * usual[v, x]
    return found


def in_effect(release: BucketRelease, struck: Beliefs) -> Beliefs:
    """What is struck of the values that each row's bucket holds; nothing where it would be all of them."""
    before = shares(release)

    def strike(rows: Ints) -> Floats:
        held = before(rows)
        found = struck(rows) * (held > 0)
        found[(held * (1 - found)).sum(axis=1) <= 0] = 0
        return found

    return strike


def left_over(release: BucketRelease, struck: Beliefs) -> Beliefs:
    """What a bucket says of each of its rows when what is struck, which is not all, is taken away."""
    before = shares(release)

    def believe(rows: Ints) -> Floats:
        kept = before(rows) * (1 - struck(rows))
        found: Floats = kept / kept.sum(axis=1, keepdims=True)
        return found

    return believe


def reached(struck: Beliefs, rows: int, values: int) -> Bools:
    """The rows of which something is struck."""
    found = np.zeros(rows, dtype=np.bool_)
    step = max(1, _CELLS // values)
    for start in range(0, rows, step):
        some = np.arange(start, min(start + step, rows))
        found[some] = struck(some).any(axis=1)
    return found


def wrongly(truth: Truth, struck: Beliefs) -> Floats:
    """How probable it is, for each row, that its true value is struck."""
    rows, layout = len(truth.certain), truth.layout
    found = np.zeros(rows)
    by_row = np.argsort(layout.row, kind="stable")
    ranked = layout.row[by_row]
    step = max(1, _CELLS // max(1, int(layout.value.max()) + 1))
    for start in range(0, rows, step):
        some = np.arange(start, min(start + step, rows))
        cells = by_row[np.searchsorted(ranked, start) : np.searchsorted(ranked, start + step)]
        row = layout.row[cells]
        found += np.bincount(row, struck(some)[row - start, layout.value[cells]] * truth.weight[cells], minlength=rows)
    return found

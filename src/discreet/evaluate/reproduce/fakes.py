"""Fakes in a bucket: what one who knows others of it is left with, as printed, by the paper's fakes and by ours.

Paper: [WWFW] section 6.
Symbols: |g| = 4 people and sigma fakes in a bucket, q of the others known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pyarrow as pa

from discreet.attack.buckets.beliefs import bucket_release
from discreet.attack.buckets.corruption import guess_right, stated_certainty
from discreet.attack.buckets.knowing import believed
from discreet.attack.buckets.totals import by_totals
from discreet.attack.buckets.truth import truth_of
from discreet.attack.target import Target
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.scratch import opened, released, seen_values
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.papers.uniform_fakes import UniformFakes
from discreet.mechanism.buckets.policy.buckets import Buckets
from discreet.release.folder import read_manifest
from discreet.schema.domain import Integers
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema
from discreet.table.table import Table

SIZE, MOST = 4, 3  # |g|; the most fakes
_PERSON = "person"  # a column that finds people in the release again
_TARGETS = 20_000
COLUMNS = (
    "fakes",
    "others known",
    "printed: 1/(4 - q + fakes)",
    "ours: right with the totals",
    "the paper's fakes: right with the totals",
    "ours: certainty",
    "the paper's fakes: certainty",
)


@contextmanager
def _attacked(people: Table, mechanism: Buckets, seed: int) -> Iterator[Target]:
    """A release of which it is certain who has what."""
    with released(people, mechanism, seed) as release:
        yield Target(release=release, manifest=read_manifest(release.path), table=people)


def right(target: Target, others: int, coins: np.random.Generator) -> float:
    """How often one is right who knows so many others and, of a release with fakes, the totals."""
    composition, bucket = bucket_release(target).composition, bucket_release(target).qit.bucket.astype(np.int64)
    whole = np.flatnonzero(composition.sizes[bucket] == SIZE)
    chosen = np.sort(coins.permutation(whole)[:_TARGETS])
    scores = by_totals(composition) if composition.fakes else None
    found = guess_right(composition, bucket, target.once(truth_of).value, chosen, others, coins, scores)
    return float(found.mean())


def _posteriors(setting: Setting) -> Result:
    table = setting.sources.table("OCC").select(["Occupation"])
    whole = table.append_column(_PERSON, pa.array(np.arange(len(table))))
    domains = {_PERSON: Integers(low=0, high=len(table) - 1), **seen_values(table)}
    schema = Schema(quasi_identifiers=(_PERSON,), sensitive="Occupation", domains=domains)
    tolerance = Tolerance(floor=Fraction(1, SIZE))
    seed = setting.seeds.take("the releases", 0)
    rows: list[tuple[Cell, ...]] = []
    with opened(whole, Policy(schema=schema, mechanism=Buckets(tolerance=tolerance))) as people:
        for fakes in range(MOST + 1):
            found: list[list[float]] = []
            for kind in (Buckets, UniformFakes):
                mechanism = kind(tolerance=tolerance, slack=0, fakes=fakes, min_size=SIZE)
                coins = np.random.default_rng(setting.seeds.take("who is known", fakes))
                with _attacked(people, mechanism, seed) as target:
                    certainty = float(stated_certainty(target)) if fakes else 1.0
                    found.append([right(target, others, coins) for others in range(SIZE)] + [certainty])
            for others in range(SIZE):
                printed = believed(1, SIZE + fakes, others)
                last = [each[SIZE] if others == SIZE - 1 else None for each in found]
                rows.append((fakes, others, float(printed), found[0][others], found[1][others], *last))
            setting.tell((fakes + 1) / (MOST + 1))
    return Result(
        columns=COLUMNS,
        rows=tuple(rows),
        figures=(("right", _figure(rows)),),
        ours=_told(rows),
        data=f"{setting.sources.words('OCC')}; shares up to 1/4 in buckets of 4, and everybody's bucket is known; "
        "people in the few buckets of 5 are not attacked",
    )


def _of(rows: list[tuple[Cell, ...]], fakes: int, place: int, others: int = SIZE - 1) -> float:
    (row,) = (row for row in rows if row[:2] == (fakes, others))
    return float(row[place] or 0)


def _told(rows: list[tuple[Cell, ...]]) -> str:
    def listed(place: int) -> str:
        return ", ".join(f"{_of(rows, fakes, place):.1%}" for fakes in range(1, MOST + 1))

    return (
        f"Who knows all three others and how many people have each value is right for {listed(3)} with 1, 2 and 3 "
        f"fakes of ours, and for {listed(4)} with the paper's, where 50.0%, 33.3%, 25.0% are printed; without fakes "
        f"for 100%. The most that he may believe, by the law of the draw, is {listed(5)} and {listed(6)}"
    )


def _figure(rows: list[tuple[Cell, ...]]) -> Figure:
    curves = tuple(
        Curve(
            label=label,
            points=tuple((float(fakes), _of(rows, fakes, place)) for fakes in range(MOST + 1)),
            dashed=place == 2,
        )
        for label, place in (("printed", 2), ("ours", 3), ("the paper's fakes", 4))
    )
    return Figure(title="all three others and the totals known", x="fakes", y="right guesses", curves=curves)


FAKES = Item(
    name="fakes",
    paper="[WWFW] section 6",
    line="what one who knows others of a bucket is left with beside fakes: the paper's and ours",
    claim="With sigma fakes in a bucket of |g|, each from the domain and distinct in the bucket, one who knows q "
    "others is left with |g| - q + sigma values; even if he knows all but one, his certainty is only 1/(1 + sigma).",
    differs="The formula holds for fakes that are a uniform choice of a bucket's slots, where values are distinct and "
    "nobody looks at the totals. The paper's fakes are drawn from the domain, whatever people have: a frequent value "
    "is likelier a person's, and whoever knows how frequent values are tells them apart. Ours are in proportion to "
    "people and drawn with them; what is still above the formula is by rare values, which have one fake at least. "
    "Counts of the sensitive column are published, so everybody knows the totals. Where values repeat in a bucket the "
    "formula is c times as much, and nothing of it is promised; what `known` promises is another matter, and holds "
    "whatever is known of fakes.",
    run=_posteriors,
)

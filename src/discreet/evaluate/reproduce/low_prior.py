"""What an adversary learns from an l-diverse table when he holds some values for improbable.

Paper: [RSH] section 2.4, "k-anonymity".
Departs: what he holds before and afterwards is computed as the attack does that `audit` has of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet.attack.buckets.priors import People, drawn, learned
from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.reproduce.data import ADULT_ROWS
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.evaluate.scratch import opened, released, seen_values
from discreet.ground.arrays import Ints
from discreet.guarantee.dgamma import EVEN
from discreet.mechanism.alphabeta.policy.alphabeta import AlphaBeta
from discreet.mechanism.buckets.policy.anatomy import Anatomy
from discreet.release.buckets.manifest import QIT
from discreet.schema.domain import Integers
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema

DIVERSITIES = (2, 4, 7)
LEVELS = (0.2, 0.5, 0.9)
D, GAMMA = 10 * Fraction(ADULT_ROWS, 648_023_040), Fraction(1, 5)
NO_RELEASE = "no release"
_PERSON = "person"  # a column that finds people in the release again


def _published(table: pa.Table, sensitive: str, groups: list[str], seed: int) -> Iterator[tuple[int, People]]:
    """An l-diverse release for each l, and where everybody is in it."""
    schema = Schema(
        quasi_identifiers=(_PERSON, *groups),
        sensitive=sensitive,
        domains={_PERSON: Integers(low=0, high=len(table) - 1), **seen_values(table.select([*groups, sensitive]))},
    )
    true, group = _codes(table, [sensitive]), _codes(table, groups)
    whole = table.select([*groups, sensitive]).append_column(_PERSON, pa.array(np.arange(len(table))))
    with opened(whole, Policy(schema=schema, mechanism=Anatomy(l=DIVERSITIES[0], composition="even"))) as people:
        for diversity in DIVERSITIES:
            with released(people, Anatomy(l=diversity, composition="even"), seed) as release:
                rows = pq.read_table(release.path / QIT, columns=[_PERSON, "BID"])
            _, numbers = np.unique(rows["BID"].to_numpy(), return_inverse=True)
            bucket = np.zeros(len(table), dtype=np.int64)
            bucket[rows[_PERSON].to_numpy()] = numbers
            counts = np.zeros((numbers.max() + 1, true.max() + 1), dtype=np.int64)
            np.add.at(counts, (bucket, true), 1)
            yield diversity, People(bucket=bucket, true=true, group=group, counts=counts)


def _codes(table: pa.Table, names: list[str]) -> Ints:
    """A number for each combination of values."""
    cells = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    numbers = {cell: number for number, cell in enumerate(sorted(set(cells)))}
    return np.array([numbers[cell] for cell in cells], dtype=np.int64)


def bounded(adversary: str) -> float:
    """The same adversary on an alpha-beta release: a tuple of prior d that it shows, whatever he holds of others."""
    return float(AlphaBeta(prior=D, posterior=GAMMA, adversary=adversary).choose(D, EVEN).posterior)


def _attack(setting: Setting) -> Result:
    table = setting.sources.adult()
    named = {name.lower(): name for name in table.column_names}
    sensitive, groups = named["occupation"], [named.get("sex", named.get("gender", "")), named["education"]]
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    seed = setting.seeds.take("the releases", 0)
    for number, (diversity, people) in enumerate(_published(table, sensitive, groups, seed)):
        coins = np.random.default_rng(setting.seeds.take("whom the statistics are learned from, and priors", diversity))
        known = coins.random(len(table)) < 0.5
        kinds = {
            "none": np.ones((len(table), people.counts.shape[1])),
            "statistics": learned(people, known),
            "drawn, r = 0.1": drawn(people, 0.1, coins),
            "drawn, r = 0.001": drawn(people, 0.001, coins),
        }
        for kind, priors in kinds.items():
            found = people.reached(priors)[~known]
            above = [float((found > level).mean()) for level in LEVELS]
            rows.append((f"l-diverse, l = {diversity}", kind, float(found.mean()), *above))
            curves.setdefault(kind, []).append((float(diversity), float(found.mean())))
        if not number:
            alone = kinds["statistics"][np.arange(len(table)), people.true][~known]
            above = [float((alone > level).mean()) for level in LEVELS]
            rows.append((NO_RELEASE, "statistics", float(alone.mean()), *above))
        setting.tell((number + 1) / len(DIVERSITIES))
    for label in ("independent", "exclusive"):
        most = bounded(label)
        rows.append(
            (f"alpha-beta, {label}", "any, if tuples are independent", most, *(float(most > z) for z in LEVELS))
        )
        curves[f"alpha-beta, {label}"] = [(float(diversity), most) for diversity in DIVERSITIES]
    return Result(
        columns=("release", "low priors from", "mean posterior of the true value", "above .2", "above .5", "above .9"),
        rows=tuple(rows),
        figures=(("posterior", _figure(curves)),),
        ours=_told(rows, groups),
        data=f"{setting.sources.adult_words}; {sensitive} is sensitive; half of the people teach the statistics, the "
        f"others are attacked; every prior is at most d = {float(D):.3g}",
    )


def _figure(curves: dict[str, list[tuple[float, float]]]) -> Figure:
    drawing = tuple(
        Curve(label=label, points=tuple(points), dashed="alpha" in label) for label, points in curves.items()
    )
    return Figure(title="mean posterior of the true value", x="l", y="posterior", curves=drawing)


def _told(rows: list[tuple[Cell, ...]], groups: list[str]) -> str:
    by = {(str(row[0]), str(row[1])): row for row in rows}

    def shares(kind: str, place: int) -> str:
        found = [by[f"l-diverse, l = {each}", kind][place] for each in DIVERSITIES]
        return ", ".join(f"{float(each or 0):.1%}" for each in found)

    alone = by[NO_RELEASE, "statistics"][2]
    return (
        f"For l = {', '.join(map(str, DIVERSITIES))}: mere statistics by {' and '.join(groups)} raise the mean "
        f"posterior of the true value from {shares('none', 2)} to {shares('statistics', 2)}, and beyond 90 % for "
        f"{shares('statistics', 5)} of the people (without the release they give {float(alone or 0):.1%}); one who "
        "holds nine in ten of the other values for a thousand times less probable passes 90 % for "
        f"{shares('drawn, r = 0.001', 5)}; alpha-beta keeps him at {float(GAMMA):.0%} or below"
    )


LOW_PRIOR = Item(
    name="low-prior",
    paper="[RSH] section 2.4",
    line="what one who holds some values for improbable learns from an l-diverse table",
    claim="k-anonymous and l-diverse tables are compromised by an adversary who knows that some tuples have a very low "
    "probability: he concludes the true value with a very high one.",
    differs="The paper argues with three rows and measures nothing: all figures are ours. How sure he gets depends on "
    "what he knows: with drawn priors he is sure "
    "where he holds all other values of the bucket for improbable, so of .9^(l-1) of the people whatever the data are; "
    "what mere statistics give is measured. The promise of l-diversity is not broken: it speaks of one who holds a "
    "bucket's records for equally probable. The alpha-beta figures are for one who believes tuples independently; one "
    "who knows all quasi-identifiers of a person has a larger prior than d, and the facts of such a release say what "
    "he reaches.",
    run=_attack,
)

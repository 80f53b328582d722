"""What an adversary learns from an l-diverse table when he holds some values for improbable.

Paper: [RSH] section 2.4, "k-anonymity".
Symbols: d bounds every prior; r is how much less probable than d he holds the improbable values of a person.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from discreet.evaluate.figure import Curve, Figure
from discreet.evaluate.perturbation import EXCLUSIVE, INDEPENDENT, alpha_beta
from discreet.evaluate.reproduce.data import ADULT_ROWS
from discreet.evaluate.reproduce.item import Cell, Item, Result, Setting
from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.mechanism.buckets.anatomy import Anatomy
from discreet.mechanism.publish import publish
from discreet.schema.domain import Listed
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema
from discreet.table.read import read_table

RATIOS = (1.0, 0.1, 0.01, 0.001)
DIVERSITIES = (2, 4, 7)
IMPROBABLE = 0.9  # of a person's other values he holds for improbable
D, GAMMA = 10 * Fraction(ADULT_ROWS, 648_023_040), Fraction(1, 5)

Floats = NDArray[np.float64]


def posterior(counts: Mapping[str, int], priors: Mapping[str, float]) -> dict[str, float]:
    """What one believes of a person of a bucket: every record of it is his with a chance in proportion to the prior."""
    whole = sum(count * priors[value] for value, count in counts.items())
    return {value: count * priors[value] / whole for value, count in counts.items()}


def _buckets(table: pa.Table, sensitive: str, diversity: int) -> list[dict[str, int]]:
    """The counts of sensitive values in every bucket of an l-diverse release."""
    domains = {name: Listed(values=tuple(sorted(set(table[name].to_pylist())))) for name in table.column_names}
    others = tuple(name for name in table.column_names if name != sensitive)
    policy = Policy(
        schema=Schema(quasi_identifiers=others, sensitive=sensitive, domains=domains), mechanism=Anatomy(l=diversity)
    )
    with tempfile.TemporaryDirectory() as folder:
        opened = read_table(table, policy)
        release = publish(opened, policy, to=Path(folder) / "release", seed=0)
        opened.close()
        cells = pq.read_table(release.path / "data" / "st.parquet")
        release.close()
    found: dict[int, dict[str, int]] = {}
    for bucket, value, count in zip(*(cells[name].to_pylist() for name in ("BID", sensitive, "COUNT")), strict=True):
        found.setdefault(bucket, {})[value] = count
    return list(found.values())


def reached(buckets: list[dict[str, int]], ratio: float, coins: np.random.Generator) -> Floats:
    """For every person: the posterior of the true value, where others are improbable by `ratio` with a chance of .9.

    The sensitive values of a bucket's people are those of its counts, so nobody needs to know who has which.
    """
    found = []
    for counts in buckets:
        for true, count in counts.items():
            for _ in range(count):
                priors = {
                    value: float(D) * (1.0 if value == true or coins.random() > IMPROBABLE else ratio)
                    for value in counts
                }
                found.append(posterior(counts, priors)[true])
    return np.array(found)


def bounded(promise: DGammaPrivacy) -> float:
    """The same adversary on an alpha-beta release: a tuple of prior d that it shows, whatever he holds of others."""
    odds = promise.d / (1 - promise.d) * promise.keep / promise.insert
    return float(odds / (1 + odds))


def _attack(setting: Setting) -> Result:
    table = setting.sources.adult()
    sensitive = next(name for name in table.column_names if name.lower() == "occupation")
    rows: list[tuple[Cell, ...]] = []
    curves = []
    told = []
    for number, diversity in enumerate(DIVERSITIES):
        buckets = _buckets(table, sensitive, diversity)
        points = []
        for ratio in RATIOS:
            found = reached(buckets, ratio, np.random.default_rng(diversity))
            shares = [float((found > level).mean()) for level in (0.2, 0.5, 0.9)]
            rows.append((f"l-diverse, l = {diversity}", ratio, float(found.mean()), *shares))
            points.append((-float(np.log10(ratio)), float(found.mean())))
        told.append(f"l = {diversity}: {float(rows[-1][5] or 0):.0%}")
        curves.append(Curve(label=f"l = {diversity}", points=tuple(points)))
        setting.tell((number + 1) / len(DIVERSITIES))
    for label in (INDEPENDENT, EXCLUSIVE):
        most = bounded(alpha_beta(D, GAMMA)[label].promise)
        for ratio in RATIOS:
            rows.append((f"alpha-beta, {label}", ratio, most, *(float(most > level) for level in (0.2, 0.5, 0.9))))
        points = [(-float(np.log10(ratio)), most) for ratio in RATIOS]
        curves.append(Curve(label=f"alpha-beta, {label}", points=tuple(points), dashed=True))
    small = posterior({"99": 1, "97": 1, "82": 1}, {"99": 0.001, "97": 0.001, "82": 1.0})["82"]
    return Result(
        columns=("release", "r", "mean posterior of the true value", "above .2", "above .5", "above .9"),
        rows=tuple(rows),
        figures=(
            (
                "posterior",
                Figure(title="mean posterior of the true value", x="-log10 r", y="posterior", curves=tuple(curves)),
            ),
        ),
        ours=f"With r = {RATIOS[-1]:g} he is more than 90 % sure of the true value of {', '.join(told)} of all people; "
        f"in Table 1(b) he holds the score 82 for {small:.3f} probable; the alpha-beta releases keep him at or below "
        f"{float(GAMMA):g}",
        data=f"{setting.sources.adult_words}; {sensitive} is sensitive; every prior is at most d = {float(D):.3g}",
    )


LOW_PRIOR = Item(
    name="low-prior",
    paper="[RSH] section 2.4",
    line="what one who holds some values for improbable learns from an l-diverse table",
    claim="k-anonymous and l-diverse tables are compromised by an adversary who knows that some tuples have a very low "
    "probability: he concludes the true value with a very high one.",
    differs="The paper argues with three rows. Here the adversary knows the bucket of each person, and holds "
    "nine in ten of the other values, drawn at random, for less probable than the true one by a factor r: an "
    "assumption, like any of what people know. The promise of l-diversity is not broken: it speaks of one who "
    "holds a bucket's records for equally probable. The alpha-beta figures are for one who believes tuples "
    "independently; one who knows all quasi-identifiers of a person has a larger prior than d, and the facts of "
    "such a release say what he reaches.",
    run=_attack,
)

"""Estimates that came out impossible: how often their intervals hold the truth, and how often plainly cut ones would.

A table is published again and again, and asked random conditions whose true counts are known. The answers that count
here are those whose unbiased value lies outside the hard bounds. They come from many truths, and are averaged over
them: for one fixed truth no rule can promise anything about such answers alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.estimate.estimate import COINS, TUPLES, Estimate
from discreet.evaluate.conditions import among, between
from discreet.evaluate.scratch import distinct_rows, opened, released, true_counts
from discreet.schema.domain import Domain
from discreet.schema.mechanisms import Mechanism
from discreet.schema.policy import Policy
from discreet.schema.schema import Schema

MOST_COLUMNS = 3  # quasi-identifiers of one condition
MOST_VALUES = 3  # and sensitive values


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A true count and what a release said of it."""

    truth: int
    estimate: Estimate

    @property
    def outside(self) -> bool:
        """Whether the unbiased value is impossible."""
        design, (least, most) = self.estimate.design, self.estimate.bounds
        return design is not None and design.value is not None and not least <= design.value <= most

    @property
    def away(self) -> float:
        """How far outside, in standard errors."""
        design = self.estimate.design
        if design is None or design.value is None or self.estimate.value is None or not design.standard_error:
            return 0.0
        return abs(design.value - self.estimate.value) / design.standard_error

    @property
    def held(self) -> bool:
        """Whether the interval holds the truth."""
        return self.estimate.low <= self.truth <= self.estimate.high

    @property
    def held_if_cut(self) -> bool:
        """Whether the interval of the design would, cut to the bounds."""
        design, bounds = self.estimate.design, self.estimate.bounds
        if design is None:
            return self.held
        low, high = (min(max(end, bounds[0]), bounds[1]) for end in (design.low, design.high))
        return low <= self.truth <= high


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Shares of intervals that hold the truth: as they are, and as they would be if they were only cut."""

    answers: int
    held: float
    cut: float

    def __str__(self) -> str:
        return f"{self.answers:,} answers, {self.held:.3f} held, {self.cut:.3f} if only cut"


def coverage(answers: Sequence[Answered]) -> Coverage:
    """Of all these answers."""
    return Coverage(
        answers=len(answers),
        held=float(np.mean([each.held for each in answers])),
        cut=float(np.mean([each.held_if_cut for each in answers])),
    )


def answered(
    rows: pa.Table,
    schema: Schema,
    mechanism: Mechanism,
    asked: Sequence[str],
    seeds: Iterable[int],
    estimator: str | None = None,
) -> list[Answered]:
    """Every answer over the publisher's coins that is not exact, of one release for each seed."""
    found: list[Answered] = []
    with opened(rows, Policy(schema=schema, mechanism=mechanism)) as table:
        for seed in seeds:
            with released(table, mechanism, seed) as release:
                truths = true_counts(distinct_rows(rows) if release.unit == TUPLES else rows, asked)
                for truth, estimate in zip(
                    truths.tolist(), release.count_many(asked, estimator=estimator), strict=True
                ):
                    if estimate.conditional_on == COINS:
                        found.append(Answered(truth=truth, estimate=estimate))
    return found


def random_conditions(schema: Schema, number: int, seed: int) -> list[str]:
    """Conditions on one to three quasi-identifiers and on one to three sensitive values; the same for the same seed."""
    coins = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        most = min(MOST_COLUMNS, len(schema.quasi_identifiers))
        columns = coins.choice(schema.quasi_identifiers, coins.integers(1, most + 1), replace=False).tolist()
        parts = [_some(name, schema.domains[name], coins) for name in columns]
        values = list(schema.domains[schema.sensitive])
        chosen = coins.choice(len(values), coins.integers(1, min(MOST_VALUES, len(values) - 1) + 1), replace=False)
        found.append(" AND ".join([*parts, among(schema.sensitive, [values[place] for place in chosen.tolist()])]))
    return found


def _some(name: str, domain: Domain, coins: np.random.Generator) -> str:
    """A range of whole numbers, or up to half of the values."""
    values = [value for value in domain if value is not None]
    if domain.type == "integer":
        low, high = np.sort(coins.integers(0, len(values), 2)).tolist()
        return between(name, int(values[low]), int(values[high]))
    chosen = coins.choice(len(values), coins.integers(1, len(values) // 2 + 1), replace=False)
    return among(name, [values[place] for place in chosen.tolist()])

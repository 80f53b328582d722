"""Sums over noisy counts: of people, or of a column of numbers, and how their noise goes together.

A sum of numbers is a count in which somebody meets the condition more or less: by his number's share of the largest. A
model answers that as it answers counts. What it leaves open may go any way together, and is kept apart from noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.estimate.diffgen.factors import Factor
from discreet.estimate.estimate import COINS, MODEL
from discreet.estimate.numeric import Numeric, numeric
from discreet.estimate.sums import Sums, range_of_sum
from discreet.ground.arrays import Floats
from discreet.ground.most import MOST_ROWS
from discreet.query.condition import Condition
from discreet.query.figure import Sum
from discreet.schema.schema import Schema

if TYPE_CHECKING:
    from discreet.estimate.diffgen.answers import Answers

MIDDLE = "noisy counts are never negative here, which moves sums and means towards the middle of the column"


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A model of a release, and how its conditions are taken apart."""

    schema: Schema
    model: Answers
    factors: Callable[[Condition], list[Factor]]


@dataclass(frozen=True, kw_only=True)
class _Question:
    """One count that a sum is made of, and how often it is counted."""

    sum: int
    times: float
    parts: list[Any]


def noisy_sums(release: Noisy, asked: Sequence[Sum]) -> Sums:
    """Several sums with the covariance of their noise."""
    own = {str(each.column): numeric(release.schema, str(each.column)) for each in asked if each.column is not None}
    most = MOST_ROWS if release.schema.public_rows is None else release.schema.public_rows
    questions, bounds = list[_Question](), []
    for place, each in enumerate(asked):
        factors = release.factors(each.where)
        possible = all(factor.holds.any() for factor in factors)
        range_of_one = (Fraction(1),) * 2 if each.column is None else own[each.column].ends
        bounds.append(range_of_sum((0, most if possible else 0), range_of_one))
        for times, weighed in _counts(factors, each.column, own) if possible else ():
            parts = [release.model.part(factor) for factor in weighed]
            questions.append(_Question(sum=place, times=times, parts=parts))
    if not questions:
        nothing = np.zeros(len(asked))
        return Sums(values=nothing, covariance=np.diag(nothing), stray=nothing, bounds=tuple(bounds))
    found = release.model.together([each.parts for each in questions])
    taken = np.zeros((len(asked), len(questions)))
    for place, question in enumerate(questions):
        taken[question.sum, place] = question.times
    return Sums(
        values=taken @ found.values,
        covariance=taken @ found.noise @ taken.T,
        stray=np.abs(taken) @ found.model,
        bounds=tuple(bounds),
        over=MODEL if found.note or own else COINS,
        note="; ".join(filter(None, (found.note, MIDDLE if own else ""))),
    )


def _counts(
    factors: Sequence[Factor], column: str | None, own: Mapping[str, Numeric]
) -> list[tuple[float, list[Factor]]]:
    """The counts that a sum is made of: one, and where numbers are below 0, one more that moves them up."""
    if column is None:
        return [(1.0, list(factors))]
    values = own[column].numbers
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    if low == high:
        return []
    weighed = _weigh(factors, column, (values - low) / (high - low))
    return [(high - low, weighed), *([(low, list(factors))] if low else [])]


def _weigh(factors: Sequence[Factor], column: str, shares: Floats) -> list[Factor]:
    """The factors with what each value of a column counts for."""
    found, free = list[Factor](), True
    for factor in factors:
        if column in factor.columns:
            shape = [-1 if name == column else 1 for name in factor.columns]
            factor, free = Factor(factor.columns, factor.holds * shares.reshape(shape)), False
        found.append(factor)
    return [*found, Factor((column,), shares)] if free else found

"""Counts from a model of single columns and pairs: what it expects, how far noise moves that, and what it cannot know.

What the model leaves open is how columns depend on each other beyond the pairs that were measured. Under independence a
condition's truth is a sum of parts that hang on one column, on two, and on more (its analysis of variance). The first
are known from the columns' own tables. The others stray as the measured pairs did from what was expected of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from discreet.estimate.diffgen.answers import Reckoned, Together, together
from discreet.estimate.diffgen.factors import Factor
from discreet.estimate.diffgen.pairs.joint import Joint
from discreet.estimate.diffgen.pairs.refits import refits
from discreet.estimate.diffgen.pairs.stray import Pair, Stray, stray_of
from discreet.estimate.learned import learned
from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.course import Course
from discreet.release.diffgen.pairs.fit import Fit
from discreet.release.diffgen.pairs.measured import Measured
from discreet.schema.taxonomy import Taxonomy

RESTS = "the answer rests on a model of single columns and of some pairs of them"
BADLY = "few pairs were measured, so how far off the model may be is known badly"
_WIDER = 1.12  # of a standard error: noise is seen in 30 refits, and stray in a few tables
_HALF = 0.5  # a count is whole
_INSIDE = 1 / 3  # of the variance of whether one of a cell's people has a value: how many do, where nothing tells


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """What one factor asks: how much of each cell of its columns, and how it varies if columns were independent."""

    columns: tuple[int, ...]
    weights: Floats
    possible: bool
    share: float  # of people that meet it
    varies: float  # the variance of whether somebody meets it
    alone: float  # what single columns explain of that
    inside: float  # the variance of the share, for what is not known inside cells

    @property
    def square(self) -> float:
        return self.share**2


class PairModel:
    """A fitted model, ready to be asked."""

    def __init__(self, fit: Fit, measured: Measured, course: Course, taxonomies: Sequence[Taxonomy]) -> None:
        self._fit, self._course = fit, course
        self._taxonomies = taxonomies
        self._places = {each.name: place for place, each in enumerate(taxonomies)}
        self._shares = [margin / fit.model.people for margin in fit.model.margins]
        self._stray = stray_of(fit, measured, course)

    def learn(self) -> None:
        """Fit the model to other draws of the noise, before anybody asks."""
        _ = self._others

    @learned
    def _joint(self) -> Joint:
        return Joint([self._fit.model])

    @learned
    def _others(self) -> Joint:
        """What the model would have been with other noise."""
        return Joint(refits(self._fit, self._course), single=True)

    def part(self, factor: Factor) -> Part:
        """From values to cells."""
        columns = tuple(self._places[name] for name in factor.columns)
        weights = self._in_cells(columns, factor.holds.astype(np.float64))
        whole = factor.holds.dtype == np.bool_  # what is true or false is its own square
        squares = weights if whole else self._in_cells(columns, factor.holds.astype(np.float64) ** 2)
        likely = self._independent(columns)
        share = float((likely * weights).sum())
        alone = sum(self._explained(columns, weights, axis, share) for axis in range(len(columns)))
        return Part(
            columns=columns,
            weights=weights,
            possible=bool(factor.holds.any()),
            share=share,
            varies=max(0.0, float((likely * weights**2).sum()) - share**2),
            alone=alone,
            inside=_INSIDE * float((likely**2 * (squares - weights**2)).sum()),
        )

    def _in_cells(self, columns: Sequence[int], weights: Floats) -> Floats:
        """The mean over the values of each cell."""
        for axis, column in enumerate(columns):
            own = self._taxonomies[column]
            cells = np.zeros((len(own), *np.moveaxis(weights, axis, 0).shape[1:]))
            np.add.at(cells, own.cell_of, np.moveaxis(weights, axis, 0))
            weights = np.moveaxis(cells / own.sizes.reshape(-1, *[1] * (cells.ndim - 1)), 0, axis)
        return weights

    def count(self, parts: Sequence[Part]) -> Reckoned:
        """How many people meet all factors whose parts these are."""
        parts = [each for each in parts if each.columns]  # the others hold for everybody
        asked = [(each.columns, each.weights) for each in parts]
        value = float(self._joint.expected(asked)[0])
        noise = float(np.mean((self._others.expected(asked) - value) ** 2))
        people = self._fit.model.people
        stray = people * _open(parts, self._stray)
        inside = people**2 * sum(
            part.inside * prod(other.square for other in parts if other is not part) for part in parts
        )
        model = _WIDER * math.sqrt(stray + inside)
        several = sum(len(part.columns) for part in parts) > 1
        note = "; ".join([RESTS, BADLY] if self._stray.few else [RESTS]) if several or inside else ""
        return Reckoned(value=value, noise=_WIDER * math.sqrt(noise + _HALF**2), model=model, note=note)

    def together(self, questions: Sequence[Sequence[Part]]) -> Together:
        """Several counts; their noise goes together as the refits' answers do."""
        asked = [[(each.columns, each.weights) for each in parts if each.columns] for parts in questions]
        away = np.stack([self._others.expected(each) - self._joint.expected(each)[0] for each in asked])
        return together([self.count(parts) for parts in questions], away @ away.T / away.shape[1])

    def _independent(self, columns: Sequence[int]) -> Floats:
        """The share of each combination of cells if columns were independent."""
        found: Floats = np.ones(())
        for column in columns:
            found = np.multiply.outer(found, self._shares[column])
        return found

    def _explained(self, columns: Sequence[int], weights: Floats, axis: int, share: float) -> float:
        """The variance that one column explains alone."""
        others = self._independent([column for place, column in enumerate(columns) if place != axis])
        given = np.moveaxis(weights, axis, 0).reshape(weights.shape[axis], -1) @ others.ravel()
        return max(0.0, float(self._shares[columns[axis]] @ given**2) - share**2)


def _open(parts: Sequence[Part], stray: Stray) -> float:
    """What hangs on two columns or more, times how far that may stray.

    Two parts together, each part that ties columns, and all that is left to three parts and more.
    """
    others = [prod(each.square for each in parts if each is not part) for part in parts]
    found, single = 0.0, 0.0
    for part, known in zip(parts, others, strict=True):
        single += part.varies * known
        if len(part.columns) > 1:
            found += max(0.0, part.varies - part.alone) * known * stray.of(list(combinations(part.columns, 2)))
    two = 0.0
    for one, other in combinations(parts, 2):
        both = one.varies * other.varies * prod(each.square for each in parts if each not in (one, other))
        found, two = found + both * stray.of(_between(one, other)), two + both
    if len(parts) > 2:
        whole = prod(each.varies + each.square for each in parts) - prod(each.square for each in parts)
        found += max(0.0, whole - single - two) * stray.beyond
    return found


def _between(one: Part, other: Part) -> list[Pair]:
    return [(min(a, b), max(a, b)) for a in one.columns for b in other.columns]

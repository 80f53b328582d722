"""Stray: how far true tables of two columns may be from what a model of pairs expects.

A measured table was once expected by a model that had not seen it. How far it was from that, beyond its noise, is a
distance, and each round took the table that seemed furthest. So those that were never measured are nearer than the last
that were. A table measured by cells strays no further than its noise lets it be believed.

Symbols: theta the stray: a count that is expected to be mu, with shares a and b of two columns, has the variance
    theta mu (1 - a) (1 - b) beside its noise. A table with that stray is .8 sqrt(theta) sum sqrt(mu (1 - a) (1 - b))
    from what is expected: the mean of |x| for normal x of variance 1 is .8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

import numpy as np

from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.candidates import NOISE
from discreet.release.diffgen.pairs.course import Course
from discreet.release.diffgen.pairs.fit import Fit
from discreet.release.diffgen.pairs.measured import Level, Measured
from discreet.release.diffgen.pairs.model import Model, level_margin
from discreet.release.diffgen.pairs.shrink import Shrunk
from discreet.release.diffgen.pairs.walk import Offer, Setting

Pair = tuple[int, int]  # two columns, in order
FEW = 6  # with fewer measured pairs, stray is known badly
# Tables that were not measured were found .15 to .5 of the last measured distances away, in root mean square, on two
# public tables and three made up ones. What three columns have to do with each other beyond pairs strayed, beside
# chance, by .2 to 5 % of the median of the measured pairs, on these and four others.
NEARER = 0.4
BEYOND = 0.02
# Inside groups a table strayed by .5 to 30 % of what it had strayed by groups, most of them by less than a tenth.
INSIDE = 0.05
_CHANCE = 1.0  # theta of any table of people who are drawn at random
_LATEST = 3  # one in so many rounds, the last ones, but no fewer than two
_NORMAL = math.sqrt(2 / math.pi)


@dataclass(frozen=True, eq=False, kw_only=True)
class Stray:
    """How far a fitted model may be off, for every two columns."""

    thetas: Mapping[Pair, float]
    beyond: float  # theta of what three columns have to do with each other, which no table tells
    few: bool  # whether this is known badly

    def of(self, pairs: Sequence[Pair]) -> float:
        """The mean theta of tables of two columns."""
        return _mean([self.thetas[pair] for pair in pairs])


def stray_of(fit: Fit, measured: Measured, course: Course) -> Stray:
    """What the rounds tell; without any, a table may be as far off as there are people."""
    distance = _distance(fit, measured, course)
    thetas = {pair: _unseen(fit.model, pair, distance) for pair in combinations(range(len(fit.model.margins)), 2)}
    strays = [_theta(each) for each in fit.pairs]
    for pair, own in {each.chosen.columns: own for each, own in zip(fit.pairs, strays, strict=True)}.items():
        thetas[pair] += INSIDE * own
    thetas |= {each.chosen.columns: _left(each) for each in fit.pairs if Level.GROUPS not in each.chosen.levels}
    beyond = _CHANCE + BEYOND * (median(strays) if strays else 0.0)
    return Stray(thetas=thetas, beyond=beyond, few=len(strays) < FEW)


def _distance(fit: Fit, measured: Measured, course: Course) -> float:
    """How far tables are that were not measured, from those that were, and from rounds where none was worth it."""
    pairs, found = iter(fit.pairs), []
    for one, offer in zip(measured.rounds, course.offers, strict=True):
        if one.chosen is None:
            found.append(_stopped(offer, course.begin.setting))
        else:
            table = next(pairs)
            found.append(math.sqrt(_theta(table)) * _reach(table.implied))
    latest = found[-max(2, math.ceil(len(found) / _LATEST)) :]
    return NEARER * math.sqrt(_mean([each**2 for each in latest])) if latest else float(fit.model.people)


def _unseen(model: Model, pair: Pair, distance: float) -> float:
    """theta of a table at this distance; it is never more than full dependence."""
    rows, columns = (level_margin(model.margins[column], model.columns.groups[column], Level.GROUPS) for column in pair)
    reach = _reach(np.outer(rows, columns) / model.people)
    return min(float(model.people), _CHANCE + (distance / reach) ** 2) if reach else 0.0


def _theta(table: Shrunk) -> float:
    """How far a measured table strayed from what was expected, beyond its noise."""
    beyond = float(((table.counts - table.implied) ** 2).sum()) - table.cells * table.variance
    return max(0.0, beyond) / float(_weights(table.implied).sum())


def _stopped(offer: Offer, setting: Setting) -> float:
    """How far a table may be where none was worth its noise: as far as the noise of the smallest is."""
    return float(NOISE * min(math.prod(setting.shape(each)) for each in offer.candidates) / offer.measuring)


def _left(table: Shrunk) -> float:
    """theta of what noise keeps from being believed, beside what it adds."""
    unsure = table.believed * (1 - table.believed) * table.variance
    return float(unsure.sum() / _weights(table.implied).sum())


def _weights(expected: Floats) -> Floats:
    """mu (1 - a) (1 - b) of each cell."""
    whole = expected.sum()
    return np.asarray(expected * np.outer(1 - expected.sum(axis=1) / whole, 1 - expected.sum(axis=0) / whole))


def _reach(expected: Floats) -> float:
    """The distance of a table whose theta is 1."""
    return _NORMAL * float(np.sqrt(_weights(expected)).sum())


def _mean(found: Sequence[float]) -> float:
    return sum(found) / len(found)

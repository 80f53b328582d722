"""The fit: from noisy tables to a model, round by round, as whoever measured them saw it.

Nothing is looked at but published numbers. On two machines the same numbers give the same model but for rounding: all
that is decided is decided in whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.guarantee.epsilon import laplace_variance
from discreet.release.diffgen.pairs.course import Course
from discreet.release.diffgen.pairs.margins import Counts, settled
from discreet.release.diffgen.pairs.measured import Level, Measured, Round
from discreet.release.diffgen.pairs.model import Model, level_margin, plain
from discreet.release.diffgen.pairs.rake import scaled, widened
from discreet.release.diffgen.pairs.shrink import Shrunk, raked, shrunk
from discreet.release.diffgen.pairs.tables import pair_table
from discreet.release.diffgen.pairs.walk import Stage

SWEEPS, LAST_SWEEPS = 2, 6


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """A model, and the noisy tables that it is a fit to: those of columns, and of pairs, shrunk."""

    model: Model
    ones: tuple[tuple[Counts, ...], ...]  # for each column, each of its noisy tables
    pairs: tuple[Shrunk, ...] = ()


def first_fit(measured_ones: Sequence[Ints], stage: Stage) -> Fit:
    """From the columns' tables alone."""
    ones = tuple((_noisy(own, share),) for own, share in zip(measured_ones, stage.shares.ones, strict=True))
    margins = margins_of(ones, (), stage.groups, stage.people)
    return Fit(model=plain(stage.groups, margins, stage.people), ones=ones)


def next_fit(fit: Fit, one: Round, measuring: Fraction, after: Stage) -> Fit:
    """The fit with one more round, which led the walk to `after`; a stop leaves it as it is."""
    if one.chosen is None or one.counts is None:
        return fit
    chosen, (counts, variance) = one.chosen, _noisy(one.counts, measuring)
    fresh = shrunk(chosen, counts, variance, pair_table(fit.model, chosen.columns, chosen.levels))
    margins = margins_of(fit.ones, (*fit.pairs, fresh), after.groups, after.people)
    rows, columns = (
        level_margin(margins[column], after.groups[column], level)
        for column, level in zip(chosen.columns, chosen.levels, strict=True)
    )
    pairs = (*fit.pairs, shrunk(chosen, counts, variance, raked(fresh.implied, rows, columns)))
    room = replace(widened(fit.model, chosen), margins=margins, people=after.people)
    return replace(fit, model=scaled(room, [each.wanted(each.counts) for each in pairs], SWEEPS), pairs=pairs)


def last_fit(fit: Fit, again: Sequence[Ints] | None, stage: Stage) -> Fit:
    """The fit with columns' tables that were measured again, where they were, and scaled more often."""
    ones, people = fit.ones, stage.people
    if again is not None:
        fresh = [_noisy(own, share) for own, share in zip(again, stage.again, strict=True)]
        ones = tuple((*known, own) for known, own in zip(ones, fresh, strict=True))
        people = stage.people_with(again)
    return refitted(replace(fit, ones=ones), people, LAST_SWEEPS)


def refitted(fit: Fit, people: int, sweeps: int) -> Fit:
    """The fit to its noisy tables with these people, from where its model stands; what is believed stays."""
    margins = margins_of(fit.ones, fit.pairs, fit.model.columns.groups, people)
    room = replace(fit.model, margins=margins, people=people)
    return replace(fit, model=scaled(room, [each.wanted(each.counts) for each in fit.pairs], sweeps))


def fit_of(measured: Measured, course: Course) -> Fit:
    """The fit to measurements that took this course."""
    fit = first_fit(measured.ones, course.begin)
    for one, offer, after in zip(measured.rounds, course.offers, course.stages[1:], strict=True):
        fit = next_fit(fit, one, offer.measuring, after)
    return last_fit(fit, measured.again, course.last)


def margins_of(
    ones: Sequence[Sequence[Counts]], pairs: Sequence[Shrunk], groups: Sequence[Ints], people: int
) -> tuple[Floats, ...]:
    """The margins of all columns, from their own tables and the sums of tables of two."""
    cells, sums = [list(each) for each in ones], [list[Counts]() for _ in ones]
    for each in pairs:
        for axis, (column, level) in enumerate(zip(each.chosen.columns, each.chosen.levels, strict=True)):
            known = each.counts.sum(axis=1 - axis), each.variance * each.counts.shape[1 - axis]
            (cells if level is Level.CELLS else sums)[column].append(known)
    return tuple(settled(own, coarse, where, people) for own, coarse, where in zip(cells, sums, groups, strict=True))


def _noisy(counts: Ints, share: Fraction) -> Counts:
    return counts.astype(np.float64), laplace_variance(share)

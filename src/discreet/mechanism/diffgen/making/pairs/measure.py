"""Measuring for Pairs: the only place that sees the rows. What leaves it is noisy, whole numbers, and paid for.

The walk says what comes next; what it costs is added up here once more, as it is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.mechanism.diffgen.making.noise import Flips
from discreet.mechanism.diffgen.making.pairs.counting import Counted
from discreet.mechanism.diffgen.making.pairs.score import UNIT, score
from discreet.release.diffgen.pairs.fit import Fit, first_fit, next_fit
from discreet.release.diffgen.pairs.measured import Measured, Round
from discreet.release.diffgen.pairs.model import Model
from discreet.release.diffgen.pairs.tables import Tables, at_levels, tables_with
from discreet.release.diffgen.pairs.walk import Offer, Setting, Stage, begin


@dataclass
class _Purse:
    """Noise that is paid for: all of epsilon, and not more."""

    noise: Flips
    left: Fraction

    def counts(self, table: Ints, share: Fraction) -> Ints:
        """A table that one record moves by 1 in one cell, with noise."""
        self._pay(share)
        return self.noise.laplace(table, share)

    def choice(self, scores: Ints, share: Fraction) -> int:
        """A position with a high score."""
        self._pay(share)
        return self.noise.highest(scores, share, UNIT)

    def _pay(self, share: Fraction) -> None:
        self.left -= share
        if share <= 0 or self.left < 0:
            raise AssertionError("a release must not cost more than its epsilon")


def measure_pairs(rows: Counted, setting: Setting, noise: Flips) -> Measured:
    """The total, the columns' tables, rounds of choices and tables of two, and columns again with what is left."""
    purse = _Purse(noise, setting.epsilon)
    total = int(purse.counts(np.array([rows.number]), setting.total_share)[0])
    exact = [rows.one(column) for column in range(len(setting.sizes))]
    ones = _noisy(exact, setting.shares(total).ones, purse)
    measured, stage = Measured(total=total, ones=ones), begin(setting, total, ones)
    fit = first_fit(ones, stage)
    while (offer := stage.next) is not None:
        one = _round(rows, stage, fit, offer, purse)
        stage = stage.after(one)
        fit, measured = next_fit(fit, one, offer.measuring, stage), measured.after(one)
    if stage.left:
        measured = replace(measured, again=_noisy(exact, stage.again, purse))
    if purse.left:
        raise AssertionError("a release must cost its epsilon")
    return measured


def _round(rows: Counted, stage: Stage, fit: Fit, offer: Offer, purse: _Purse) -> Round:
    """One choice, and the table that it led to."""
    place = purse.choice(_scores(rows, stage, fit.model, offer), offer.choosing)
    if place == offer.stop:
        return Round()
    chosen = offer.candidates[place]
    return Round(chosen, purse.counts(rows.pair(chosen, stage.groups), offer.measuring))


def _scores(rows: Counted, stage: Stage, model: Model, offer: Offer) -> Ints:
    """The scores of all candidates, and 0 for a stop."""
    known: dict[int, Tables] = {}
    found = []
    for each in offer.candidates:
        if each.first not in known:
            known[each.first] = tables_with(model.beliefs, each.first)
        table: Floats = at_levels(model, known[each.first].get(each.second), each.columns, each.levels)
        found.append(score(rows.pair(each, stage.groups), table, offer.measuring))
    return np.array([*found, 0])


def _noisy(tables: Sequence[Ints], shares: Sequence[Fraction], purse: _Purse) -> tuple[Ints, ...]:
    return tuple(purse.counts(table, share) for table, share in zip(tables, shares, strict=True))

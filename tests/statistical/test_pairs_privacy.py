"""Distinguishing tests over neighbouring tables: Pairs keeps its epsilon; less noise, or unpaid choices, do not.

For an event fixed in advance, Pr(event | table) <= e^eps Pr(event | table without one record). Where a protection is
taken away, the excess is ten standard errors or more at these numbers of runs (six where the event never comes on one
side). The line is drawn at 5.2, so each test goes wrong with a probability below 1e-6. What is run is what `publish`
runs to measure.

Choices follow the law of permute-and-flip: chi-square, again below 1e-6; another law is refused.
"""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.mechanism.diffgen.making.noise import OpenDpNoise, SeededNoise, flip_scale
from discreet.mechanism.diffgen.making.pairs.counting import Counted
from discreet.mechanism.diffgen.making.pairs.measure import measure_pairs
from discreet.mechanism.diffgen.making.pairs.score import UNIT
from discreet.release.diffgen.pairs.walk import Setting

ERRORS = 5.2
LESS = Fraction(7, 10)


class LessNoise(OpenDpNoise):
    """Counts with scales 30 % smaller than they are paid for."""

    def laplace(self, counts, epsilon):
        return super().laplace(counts, epsilon / LESS)


class LessFlips(OpenDpNoise):
    """Choices with scales 30 % smaller than they are paid for."""

    def highest(self, scores, epsilon, unit):
        return super().highest(scores, epsilon / LESS, unit)


class Unpaid(OpenDpNoise):
    """The choice that the rows want most, without noise."""

    def highest(self, scores, epsilon, unit):
        return int(np.argmax(scores))


def excess(with_record, without, epsilon):
    """How many standard errors log p - log q is above epsilon."""
    p, q = np.mean(with_record), max(np.mean(without), 1 / len(without))
    spread = math.sqrt((1 - p) / (p * len(with_record)) + (1 - q) / (q * len(without)))
    return (math.log(p / q) - float(epsilon)) / spread


def rows_of(records):
    codes = np.array(records, dtype=np.uint32)
    return Counted(list(codes.T), [2] * codes.shape[1])


# Two columns go with the first, each for all but a few, the third better. One record more, and both go with it alike.
BASE = [*[(0, 0, 0), (1, 1, 1)] * 200, *[(0, 0, 1), (1, 1, 0)] * 5, *[(0, 1, 0), (1, 0, 1)] * 5, (1, 0, 1)]
NEAR = tuple(map(rows_of, ([*BASE, (0, 0, 1)], BASE)))
EXACT = [NEAR[0].one(column)[cell] for column, cell in enumerate((0, 0, 1))]  # where the record is


class Enough(Exception):
    """What was published until then is all that an event is about."""


class Seen:
    """A source of noise that stops with the first choice: by then the total and the columns' tables are out."""

    def __init__(self, noise):
        self._noise, self.tables, self.paid, self.first = noise, [], Fraction(0), -1

    def laplace(self, counts, epsilon):
        self.paid += epsilon
        self.tables.append(self._noise.laplace(counts, epsilon))
        return self.tables[-1]

    def highest(self, scores, epsilon, unit):
        self.before = self.paid
        self.paid += epsilon
        self.first = self._noise.highest(scores, epsilon, unit)
        raise Enough


def runs_of(noise, epsilon, number):
    """Runs over both tables, until the first choice."""
    setting = Setting(epsilon=epsilon, sizes=(2, 2, 2), ordered=(False,) * 3)
    found = []
    for rows in NEAR:
        found.append([Seen(noise) for _ in range(number)])
        for each in found[-1]:
            with pytest.raises(Enough):
                measure_pairs(rows, setting, each)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (LessNoise(), False)])
def test_a_release_pays_for_its_counts(noise, private):
    """All tables of columns at once, none of which says less of the record's cell than is true with it."""
    runs = runs_of(noise, Fraction(5, 2), 9_000)
    shares = {each.before for own in runs for each in own}
    seen = [
        np.array(
            [
                all(own[cell] >= true for own, cell, true in zip(each.tables[1:], (0, 0, 1), EXACT, strict=True))
                for each in own
            ]
        )
        for own in runs
    ]
    assert (excess(*seen, max(shares)) < ERRORS) is private


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (Unpaid(), False)])
def test_a_release_pays_for_its_choices(noise, private):
    """What the first round chooses, which one record turns round, within all of epsilon."""
    epsilon = Fraction(1)
    seen = [np.array([each.first == 0 for each in own]) for own in runs_of(noise, epsilon, 3_000)]
    assert (excess(*seen, epsilon) < ERRORS) is private


@pytest.mark.parametrize(("noise", "private"), [(OpenDpNoise(), True), (LessFlips(), False)])
def test_choices_keep_their_epsilon(noise, private):
    """One record raises a score by a unit and lowers the others by as much."""
    epsilon = Fraction(2)
    near, far = (np.array([one * UNIT, *[other * UNIT] * 9]) for one, other in ((1, 0), (0, 1)))
    hit = [np.array([noise.highest(scores, epsilon, UNIT) == 0 for _ in range(8_000)]) for scores in (near, far)]
    assert (excess(*hit, epsilon) < ERRORS) is private


# The law of a choice


def law_of(scores, scale):
    """Permute-and-flip by its words: in each order, the first that its coin takes, by exp((q - highest) / scale)."""
    taken = [math.exp((score - max(scores)) / scale) for score in scores]
    orders = list(permutations(range(len(scores))))
    found = np.zeros(len(scores))
    for order in orders:
        before = 1.0
        for each in order:
            found[each] += before * taken[each] / len(orders)
            before *= 1 - taken[each]
    return found


def exponential_law(scores, scale):
    weights = np.exp((np.array(scores) - max(scores)) / scale)
    return weights / weights.sum()


def fits(drawn, law):
    seen = np.bincount(drawn, minlength=len(law))
    off = (seen - law * len(drawn)) ** 2 / (law * len(drawn))
    return bool(chi2.sf(off.sum(), len(law) - 1) > 1e-7)


SCORES = np.array([[0, 900, 1800, 2000, -500], [0, 0, 0, 0, 0], [3000, 2400, 0, 1500, 2400]])


@pytest.mark.parametrize("scores", SCORES, ids=["apart", "equal", "two alike"])
@pytest.mark.parametrize("noise", [OpenDpNoise(), SeededNoise(np.random.default_rng(5))], ids=["opendp", "seeded"])
def test_choices_follow_permute_and_flip(noise, scores):
    """Both sources have the exact law; the exponential mechanism's and that of less noise are refused."""
    epsilon, number = Fraction(3), 8_000
    drawn = [noise.highest(scores, epsilon, UNIT) for _ in range(number)]
    scale = flip_scale(epsilon, UNIT)
    assert scale == pytest.approx(2 * UNIT / 3)
    law = law_of(scores.tolist(), scale)
    assert law.sum() == pytest.approx(1)
    assert fits(drawn, law)
    if len(set(scores.tolist())) > 1:
        assert not fits(drawn, exponential_law(scores, scale))
        assert not fits(drawn, law_of(scores.tolist(), scale * 0.7))


def test_noise_of_tables_follows_its_law():
    """Discrete Laplace from both sources, in tables of two; that of less noise is refused."""
    epsilon, steps = Fraction(1), np.arange(-8, 9)
    law = np.exp(-np.abs(steps) * float(epsilon))
    tails = math.exp(-9) / (1 - math.exp(-1))
    law = np.array([tails, *law, tails])
    law /= law.sum()
    for noise, fair in ((OpenDpNoise(), True), (SeededNoise(np.random.default_rng(1)), True), (LessNoise(), False)):
        drawn = noise.laplace(np.full((200, 200), 7), epsilon) - 7
        assert drawn.shape == (200, 200)
        assert fits(np.clip(drawn.ravel(), -9, 9) + 9, law) is fair

"""What Pairs asks of the rows moves with one record as far as is paid for, whatever was published before it.

The published numbers of one run are played back over every neighbour of its table: each table of one record less, and
each of one more. What is asked then is compared, call by call.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.mechanism.diffgen.making.noise import SeededNoise
from discreet.mechanism.diffgen.making.pairs import measure
from discreet.mechanism.diffgen.making.pairs.counting import Counted
from discreet.mechanism.diffgen.making.pairs.measure import measure_pairs
from discreet.mechanism.diffgen.making.pairs.score import UNIT, score
from discreet.release.diffgen.pairs.measured import Candidate, Level
from discreet.release.diffgen.pairs.walk import Setting

SIZES = (2, 9, 3)


def setting_of(seed):
    """Little noise where the seed is odd, and columns depend on each other; else rounds may stop."""
    return Setting(epsilon=Fraction(20 if seed % 2 else 10), sizes=SIZES, ordered=(False, True, False))


def rows_of(records):
    codes = np.array(records, dtype=np.int64).reshape(-1, len(SIZES))
    return Counted([codes[:, column].astype(np.uint32) for column in range(len(SIZES))], SIZES)


def some_records(seed, number=60):
    """Columns that depend on each other, or do not."""
    coins = np.random.default_rng(seed)
    first = coins.integers(0, 2, number)
    second = np.where(coins.random(number) < 0.8, first * 4 + coins.integers(0, 4, number), 8)
    third = np.where(coins.random(number) < 0.9, first, 2)
    if seed % 2 == 0:
        first, second = coins.permutation(first), coins.permutation(second)
    return list(map(tuple, np.stack([first, second, third], axis=1).tolist()))


def neighbours(records):
    """All of them, by enumeration; the order of records is of no matter."""
    for place in range(len(records)):
        yield [*records[:place], *records[place + 1 :]]
    for more in product(*map(range, SIZES)):
        yield [*records, more]


class Kept(SeededNoise):
    """Noise that keeps what it was asked, at what price, and what it said."""

    def __init__(self, seed):
        super().__init__(np.random.default_rng(seed))
        self.calls, self.said = [], []

    def laplace(self, counts, epsilon):
        self.calls.append(("counts", np.array(counts), epsilon))
        self.said.append(super().laplace(counts, epsilon))
        return self.said[-1]

    def highest(self, scores, epsilon, unit):
        self.calls.append(("scores", np.array(scores), epsilon, unit))
        self.said.append(super().highest(scores, epsilon, unit))
        return self.said[-1]


class Played:
    """What another run said, whatever it is asked now, which is kept."""

    def __init__(self, kept):
        self._said = iter(kept.said)
        self.calls = []

    def laplace(self, counts, epsilon):
        self.calls.append(("counts", np.array(counts), epsilon))
        return next(self._said)

    def highest(self, scores, epsilon, unit):
        self.calls.append(("scores", np.array(scores), epsilon, unit))
        return next(self._said)


def run(seed):
    records, kept = some_records(seed), Kept(seed)
    measured = measure_pairs(rows_of(records), setting_of(seed), kept)
    return records, kept, measured


def check_neighbours(seed, records, kept):
    """Every call costs the same, counts move by 1 in one cell, scores by a unit at most, and the prices add up."""
    moved = 0
    for other in neighbours(records):
        played = Played(kept)
        measure_pairs(rows_of(other), setting_of(seed), played)
        assert len(played.calls) == len(kept.calls)
        for (kind, mine, *price), (same, theirs, *paid) in zip(kept.calls, played.calls, strict=True):
            assert (kind, price, mine.shape) == (same, paid, theirs.shape)
            off = np.abs(mine - theirs)
            if kind == "counts":
                assert off.sum() == 1
            else:
                assert price[1] == UNIT
                assert off.max() <= UNIT
                moved = max(moved, int(off.max()))
    assert sum((call[2] for call in kept.calls), Fraction(0)) == setting_of(seed).epsilon
    return moved


SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_asked_moves_with_one_record_as_far_as_is_paid_for(seed):
    """Every table in one cell by 1, every score by no more than a unit, and all costs are epsilon."""
    records, kept, _ = run(seed)
    assert check_neighbours(seed, records, kept) == UNIT  # the bound is reached


def test_these_runs_have_all_that_a_release_can_have():
    """Choices between groups and cells, tables of both, stops, and columns counted again."""
    found = [run(seed)[2] for seed in SEEDS]
    levels = {level for each in found for one in each.pairs for level in one.chosen.levels}
    assert levels == {Level.CELLS, Level.GROUPS}
    assert any(each.again is not None for each in found)
    assert any(one.chosen is None for each in found for one in each.rounds)
    assert max(len(each.pairs) for each in found) > 1


def of_shares(true, model, measuring):
    """Shares of the rows: their number is in it, and one record moves all of them."""
    return score(np.rint(true * (1000 / true.sum())).astype(np.int64), model * (1000 / true.sum()), measuring)


def of_squares(true, model, measuring):
    """The squared distance: one record moves it by more where it is far already."""
    return int(((true - np.rint(model)) ** 2).sum()) * UNIT - int(true.size * UNIT / measuring)


def refitted(true, model, measuring):
    """The model's margins made those of the rows: it is not what was published."""
    mended = model * (true.sum(axis=1) / model.sum(axis=1))[:, None]
    return score(true, mended, measuring)


def by_cells_met(true, model, measuring):
    """The noise of the cells that have rows only: how many they are is in the rows."""
    return score(true, model, measuring) + int((true == 0).sum() * UNIT / measuring)


@pytest.mark.parametrize("wrong", [of_shares, of_squares, refitted, by_cells_met])
def test_a_score_that_moves_further_is_found(wrong, monkeypatch):
    """The same comparison refuses scores that look at the rows in another way."""
    monkeypatch.setattr(measure, "score", wrong)
    records, kept, _ = run(1)
    with pytest.raises(AssertionError):
        check_neighbours(1, records, kept)


def test_a_table_that_counts_a_record_twice_is_found(monkeypatch):
    """The same comparison refuses a table that one record moves in two cells."""
    true = Counted.pair
    monkeypatch.setattr(Counted, "pair", lambda *given: true(*given) + np.roll(true(*given), 1, axis=0))
    records, kept, _ = run(1)
    with pytest.raises(AssertionError):
        check_neighbours(1, records, kept)


@pytest.mark.parametrize("levels", list(product(Level, Level)))
def test_a_table_of_two_columns_counts_rows_one_by_one(levels):
    """At any levels, by going through the records."""
    records, coins = some_records(7), np.random.default_rng(7)
    sizes = (2, 9, 12)
    records = [(one, two, int(coins.integers(12))) for one, two, _ in records]
    codes = np.array(records)
    rows = Counted([codes[:, column].astype(np.uint32) for column in range(3)], sizes)
    groups = [coins.permutation(np.resize(np.arange(8), size)) for size in sizes]
    found = rows.pair(Candidate(1, 2, levels), groups)
    expected = np.zeros_like(found)
    for _, second, third in records:
        one = groups[1][second] if levels[0] is Level.GROUPS else second
        two = groups[2][third] if levels[1] is Level.GROUPS else third
        expected[one, two] += 1
    assert found.shape == tuple(
        8 if level is Level.GROUPS else size for level, size in zip(levels, sizes[1:], strict=True)
    )
    assert np.array_equal(found, expected)

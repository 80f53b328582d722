"""What a column gives away: the measure against a guess row by row in plain Python, and what it must find and spare."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.table.giveaway import ENOUGH_ROWS, giveaway, numbered, together

ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=ENOUGH_ROWS, max_size=150)


def guessed_one_by_one(rows: list[tuple[int, int]]) -> Fraction:
    """The share of rows guessed right from the others with the same cell, each left out in turn; half for a tie that
    the row's own value is in, and the table's most frequent value where there are no others.
    """
    common = max(Counter(value for _, value in rows).items(), key=lambda pair: (pair[1], -pair[0]))[0]
    right = Fraction(0)
    for place, (cell, value) in enumerate(rows):
        others = Counter(v for i, (c, v) in enumerate(rows) if i != place and c == cell)
        if not others:
            right += value == common
            continue
        most = max(others.values())
        first = [v for v, count in others.items() if count == most]
        right += 1 if first == [value] else Fraction(1, 2) if value in first else 0
    return right / len(rows)


@given(ROWS)
def test_the_guess_is_the_one_that_leaves_each_row_out(rows):
    """An oracle without arrays goes from row to row."""
    cells, values = (np.array(column) for column in zip(*rows, strict=True))
    found = giveaway(cells, values)
    assert found is not None
    assert found.guessed == pytest.approx(float(guessed_one_by_one(rows)))
    assert found.before == max(Counter(values.tolist()).values()) / len(rows)


@given(ROWS, st.permutations(range(13)))
def test_names_of_cells_do_not_matter(rows, names):
    """Other numbers for the same cells, however far apart, are the same column."""
    cells, values = (np.array(column) for column in zip(*rows, strict=True))
    renamed = np.array(names)[cells] * (2**53 // 13)
    assert giveaway(renamed, values) == giveaway(cells, values) == giveaway(numbered(renamed), values)


def people(rows: int = 20_000, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).choice(9, rows, p=[0.3, 0.2, 0.15, 0.1, 0.08, 0.07, 0.05, 0.03, 0.02])


@pytest.mark.parametrize("each", [1, 2, 3, 7, 50, 5_000])
def test_random_columns_are_not_blamed(each):
    """Cells that repeat once, a few times or often, and say nothing: none is blamed for what chance does."""
    values = people()
    cells = np.random.default_rng(each).permutation(np.arange(len(values)) // each)
    found = giveaway(cells, values)
    assert found is not None
    assert not found.too_much
    assert found.gain < 0.02
    assert found.fixed < 0.01


@pytest.mark.parametrize("each", [2, 4, 40])
def test_a_code_that_fixes_the_value_is_found_however_many_codes_there_are(each):
    """Codes of two, four or forty rows: each code has one value."""
    values = np.sort(people())
    cells = np.arange(len(values)) // each
    found = giveaway(cells, values)
    assert found is not None
    assert found.guessed > 0.99
    assert found.gain > 0.95
    assert "gives it away" in found.words("it")


def test_a_code_that_nearly_fixes_the_value_is_found():
    """One row in ten has another code."""
    values, coins = people(), np.random.default_rng(1)
    cells = np.where(coins.random(len(values)) < 0.1, coins.integers(0, 9, len(values)), values)
    found = giveaway(cells, values)
    assert found is not None
    assert found.too_much


@pytest.mark.parametrize("false", [0, 20])
def test_a_flag_for_one_rare_value_is_found(false):
    """A test that is positive for those with one value, and nearly for nobody else, gives that value away."""
    values = people()
    flag = (values == 8).astype(np.int64)
    flag[np.flatnonzero(values == 0)[:false]] = 1
    found = giveaway(flag, values)
    assert found is not None
    assert found.gain < 0.1
    assert found.caught > 0.9
    assert "one value of it" in found.words("it")


def test_what_most_people_have_is_no_discovery():
    """A column that says of many people that they have what nearly all have is spared."""
    coins = np.random.default_rng(2)
    values = (coins.random(20_000) < 0.1).astype(np.int64)  # nine in ten have 0
    cells = np.where(values == 1, 1, coins.integers(0, 2, len(values)))
    found = giveaway(cells, values)
    assert found is not None
    assert not found.too_much


def test_that_a_value_is_not_known_is_no_secret():
    """A column that tells where the value is missing is blamed only if a missing value were one."""
    values = people()
    cells = (values == 5).astype(np.int64)
    assert giveaway(cells, values).too_much  # type: ignore[union-attr]
    assert not giveaway(cells, values, [5]).too_much  # type: ignore[union-attr]


def test_a_pair_that_gives_away_what_neither_does_alone_is_found():
    """Two columns, each without any relation to the value, whose sum is the value."""
    values, coins = people(), np.random.default_rng(4)
    one = coins.integers(0, 9, len(values))
    two = (values - one) % 9
    for alone in (one, two):
        assert not giveaway(alone, values).too_much  # type: ignore[union-attr]
    assert giveaway(together(one, two), values).gain > 0.99  # type: ignore[union-attr]


def test_few_rows_say_nothing():
    """Below fifty rows there is no measure."""
    assert giveaway(np.arange(ENOUGH_ROWS - 1), np.arange(ENOUGH_ROWS - 1) % 2) is None

"""Who of equal rows falls to which side of a window's end is a fair coin, and nobody's choice.

Flake rate: each test compares with a bound that the true law passes less than once in ten million; seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2, norm

from discreet.mechanism.buckets.making.curve import cut_windows
from discreet.series.coins import Coins

SURE = 1e-7
DRAWS = 3_000
BEFORE, EQUAL, AFTER, WINDOW = 10, 40, 14, 32  # the window's end falls among the equal rows: 22 before it, 18 after it
KEY = np.repeat([3, 5, 8], [BEFORE, EQUAL, AFTER])
SHUFFLED = np.random.default_rng(2).permutation(len(KEY))
Cut = Callable[[int], np.ndarray]  # from a seed to the window of each of the equal rows


def product(seed: int) -> np.ndarray:
    """The product's windows of rows that come in any order."""
    window = cut_windows(KEY[SHUFFLED], 2, WINDOW, Coins.from_seed(seed))
    assert np.bincount(window).tolist() == [WINDOW, WINDOW]
    assert set(window[KEY[SHUFFLED] == 3]) == {0}
    assert set(window[KEY[SHUFFLED] == 8]) == {1}
    return window[KEY[SHUFFLED] == 5]


def by_input(seed: int) -> np.ndarray:
    """The first that come are before the end."""
    return (np.arange(EQUAL) >= WINDOW - BEFORE).astype(np.int32)


def turned(seed: int) -> np.ndarray:
    """One coin for all: the input's order from a random row on."""
    return np.roll(by_input(seed), int(np.random.default_rng(seed).integers(EQUAL)))


def leaning(seed: int) -> np.ndarray:
    """The first half a little likelier to be before the end."""
    coins = np.random.default_rng(seed)
    order = np.argsort(coins.random(EQUAL) + 0.1 * (np.arange(EQUAL) >= EQUAL // 2))
    found = np.empty(EQUAL, dtype=np.int32)
    found[order] = by_input(seed)
    return found


def p_values(cut: Cut) -> tuple[float, float]:
    """Of two tests: every row is as often before the end as any other, and so is every pair of neighbours."""
    drawn = np.array([cut(seed) == 0 for seed in range(DRAWS)])
    first = WINDOW - BEFORE
    share = first / EQUAL
    alone = ((drawn.sum(axis=0) - DRAWS * share) ** 2).sum() / (DRAWS * share * (1 - share)) * (EQUAL - 1) / EQUAL
    together = share * (first - 1) / (EQUAL - 1)
    pairs = (drawn & np.roll(drawn, 1, axis=1)).sum(axis=1)  # of neighbours in a ring: E and variance by simulation
    coins = np.random.default_rng(7)
    known = np.array([by_input(0)[coins.permutation(EQUAL)] == 0 for _ in range(20_000)])
    spread = (known & np.roll(known, 1, axis=1)).sum(axis=1).std()
    z = (pairs.mean() - EQUAL * together) / (spread / np.sqrt(DRAWS))
    return float(chi2.sf(alone, EQUAL - 1)), float(2 * norm.sf(abs(z)))


def test_equal_rows_are_dealt_over_the_end_of_a_window_by_fair_coins():
    """Every row alike, and every pair alike."""
    assert min(p_values(product)) > SURE


@pytest.mark.parametrize("cut", [by_input, turned, leaning])
def test_another_way_to_deal_them_is_noticed(cut):
    """By the input's order, by one coin for all, or with a lean."""
    assert min(p_values(cut)) < SURE

"""[WWFW] sections 2.1 and 6: the quotient of noisy counts, and fakes against one who knows others, as reproduced."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attack.diffgen.quotient import enough
from discreet.evaluate.reproduce.data import Sources
from discreet.evaluate.reproduce.differential_inference import DIFFERENTIAL_INFERENCE, cut_off, interval, taylor
from discreet.evaluate.reproduce.fakes import FAKES
from discreet.evaluate.reproduce.item import Item, Result, Setting


def quickly(item: Item) -> Result:
    return item.run(Setting(sources=Sources(folder=None, quick=True), quick=True, tell=lambda done: None))


def test_the_theorems_numbers_are_those_of_its_formula():
    """1.02 and 1.0002 are printed; the variance at x = 100 is .04."""
    assert taylor(0.1, 100) == (pytest.approx(1.02), pytest.approx(0.04, abs=5e-4))
    assert taylor(0.1, 1_000)[0] == pytest.approx(1.0002)


@pytest.mark.parametrize(("x", "wanted"), [(100, (0.64, 1.52)), (1_000, (0.95, 1.03))])
def test_the_quotient_lies_where_its_quantiles_say(x, wanted):
    """At epsilon = .1: "small" is wrong at 100 people; and so it is in draws."""
    found = interval(0.1, x)
    assert found == pytest.approx(wanted, abs=0.005)
    coins = np.random.default_rng(1)
    drawn = (0.99 * x + coins.laplace(0, 10, 400_000)) / (x + coins.laplace(0, 10, 400_000))
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(found, abs=0.02)


def test_the_formula_is_good_from_ten_and_twenty_scales_of_the_noise():
    """Against what is left where X is above x/2: the mean to 1 % from 10/epsilon, the variance to 6 % from 20/epsilon;
    at half of these it is not.
    """
    for scales in (5, 10, 20, 100):
        (mean, variance), (cut, spread) = taylor(0.1, scales * 10), cut_off(0.1, scales * 10)
        assert (abs(mean - cut) < 0.01) is (scales >= 10)
        assert (abs(spread / variance - 1) < 0.06) is (scales >= 20 or scales == 5)  # at 5 two errors cancel
    assert enough(0.05, epsilon=0.1) * 0.05 * 0.1 == pytest.approx(4.1, abs=0.05)


def test_the_page_of_the_theorem_tells_both():
    """The printed mean beside the formula's, the interval, and from where on it is near."""
    result = quickly(DIFFERENTIAL_INFERENCE)
    (hundred,) = (row for row in result.rows if row[:2] == (0.1, 100.0))
    assert hundred[2] == pytest.approx(hundred[3]) == 1.02
    assert "between 0.64 and 1.52 at x = 100, and between 0.95 and 1.03 at x = 1,000" in result.ours
    assert "4.1 / (tolerance epsilon)" in result.ours


def test_fakes_of_ours_are_as_good_as_the_formula_and_the_papers_are_not():
    """|g| = 4, q = 0 to 3, 0 to 3 fakes: right guesses are 1/(4 - q + sigma) with ours, and more with the paper's."""
    result = quickly(FAKES)
    assert [row[:2] for row in result.rows] == [(fakes, others) for fakes in range(4) for others in range(4)]
    for fakes, others, printed, ours, papers, certain, theirs in result.rows:
        assert printed == pytest.approx(1 / (4 - others + fakes))
        assert ours == pytest.approx(printed, abs=0.02)
        assert papers == pytest.approx(printed, abs=0.02) if not fakes else papers > printed + 0.02
        if others == 3 and fakes:
            assert papers > printed + 0.2
            assert printed < certain < printed + 0.05
            assert theirs > 0.9
        elif others < 3:
            assert certain is theirs is None

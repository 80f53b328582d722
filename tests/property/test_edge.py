"""Intervals within bounds: what the law inside the bounds gives, never a point, and never a jump.

The law is integrated here by quadrature, which shares nothing with the closed forms that are tested.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from cases import few
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import discreet
from discreet.estimate.edge import reach
from discreet.estimate.estimate import COINS, MODEL
from discreet.estimate.interval import Spread, Way

MANY = settings(max_examples=few(600), deadline=None)
confidences = st.sampled_from([0.5, 0.8, 0.95, 0.99, 0.999])
values = st.floats(-3e3, 3e3)
errors = st.one_of(st.just(0.0), st.floats(1e-9, 1e3))
bounds = st.tuples(st.integers(-20, 500), st.integers(1, 2_000)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def answer(value: float, error: float, limits: tuple[int, int], confidence: float = 0.95) -> discreet.Estimate:
    way = Way(unit="people", estimator="unbiased", confidence=confidence)
    return way.estimate(value, Spread(noise=error**2), limits, over=COINS)


def mass(outside: float, start: float, end: float) -> float:
    """The integral of a normal density from `start` to `end` beyond a bound, up to a factor that cancels."""
    scale = 1 + outside  # so that what counts lies within a few units, however far outside

    def density(place: float) -> float:
        return math.exp(-(place / scale) * (outside + place / scale / 2))

    cuts = [start * scale, *(each for each in (1, 3, 10, 40) if start * scale < each < end * scale), end * scale]
    return sum(quad(density, one, two, epsabs=0, epsrel=1e-10)[0] for one, two in pairwise(cuts))


# How far


@given(st.floats(1e-6, 300), st.floats(1e-3, 1e4), confidences)
@example(40.0, 1e4, 0.95)
@example(1e-6, 1e-3, 0.999)
@MANY
def test_the_interval_holds_its_share_of_what_the_bounds_leave(outside, apart, confidence):
    """By numerical integration, to 7 digits, from a millionth to 300 standard errors outside."""
    found = reach(outside, apart, confidence)
    assert 0 < found < apart
    end = min(apart, 60.0)  # what lies further inside is below 1e-300
    assert mass(outside, 0, min(found, end)) / mass(outside, 0, end) == pytest.approx(confidence, abs=1e-7)


@pytest.mark.parametrize("outside", [40.0, 1e3, 1e6, 1e12, 1e100])
def test_far_outside_the_law_is_exponential(outside):
    """P(t) = exp(-d t) there: nothing underflows, and the interval keeps its length."""
    assert reach(outside, 1e200, 0.95) * outside == pytest.approx(-math.log(0.05), rel=2e-3)
    assert reach(outside, 1e200, 0.95) <= reach(outside / 2, 1e200, 0.95)


@given(st.floats(0, 50), st.floats(1e-3, 1e3), confidences)
@MANY
def test_at_the_bound_it_is_the_plain_interval_and_it_shrinks_from_there(outside, apart, confidence):
    """Where the other bound is far; the nearer that is, the shorter, and never by a jump."""
    plain = norm.ppf((1 + confidence) / 2)
    assert reach(0.0, math.inf, confidence) == pytest.approx(plain)
    assert reach(outside, apart, confidence) <= reach(outside, math.inf, confidence) * (1 + 1e-9) <= plain * (1 + 1e-8)
    near = reach(outside + 1e-6, apart, confidence)
    assert 0 <= reach(outside, apart, confidence) - near + 1e-12 <= 4e-6 * (1 + plain)


# What is shown


@given(values, errors, bounds, confidences)
@example(-14.0, 10.0, (0, 20), 0.95)
@example(1e3, 1e-9, (0, 1), 0.95)
@example(0.5, 0.0, (0, 1), 0.5)
@MANY
def test_it_lies_in_the_bounds_holds_its_value_and_a_whole_count_and_is_never_a_point(value, error, limits, confidence):
    """Also as it is printed, and the raw value with its interval stays in design."""
    found = answer(value, error, limits, confidence)
    assert limits[0] <= found.low <= found.value <= found.high <= limits[1]
    assert found.value == pytest.approx(min(max(value, limits[0]), limits[1]), abs=2e-6)
    assert found.high - found.low >= 0.5 - 2e-6
    assert math.floor(found.high + 1e-9) >= math.ceil(found.low - 1e-9)
    low, high = (int(each.replace(",", "")) for each in re.findall(r"-?[\d,]+", found.shown_interval))
    assert limits[0] <= low <= found.low + 1e-6
    assert found.high - 1e-6 <= high <= limits[1]
    assert low < high
    reaches = norm.ppf((1 + confidence) / 2) * error
    assert found.design.value == value
    assert (found.design.low, found.design.high) == pytest.approx((value - reaches, value + reaches), abs=1e-9)


@given(values, errors, bounds, confidences)
@MANY
def test_it_is_no_shorter_than_the_cut_interval_and_the_same_where_bounds_do_not_bind(value, error, limits, confidence):
    """So whatever the truth is, it is held as often as before, or more often."""
    found = answer(value, error, limits, confidence)
    reaches = norm.ppf((1 + confidence) / 2) * error
    low, high = (min(max(end, limits[0]), limits[1]) for end in (value - reaches, value + reaches))
    assert found.low <= low + 2e-6
    assert found.high >= high - 2e-6
    if limits[0] + 1 < value < limits[1] - 1 and reaches > 0.5:
        assert (found.low, found.high) == pytest.approx((low, high), abs=2e-6)


@given(st.floats(1e-3, 8), st.floats(0.5, 100), st.integers(1, 2_000), confidences, st.booleans())
@MANY
def test_outside_it_holds_at_least_its_share_of_the_truncated_law(outside, error, apart, confidence, above):
    """Of a normal law around the raw value, cut to the bounds; exactly that where nothing else makes it wider."""
    value = apart + outside * error if above else -outside * error
    found = answer(value, error, (0, apart), confidence)
    length = found.high - found.low
    held = mass(outside, 0, min(length / error, 60)) / mass(outside, 0, min(apart / error, 60))
    assert held >= confidence - 1e-6
    cut = (norm.ppf((1 + confidence) / 2) - outside) * error
    if length > max(cut, 0.5) + 1e-6:
        assert held == pytest.approx(confidence, abs=1e-6)


@given(values, st.floats(0.01, 300), bounds, st.floats(-0.9, 3), confidences)
@MANY
def test_it_moves_with_the_raw_value_and_never_jumps(value, error, limits, more, confidence):
    """A larger raw value never has a lower end, and a millionth more moves no end by much, also across a bound."""
    way = Way(unit="people", estimator="unbiased", confidence=confidence)
    spread = Spread(noise=error**2 + 0.9 * limits[1], more=more if limits[0] >= 0 else 0.0)
    for start in (value, float(limits[0]), float(limits[1])):
        ends = [
            way.estimate(start + step, spread, limits, over=COINS, design=None)
            for step in (-1e-4, -1e-5, 0, 1e-5, 1e-4)
        ]
        for one, two in pairwise(ends):
            for lower, upper in ((one.low, two.low), (one.high, two.high)):
                assert lower - 3e-6 <= upper <= lower + 5e-3


@given(values, errors, bounds, confidences)
@MANY
def test_it_is_the_same_from_both_sides(value, error, limits, confidence):
    """Counting who does not meet a condition turns value, bounds and interval around."""
    total = limits[0] + limits[1]
    one, two = answer(value, error, limits, confidence), answer(total - value, error, limits, confidence)
    assert (one.low, one.high) == pytest.approx((total - two.high, total - two.low), abs=1e-5)


def test_what_used_to_be_a_point_has_room():
    """Six standard errors above the bound, the interval was 41 to 41."""
    found = answer(41 + 30.0, 5.0, (0, 41))
    assert found.value == found.high == 41
    assert found.shown_interval == "38 to 41"


# What is printed


def test_the_most_rows_of_any_table_are_not_shown_as_a_limit():
    """JSON keeps the number, which is always true; people read that there is no limit."""
    way = Way(unit="people", estimator="model", confidence=0.95)
    found = way.estimate(12.3, Spread(noise=4.0), (0, 10**14), over=MODEL)
    assert str(found) == "12 people; 95% interval 8 to 17 (over model), certainly 0 or more"
    assert found.as_json()["bounds"] == [0, 10**14]
    assert str(way.bounds_only((3, 10**14))) == "unknown; 95% interval 3 or more (the bounds), certainly 3 or more"
    assert (
        str(way.bounds_only((3, 40), note="why"))
        == "unknown; 95% interval 3 to 40 (the bounds), certainly 3 to 40; why"
    )
    assert str(way.certain(1_234)) == "1,234 people, exactly"


@pytest.mark.parametrize(
    ("confidence", "shown"), [(0.95, "95%"), (0.57, "57%"), (0.999, "99.9%"), (1 - 1e-9, "99.9999999%")]
)
def test_a_confidence_is_not_rounded_to_certainty(confidence, shown):
    """Nothing but equal bounds is 100 %."""
    way = Way(unit="people", estimator="unbiased", confidence=confidence)
    assert f"; {shown} interval " in str(way.bounds_only((0, 5)))


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (12.7, 45.2, "12 to 46"),
        (0.0, 0.07, "0 to 1"),
        (3.0000000001, 6.9999999999, "3 to 7"),
        (-2.5, 1e14, "-3 or more"),
    ],
)
def test_ends_are_rounded_outwards(low, high, shown):
    """But for what is only a rounding error."""
    whole = Way(unit="people", estimator="unbiased", confidence=0.95).bounds_only((0, 50))
    assert discreet.Estimate(**{**vars(whole), "low": low, "high": high}).shown_interval == shown

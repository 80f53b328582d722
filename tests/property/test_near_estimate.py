"""Unbiased answers of near releases against brute force: rows of a value are dealt within their window alone.

The truth is counted, means are taken over all that the coins may choose, and whether a window determines a count is
decided in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from cases import few
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import discreet
from discreet.engine.encoding import Encoding
from discreet.errors import ReleaseError
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.matched import matched_of
from discreet.estimate.buckets.near import NearRegression
from discreet.estimate.buckets.regression import Answer, Regression, Weighted
from discreet.estimate.buckets.unbiased import unbiased_estimate
from discreet.estimate.buckets.windows import Windows, windows_of
from discreet.estimate.interval import Way
from discreet.ground.arrays import Floats, Ints

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
WAY = Way(unit="people", estimator="unbiased", confidence=0.95)
Cut = list[list[list[int]]]  # for each window and bucket, the value of each record
Meets = list[list[list[tuple[bool, ...]]]]  # for each window and value, whether each record meets each part's condition


def values_in(cut: Cut) -> int:
    return 1 + max(x for window in cut for bucket in window for x in bucket)


def windowed(cut: Cut) -> Windows:
    """The ST of these buckets, window by window."""
    buckets = [bucket for window in cut for bucket in window]
    held = [(g, x, bucket.count(x)) for g, bucket in enumerate(buckets) for x in sorted(set(bucket))]
    bucket, value, count = (np.array(column, dtype=np.int64) for column in zip(*held, strict=True))
    composition = Composition(
        ids=np.arange(1, len(buckets) + 1),
        encoding=Encoding(range(values_in(cut))),
        bucket=bucket,
        value=value,
        count=count,
    )
    return Windows(composition=composition, ends=np.cumsum([len(window) for window in cut]))


def records(cut: Cut) -> list[list[int]]:
    """How many records each window has of each value."""
    return [[sum(bucket.count(x) for bucket in window) for x in range(values_in(cut))] for window in cut]


@st.composite
def cuts(draw: st.DrawFn, values: int = 3, buckets: int = 4, rows: int = 4, windows: int = 3) -> Cut:
    """A few windows of small buckets; every value occurs somewhere, by numbers without gaps."""
    bucket = st.lists(st.integers(0, values - 1), min_size=1, max_size=rows)
    drawn = draw(st.lists(st.lists(bucket, min_size=1, max_size=buckets), min_size=1, max_size=windows))
    known = sorted({x for window in drawn for each in window for x in each})
    return [[[known.index(x) for x in each] for each in window] for window in drawn]


def subsets(values: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, values + 1):
        yield from combinations(range(values), size)


def spans(rows: Sequence[Sequence[int]], wanted: Sequence[int]) -> bool:
    """Whether some combination of rows is what is wanted, in fractions."""
    basis: list[list[Fraction]] = []

    def reduced(row: Sequence[int]) -> list[Fraction]:
        left = list(map(Fraction, row))
        for each in basis:
            lead = next(place for place, number in enumerate(each) if number)
            left = [x - left[lead] / each[lead] * y for x, y in zip(left, each, strict=True)]
        return left

    for row in rows:
        if any(left := reduced(row)):
            basis.append(left)
    return not any(reduced(wanted))


# --- What windows determine ------------------------------------------------------------------------------------------


@settings(SLOW, max_examples=few(200))
@given(cut=cuts(4, 5, 4))
def test_in_every_window_weights_count_each_record_of_the_values_once_and_no_other(cut: Cut) -> None:
    """Exactly in those windows where linear algebra says that such weights exist."""
    regression = NearRegression(windows=windowed(cut))
    held = [[[bucket.count(x) for x in range(values_in(cut))] for bucket in window] for window in cut]
    ends = np.cumsum([len(window) for window in cut]).tolist()
    for chosen in subsets(values_in(cut)):
        weights, determined = regression.weights(chosen), regression.determined(chosen)
        for window, end, totals in zip(held, ends, records(cut), strict=True):
            own = slice(end - len(window), end)
            wanted = [total if x in chosen else 0 for x, total in enumerate(totals)]
            assert determined[own].tolist() == [spans(window, wanted)] * len(window)
            if determined[own].all():
                np.testing.assert_allclose(np.array(window).T @ weights[own], wanted, rtol=0, atol=1e-8)


@pytest.mark.parametrize("stated", [[(1, 2), (4, 5)], [(1, 3), (3, 5)], [(2, 5)], [(1, 4)], [], [(1, 2), (3, 6)]])
def test_windows_that_do_not_hold_every_bucket_once_are_no_release(stated: list[tuple[int, int]]) -> None:
    """Five buckets; the last one of a stated window may be missing or too many."""
    composition = windowed([[[0, 1], [1], [0], [0, 1], [1, 1]]]).composition
    assert windows_of(composition, [(1, 2), (3, 5)]).ends.tolist() == [2, 5]
    if stated == [(1, 2), (3, 6)]:
        assert windows_of(composition, stated).ends.tolist() == [2, 5]  # verify knows how many buckets there are
        return
    with pytest.raises(ReleaseError, match="windows"):
        windows_of(composition, stated)


# --- Over all coins --------------------------------------------------------------------------------------------------


def all_dealt(cut: Cut) -> Iterator[list[tuple[int, int, int, int]]]:
    """All that the coins may choose: window, value, record and bucket (counted through) of every record."""
    first, ways = 0, []
    for number, window in enumerate(cut):
        for x in range(values_in(cut)):
            slots = [first + g for g, bucket in enumerate(window) for y in bucket if y == x]
            ways.append([[(number, x, i, g) for i, g in enumerate(dealt)] for dealt in permutations(slots)])
        first += len(window)
    for chosen in product(*ways):
        yield [each for part in chosen for each in part]


def ways_to_deal(cut: Cut) -> int:
    return math.prod(math.factorial(total) for window in records(cut) for total in window)


def answers(regression: NearRegression | Regression, cut: Cut, chosen: list[tuple[int, ...]], meets: Meets) -> Floats:
    """What is answered after each choice of the coins."""
    buckets, found = sum(map(len, cut)), []
    for dealt in all_dealt(cut):
        matches = np.zeros((len(chosen), buckets), dtype=np.int64)
        for k, x, i, g in dealt:
            matches[:, g] += np.array(meets[k][x][i], dtype=np.int64)
        answer = regression.answer(chosen, list(matches), {})
        assert isinstance(answer, Answer)
        found.append(answer.value)
    return np.array(found)


def truth_of(chosen: list[tuple[int, ...]], meets: Meets) -> int:
    return sum(row[part] for window in meets for part, own in enumerate(chosen) for x in own for row in window[x])


@st.composite
def tossed(draw: st.DrawFn) -> tuple[Cut, list[tuple[int, ...]], Meets]:
    """Two small windows or more, one or two parts, and for each record which parts' condition it meets."""
    cut = draw(cuts(3, 3, 3))
    assume(len(cut) > 1 and 1 < ways_to_deal(cut) <= 600)
    part_of = draw(st.lists(st.integers(-1, 1), min_size=values_in(cut), max_size=values_in(cut)))
    chosen = [own for part in range(2) if (own := tuple(x for x, mine in enumerate(part_of) if mine == part))]
    assume(chosen)
    flags = st.tuples(*[st.booleans()] * len(chosen))
    meets = [[[draw(flags) for _ in range(total)] for total in window] for window in records(cut)]
    return cut, chosen, meets


TWO_WINDOWS: tuple[Cut, list[tuple[int, ...]], Meets] = (  # all of value 0 in the first match, none in the second
    [[[0, 0, 1], [0, 1], [1]], [[0, 1, 1], [0], [1, 1]]],
    [(0,)],
    [[[(True,)] * 3, [(False,)] * 3], [[(False,)] * 2, [(True,)] * 4]],
)


@settings(SLOW, max_examples=few(80))
@given(case=tossed())
@example(case=TWO_WINDOWS)
def test_over_all_coins_the_mean_is_the_truth_where_every_window_determines_it(
    case: tuple[Cut, list[tuple[int, ...]], Meets],
) -> None:
    """No bias at all; and where a window does not determine its part, none beyond what is said."""
    cut, chosen, meets = case
    regression = NearRegression(windows=windowed(cut))
    mean, truth = float(np.mean(answers(regression, cut, chosen, meets))), truth_of(chosen, meets)
    if all(regression.determined(own).all() for own in chosen):
        assert mean == pytest.approx(truth, abs=1e-9)
    matches = matches_of(cut, chosen, meets)
    answer = regression.answer(chosen, matches, {})
    assert answer is not None
    assert abs(mean - truth) <= answer.off + 1e-9


def matches_of(cut: Cut, chosen: list[tuple[int, ...]], meets: Meets) -> list[Ints]:
    """The matches of every bucket where the coins give each slot the next record; windows' sums are the same always."""
    dealt = next(all_dealt(cut))
    matches = np.zeros((len(chosen), sum(map(len, cut))), dtype=np.int64)
    for k, x, i, g in dealt:
        matches[:, g] += np.array(meets[k][x][i], dtype=np.int64)
    return list(matches)


def test_a_regression_of_all_windows_together_is_biased() -> None:
    """By more than a third of a person where three are asked for, and one window by window is right to 1e-12."""
    cut, chosen, meets = TWO_WINDOWS
    near, pooled = NearRegression(windows=windowed(cut)), Regression(composition=windowed(cut).composition)
    assert math.fsum(answers(near, cut, chosen, meets)) / ways_to_deal(cut) == pytest.approx(3, rel=0, abs=1e-12)
    assert abs(float(np.mean(answers(pooled, cut, chosen, meets))) - 3) > 1 / 3


@dataclass(frozen=True, kw_only=True)
class Informed(NearRegression):
    """The regression of somebody who knows the true shares, so that the variance's formula can be tested alone."""

    known: dict[bytes, Floats]

    def shares(self, matches: Ints) -> Floats:
        return self.known[matches.tobytes()]


@settings(SLOW, max_examples=few(60))
@given(case=tossed())
@example(case=TWO_WINDOWS)
def test_the_variance_over_all_coins_is_the_formulas_with_the_true_shares(
    case: tuple[Cut, list[tuple[int, ...]], Meets],
) -> None:
    """Whether or not a window determines its part; an unknown covariance is taken to be no less than it is."""
    cut, chosen, meets = case
    windows = windowed(cut)
    rows = [meets[k][x] for k, x in zip(windows.window.tolist(), windows.value.tolist(), strict=True)]
    markers = [np.array([part], dtype=np.int64) for part in range(3)]  # they stand for the matches
    shares = [np.array([np.mean([row[part] for row in own]) for own in rows]) for part in range(len(chosen))]
    shares.append(np.array([np.mean([all(row) for row in own]) for own in rows]))
    known = {
        marker.tobytes(): share for marker, share in zip((*markers[: len(chosen)], markers[2]), shares, strict=True)
    }
    informed = Informed(windows=windows, known=known)
    parts = [
        Weighted(values=own, weights=informed.weights(own), matches=markers[part]) for part, own in enumerate(chosen)
    ]
    joint = {(0, 1): markers[2]} if len(chosen) == 2 else {}
    true = float(np.var(answers(NearRegression(windows=windows), cut, chosen, meets)))
    assert informed.variance(parts, joint) == pytest.approx(true, rel=1e-9, abs=1e-9)
    assert informed.variance(parts, {}) >= true - 1e-9


@settings(SLOW, max_examples=few(100))
@given(cut=cuts(4, 6, 4, 3), data=st.data())
def test_the_shares_behind_the_variance_are_shares_and_right_in_every_window(cut: Cut, data: st.DataObject) -> None:
    """Between 0 and 1 for every value of every window; where nobody or everybody matches, they say so."""
    regression = NearRegression(windows=windowed(cut))
    sizes, own = regression.composition.sizes, regression.windows
    matches = np.array([data.draw(st.integers(0, int(size))) for size in sizes], dtype=np.int64)
    shares = regression.shares(matches)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (own.totals(shares * own.records) <= own.sums(matches) + 1e-9).all()
    np.testing.assert_allclose(regression.shares(np.zeros_like(sizes)), 0, atol=1e-12)
    np.testing.assert_allclose(regression.shares(sizes), 1, atol=1e-9)


# --- One window, and many --------------------------------------------------------------------------------------------


@settings(SLOW, max_examples=few(100))
@given(cut=cuts(4, 6, 4, 1), data=st.data())
def test_one_window_is_answered_as_a_release_without_windows(cut: Cut, data: st.DataObject) -> None:
    """Value, variance, what is determined and how entangled it is."""
    near, plain = NearRegression(windows=windowed(cut)), Regression(composition=windowed(cut).composition)
    matches = np.array([data.draw(st.integers(0, len(bucket))) for bucket in cut[0]], dtype=np.int64)
    assume(0 < matches.sum() < plain.composition.sizes.sum())
    for chosen in subsets(values_in(cut)):
        one, other = near.answer([chosen], [matches], {}), plain.answer([chosen], [matches], {})
        assert near.determined(chosen).all() == (other is not None)
        if other is not None:
            assert one is not None
            assert (one.value, one.variance) == pytest.approx((other.value, other.variance), rel=1e-6, abs=1e-6)
            assert one.off == 0
            entangled = min(250.0, plain.entangled(chosen))
            assert near.entangled(chosen, matches) == pytest.approx(entangled, rel=1e-6)


def test_a_window_that_no_row_or_every_row_of_matches_is_counted_and_not_estimated() -> None:
    """Though it does not tell its values apart: the answer is the other window's, and nothing is off."""
    cut = [[[0, 1], [0, 1, 1], [0]], [[0, 1], [0, 1]]]  # the second has one of each in both buckets
    regression = NearRegression(windows=windowed(cut))
    assert regression.determined((0,)).tolist() == [True] * 3 + [False] * 2
    for whole, more in (([0, 0], 0), ([2, 2], 2)):
        alone = regression.answer([(0,)], [np.array([1, 1, 1, 0, 0])], {})
        found = regression.answer([(0,)], [np.array([1, 1, 1, *whole])], {})
        assert alone is not None
        assert found is not None
        assert found.off == 0
        assert found.value == pytest.approx(alone.value + more)
        assert found.variance == pytest.approx(alone.variance)


def shown(cut: Cut, matches: list[int], chosen: tuple[int, ...]) -> discreet.Estimate:
    regression = NearRegression(windows=windowed(cut))
    found = matched_of(regression.composition, [chosen], [np.array(matches, dtype=np.int64)], {})
    return unbiased_estimate(regression, found, WAY)


def test_what_a_window_leaves_open_is_in_the_interval_and_said() -> None:
    """Large windows that tell values apart and a small one that does not: its two people may be anywhere, the answer
    stands. Where nearly all is open there is no value, and the interval still holds what is possible.
    """
    known = [[0, 1], [0, 0, 1], [0], [1, 1]] * 40
    loose = [[0, 1], [0, 1]]
    whole, part = shown([known], [1, 1, 0, 1] * 40, (0,)), shown([known, loose], [1, 1, 0, 1] * 40 + [1, 1], (0,))
    assert whole.design is not None
    assert part.design is not None
    assert part.value is not None
    assert part.design.value == pytest.approx(whole.design.value + 1)
    assert "in some windows" in part.note
    assert part.design.high - part.design.low == pytest.approx(whole.design.high - whole.design.low + 2)
    lost = shown([[[0, 1], [0, 0, 1], [0], [1, 1]], loose * 30], [1, 1, 1, 0] + [1, 1] * 30, (0,))
    assert lost.value is None
    assert lost.design is None
    assert "do not determine" in lost.note
    assert lost.bounds[0] <= lost.low <= lost.high <= lost.bounds[1]

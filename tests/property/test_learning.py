"""What learning is made of, held against oracles that try everything: matchings, exponentials, patterns, effort."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.estimate.buckets.learning.effort import MEMBERS, effort_for
from discreet.estimate.buckets.learning.patterns import MOST_LEVELS, patterns_of
from discreet.estimate.buckets.learning.posterior import STATES, match_exactly, match_nearly, scale_to_counts
from discreet.estimate.buckets.learning.softmax import LANES, exponentials, normalize, padded, softmax
from discreet.ground.arrays import Floats, Ints

SCALINGS = 200


# --- Matchings -----------------------------------------------------------------------------------------------------


def states(counts: list[int]) -> int:
    """In how many ways values can be used up in part."""
    return math.prod(count + 1 for count in counts)


def exactly(p: Floats, counts: list[int], scalings: int = SCALINGS) -> Floats:
    """W of a bucket, rows by values, from p of the same shape: the exact way of the product."""
    size, kinds = p.shape
    w = np.empty(size * kinds)
    room = states(counts)
    step, digit = np.empty(kinds, np.int64), np.zeros((room, kinds), np.int64)
    level, forward, backward = np.empty(room, np.int64), np.empty(room), np.empty(room)
    c = np.array(counts, dtype=np.float64)
    match_exactly(p.T.ravel().copy(), c, w, size, step, digit, level, forward, backward)
    scale_to_counts(w, c, size, np.empty(size), scalings)
    return w.reshape(kinds, size).T


def nearly(p: Floats, counts: list[int], scalings: int = SCALINGS) -> Floats:
    """The same by messages."""
    size, kinds = p.shape
    w, c = np.empty(size * kinds), np.array(counts, dtype=np.float64)
    match_nearly(p.T.ravel().copy(), c, w, size, np.empty(size * kinds), np.empty(size))
    scale_to_counts(w, c, size, np.empty(size), scalings)
    return w.reshape(kinds, size).T


def by_all_matchings(p: Floats, counts: list[int]) -> Floats:
    """W by the definition: every way to deal the values to the rows, weighed with the product of its p."""
    size, kinds = p.shape
    slots = [x for x, count in enumerate(counts) for _ in range(count)]
    found = np.zeros((size, kinds))
    for dealt in set(permutations(slots)):
        weight = math.prod(p[i, x] for i, x in enumerate(dealt))
        for i, x in enumerate(dealt):
            found[i, x] += weight
    return found / found.sum(axis=1, keepdims=True)


@st.composite
def buckets(draw: st.DrawFn, sizes: tuple[int, int] = (2, 6), least: float = 1e-3) -> tuple[Floats, list[int]]:
    """Probabilities of a bucket's values for its rows, and how often each value occurs: one to three times."""
    size = draw(st.integers(*sizes))
    counts: list[int] = []
    while (left := size - sum(counts)) > 0:
        counts.append(draw(st.integers(1, min(3, left))))
    number = st.floats(math.log(least), 0)
    logs = draw(st.lists(number, min_size=size * len(counts), max_size=size * len(counts)))
    return np.exp(np.array(logs)).reshape(size, len(counts)), counts


@given(buckets(least=1e-6))
def test_small_buckets_are_summed_over_all_matchings(bucket):
    """What comes out is the law itself, and its sums hold without any scaling that would change it."""
    p, counts = bucket
    truth = by_all_matchings(p, counts)
    assert np.abs(exactly(p, counts, 1) - truth).max() < 1e-9
    assert np.abs(exactly(p, counts) - truth).max() < 1e-9


def drawn(size: int, spread: float, coins: np.random.Generator) -> tuple[Floats, list[int]]:
    """A random bucket; how probable a value is differs between rows by factors of about e^spread."""
    counts: list[int] = []
    while (left := size - sum(counts)) > 0:
        counts.append(int(coins.integers(1, min(3, left) + 1)))
    return np.exp(coins.normal(0, spread, (size, len(counts)))), counts


def off_by(found: list[Floats], truths: list[Floats]) -> float:
    """The root mean square of all differences."""
    return float(np.sqrt(np.mean(np.concatenate([(a - b).ravel() ** 2 for a, b in zip(found, truths, strict=True)]))))


@pytest.mark.parametrize("size", [5, 6, 7])
def test_messages_are_close_to_the_law_where_rows_differ_moderately(size):
    """Root mean square below .05 over random buckets, and closer than p that is merely scaled to the counts."""
    coins = np.random.default_rng(size)
    some = [drawn(size, 0.7, coins) for _ in range(40)]
    truths = [by_all_matchings(*bucket) for bucket in some]
    scaled = []
    for p, counts in some:
        w = p.T.ravel().copy()
        scale_to_counts(w, np.array(counts, dtype=np.float64), size, np.empty(size), SCALINGS)
        scaled.append(w.reshape(len(counts), size).T)
    rms = off_by([nearly(*bucket) for bucket in some], truths)
    assert rms < 0.05
    assert rms < off_by(scaled, truths)


@pytest.mark.parametrize("spread", [1, 2])
def test_messages_are_closer_in_the_buckets_that_they_are_meant_for(spread):
    """Those that are too large to be summed in the product; here they are, with room for more states."""
    coins = np.random.default_rng(spread)
    some = [drawn(int(coins.integers(13, 17)), spread, coins) for _ in range(40)]
    large = [bucket for bucket in some if states(bucket[1]) > STATES]
    assert len(large) >= 10
    assert off_by([nearly(*bucket) for bucket in large], [exactly(*bucket) for bucket in large]) < 0.02 * spread


@given(buckets(sizes=(2, 30), least=1e-3))
def test_counts_hold_in_every_bucket_and_every_row_has_one_value(bucket):
    """To single precision, by the way that the product takes for its size, after as many scalings."""
    p, counts = bucket
    w = exactly(p, counts) if states(counts) <= STATES else nearly(p, counts)
    assert (w >= 0).all()
    assert np.abs(w.sum(axis=0) / counts - 1).max() < 1e-6
    assert np.abs(w.sum(axis=1) - 1).max() < 1e-6


@given(buckets(sizes=(2, 12)), st.data())
def test_probabilities_of_nearly_nothing_give_numbers(bucket, data):
    """Any pattern of 1e-30: numbers come out, none is negative, and counts hold."""
    p, counts = bucket
    tiny = data.draw(st.lists(st.booleans(), min_size=p.size, max_size=p.size))
    p = np.where(np.array(tiny).reshape(p.shape), 1e-30, p)
    found = [nearly(p, counts)]
    if states(counts) <= STATES:
        found.append(exactly(p, counts))
    for w in found:
        assert np.isfinite(w).all()
        assert (w >= 0).all()
        assert np.abs(w.sum(axis=0) / counts - 1).max() < 1e-6


# --- Exponentials --------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-86, 0, width=32), min_size=1, max_size=40))
def test_exponentials_are_those_of_the_library(numbers):
    """To a millionth of each; what lies beyond the first `number` is left alone."""
    z = np.array([*numbers, -1.0], dtype=np.float32)
    exponentials(z, np.empty(len(z), np.int32), len(numbers))
    for found, number in zip(z.tolist(), numbers, strict=False):
        assert found == pytest.approx(math.exp(number), rel=1e-6)
    assert z[-1] == -1


def test_exponentials_of_very_little_are_very_little():
    """Below what single precision holds they are no larger than e^-86, and no error."""
    z = np.array([-88, -1e4, -1e30], dtype=np.float32)
    exponentials(z, np.empty(3, np.int32), 3)
    assert (z >= 0).all()
    assert (z < math.exp(-86)).all()


@given(st.lists(st.floats(-60, 60, width=32), min_size=1, max_size=50))
def test_softmax_and_logs_are_those_of_the_definition(numbers):
    """Whatever the length: sums of e^(z - top), and logs whose exponentials add up to one."""
    wide = padded(len(numbers))
    assert wide % LANES == 0
    assert len(numbers) <= wide < len(numbers) + LANES
    z = np.full(wide, -1e30, dtype=np.float32)
    z[: len(numbers)] = numbers
    top, total = softmax(z, np.empty(wide, np.int32), np.empty(LANES, np.float32))
    assert top == max(numbers)
    assert total == pytest.approx(math.fsum(math.exp(each - top) for each in numbers), rel=1e-5)
    logs = np.array([numbers, numbers[::-1]], dtype=np.float32)
    normalize(logs)
    whole = top + math.log(math.fsum(math.exp(each - top) for each in numbers))
    assert logs[0].tolist() == pytest.approx([each - whole for each in numbers], abs=2e-5)
    assert logs[1].tolist() == pytest.approx(logs[0].tolist()[::-1], abs=2e-5)
    assert math.fsum(math.exp(each) for each in logs[0].tolist()) == pytest.approx(1, abs=1e-4)


# --- Patterns ------------------------------------------------------------------------------------------------------


@given(st.integers(1, 60), st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=5), st.data())
def test_patterns_are_the_distinct_rows(rows, kinds, data):
    """A dictionary of tuples finds the same ones, and every value of every column has one number of its own."""
    columns = [
        np.array(data.draw(st.lists(st.integers(0, most), min_size=rows, max_size=rows)), dtype=np.uint8)
        for most, _ in kinds
    ]
    found = patterns_of(rows, [(codes, ordered) for codes, (_, ordered) in zip(columns, kinds, strict=True)])
    tuples = list(zip(*(codes.tolist() for codes in columns), strict=True))
    known: dict[int, tuple[int, ...]] = {}
    for pattern, row in zip(found.pattern.tolist(), tuples, strict=True):
        assert known.setdefault(pattern, row) == row
    assert sorted(known) == list(range(len(set(tuples)))) == list(range(len(found.codes)))
    assert found.number.tolist() == [tuples.count(known[u]) for u in range(len(known))]
    numbered = found.codes[found.pattern]
    assert numbered.shape == (rows, len(columns))
    those = [np.flatnonzero((numbered == level).any(axis=1)).tolist() for level in range(found.levels)]
    assert sorted(those) == sorted(np.flatnonzero(codes == code).tolist() for codes in columns for code in set(codes))


def test_patterns_of_very_many_columns_are_still_the_distinct_rows():
    """A key of all columns would not fit into a number; rows that differ in one cell stay apart."""
    coins = np.random.default_rng(1)
    columns = coins.integers(0, 1000, (12, 50))
    columns[:, 25:] = columns[:, :25]
    columns[0, 49] = (columns[0, 49] + 1) % 1000
    found = patterns_of(50, [(codes, False) for codes in columns])
    assert len(found.codes) == len({tuple(row) for row in columns.T.tolist()}) == 26


@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_patterns_do_not_depend_on_names_or_order(rows, number, seed):
    """Columns in another order and codes under other names are the same patterns, if rows' marks tell them apart."""
    coins = np.random.default_rng(seed)
    columns, marks = coins.integers(0, 5, (number, rows)), coins.permutation(1 << np.arange(rows))
    renamed = [coins.permutation(5)[codes] for codes in columns]
    moved = coins.permutation(rows)
    usual = patterns_of(rows, [(codes, False) for codes in columns], marks)
    other = patterns_of(rows, [(renamed[j][moved], False) for j in coins.permutation(number)], marks[moved])
    assert other.codes.tolist() == usual.codes.tolist()
    assert other.pattern.tolist() == usual.pattern[moved].tolist()


def many_levels(coins: np.random.Generator) -> Ints:
    """More levels than a column may keep, some of them with far more rows than others."""
    often = np.repeat(np.arange(0, 3 * MOST_LEVELS, 7), 20)
    return coins.permutation(np.concatenate([np.arange(3 * MOST_LEVELS), often]))


@pytest.mark.parametrize("far", [0, 1 << 25])
def test_a_column_of_many_levels_with_an_order_is_cut_into_stretches_of_neighbours(far):
    """Each has about as many rows, and codes that lie between two of a stretch are in it."""
    codes = many_levels(np.random.default_rng(2)) + far
    found = patterns_of(len(codes), [(codes, True)])
    assert found.levels == len(found.codes) <= MOST_LEVELS
    stretch = found.codes[found.pattern[np.argsort(codes, kind="stable")], 0]
    assert np.count_nonzero(np.diff(stretch)) == found.levels - 1
    assert all(len(set(found.pattern[codes == code].tolist())) == 1 for code in codes[:50])
    assert found.number.max() <= 2 * len(codes) / found.levels + 21


@pytest.mark.parametrize("far", [0, 1 << 25])
def test_a_column_of_many_levels_without_an_order_keeps_the_frequent_ones(far):
    """Every level that is kept has at least as many rows as any that is not; the others count as one."""
    codes = many_levels(np.random.default_rng(3)) + far
    found = patterns_of(len(codes), [(codes, False)])
    assert found.levels == MOST_LEVELS
    own = [set(codes[found.pattern == u].tolist()) for u in range(len(found.codes))]
    (rest,) = (each for each in own if len(each) > 1)
    rows = {code: int((codes == code).sum()) for code in set(codes.tolist())}
    kept = set(rows) - rest
    assert len(kept) == MOST_LEVELS - 1
    assert min(rows[code] for code in kept) >= max(rows[code] for code in rest)


# --- Effort --------------------------------------------------------------------------------------------------------


def test_a_release_like_adult_gets_four_networks_over_all_rows():
    """30,162 rows, 11,089 patterns and 14 values."""
    effort = effort_for(30_162, 11_089, 14)
    assert (effort.members, effort.rows) == (4, 30_162)


def test_many_patterns_get_fewer_networks_and_very_large_releases_fewer_rows():
    """What is left of ten million rows is still hundreds of thousands."""
    assert effort_for(148_000, 90_000, 50).members < 4
    large = effort_for(10_000_000, 5_000_000, 46)
    assert large.members == 1
    assert 100_000 <= large.rows < 10_000_000
    assert effort_for(1_000_000, 200_000, 46).rows < 1_000_000


shapes = st.tuples(st.integers(1, 10**8), st.integers(1, 10**8), st.integers(1, 3000))


@given(shapes, st.integers(1, 10))
def test_effort_never_grows_with_patterns_or_values(shape, factor):
    """More to learn from as many rows: as many networks and rows, or fewer."""
    rows, patterns, values = shape[0], min(shape[:2]), shape[2]
    usual = effort_for(rows, patterns, values)
    assert usual.members in MEMBERS
    assert 1 <= usual.rows <= rows
    for other in (effort_for(rows, min(rows, patterns * factor), values), effort_for(rows, patterns, values * factor)):
        assert other.members <= usual.members
        assert other.rows <= usual.rows


@given(shapes)
def test_effort_stays_within_its_work(shape):
    """Networks x patterns x (values + 36) is at most what so many rows are worth: 10 million of 100,000, growing with
    their root, and 5 million at least. Where one network over all of them is more, patterns are taken to be fewer in
    proportion to the rows.
    """
    rows, patterns, values = shape[0], min(shape[:2]), shape[2]
    effort = effort_for(rows, patterns, values)
    most = max(5e6, 1e7 * math.sqrt(rows / 1e5)) * (1 + 1e-9)
    given = min(rows, max(250_000, rows // 10))
    met = min(patterns, given) * min(1, effort.rows / given)
    assert effort.rows <= given
    assert effort.rows == 1 or effort.members * met * (values + 36) <= most
    assert effort.rows == given or effort.members == 1

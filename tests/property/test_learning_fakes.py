"""Learning with fakes, held against oracles that try everything: who has what, what is open, and that fakes add up."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.engine.encoding import Encoding
from discreet.estimate.buckets.composition import Composition
from discreet.estimate.buckets.learning.made import Made
from discreet.estimate.buckets.learning.places import Places
from discreet.estimate.buckets.open import Fakes, left_open
from discreet.ground.arrays import Floats, Ints

VALUES = 4
Bucket = tuple[list[int], list[int]]  # the values of its people, and of its fakes


@st.composite
def releases(draw: st.DrawFn, most: int = 4) -> tuple[int, list[Bucket]]:
    """How many fakes every bucket has, and some buckets of one to so many people. In every class each value that people
    have has a fake.
    """
    fakes = draw(st.integers(1, 2))
    found: list[Bucket] = []
    for size in draw(st.lists(st.integers(1, most), min_size=1, max_size=2, unique=True)):
        buckets = draw(st.integers(1, 3))
        kinds = draw(st.lists(st.integers(0, VALUES - 1), min_size=1, max_size=fakes * buckets, unique=True))
        some = st.sampled_from(kinds)
        people = draw(st.lists(some, min_size=size * buckets, max_size=size * buckets))
        held = sorted(set(people))
        more = fakes * buckets - len(held)
        made = draw(st.permutations(held + draw(st.lists(st.sampled_from(held), min_size=more, max_size=more))))
        for g in range(buckets):
            found.append((people[g * size : (g + 1) * size], list(made[g * fakes : (g + 1) * fakes])))
    return fakes, found


def totals(buckets: list[Bucket], size: int | None = None) -> tuple[list[int], list[int]]:
    """How many people, and how many fakes, have each value in the buckets of one size, or of all."""
    some = [bucket for bucket in buckets if size is None or len(bucket[0]) == size]
    people, made = ([x for bucket in some for x in bucket[part]] for part in (0, 1))
    return [people.count(x) for x in range(VALUES)], [made.count(x) for x in range(VALUES)]


def composed(fakes: int, buckets: list[Bucket]) -> Composition:
    """What is published of them: only values that occur, by position."""
    occurring = sorted({x for people, _ in buckets for x in people})
    sizes = sorted({len(people) for people, _ in buckets})
    entries = [
        (g, place, (people + made).count(x))
        for g, (people, made) in enumerate(buckets)
        for place, x in enumerate(occurring)
        if x in people + made
    ]
    bucket, value, count = np.array(entries).T
    return Composition(
        ids=np.arange(1, len(buckets) + 1),
        encoding=Encoding(tuple(occurring)),
        bucket=bucket,
        value=value,
        count=count,
        fakes=fakes,
        people=np.array([[totals(buckets, size)[0][x] for size in sizes] for x in occurring]),
    )


def places_of(own: Composition, buckets: list[Bucket] | None = None) -> Places:
    """As learning sees it: every row a pattern of its own, and no quasi-identifiers, for probabilities are given. With
    the buckets themselves, of which only sums over classes matter, those sums are exact.
    """
    rows, expected = int(own.sizes.sum()), own.expected
    if buckets is not None:
        names = own.values
        entries = zip(own.bucket.tolist(), own.value.tolist(), strict=True)
        expected = np.array([float(buckets[g][0].count(names[x])) for g, x in entries])
    return Places(
        codes=np.empty((rows, 0), dtype=np.int32),
        number=np.ones(rows, dtype=np.float32),
        pattern=np.arange(rows, dtype=np.int32),
        rows=np.concatenate([[0], np.cumsum(own.sizes)]),
        entries=np.searchsorted(own.bucket, np.arange(len(own.ids) + 1)),
        value=own.value.astype(np.int32),
        count=own.count.astype(np.int32),
        values=len(own.values),
        levels=0,
        made=Made(fakes=own.fakes, kind=own.kind, expected=expected),
    )


def by_bucket(own: Composition, weights: Floats) -> list[dict[int, Floats]]:
    """W as it stands: of each bucket the probability of each of its values for each row."""
    found: list[dict[int, Floats]] = [{} for _ in own.ids]
    at = 0
    for g, x in zip(own.bucket.tolist(), own.value.tolist(), strict=True):
        size = int(own.sizes[g])
        found[g][x] = weights[at : at + size]
        at += size
    assert at == len(weights)
    return found


def by_all_injections(slots: list[int], p: Floats, odds: list[float]) -> Floats:
    """Every way to hand the slots to the rows of p, the fakes taking the others, weighed by the definition."""
    people = len(p)
    found = np.zeros(p.shape)
    for order in permutations(slots):
        weight = math.prod(p[i, x] for i, x in enumerate(order[:people]))
        weight *= math.prod(odds[x] for x in order[people:])
        for i, x in enumerate(order[:people]):
            found[i, x] += weight
    return found / found.sum(axis=1, keepdims=True)


@settings(max_examples=few(300))
@given(releases(), st.data())
def test_rows_are_matched_beside_fakes_by_all_injections(release, data):
    """A fake has x with odds m_xj v_x / v_xj of its class, a row with those of its pattern: of every bucket what comes
    out is the law itself.
    """
    fakes, buckets = release
    own = composed(fakes, buckets)
    names, rows = list(own.values), int(own.sizes.sum())
    number = st.floats(math.log(1e-3), 0)
    logs = np.array(data.draw(st.lists(number, min_size=rows * len(names), max_size=rows * len(names))))
    logs = logs.reshape(rows, len(names))
    found = by_bucket(own, places_of(own, buckets).match(logs.astype(np.float32), 1))
    everybody, first = totals(buckets)[0], 0
    for g, (people, made) in enumerate(buckets):
        held, theirs = totals(buckets, len(people))
        odds = [theirs[x] * everybody[x] / held[x] if held[x] else 0.0 for x in names]
        slots = [names.index(x) for x in people + made]
        truth = by_all_injections(slots, np.exp(logs[first : first + len(people)]), odds)
        for x, weights in found[g].items():
            assert np.abs(weights - truth[:, x]).max() < 2e-5
        first += len(people)


@settings(max_examples=few(200))
@given(releases(most=5), st.integers(0, 2**32 - 1))
def test_people_of_every_value_and_size_add_up(release, seed):
    """However far the probabilities are from the totals that are published, for odds are moved until they do; in every
    bucket people have no more of a value than its count, and no fewer than its count without all fakes.
    """
    fakes, buckets = release
    own = composed(fakes, buckets)
    logs = np.random.default_rng(seed).normal(0, 1.5, (int(own.sizes.sum()), len(own.values)))
    found = by_bucket(own, places_of(own, buckets).match(logs.astype(np.float32), 200, 1000))
    sums = np.zeros(own.people.shape)
    for g, weights in enumerate(found):
        for x, each in weights.items():
            count = int(own.count[(own.bucket == g) & (own.value == x)][0])
            assert count - fakes - 1e-4 < each.sum() < count + 1e-4
            sums[x, own.kind[g]] += each.sum()
        assert np.abs(sum(weights.values()) - 1).max() < 1e-4
    assert np.abs(sums - own.people).max() < 0.01


def test_before_anything_is_learned_rows_have_what_is_expected():
    """c~ / S, and not c / S: of a value with one person and one fake half is expected in each of its two buckets."""
    buckets: list[Bucket] = [([0, 1, 2, 3], [0]), ([0, 1, 2, 0], [3]), ([0, 1, 2, 1], [1]), ([0, 1, 2, 2], [2])]
    own = composed(1, buckets)
    found = by_bucket(own, places_of(own).start())
    assert found[0][3] == pytest.approx([0.125] * 4, abs=0.02)
    assert sum(weights[3].sum() for weights in found if 3 in weights) == pytest.approx(1, abs=1e-5)
    assert places_of(own).totals.tolist() == pytest.approx(own.totals.tolist())


def test_a_part_of_the_buckets_is_matched_as_in_the_whole():
    """Where a part's fakes are as many of each value as the whole's."""
    buckets: list[Bucket] = [([0, 1, 2], [0]), ([0, 1, 2], [1]), ([0, 1, 2], [2])] * 2
    own = composed(1, buckets)
    logs = np.random.default_rng(5).normal(0, 1, (18, 3)).astype(np.float32)
    whole = places_of(own)
    part = whole.part(np.array([3, 4, 5]))
    assert part.match(logs[9:], 5).tolist() == pytest.approx(whole.match(logs, 5)[27:].tolist(), abs=1e-6)


# --- What is open --------------------------------------------------------------------------------------------------


def normally(inside: Floats, outside: Floats, made: Floats, sizes: Ints, fakes: int, kind: Ints) -> float:
    """The variance of the sum inside, of normal laws whose sums in buckets, and over classes of fakes, are known."""
    number = len(sizes)
    factor = (sizes + fakes) / (sizes + fakes - 1)
    spread = np.diag(np.concatenate([factor * each for each in (inside, outside, made)]))
    known = [np.tile(np.arange(number) == g, 3) for g in range(number)]
    known += [np.concatenate([np.zeros(2 * number), kind == j]) for j in set(kind.tolist())]
    told, asked = np.array(known, dtype=np.float64), np.repeat([1.0, 0.0, 0.0], number)
    cross = told @ spread @ asked
    return float(asked @ spread @ asked - cross @ np.linalg.pinv(told @ spread @ told.T) @ cross)


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_what_is_open_is_that_of_normal_laws_with_known_sums(buckets, fakes, seed):
    """With several classes; and nothing is open of a question to all rows, for the people of each value are known."""
    coins = np.random.default_rng(seed)
    inside, outside, made = coins.uniform(0.05, 1, (3, buckets))
    sizes, kind = coins.integers(2, 9, buckets), coins.integers(0, 2, buckets)
    own = Fakes(number=fakes, open=made, kind=kind)
    truth = normally(inside, outside, made, sizes, fakes, kind)
    assert left_open(inside, inside + outside, sizes, own) == pytest.approx(truth, abs=1e-9)
    assert left_open(outside, inside + outside, sizes, own) == pytest.approx(truth, abs=1e-9)
    assert left_open(inside, inside, sizes, own) == pytest.approx(0, abs=1e-9)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_without_fakes_only_a_bucket_s_rows_are_open(buckets, seed):
    """S/(S - 1) h_A h_B / (h_A + h_B), and fakes of which nothing is open leave what so many more rows would."""
    coins = np.random.default_rng(seed)
    inside, outside = coins.uniform(0.05, 1, (2, buckets))
    sizes = coins.integers(2, 9, buckets)
    usual = float((sizes / (sizes - 1) * inside * outside / (inside + outside)).sum())
    assert left_open(inside, inside + outside, sizes) == pytest.approx(usual)
    none = Fakes(number=2, open=np.zeros(buckets), kind=np.zeros(buckets, dtype=np.int64))
    assert left_open(inside, inside + outside, sizes, none) == pytest.approx(
        float(((sizes + 2) / (sizes + 1) * inside * outside / (inside + outside)).sum())
    )

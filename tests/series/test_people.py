"""What a series keeps of people: sketches are right, the same people are noticed, and others are not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.series.apart import MOST, candidates
from discreet.series.people import CHANCE, EXCESS, closeness, keyed_people, people_from_bytes, shared
from discreet.series.sketch import ALL, Sketch, Sketching

KEY = b"k" * 32


def words(values: object) -> np.ndarray:
    """Digests for tests: any bijection does, for sketches mix them."""
    return np.asarray(values, dtype=np.uint64)


def sketch_of(*columns: object, exact: bool = False, most: int = 65_536, batch: int = 1_000) -> Sketch:
    sketching = Sketching([f"c{place}" for place in range(len(columns))], exact=exact, most=most)
    for start in range(0, len(columns[0]), batch):
        sketching.update([words(column[start : start + batch]) for column in columns])
    return sketching.sketch()


def kept(sketch: Sketch | None, rows: int = 0, **histograms: object):
    """What a series keeps, through its bytes."""
    told = {name: (words(values), np.asarray(counts)) for name, (values, counts) in histograms.items()}
    return people_from_bytes(keyed_people(sketch, sketch.rows if sketch else rows, told, KEY).as_bytes())


# Sketches


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), min_size=1, max_size=300),
    st.integers(1, 40),
    st.integers(1, 100),
)
def test_a_sketch_has_the_least_digests_and_all_rows_of_them(rows, most, batch):
    """Whatever the batches: the same as of all rows at once, cut at the limit; what occurs how often is exact."""
    columns = [[row[0] for row in rows], [row[1] for row in rows]]
    small, whole = sketch_of(*columns, most=most, batch=batch), sketch_of(*columns)
    assert whole.limit == ALL
    assert sorted(whole.counts.tolist()) == sorted(Counter(rows).values())
    assert whole.unique == sum(n == 1 for n in Counter(rows).values()) / len(rows)
    assert len(small.digests) == min(most, len(set(rows)))
    assert small.rows == len(rows)
    below = (
        whole.digests < np.uint64(min(small.limit, ALL - 1)) if small.limit < ALL else np.ones(len(whole.digests), bool)
    )
    assert (small.digests == whole.digests[below]).all()
    assert (small.counts == whole.counts[below]).all()


def test_the_order_of_columns_and_rows_does_not_matter_and_their_names_do():
    """A second policy may name the columns in another order."""
    one, two = np.arange(50), np.arange(50)[::-1] % 7
    first, second = Sketching(["a", "b"]), Sketching(["b", "a"])
    first.update([words(one), words(two)])
    second.update([words(two[::-1]), words(one[::-1])])
    assert (first.sketch().digests == second.sketch().digests).all()
    other = Sketching(["a", "c"])
    other.update([words(one), words(two)])
    assert not set(other.sketch().digests.tolist()) & set(first.sketch().digests.tolist())


def test_nothing_is_kept_without_the_key():
    """Neither a digest of a person nor of a value is the one that anybody can compute."""
    sketch = sketch_of(np.arange(500), exact=True)
    told = kept(sketch, disease=([7, 8], [300, 200]))
    assert not set(told.digests.tolist()) & set(sketch.digests.tolist())
    assert not set(told.histograms["disease"][0].tolist()) & {7, 8}
    other = people_from_bytes(keyed_people(sketch, 500, {}, b"o" * 32).as_bytes())
    assert not set(other.digests.tolist()) & set(told.digests.tolist())


# The same people


@pytest.mark.parametrize("most", [65_536, 2_000])
@pytest.mark.parametrize(
    ("second", "common"),
    [
        (range(20_000), 20_000),
        (range(19_000), 19_000),
        (range(600, 20_600), 19_400),
        (range(19_700, 39_700), 300),
        (range(200_000), 20_000),
        (range(50), 50),
    ],
    ids=["the same", "fewer", "a few others", "hardly any", "far more", "far fewer"],
)
def test_persons_in_common_are_counted(second, common, most):
    """By name, so that chance plays no part: exactly while all fit into a sketch, and about beyond that."""
    people = kept(sketch_of(np.arange(20_000), exact=True, most=most))
    found = shared(people, sketch_of(np.array(second), most=most), KEY)
    if most > 20_000 and len(second) <= most:
        assert found == common
    elif common > 1_000:
        assert abs(found - common) < 6 * np.sqrt(common * 20_000 / most)


def test_up_to_one_in_a_hundred_is_not_the_same_people():
    """Of either table: more than that in one of them is."""
    people = kept(sketch_of(np.arange(10_000), exact=True))
    assert EXCESS == 0.01
    assert shared(people, sketch_of(np.arange(9_900, 19_900)), KEY) == 0
    assert shared(people, sketch_of(np.arange(9_899, 19_899)), KEY) == 101
    assert shared(people, sketch_of(np.arange(9_990, 10_500)), KEY) == 10


def test_persons_with_many_rows_are_counted_once():
    """A second table may have a row for each visit."""
    people = kept(sketch_of(np.arange(1_000), exact=True))
    assert shared(people, sketch_of(np.repeat(np.arange(500, 1_500), 3)), KEY) == 500


def crowd(coins: np.random.Generator, rows: int) -> list[np.ndarray]:
    """Columns that tell most people apart, and not all: some combinations are common."""
    return [
        (coins.exponential(25, rows)).astype(int),
        coins.choice(400, rows, p=(1 / np.arange(1, 401)) / (1 / np.arange(1, 401)).sum()),
        coins.integers(0, 12, rows),
        coins.integers(0, 2, rows),
    ]


@pytest.mark.parametrize("rows", [(300, 300), (3_000, 3_000), (5_000, 800), (20_000, 15_000)])
@pytest.mark.parametrize("most", [65_536, 3_000])
def test_tables_drawn_apart_have_nobody_in_common_beyond_chance(rows, most):
    """Combinations that two people have by chance are expected: 40 pairs of draws, and no alarm."""
    coins = np.random.default_rng(11)
    for _ in range(40):
        one, two = (sketch_of(*crowd(coins, number), most=most) for number in rows)
        assert one.unique > MOST
        assert shared(kept(one), two, KEY) == 0


@pytest.mark.parametrize("rows", [300, 3_000, 20_000])
def test_people_in_both_are_noticed_among_those_alike_by_chance(rows):
    """A table of which every tenth row stayed, and one with a few others, are noticed every time, and counted about
    right.
    """
    coins = np.random.default_rng(12)
    for share in (0.1, 0.97):
        for _ in range(10):
            one, two = crowd(coins, rows), crowd(coins, rows)
            stayed = int(share * rows)
            changed = [np.concatenate([a[:stayed], b[stayed:]]) for a, b in zip(one, two, strict=True)]
            found = shared(kept(sketch_of(*one)), sketch_of(*changed), KEY)
            assert 0.7 * stayed < found <= min(rows, 1.4 * stayed)


def histogram(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(column, return_counts=True)


SHAPES = {
    "two values": lambda coins, rows: coins.integers(0, 2, rows),
    "four values": lambda coins, rows: coins.choice(4, rows, p=[0.6, 0.3, 0.09, 0.01]),
    "ages": lambda coins, rows: np.clip(coins.normal(45, 20, rows), 0, 110).astype(int),
    "many values": lambda coins, rows: (coins.pareto(1, rows) * 10).astype(int),
}


@pytest.mark.parametrize("rows", [(60, 60), (2_000, 2_000), (5_000, 900)])
def test_histograms_of_tables_drawn_apart_are_not_too_close(rows):
    """Small counts, equal ones by chance, rare values, other numbers of rows: 200 pairs of draws, and no alarm."""
    coins = np.random.default_rng(13)
    least = 1.0
    for _ in range(200):
        one, two = ({name: histogram(draw(coins, n)) for name, draw in SHAPES.items()} for n in rows)
        seldom = closeness(kept(None, rows[0], **one), {k: (words(v), c) for k, (v, c) in two.items()}, KEY)
        least = min(least, seldom)
    assert CHANCE < least < 0.2


@pytest.mark.parametrize("replaced", [0.0, 0.03, 0.1])
def test_histograms_of_a_changed_table_are_too_close(replaced):
    """A table with a few per cent other rows differs less than chance would have it."""
    coins = np.random.default_rng(14)
    for _ in range(20):
        one = {name: draw(coins, 5_000) for name, draw in SHAPES.items()}
        stay = int(5_000 * (1 - replaced))
        two = {name: np.concatenate([one[name][:stay], SHAPES[name](coins, 5_000 - stay)]) for name in one}
        told = {name: histogram(column) for name, column in two.items()}
        seldom = closeness(
            kept(None, 5_000, **{name: histogram(column) for name, column in one.items()}),
            {name: (words(values), counts) for name, (values, counts) in told.items()},
            KEY,
        )
        assert seldom < CHANCE


def test_equal_counts_of_few_values_prove_nothing():
    """Fifty men and fifty women are in many tables."""
    told = {"sex": (words([1, 2]), np.array([50, 50]))}
    assert closeness(kept(None, 100, sex=([1, 2], [50, 50])), told, KEY) > 0.01
    assert closeness(kept(None, 100, other=([1, 2], [50, 50])), told, KEY) is None


# Which columns tell people apart


def apart(columns: dict[str, np.ndarray]) -> float:
    rows = list(zip(*columns.values(), strict=True))
    return sum(number == 1 for number in Counter(rows).values()) / len(rows)


@given(st.integers(0, 10_000))
def test_a_set_is_proposed_if_and_only_if_one_is_there(seed):
    """With all rows in the sample: the first proposed tells most rows apart, and no column of it can be left out."""
    coins = np.random.default_rng(seed)
    table = {f"c{place}": coins.integers(0, coins.integers(1, 40), 200) for place in range(4)}
    found = list(candidates(table, sorted(table), 1))
    assert bool(found) == (apart(table) >= MOST)
    if found:
        assert apart({name: table[name] for name in found[0]}) >= MOST
        for name in found[0] if len(found[0]) > 1 else ():
            assert apart({each: table[each] for each in found[0] if each != name}) < MOST


def test_one_column_that_differs_in_every_row_is_enough():
    """An identifier that nobody called person."""
    coins = np.random.default_rng(3)
    table = {"ssn": coins.permutation(1_000), "age": coins.integers(0, 90, 1_000), "sex": coins.integers(0, 2, 1_000)}
    assert next(candidates(table, ["age", "sex", "ssn"], 1)) == ("ssn",)

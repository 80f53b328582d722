"""Who is in which bucket: uniform over the keys, and blind to the order of the input.

Both claims are tested on the real code and, with the same statistic, on code from which a protection was removed. A
chi-square statistic is compared with a bound that it passes with a chance below 1e-8 (Laurent and Massart 2000,
Lemma 1), a correlation with 5.8 standard deviations (a chance below 1e-8); no right law is compared more than 40 times,
so the flake rate over seeds is below 1e-6. The seeds are fixed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from math import log, sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engine.duck import engine as engines
from discreet.engine.duck.database import Database
from discreet.engine.duck.parts import Rows
from discreet.ground.arrays import Ints
from discreet.mechanism import publish as publishing
from discreet.mechanism.buckets.making.slots import draw_slots, hand_out
from discreet.mechanism.buckets.planning.plan_buckets import plan_of_classes
from discreet.schema.domain import Integers, Listed
from discreet.series.coins import Coins

KEYS = 4_000
RARE = log(1e8)
FAR = 5.8


pytestmark = pytest.mark.slow  # thousands of releases


def bound(freedom: int) -> float:
    """What a chi-square variable exceeds with a chance of at most 1e-8."""
    return freedom + 2 * sqrt(freedom * RARE) + 2 * RARE


def chi_square(drawn: Sequence[object], outcomes: Sequence[object]) -> float:
    """Pearson's statistic of the draws against equal chances; a draw that is no outcome is an error."""
    place = {outcome: i for i, outcome in enumerate(outcomes)}
    counts = np.bincount([place[each] for each in drawn], minlength=len(outcomes))
    expected = len(drawn) / len(outcomes)
    return float(((counts - expected) ** 2).sum() / expected)


# Uniform over keys


def keys(how_many: int) -> Iterator[Coins]:
    """Coins with keys of their own, as a series would have them."""
    for i in range(how_many):
        yield Coins(key=hashlib.blake2b(f"key {i}".encode(), digest_size=32).digest())


def assigned(plan: discreet.BucketPlan, table: str, coins: Coins, batch: int = 4) -> tuple[int, ...]:
    """The bucket of each row of a table (one letter a row), handed out batch by batch as publishing does."""
    values = tuple(plan.allocation)
    codes = np.array([values.index(letter) for letter in table], dtype=np.int64)
    slots = draw_slots(plan, values, "random", coins)
    parts = [codes[start : start + batch] for start in range(0, len(codes), batch)]
    return tuple(np.concatenate(list(hand_out(slots.shuffled(), slots.starts, parts))).tolist())


def pairs_plan() -> discreet.BucketPlan:
    """Three buckets of one A and one B each."""
    plan = discreet.plan_buckets({"A": 3, "B": 3}, {"A": "1/2", "B": "1/2"})
    assert plan.classes == ((2, 3),)
    return plan


PAIRS = "ABBABA"


def every_pairing() -> list[object]:
    """All ways to give three A rows and three B rows the buckets 1 to 3, one of each in a bucket."""
    found: list[object] = []
    for a in permutations((1, 2, 3)):
        for b in permutations((1, 2, 3)):
            rows = {"A": iter(a), "B": iter(b)}
            found.append(tuple(next(rows[letter]) for letter in PAIRS))
    return found


def mixed_plan() -> discreet.BucketPlan:
    """Two buckets AB and two buckets ABC: which rows are together with a C is what an attacker would like to know."""
    limits = {"A": "1/2", "B": "1/2", "C": "1/3"}
    plan = plan_of_classes({"A": 4, "B": 4, "C": 2}, limits, ((2, 2), (3, 2)), (2, 3))
    assert plan.allocation == {"A": {2: 2, 3: 2}, "B": {2: 2, 3: 2}, "C": {3: 2}}
    return plan


MIXED = "AABBCABABC"


def composition_slots(buckets: tuple[int, ...]) -> tuple[str, ...]:
    """For each row, the composition of its bucket."""
    held: dict[int, str] = {}
    for bucket, letter in sorted(zip(buckets, MIXED, strict=True)):
        held[bucket] = held.get(bucket, "") + letter
    return tuple(held[bucket] for bucket in buckets)


def every_composition() -> list[object]:
    """All ways in which two of four A rows and two of four B rows are in a bucket with a C."""
    found = []
    rows = {letter: [i for i, each in enumerate(MIXED) if each == letter] for letter in "ABC"}
    halves = [(True, True, False, False), (True, False, True, False), (True, False, False, True)]
    halves += [tuple(not each for each in half) for half in halves]
    for a in halves:
        for b in halves:
            with_c = {*(row for row, yes in zip(rows["A"], a, strict=True) if yes), *rows["C"]}
            with_c |= {row for row, yes in zip(rows["B"], b, strict=True) if yes}
            found.append(tuple("ABC" if row in with_c else "AB" for row in range(len(MIXED))))
    return list(found)


LAWS = {"pairs": (pairs_plan, PAIRS), "mixed": (mixed_plan, MIXED)}


def drawn_over_keys(law: str, how_many: int = KEYS) -> list[tuple[int, ...]]:
    """The buckets of the rows of one table, for each of many keys."""
    plan, table = LAWS[law]
    made = plan()
    return [assigned(made, table, coins) for coins in keys(how_many)]


def uniformity(law: str, drawn: list[tuple[int, ...]]) -> float:
    """Chi-square over the 36 ways to fill the buckets (35 degrees of freedom)."""
    if law == "pairs":
        return chi_square(drawn, every_pairing())
    return chi_square([composition_slots(buckets) for buckets in drawn], every_composition())


def row_frequencies(drawn: list[tuple[int, ...]]) -> float:
    """How unequally often the rows of one value are in a bucket with a C: a chi-square with 3 + 3 degrees of freedom.

    A key puts 2 of a value's 4 rows there, so a row's count has variance keys / 4 and is tied to those of three others.
    """
    with_c = np.sum([[slot == "ABC" for slot in composition_slots(buckets)] for buckets in drawn], axis=0)
    rows = [i for i, letter in enumerate(MIXED) if letter in "AB"]
    return float(((with_c[rows] - len(drawn) / 2) ** 2).sum() / (len(drawn) / 3))


class Shuffler:
    """Stands in for the stream that shuffles slots, with a shuffle of its own."""

    def __init__(self, shuffle: Callable[[Ints, np.random.Generator], None], stream: np.random.Generator) -> None:
        self._shuffle, self._stream = shuffle, stream

    def shuffle(self, slots: Ints) -> None:
        self._shuffle(slots, self._stream)


def still(slots: Ints, stream: np.random.Generator) -> None:
    """The shuffle removed."""


def naive(slots: Ints, stream: np.random.Generator) -> None:
    """The classic mistake: swap every place with any place, which favours some orders by a quarter."""
    for i in range(len(slots)):
        j = int(stream.integers(len(slots)))
        slots[i], slots[j] = slots[j], slots[i]


def seldom_still(slots: Ints, stream: np.random.Generator) -> None:
    """A right shuffle, forgotten one time in six."""
    if stream.integers(6):
        stream.shuffle(slots)


def shuffle_with(patch: pytest.MonkeyPatch, shuffle: Callable[[Ints, np.random.Generator], None]) -> None:
    """Replace the shuffle of the slots, and nothing else."""
    stream = Coins.stream
    patch.setattr(
        Coins,
        "stream",
        lambda coins, purpose: (
            Shuffler(shuffle, stream(coins, purpose)) if purpose == "slots" else stream(coins, purpose)
        ),
    )


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[tuple[int, ...]]]:
    """What the real code gives, over many keys."""
    return {law: drawn_over_keys(law) for law in LAWS}


def test_all_ways_to_fill_the_buckets_are_counted():
    """36 ways in both tables, all different."""
    assert len(set(every_pairing())) == len(every_pairing()) == 36
    assert len(set(every_composition())) == len(every_composition()) == 36


@pytest.mark.parametrize("law", LAWS)
def test_over_keys_every_assignment_is_equally_likely(law, drawn):
    """Given the rows, all 36 ways to fill the buckets come equally often."""
    assert uniformity(law, drawn[law]) < bound(35)


def test_over_keys_every_row_gets_every_composition_equally_often(drawn):
    """Each of a value's rows meets each composition with the same frequency."""
    assert row_frequencies(drawn["mixed"]) < bound(6)


def test_the_same_statistics_reject_slots_in_order(monkeypatch):
    """Without the shuffle both tables are told from uniform ones, whatever the names of the buckets."""
    shuffle_with(monkeypatch, still)
    assert uniformity("pairs", drawn_over_keys("pairs")) > bound(35)
    mixed = drawn_over_keys("mixed")
    assert uniformity("mixed", mixed) > bound(35)
    assert row_frequencies(mixed) > bound(6)


def test_the_same_statistics_reject_a_shuffle_that_is_sometimes_forgotten(monkeypatch):
    """One time in six is noticed."""
    shuffle_with(monkeypatch, seldom_still)
    mixed = drawn_over_keys("mixed")
    assert uniformity("mixed", mixed) > bound(35)
    assert row_frequencies(mixed) > bound(6)


def test_the_row_frequencies_reject_a_biased_shuffle(monkeypatch):
    """The classic mistake is noticed."""
    shuffle_with(monkeypatch, naive)
    assert row_frequencies(drawn_over_keys("mixed")) > bound(6)


def test_the_stand_in_for_the_shuffle_changes_nothing_by_itself(monkeypatch):
    """With the right shuffle behind it the same assignments come out, so the rejections are due to the shuffle."""
    real = drawn_over_keys("mixed", 50)
    shuffle_with(monkeypatch, lambda slots, stream: stream.shuffle(slots))
    assert drawn_over_keys("mixed", 50) == real


# Blind to the order of the input


SHARES = {"even": (1 / 3, 1 / 3, 1 / 3), "skewed": (0.45, 0.25, 0.14, 0.1, 0.06)}
ROWS = 6_000
NUMBERS = np.random.default_rng(3).permutation(ROWS)


def release_of(shares: tuple[float, ...], to: Path, seed: int) -> pd.DataFrame:
    """The published rows of a table whose QI is a number without meaning, each with its place in the input."""
    coins = np.random.default_rng(4)
    values = [f"v{i}" for i in range(len(shares))]
    counts = np.floor(np.array(shares) * ROWS).astype(int)
    counts[0] += ROWS - counts.sum()
    policy = discreet.Policy(
        schema=discreet.Schema(
            quasi_identifiers=("number",),
            sensitive="d",
            domains={"number": Integers(low=0, high=ROWS), "d": Listed(values=tuple(values))},
        ),
        mechanism=discreet.Buckets(tolerance=discreet.Tolerance(theta=1 if len(shares) == 3 else "1.5")),
    )
    frame = pd.DataFrame({"number": NUMBERS, "d": coins.permutation(np.repeat(values, counts))})
    table = discreet.read_table(frame, policy)
    try:
        discreet.publish(table, policy, to=to, seed=seed).close()
    finally:
        table.close()
    rows = pq.read_table(to / "data" / "qit.parquet").to_pandas()
    rows["input"] = np.argsort(NUMBERS)[rows["number"]]
    return rows


def correlation(one: Ints, two: Ints) -> float:
    """Spearman's rank correlation, in standard deviations of that of unrelated columns."""
    ranks = [pd.Series(each).rank().to_numpy() for each in (one, two)]
    return float(np.corrcoef(*ranks)[0, 1] * sqrt(len(one) - 1))


def traces_of_order(rows: pd.DataFrame) -> dict[str, float]:
    """What is left of the input's order, in standard deviations: all near 0 if nothing is."""
    first = rows.groupby("BID", sort=False).nth(0)["input"].to_numpy()
    second = rows.groupby("BID", sort=False).nth(1)["input"].to_numpy()
    assert len(first) == len(second) == rows["BID"].nunique()
    return {
        "published place": correlation(rows["input"].to_numpy(), np.arange(len(rows))),
        "bucket id": correlation(rows["input"].to_numpy(), rows["BID"].to_numpy()),
        "bucket mates": correlation(first, second),
        "order in the bucket": float((2 * (first < second).sum() - len(first)) / sqrt(len(first))),
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("table", SHARES)
def test_nothing_is_left_of_the_input_order(table, seed, tmp_path):
    """Neither places, nor bucket ids, nor bucket mates, nor the order inside a bucket follow the input."""
    found = traces_of_order(release_of(SHARES[table], tmp_path / "out", seed))
    assert max(map(abs, found.values())) < FAR, found


@pytest.mark.parametrize("table", SHARES)
def test_without_the_shuffle_neighbours_of_the_input_share_buckets(table, tmp_path, monkeypatch):
    """The same statistic finds the order when the slots are not shuffled."""
    shuffle_with(monkeypatch, still)
    found = traces_of_order(release_of(SHARES[table], tmp_path / "out", 0))
    assert max(map(abs, found.values())) > FAR, found


def sort_by(patch: pytest.MonkeyPatch, order: list[str]) -> None:
    """Replace the order in which the engine writes the rows of the QIT."""
    write = engines.write_sorted

    def written(database: Database, rows: Rows, to: Path, parts: int) -> None:
        write(database, replace(rows, order=order) if to.stem == "qit" else rows, to, parts)

    patch.setattr(engines, "write_sorted", written)


ORDERS = {"not at all": ["BID * 0"], "by bucket alone": ["BID", "row_number() OVER ()"]}


@pytest.mark.parametrize(
    ("sorted_", "trace"), [("not at all", "published place"), ("by bucket alone", "order in the bucket")]
)
@pytest.mark.parametrize("table", SHARES)
def test_without_the_sort_the_input_order_is_published(table, sorted_, trace, tmp_path, monkeypatch):
    """The same statistic finds the order when rows are not sorted, or by bucket alone; verify rejects both."""
    sort_by(monkeypatch, ORDERS[sorted_])
    # what is written is looked at here as it is: discreet may refuse to open a release without order
    monkeypatch.setattr(publishing, "open_release", lambda to: SimpleNamespace(close=lambda: None))
    found = traces_of_order(release_of(SHARES[table], tmp_path / "out", 0))
    assert abs(found[trace]) > FAR, found
    broken = [check.name for check in discreet.verify(tmp_path / "out", allow_seeded=True).checks if not check.holds]
    assert "order" in broken

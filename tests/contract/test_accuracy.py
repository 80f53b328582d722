"""What bench/accuracy.py stands on: its tables, its attacker and its limits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

import discreet
from discreet.evaluate.scratch import opened, released, schema_of

BENCH = Path(__file__).parents[2] / "bench"
SHAPES = {
    "hospital": (70_000, [100, 2, 40, 4, 6, 7, 12, 30], ("ward", "admission", "diagnosis")),
    "employees": (200_000, [53, 2, 25, 12, 30, 5, 41, 20], ("department", "grade", "salary")),
    "households": (100_000, [8, 5, 50, 9, 12, 5, 7, 40], ("head", "tenure", "source")),
}


@pytest.fixture(scope="module", autouse=True)
def benches() -> Iterator[None]:
    sys.path.insert(0, str(BENCH))
    yield
    sys.path.remove(str(BENCH))


def unexplained(cells: np.ndarray) -> float:
    """Pearson's statistic of three columns against summed effects of every two of them, by degree of freedom."""
    fitted = np.ones(cells.shape)
    for _ in range(60):  # iterative proportional fitting
        for axis in range(3):
            wanted, got = cells.sum(axis=axis, keepdims=True), fitted.sum(axis=axis, keepdims=True)
            fitted *= np.divide(wanted, got, out=np.zeros_like(got), where=got > 0)
    enough = fitted >= 5
    return float(((cells[enough] - fitted[enough]) ** 2 / fitted[enough]).mean())


@pytest.mark.parametrize("name", SHAPES)
def test_made_up_tables_have_their_shape_and_are_more_than_summed_effects(name):
    """Two columns say together what they do not say one by one; values mixed within one of them say no such thing."""
    from tables import MADE_UP

    rows, sizes, columns = SHAPES[name]
    table = MADE_UP[name][0]()
    assert len(table) == rows
    assert [len(pc.unique(column)) for column in table.columns] == sizes
    assert table.column_names[-1] == MADE_UP[name][1] == columns[-1]
    one, two, value = (table[each].combine_chunks().dictionary_encode().indices.to_numpy() for each in columns)

    def cells(values: np.ndarray) -> np.ndarray:
        shape = tuple(int(each.max()) + 1 for each in (one, two, values))
        place = np.ravel_multi_index((one, two, values), shape)
        return np.bincount(place, minlength=np.prod(shape)).reshape(shape).astype(np.float64)

    coins = np.random.default_rng(1)
    mixed = value[np.lexsort((coins.random(rows), one))][np.argsort(np.argsort(one, kind="stable"))]
    assert unexplained(cells(value)) > 2
    assert unexplained(cells(mixed)) < 1.2


def test_the_attacker_knows_rows_by_their_buckets_and_is_scored_by_the_truth():
    """The coins of the seed give every published row its true value: each bucket's are its ST's; others are refused."""
    from attacker import guessed, right_from_counts, true_values
    from tables import hospital

    rows = hospital(3_000)
    mechanism = discreet.Buckets(tolerance=discreet.Tolerance(theta=8, floor="0.05"))
    policy = discreet.Policy(schema=schema_of(rows, "diagnosis"), mechanism=mechanism)
    with opened(rows, policy) as table, released(table, mechanism, 4) as release:
        found = release.composition
        truth = true_values(release, table, mechanism, 4)
        bucket = np.repeat(np.arange(len(found.ids)), found.sizes)
        st = np.zeros((len(found.ids), len(found.values)), dtype=np.int64)
        st[found.bucket, found.value] = found.count
        counted = np.zeros_like(st)
        np.add.at(counted, (bucket, truth), 1)
        assert (counted == st).all()
        with pytest.raises(AssertionError, match="coins of this seed"):
            true_values(release, table, mechanism, 5)
        members = np.split(truth, np.cumsum(found.sizes)[:-1])  # of each bucket
        certain = [members[bucket] == value for bucket, value in zip(found.bucket, found.value, strict=True)]
        assert (guessed(found, np.concatenate(certain).astype(np.float32)) == truth).all()
        sizes = found.sizes[found.bucket]
        alike = guessed(found, np.repeat(found.count / sizes, sizes))
        assert (alike == truth).mean() == pytest.approx(right_from_counts(found))


def test_honest_samples_are_counted_as_if_rows_had_been_drawn():
    """The mean error is that of samples that were drawn row by row; of all rows there is none."""
    from answers import sampled

    rows, truths = 400, np.array([1, 7, 60, 333, 400])
    matching = np.arange(rows)[:, None] < truths
    coins = np.random.default_rng(2)
    drawn = np.array([matching[coins.choice(rows, 40, replace=False)].sum(axis=0) * 10 for _ in range(20_000)])
    wanted = np.abs(drawn - truths).mean(axis=0) / truths
    assert np.mean(list(sampled(rows, truths, 0.1, range(20_000))), axis=0) == pytest.approx(wanted, rel=0.04)
    assert not np.any(list(sampled(rows, truths, 1.0, range(3))))


def test_a_figure_past_its_limit_is_said():
    """Each limit by itself: at it, nothing is over; a little past it, one line is."""
    from accuracy import Closer, Outcome, lines
    from answers import Answers, Intervals
    from judged import CASES

    def errors(mean: float, median: float) -> Answers:
        return Answers(errors=np.array([median, median, 3 * mean - 2 * median]))

    case = CASES["Adult, F"]
    some = errors(0.1, 0.05)
    near = Closer(
        unbiased=some, learned=errors(0.061, 0.026), intervals=Intervals(coverage=0.94, half_width=0.2), designs=0.94,
        loss=3.0, cpu=7.0, right=0.81, unlearned=0.7,
    )  # fmt: skip
    good = Outcome(
        uniform=some, before=some, unbiased=errors(0.23, 0.08), learned=errors(0.059, 0.024), tenth=some, half=some,
        intervals=Intervals(coverage=0.94, half_width=0.105), loss=1.4, cpu=7.0, right=(0.80, 0.81),
        unlearned=(0.7, 0.7), near=near,
    )  # fmt: skip
    assert all(holds for _, holds in lines(case, 100_000, good))
    past = [
        {"unbiased": errors(0.25, 0.08)}, {"unbiased": errors(0.23, 0.09)}, {"learned": errors(0.061, 0.024)},
        {"learned": errors(0.059, 0.026)}, {"intervals": Intervals(coverage=0.93, half_width=0.1)},
        {"intervals": Intervals(coverage=0.95, half_width=0.11)}, {"loss": 1.41}, {"cpu": 7.1}, {"right": (0.8, 0.82)},
        {"right": (0.82, 0.8)}, {"near": replace(near, learned=errors(0.063, 0.026))},
        {"near": replace(near, learned=errors(0.061, 0.028))}, {"near": replace(near, right=0.82)},
    ]  # fmt: skip
    for each in past:
        assert [holds for _, holds in lines(case, 100_000, replace(good, **each))].count(False) == 1

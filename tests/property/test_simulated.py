"""Range counts and simulated releases: exact where nothing is noisy, and as noisy as stated where something is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.evaluate.labelled import Labelled, binned, halve, synthetic
from discreet.evaluate.ranges import answers, even, ranges_of
from discreet.evaluate.simulated import (
    DIFFGEN,
    EXACT,
    FORGOTTEN,
    NOISELESS,
    STATED,
    VARIANTS,
    Simulated,
    baseline_accuracy,
    diffgens,
    drawn,
    generalized_accuracy,
    guided,
    majority_accuracy,
    one_way,
    raw_accuracy,
)
from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.making.exponential import measure_exponential
from discreet.mechanism.diffgen.making.noise import SeededNoise
from discreet.mechanism.diffgen.planning.budget import exponential_budget
from discreet.mechanism.diffgen.planning.cuts import diffgen_tree, replay
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.schema.domain import Integers, Listed

LOUD, SILENT = Fraction(1, 10), Fraction(100)


def small(rows: int = 1_500) -> Labelled:
    """Three attributes with few values, and a class that follows from two of them."""
    coins = np.random.default_rng(5)
    one, two, three = coins.integers(0, 6, rows), coins.integers(0, 3, rows), coins.integers(0, 4, rows)
    own = np.where((one > 2) & (two != 1), "yes", "no")
    table = pa.table({"one": one, "two": pa.array(list("abc")).take(pa.array(two)), "three": three, "own": own})
    domains = {
        "one": Integers(low=0, high=5),
        "two": Listed(values=("a", "b", "c")),
        "three": Listed(values=(0, 1, 2, 3), paths=tuple((str(x), f"g{x // 2}", "*") for x in range(4))),
        "own": Listed(values=("no", "yes")),
    }
    return Labelled(table, domains, "own")


def noise(seed: int = 0) -> SeededNoise:
    return SeededNoise(np.random.default_rng(seed))


def leaf_error(release: Simulated, exact: Simulated) -> float:
    return float(np.abs(release.leaves - exact.leaves).mean())


def test_rows_are_cut_two_to_one_and_nobody_is_lost():
    """The classes of both parts together are those of the table."""
    source = small()
    halves = halve(source, np.random.default_rng(0))
    assert (len(halves.train.classes), len(halves.test.classes)) == (1_000, 500)
    both = np.bincount(halves.train.classes) + np.bincount(halves.test.classes)
    assert both.tolist() == [source.table["own"].to_pylist().count(each) for each in ("no", "yes")]


def test_leaves_of_single_values_answer_every_condition_exactly():
    """And the true counts are right, counted here row by row."""
    data = ranges_of(small(), 80)
    rows = data.halves.train
    steps = [(2, 0, 0), (2, 0, 0), (2, 2, 0), (1, 0, 0), *((0, place, 1) for place in range(5))]
    cuts = replay(rows.taxonomies, steps)
    leaves = leaf_counts(rows, cuts).astype(float).reshape([*(cuts.shape[axis] for axis in cuts.axes), 2])
    assert answers(data.conditions, cuts, leaves, even(rows.taxonomies, 2)) == pytest.approx(data.truth)
    for condition, truth in zip(data.conditions, data.truth, strict=True):
        met = [all(share[rows.cells[place][i]] for place, share in condition) for i in range(len(rows.classes))]
        assert sum(met) == truth


def test_tables_answer_conditions_on_one_attribute_exactly_when_nothing_is_noisy():
    """And others as if attributes were independent given the class."""
    data = ranges_of(small(), 60)
    release = one_way(data.halves.train, SILENT, noise())
    found = answers(data.conditions, release.cuts, release.leaves, release.tables)
    single = np.array([len(condition) == 1 for condition in data.conditions])
    assert single.any()
    assert found[single] == pytest.approx(data.truth[single], abs=1e-6)
    assert np.abs(found[~single] - data.truth[~single]).max() > 1


def test_cells_wider_than_a_value_are_taken_as_even():
    """A condition that cuts a bin gets its part of it."""
    coins = np.random.default_rng(3)
    gain, own = coins.integers(0, 1_000, 300) * coins.integers(0, 2, 300), coins.choice(["no", "yes"], 300)
    domains = {"gain": binned((0, 1, 500, 1_000), (0, 1)), "own": Listed(values=("no", "yes"))}
    data = ranges_of(Labelled(pa.table({"gain": gain, "own": own}), domains, "own"), 30)
    rows = data.halves.train
    assert rows.taxonomies[0].sizes.tolist() == [1, 499, 500]
    table = rows.table(0).astype(float)
    found = answers(data.conditions, replay(rows.taxonomies, []), table.sum(axis=0), [table])
    shares = np.array([share for ((_, share),) in data.conditions])
    assert ((shares > 0) & (shares < 1)).any()
    assert found == pytest.approx(shares @ table.sum(axis=1))
    assert np.abs(found - data.truth).max() < 30


def test_all_variants_of_a_seed_share_their_tree_and_agree_without_noise():
    """At a huge epsilon every leaf is its exact count, whatever was made consistent."""
    rows = halve(small(), np.random.default_rng(0)).train
    for score in ("max", "information_gain"):
        found = diffgens(rows, SILENT, score, 4, 1)
        assert tuple(found) == VARIANTS
        assert len({each.cuts.shape for each in found.values()}) == 1
        for release in found.values():
            assert release.leaves == pytest.approx(found[NOISELESS].leaves, abs=1e-6)
            assert release.leaves.sum() == pytest.approx(len(rows.classes))


def test_the_stated_noise_is_as_many_times_larger_as_there_are_levels():
    """And only noise that forgets them is below DiffGen's; exact least squares with good budgets lies between."""
    rows = halve(small(), np.random.default_rng(0)).train
    errors = {name: [] for name in VARIANTS}
    ratios = []
    for seed in range(30):
        found = diffgens(rows, LOUD, "max", 5, seed)
        for name, release in found.items():
            errors[name].append(leaf_error(release, found[NOISELESS]))
        ratios.append(errors[STATED][-1] / errors[FORGOTTEN][-1])
    mean = {name: np.mean(each) for name, each in errors.items()}
    assert mean[NOISELESS] == 0 < mean[FORGOTTEN] < mean[DIFFGEN] < mean[EXACT] < mean[STATED]
    assert mean[DIFFGEN] == pytest.approx(2 / float(LOUD), rel=0.1)  # half of epsilon is for counts
    assert np.mean(ratios) == pytest.approx(levels(rows, 5), rel=0.1)


def levels(rows: Rows, steps: int) -> float:
    """Of the trees of that many seeds, at the mean."""
    budget = exponential_budget(LOUD, 1, steps)
    measured = [measure_exponential(rows, budget, noise(seed), "max", steps, "none") for seed in range(30)]
    return float(np.mean([len(diffgen_tree(rows.taxonomies, each.steps)[0].levels) for each in measured]))


def test_a_tree_learns_from_a_release_without_noise_what_it_learns_from_the_rows():
    """Generalized and raw; with so much noise that nothing is left it does worse than that."""
    halves = halve(small(), np.random.default_rng(0))
    assert baseline_accuracy(halves.train, halves.test) == 100.0
    least = majority_accuracy(np.bincount(halves.train.classes), halves.test)
    assert 50 < least < 80
    release = guided(halves.train, SILENT, "information_gain", noise())
    coins = np.random.default_rng(1)
    assert generalized_accuracy(release, halves.test) == 100.0
    assert raw_accuracy(release, halves.test, range(3), 1_000, coins) > 97
    lost = guided(halves.train, Fraction(1, 1_000), "information_gain", noise())
    assert generalized_accuracy(lost, halves.test) < 80


def test_drawn_rows_follow_leaves_and_tables():
    """Shares of leaves and, inside a value, shares of its table; negative leaves are never drawn."""
    rows = halve(small(), np.random.default_rng(0)).train
    exact = one_way(rows, SILENT, noise())
    cells, classes = drawn(exact, [0, 1, 2], 40_000, np.random.default_rng(2))
    assert np.bincount(classes) / 40_000 == pytest.approx(exact.leaves / exact.leaves.sum(), abs=0.01)
    for place in range(3):
        counts = np.zeros(exact.tables[place].shape)
        np.add.at(counts, (cells[place], classes), 1)
        assert counts / 40_000 == pytest.approx(exact.tables[place] / exact.leaves.sum(), abs=0.01)
    minus = Simulated(exact.cuts, np.array([-5.0, 3.0]), exact.tables, 0)
    assert set(drawn(minus, [0], 50, np.random.default_rng(0))[1].tolist()) == {1}


def test_the_synthetic_table_has_groups_above_its_long_lists():
    """And a class of two values that can be learned better than guessed."""
    source = synthetic(3_000)
    taxonomies = {each.name: each for each in source.taxonomies()}
    assert len(taxonomies["Occupation"].root.children) == 10
    assert taxonomies["Age"].ordered
    halves = halve(source, np.random.default_rng(0))
    least = majority_accuracy(np.bincount(halves.train.classes), halves.test)
    assert baseline_accuracy(halves.train, halves.test) > least + 5

"""What DiffGen is compared with, published: exact where nothing is noisy, and as noisy as stated where something is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet
from discreet.estimate.diffgen.release import DiffGenRelease
from discreet.evaluate.accuracy import baseline_accuracy, generalized_accuracy, majority_accuracy, raw_accuracy
from discreet.evaluate.labelled import Labelled, halve, synthetic
from discreet.evaluate.ranges import ranges_of
from discreet.evaluate.scratch import opened, released, true_counts
from discreet.mechanism.diffgen.making.noise import SeededNoise
from discreet.mechanism.diffgen.papers.compared import (
    CLIPPED,
    DIFFGEN,
    EXACT,
    FORGOTTEN,
    NOISELESS,
    STATED,
    Clipped,
    Noiseless,
    TablesAlone,
    WithoutLevels,
    variants,
)
from discreet.release.folder import read_manifest
from discreet.schema.domain import Integers, Listed

LOUD, SILENT = "0.1", "20"


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


HALVES = halve(small(), np.random.default_rng(0))
CLASSES = np.bincount(HALVES.source.codes(HALVES.train, "own"))


@pytest.fixture(scope="module")
def table() -> Iterator[discreet.Table]:
    """Two thirds of the rows, opened once."""
    policy = discreet.Policy(schema=HALVES.source.schema, mechanism=discreet.DiffGen(epsilon=1))
    with opened(HALVES.train, policy) as found:
        yield found


@contextmanager
def made(table: discreet.Table, mechanism: discreet.DiffGen, seed: int = 0) -> Iterator[DiffGenRelease]:
    with released(table, mechanism, seed) as release:
        assert isinstance(release, DiffGenRelease)
        yield release


def test_rows_are_cut_two_to_one_and_nobody_is_lost():
    """The classes of both parts together are those of the table."""
    assert (len(HALVES.train), len(HALVES.test)) == (1_000, 500)
    both = CLASSES + np.bincount(HALVES.tests.classes)
    assert both.tolist() == [HALVES.source.table["own"].to_pylist().count(each) for each in ("no", "yes")]


def test_true_counts_of_conditions_are_those_of_the_rows():
    """Counted here row by row, for intervals and for values of any level; the same seed asks the same."""
    data = ranges_of(small(), 40)
    assert data.conditions == ranges_of(small(), 40).conditions
    rows = data.halves.train.to_pylist()
    for condition, truth in zip(data.conditions, data.truth.tolist(), strict=True):
        parts = condition.replace(" BETWEEN ", ">=").replace('"', "").split(" AND ")
        met, low = rows, ""
        for part in parts:
            if " IN (" in part:
                name, listed = part.removesuffix(")").split(" IN (")
                values = {each.strip("'") for each in listed.split(", ")}
                met = [row for row in met if str(row[name]) in values]
            elif ">=" in part:
                low = part
            else:
                name, least = low.split(">=")
                met = [row for row in met if int(least) <= row[name] <= int(part)]
        assert len(met) == truth
    assert true_counts(data.halves.train, ["", "one < 0"]).tolist() == [1_000, 0]


def test_all_variants_of_a_seed_share_their_tree_and_agree_without_noise(table):
    """At a huge epsilon every leaf is its exact count, whatever was made consistent."""
    for score in ("max", "information_gain"):
        shapes, leaves = set(), {}
        for name, mechanism in variants(SILENT, score, 4).items():
            with made(table, mechanism, 1) as release:
                shapes.add(release.model.leaves.shape)
                leaves[name] = release.model.leaves
        assert set(leaves) == {DIFFGEN, CLIPPED, STATED, FORGOTTEN, EXACT, NOISELESS}
        assert len(shapes) == 1
        for found in leaves.values():
            assert np.abs(found - leaves[NOISELESS]).mean() < 1
            assert leaves[NOISELESS].sum() == 1_000


def test_only_noise_that_forgets_the_levels_is_below_diffgens(table):
    """Exact least squares with good budgets lies between DiffGen and the stated noise; exact counts are exact."""
    errors: dict[str, list[float]] = {}
    for seed in range(5):
        leaves = {}
        for name, mechanism in variants(LOUD, "max", 5).items():
            with made(table, mechanism, seed) as release:
                leaves[name] = release.model.leaves
        for name, found in leaves.items():
            errors.setdefault(name, []).append(float(np.abs(found - leaves[NOISELESS]).mean()))
    mean = {name: np.mean(each) for name, each in errors.items()}
    assert mean[NOISELESS] == 0 < mean[FORGOTTEN] < mean[DIFFGEN] < mean[EXACT] < mean[STATED]
    assert mean[DIFFGEN] < mean[CLIPPED]


def test_every_node_has_the_noise_of_a_leaf_where_levels_are_forgotten(table):
    """Of nodes that nobody is in, the mean size of the noise is 2 / epsilon; with the levels it is several times that.

    A discrete Laplace law of scale b has a mean size of about b, and half of epsilon is for counts.
    """
    sizes = {}
    for name in (FORGOTTEN, STATED):
        mechanism = variants(LOUD, "max", 6)[name]
        noisy = []
        for seed in range(20):
            measured = mechanism.measure(table, _noise(seed), lambda done: None)
            fields = {each.name: getattr(mechanism, each.name) for each in dataclasses.fields(mechanism)}
            exact = Noiseless(**fields).measure(table, _noise(seed), lambda done: None)
            assert measured.steps == exact.steps
            noisy += np.abs(np.subtract(measured.leaves, exact.leaves)).tolist()
        sizes[name] = np.mean(noisy)
    assert sizes[FORGOTTEN] == pytest.approx(2 / float(LOUD), rel=0.1)
    assert sizes[STATED] > 2 * sizes[FORGOTTEN]


def _noise(seed: int) -> SeededNoise:
    return SeededNoise(np.random.default_rng(seed))


def test_tables_alone_answer_conditions_on_one_attribute_and_no_leaf_is_made(table):
    """With hardly any noise; conditions on several attributes are answered as if those were independent."""
    data = ranges_of(small(), 60)
    single = np.array([condition.count('"') == 2 for condition in data.conditions])
    mechanism = TablesAlone(epsilon=SILENT)
    policy = discreet.Policy(schema=table.schema, mechanism=mechanism)
    with opened(data.halves.train, policy) as rows, made(rows, mechanism) as release:
        assert release.model.axes == []
        found = np.array([each.value for each in release.count_many(data.conditions)])
        assert data.mean_error(release) == pytest.approx(np.abs(found - data.truth).mean())
    assert single.any()
    assert np.abs(found - data.truth)[single].mean() < 1
    assert np.abs(found - data.truth)[~single].max() > 5


@pytest.mark.parametrize("kind", [WithoutLevels, Noiseless, Clipped, TablesAlone])
def test_what_is_for_simulations_is_refused_without_a_seed(kind, table, tmp_path):
    """One sentence, and no folder: some of them do not keep the epsilon that a release would state."""
    policy = discreet.Policy(schema=table.schema, mechanism=kind(epsilon=1, guide="exponential", consistency="none"))
    with pytest.raises(discreet.PolicyError, match="seed must be given"):
        discreet.publish(table, policy, to=tmp_path / "release", series=tmp_path / "a.series")
    assert not (tmp_path / "release").exists()


def test_a_scratch_release_says_that_it_is_seeded_and_is_gone_afterwards(table):
    """The check `randomness` alone fails while it is there."""
    with released(table, discreet.DiffGen(epsilon=1), 3) as release:
        verdict = discreet.verify(release.path)
        assert [check.name for check in verdict.checks if not check.holds] == ["randomness"]
        assert read_manifest(release.path).statement.numbers.leaves == release.size
        path = Path(release.path)
    assert not path.exists()


def test_a_tree_learns_from_a_release_without_noise_what_it_learns_from_the_rows(table):
    """Generalized and raw; with so much noise that nothing is left it does worse than that."""
    assert baseline_accuracy(HALVES) == 100.0
    assert 50 < majority_accuracy(CLASSES, HALVES) < 80
    with made(table, discreet.DiffGen(epsilon=SILENT)) as release:
        assert generalized_accuracy(release, HALVES) == 100.0
        assert raw_accuracy(release, HALVES, range(3), 1) > 97
        assert raw_accuracy(release, HALVES, [], 1) == majority_accuracy(CLASSES, HALVES)
    with made(table, discreet.DiffGen(epsilon="0.001")) as lost:
        assert generalized_accuracy(lost, HALVES) < 80


def test_the_synthetic_table_has_groups_above_its_long_lists():
    """And a class of two values that can be learned better than guessed."""
    source = synthetic(3_000)
    taxonomies = {each.name: each for each in source.taxonomies}
    assert len(taxonomies["Occupation"].root.children) == 10
    assert taxonomies["Age"].ordered
    halves = halve(source, np.random.default_rng(0))
    counts = np.bincount(source.codes(halves.train, source.target))
    assert baseline_accuracy(halves) > majority_accuracy(counts, halves) + 5

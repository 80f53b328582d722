"""The pure core of DiffGen: budgets add up exactly, taxonomies come from domains, releases agree with themselves."""

from fractions import Fraction

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.mechanism.diffgen.making.counting import leaf_counts
from discreet.mechanism.diffgen.making.exponential import estimated_leaves, measure_exponential
from discreet.mechanism.diffgen.making.fit import UNIT, fit_histogram, fit_leaves
from discreet.mechanism.diffgen.making.guide import specialize
from discreet.mechanism.diffgen.making.measure import measure_histogram
from discreet.mechanism.diffgen.making.measurements import measurements_from_json
from discreet.mechanism.diffgen.making.noise import SeededNoise, scale_for
from discreet.mechanism.diffgen.making.weigh import margin, weigh
from discreet.mechanism.diffgen.planning.budget import exponential_budget, histogram_budget, path_shares
from discreet.mechanism.diffgen.planning.cuts import diffgen_tree, most_steps, replay
from discreet.mechanism.diffgen.planning.rows import Rows
from discreet.mechanism.diffgen.planning.score import gain, halves, largest, private_score, sensitivity
from discreet.mechanism.diffgen.planning.tree import tree_of
from discreet.schema.domain import Integers, Listed
from discreet.schema.hierarchy import hierarchy_of_ranges
from discreet.schema.taxonomy import MOST_CELLS, taxonomy_of

epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=1000)


def schema_of(**domains):
    names = list(domains)
    return discreet.Schema(quasi_identifiers=tuple(names[:-1]), sensitive=names[-1], domains=domains)


PATHS = (("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*"))
SCHEMA = schema_of(
    age=Integers(low=0, high=9),
    letter=Listed(values=("a", "b", "c", "d"), paths=PATHS),
    colour=Listed(values=("red", "green", "blue")),
    disease=Listed(values=("flu", "hiv")),
)
TAXONOMIES = tuple(taxonomy_of(SCHEMA, name) for name in SCHEMA.quasi_identifiers)


def rows_of(number, seed=0):
    coins = np.random.default_rng(seed)
    classes = coins.integers(0, 2, number)
    age = np.clip(coins.normal(3 + 4 * classes, 2, number), 0, 9).astype(int)
    letter = (age + coins.integers(0, 2, number)) % 4
    return Rows((age, letter, coins.integers(0, 3, number)), classes, TAXONOMIES, 2)


@given(epsilons, st.lists(st.integers(1, 300), min_size=1, max_size=20))
def test_the_histogram_budget_adds_up_exactly(epsilon, cells):
    """Tables and leaves, or tables twice, cost epsilon and not a bit more."""
    budget = histogram_budget(epsilon, cells)
    assert sum(budget.tables) + budget.leaves == epsilon
    assert sum(budget.tables) + sum(budget.again) == epsilon
    assert min(budget.tables) > 0


@given(epsilons, st.integers(0, 9), st.integers(1, 20))
def test_the_exponential_budget_adds_up_exactly(epsilon, numeric, steps):
    """Every choice that may be needed is paid for, and half is left for counts."""
    budget = exponential_budget(epsilon, numeric, steps)
    assert budget.choice * (budget.splits + budget.selections) + budget.counts == epsilon


@given(epsilons, st.lists(st.integers(0, 5), max_size=12), st.sampled_from(["uniform", "geometric"]))
def test_every_path_of_a_tree_spends_the_whole_share(total, draws, rule):
    """From the root to each leaf the shares add up exactly."""
    parents = [-1] + [draw % (node + 1) for node, draw in enumerate(draws)]
    tree = tree_of(parents)
    shares = path_shares(tree, total, rule)
    for leaf in np.flatnonzero(tree.leaf):
        spent, node = Fraction(0), int(leaf)
        while node >= 0:
            spent += shares[node]
            node = parents[node]
        assert spent == total


@given(epsilons)
def test_the_scale_of_noise_is_never_too_small(epsilon):
    """1 / scale is at most epsilon in exact arithmetic, and by less than a part in 10^15."""
    exact = 1 / Fraction(scale_for(epsilon))
    assert epsilon * (1 - Fraction(1, 10**15)) <= exact <= epsilon


def test_a_taxonomy_is_made_of_the_domain_alone():
    """A hierarchy is a tree, whole numbers are an interval, a list is flat, a missing cell is a value of its own."""
    age, letter, colour = TAXONOMIES
    assert (age.ordered, letter.ordered) == (True, False)
    assert [node.label for node in letter.root.children] == ["ab", "cd"]
    assert [node.label for node in letter.root.children[0].children] == ["a", "b"]
    assert [node.label for node in colour.root.children] == ["red", "green", "blue"]
    assert [node.label for node in age.split(age.root, 4)] == ["0-3", "4-9"]
    assert most_steps(TAXONOMIES) == 9 + 3 + 1
    missing = taxonomy_of(schema_of(a=Integers(low=0, high=3, missing=True), s=Listed(values=("x", "y"))), "a")
    assert [node.label for node in missing.split(missing.root, 2)] == ["0-1", "2-3 or (missing)"]
    assert list(missing.cell_of) == [0, 1, 2, 3, 4]


def test_labels_of_a_taxonomy_are_distinct():
    """The same label on two levels is told apart, and a level with one child is passed over."""
    paths = (("x", "x", "n", "*"), ("y", "y", "n", "*"), ("n", "m", "m", "*"))
    taxonomy = taxonomy_of(schema_of(a=Listed(values=("x", "y", "n"), paths=paths), s=Listed(values=("p", "q"))), "a")
    labels = [node.label for node in taxonomy.root.walk()]
    assert len(set(labels)) == len(labels)
    assert [len(node.children) for node in taxonomy.root.walk()] == [2, 2, 0, 0, 0]


def test_large_domains_are_looked_at_in_cells():
    """Whole numbers get equal cells, a hierarchy its finest level that fits, and a long list is refused."""
    wide = Integers(low=0, high=99_999)
    assert len(taxonomy_of(schema_of(a=wide, s=Listed(values=("x", "y"))), "a")) == MOST_CELLS
    ranges = Integers(low=0, high=999, paths=hierarchy_of_ranges(0, 999, (10, 100)))
    found = taxonomy_of(schema_of(a=ranges, s=Listed(values=("x", "y"))), "a")
    assert found.labels[:2] == ("0-9", "10-19")
    assert set(found.sizes) == {10}
    many = Listed(values=tuple(f"v{i}" for i in range(MOST_CELLS + 1)))
    with pytest.raises(discreet.PolicyError, match="hierarchy"):
        taxonomy_of(schema_of(a=many, s=Listed(values=("x", "y"))), "a")


def test_scores_are_those_of_the_paper():
    """Max sums the largest class counts of the children; gain is the entropy that they save."""
    children = np.array([[4.0, 0.0], [1.0, 3.0]])
    assert largest(children) == 7
    whole, part = -(5 * np.log2(5 / 8) + 3 * np.log2(3 / 8)), -(np.log2(1 / 4) + 3 * np.log2(3 / 4))
    assert gain(children) == pytest.approx(whole - part)
    assert private_score(children, "information_gain") == pytest.approx((whole - part) / 8)
    assert private_score(np.zeros((2, 2)), "information_gain") == 0
    assert halves(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).tolist() == [[[1, 2], [8, 10]], [[4, 6], [5, 6]]]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=4), st.data())
def test_one_record_moves_a_score_by_at_most_its_sensitivity(children, data):
    """Removing any record, and Max never rises by it."""
    counts = np.array(children, dtype=float)
    full = np.argwhere(counts > 0)
    if not len(full):
        return
    row, place = full[data.draw(st.integers(0, len(full) - 1))]
    fewer = counts.copy()
    fewer[row, place] -= 1
    for score in ("max", "information_gain"):
        change = float(private_score(counts, score) - private_score(fewer, score))
        assert abs(change) <= sensitivity(score, 3) + 1e-9
    assert 0 <= largest(counts) - largest(fewer) <= 1


@pytest.mark.parametrize("score", ["max", "information_gain"])
def test_specializations_can_be_replayed(score):
    """The steps lead to the same cuts again, within the number of leaves, and as many as were asked for."""
    tables = [rows_of(500).table(position).astype(float) for position in range(3)]
    steps, cuts = specialize(tables, TAXONOMIES, score, 30)
    again = replay(TAXONOMIES, steps)
    assert again.values == cuts.values
    assert cuts.leaves <= 30
    assert len(specialize(tables, TAXONOMIES, score, 10**6, 2)[0]) == 2
    assert len(specialize(tables, TAXONOMIES, score, 10**6, 100)[0]) == most_steps(TAXONOMIES)
    with pytest.raises(discreet.PolicyError):
        replay(TAXONOMIES, [(1, 5, 0)])


def test_noise_alone_is_not_worth_a_specialization():
    """What noise would seem to tell of the class is taken off; a true relation stays."""
    coins = np.random.default_rng(0)
    noisy = [np.maximum(100 + coins.laplace(0, 20, size=(len(each), 2)), 0) for each in TAXONOMIES]
    assert len(specialize(noisy, TAXONOMIES, "information_gain", 10**6, None, [800.0] * 3)[0]) <= 4
    assert len(specialize(noisy, TAXONOMIES, "information_gain", 10**6)[0]) >= 10
    noisy[0][:5, 0] += 1_000
    steps, _ = specialize(noisy, TAXONOMIES, "information_gain", 10**6, None, [800.0] * 3)
    assert steps[0] in {(0, 0, 4), (0, 0, 5), (0, 0, 6)}


def test_the_diffgen_tree_has_the_combinations_as_leaves():
    """Each leaf of the tree is one combination, and sums over the tree are sums over combinations."""
    steps = ((0, 0, 5), (1, 0, 0), (0, 1, 2), (2, 0, 0))
    tree, nodes, places = diffgen_tree(TAXONOMIES, steps)
    cuts = replay(TAXONOMIES, steps)
    assert sorted(places) == list(range(cuts.leaves))
    assert sorted(nodes) == list(np.flatnonzero(tree.leaf))
    rows = rows_of(300)
    counts = leaf_counts(rows, cuts).reshape(-1, 2)
    own = np.zeros((len(tree), 2))
    own[nodes] = counts[places]
    assert tree.sum_up(own)[tree.root].sum() == 300
    assert len(tree.levels) == 5


def test_weighing_is_least_squares():
    """Leaves and tables weighed together equal generalized least squares over all leaves and cells."""
    steps = ((0, 0, 5), (1, 0, 0))
    cuts = replay(TAXONOMIES, steps)
    coins = np.random.default_rng(0)
    leaves = coins.normal(10, 3, size=(2, 2, 1))
    tables = [coins.normal(5, 3, size=(len(each), 1)) for each in TAXONOMIES]
    variances = [2.0, 5.0, 0.5]
    moved, agreed = weigh(leaves, 3.0, tables, variances, cuts)
    # unknown: the cells of each table, tied together by the leaves' sums
    unknown = [len(each) for each in TAXONOMIES]
    starts = np.cumsum([4, *unknown])
    rows, seen, spread = [], [], []
    for leaf in range(4):
        row = np.zeros(4 + sum(unknown))
        row[leaf] = 1
        rows.append(row), seen.append(leaves.ravel()[leaf]), spread.append(3.0)
    for position, table in enumerate(tables):
        for cell in range(len(table)):
            row = np.zeros(4 + sum(unknown))
            row[starts[position] + cell] = 1
            rows.append(row), seen.append(table[cell, 0]), spread.append(variances[position])
    for position in range(3):
        for value in range(cuts.shape[position]):
            row = np.zeros(4 + sum(unknown))
            row[starts[position] : starts[position] + unknown[position]] = cuts.groups(position) == value
            index = np.unravel_index(np.arange(4), (2, 2))
            held = index[position] == value if position < 2 else np.ones(4, dtype=bool)
            row[:4] = -held.astype(float)
            rows.append(row), seen.append(0.0), spread.append(1e-10)
    weights = 1 / np.sqrt(spread)
    solution = np.linalg.lstsq(np.array(rows) * weights[:, None], np.array(seen) * weights, rcond=None)[0]
    np.testing.assert_allclose(moved.ravel(), solution[:4], atol=1e-4)
    np.testing.assert_allclose(np.concatenate(agreed).ravel(), solution[4:], atol=1e-4)


@settings(deadline=None, max_examples=few(60))
@given(st.integers(0, 3000), st.sampled_from(["1/100", "1/10", "1", "8"]), st.sampled_from(["max", "information_gain"]))
def test_a_release_agrees_with_itself(number, epsilon, score):
    """Whatever the noise: no negative count, and every table's sums are the leaves'."""
    rows, budget = rows_of(number, seed=number), histogram_budget(Fraction(epsilon), [len(each) for each in TAXONOMIES])
    measured = measure_histogram(rows, budget, SeededNoise(np.random.default_rng(number)), score)
    assert measurements_from_json(measured.as_json()) == measured
    for weighed in (True, False):
        found = fit_histogram(measured, TAXONOMIES, 2, budget, weighed=weighed)
        assert found.leaves.min() >= 0
        for position, table in enumerate(found.tables):
            assert table.min() >= 0
            sums = np.zeros((found.cuts.shape[position], 2))
            np.add.at(sums, found.cuts.groups(position), table)
            np.testing.assert_array_equal(sums, margin(found.leaves.astype(float), found.cuts, position))


def test_few_records_give_the_tables_alone_measured_twice():
    """By the noisy total, never by the number of rows."""
    budget = histogram_budget(Fraction(1), [len(each) for each in TAXONOMIES])
    few = measure_histogram(rows_of(30), budget, SeededNoise(np.random.default_rng(0)), "max")
    many = measure_histogram(rows_of(5000), budget, SeededNoise(np.random.default_rng(0)), "max")
    assert [bool(each) for each in (few.again, few.steps, few.leaves)] == [True, False, False]
    assert [bool(each) for each in (many.again, many.steps, many.leaves)] == [False, True, True]
    assert fit_histogram(few, TAXONOMIES, 2, budget).leaves.shape == (2,)


@pytest.mark.parametrize("consistency", ["none", "exact", "paper"])
@pytest.mark.parametrize("score", ["max", "information_gain"])
def test_diffgen_recovers_a_table_without_noise(consistency, score):
    """With a huge epsilon the leaves are the true counts, on every node or on the leaves alone."""
    rows = rows_of(800)
    budget = exponential_budget(Fraction(10**6), 1, 5)
    noise = SeededNoise(np.random.default_rng(1))
    measured = measure_exponential(rows, budget, noise, score, 5, consistency)
    assert len(measured.steps) == 5
    assert 1 <= measured.splits <= budget.splits
    leaves, cuts, _ = estimated_leaves(measured, TAXONOMIES, 2, budget.counts, consistency)
    np.testing.assert_allclose(leaves.ravel(), leaf_counts(rows, cuts), atol=1e-6)
    fitted = fit_leaves(leaves, cuts, 2)
    np.testing.assert_allclose(fitted.leaves.ravel() / UNIT, leaf_counts(rows, cuts), atol=1e-3)


def test_more_specializations_than_there_are_use_what_there_is():
    """The taxonomies end before h does."""
    budget = exponential_budget(Fraction(10**6), 1, 100)
    measured = measure_exponential(rows_of(800), budget, SeededNoise(np.random.default_rng(1)), "max", 100, "none")
    assert len(measured.steps) == most_steps(TAXONOMIES)

"""Consistency is least squares on any tree, covers are minimal, and whole counts add up."""

from itertools import combinations

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.mechanism.diffgen.making.consistency import consistent
from discreet.mechanism.diffgen.making.whole import nearest_split, rounded_split
from discreet.mechanism.diffgen.papers.consistency import consistent_by_paper
from discreet.mechanism.diffgen.papers.cover import minimum_cover
from discreet.mechanism.diffgen.planning.tree import tree_of


@st.composite
def trees(draw, most=14):
    """Parents of a random tree, its nodes in random order."""
    size = draw(st.integers(1, most))
    parents = [-1] + [draw(st.integers(0, node - 1)) for node in range(1, size)]
    order = draw(st.permutations(range(size)))
    shuffled = [0] * size
    for node, parent in enumerate(parents):
        shuffled[order[node]] = -1 if parent < 0 else order[parent]
    return shuffled


@st.composite
def measured(draw):
    """A tree, counts, and variances of which some are infinite."""
    parents = draw(trees())
    number = len(parents)
    counts = draw(st.lists(st.integers(-50, 50), min_size=number, max_size=number))
    spread = st.one_of(st.sampled_from([1.0, 0.25, 7.0, 100.0]), st.just(np.inf))
    return parents, counts, draw(st.lists(spread, min_size=number, max_size=number))


def membership(parents):
    """A row for each node, a column for each leaf: whether the leaf is below the node."""
    leaves = [node for node in range(len(parents)) if node not in parents]
    matrix = np.zeros((len(parents), len(leaves)))
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            matrix[node, column] = 1
            node = parents[node]
    return matrix


def dense(parents, counts, variances):
    """Generalized least squares with all equations written out; the shortest solution where there are many."""
    matrix = membership(parents)
    known = np.isfinite(variances)
    weights = 1 / np.sqrt(np.asarray(variances)[known])
    solution = np.linalg.lstsq(matrix[known] * weights[:, None], np.asarray(counts)[known] * weights, rcond=None)[0]
    return matrix @ solution


@settings(deadline=None, max_examples=few(500))
@given(measured())
def test_consistent_equals_dense_least_squares(case):
    """Any tree, any variances, unmeasured leaves, inner nodes, roots and whole subtrees."""
    np.testing.assert_allclose(consistent(*case), dense(*case), atol=1e-8)


@settings(deadline=None)
@given(trees(), st.integers(0, 99))
def test_equal_variances_are_the_default(parents, seed):
    """Without variances all nodes count alike, and their scale does not matter."""
    counts = np.random.default_rng(seed).normal(size=len(parents))
    np.testing.assert_allclose(
        consistent(parents, counts), dense(parents, counts, np.full(len(parents), 3.0)), atol=1e-9
    )


def test_several_columns_are_several_trees():
    """Further axes are treated one by one."""
    parents, counts = [-1, 0, 0, 1, 1], np.random.default_rng(0).normal(size=(5, 3))
    found = consistent(parents, counts, [1, np.inf, 2, 3, np.inf])
    for column in range(3):
        np.testing.assert_allclose(found[:, column], consistent(parents, counts[:, column], [1, np.inf, 2, 3, np.inf]))


def test_known_counts_stay_as_they_are():
    """Variance 0 is a fact: the others make room; two facts that contradict each other are an error."""
    np.testing.assert_allclose(consistent([-1, 0, 0], [10, 3, 4], [0, 1, 1]), [10, 4.5, 5.5])
    np.testing.assert_allclose(consistent([-1, 0, 0], [10, 3, 4], [1, 0, 0]), [7, 3, 4])
    with pytest.raises(discreet.PolicyError, match="contradict"):
        consistent([-1, 0, 0], [10, 3, 4], [0, 0, 0])


@settings(deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 99))
def test_the_papers_formula_is_least_squares_on_complete_trees(fan, depth, seed):
    """On complete k-ary trees with equal noise both are the same."""
    parents, level = [-1], [0]
    for _ in range(depth - 1):
        level = [parents.append(node) or len(parents) - 1 for node in level for _ in range(fan)]
    counts = np.random.default_rng(seed).normal(size=len(parents)) * 10
    np.testing.assert_allclose(consistent_by_paper(parents, counts), consistent(parents, counts), atol=1e-9)


@settings(deadline=None)
@given(trees(), st.integers(0, 99))
def test_the_papers_formula_is_consistent_on_any_tree(parents, seed):
    """It adds up even where it is not least squares."""
    found = consistent_by_paper(parents, np.random.default_rng(seed).normal(size=len(parents)))
    tree = tree_of(parents)
    np.testing.assert_allclose(tree.sum_up(found), found, atol=1e-9)


def test_the_papers_formula_is_not_least_squares_on_an_uneven_tree():
    """The claim of an arbitrary tree does not hold."""
    parents, counts = [-1, 0, 0, 1, 1], [10.0, 7.0, 1.0, 2.0, 1.0]
    assert np.abs(consistent_by_paper(parents, counts) - consistent(parents, counts)).max() > 0.1


def test_the_papers_example_becomes_consistent():
    """[QSL] Figure 3: strings A, B, C, D, AB, CD, ABCD with noisy counts 2, 3, 0, 3, 6, 0, 7."""
    parents = [4, 4, 5, 5, 6, 6, -1]
    found = consistent(parents, [2, 3, 0, 3, 6, 0, 7])
    np.testing.assert_allclose(found, dense(parents, [2, 3, 0, 3, 6, 0, 7], np.ones(7)))
    np.testing.assert_allclose(consistent_by_paper(parents, [2, 3, 0, 3, 6, 0, 7]), found)


@settings(deadline=None)
@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.floats(0, 20), st.integers(0, 9))
def test_the_nearest_split_is_nearest(wanted, total, seed):
    """No other split into parts without a negative one is nearer."""
    coins = np.random.default_rng(seed)
    weights = coins.uniform(0.2, 3, size=len(wanted))
    found = nearest_split(np.array(wanted), total, weights)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(max(total, 0), abs=1e-9)
    for _ in range(30):
        other = coins.dirichlet(np.full(len(wanted), 0.5)) * total
        assert ((other - wanted) ** 2 / weights).sum() >= ((found - wanted) ** 2 / weights).sum() - 1e-7


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20))
def test_rounding_keeps_the_total(parts):
    """Each part goes down or up to a whole number, and the total stays."""
    total = round(sum(parts))
    found = rounded_split(np.array(parts) * (total / sum(parts) if sum(parts) else 1), total) if total else None
    if found is not None:
        assert found.sum() == total
        assert found.min() >= 0


@settings(deadline=None)
@given(trees(most=9), st.data())
def test_a_minimum_cover_is_minimal(parents, data):
    """Its leaves are the wanted ones, and brute force finds no smaller set."""
    matrix = membership(parents).astype(int)
    leaves = [node for node in range(len(parents)) if node not in parents]
    wanted = data.draw(st.sets(st.sampled_from(leaves)))
    aim = np.array([leaf in wanted for leaf in leaves], dtype=int)
    cover = minimum_cover(parents, wanted)
    np.testing.assert_array_equal(matrix[list(cover)].sum(axis=0), aim)
    for smaller in range(len(cover)):
        for nodes in combinations(range(len(parents)), smaller):
            assert not np.array_equal(matrix[list(nodes)].max(axis=0, initial=0), aim)


@pytest.mark.parametrize(
    ("parents", "why"),
    [
        ([], "one for each node"),
        ([0], "one root"),
        ([-1, -1], "one root"),
        ([-1, 2, 1], "lead back"),
        ([-1, 5], "-1 to 1"),
        ([-1, -7], "-1 to 1"),
        ([-1, 0.5], "whole numbers"),
    ],
)
def test_what_is_no_tree_is_refused(parents, why):
    """One sentence each."""
    with pytest.raises(discreet.PolicyError, match=why):
        consistent(parents, [1] * len(parents))


def test_numbers_that_do_not_fit_are_refused():
    """Wrong lengths, negative variances, missing counts."""
    with pytest.raises(discreet.PolicyError, match="counts"):
        consistent([-1, 0], [1])
    with pytest.raises(discreet.PolicyError, match="variances"):
        consistent([-1, 0], [1, 2], [1])
    with pytest.raises(discreet.PolicyError, match="0 or more"):
        consistent([-1, 0], [1, 2], [1, -1])
    with pytest.raises(discreet.PolicyError, match="finite"):
        consistent([-1, 0], [1, np.nan])
    with pytest.raises(discreet.PolicyError, match="leaves"):
        minimum_cover([-1, 0, 0], [0])

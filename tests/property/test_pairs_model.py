"""What is summed out of a model is what a sum over all combinations of cells gives, with groups and without.

The oracle is in whole.py.
"""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from whole import NUMBER, PEOPLE, Whole, seeds

from discreet.estimate.diffgen.pairs.draw import draw_cells
from discreet.estimate.diffgen.pairs.joint import Joint
from discreet.release.diffgen.pairs.elimination import eliminated, largest_clique
from discreet.release.diffgen.pairs.junction import junction_of
from discreet.release.diffgen.pairs.measured import Level
from discreet.release.diffgen.pairs.tables import pair_table, pair_tables, tables_with


@given(seeds)
def test_tables_of_two_are_those_of_the_whole(seed):
    """At any levels, of columns that hang together and of those that do not, also finer than the model's."""
    whole = Whole(seed)
    for first, second in combinations(range(NUMBER), 2):
        law = whole.over(first, second)
        for one in Level if whole.sizes[first] > 8 else [Level.CELLS]:
            for other in Level if whole.sizes[second] > 8 else [Level.CELLS]:
                place = whole.place(first, one), whole.place(second, other)
                expected = np.zeros([each.max() + 1 for each in place])
                np.add.at(expected, np.ix_(*place), law * PEOPLE)
                found = pair_table(whole.model, (first, second), (one, other))
                np.testing.assert_allclose(found, expected, rtol=1e-9)
    for chosen, found in zip(whole.measured, pair_tables(whole.model), strict=True):
        np.testing.assert_allclose(found, pair_table(whole.model, chosen.columns, chosen.levels), rtol=1e-9)


@given(seeds)
def test_tables_with_one_column_are_those_of_what_hangs_together(seed):
    """With each other column that it hangs together with, and with no other."""
    whole = Whole(seed)
    for column in range(NUMBER):
        (part,) = (each for each in whole.components() if column in each)
        found = tables_with(whole.model.beliefs, column)
        assert set(found) == part - {column}
        for other, table in found.items():
            cells = whole.over(*sorted((column, other)))
            expected = np.zeros(table.shape)
            place = np.ix_(whole.values[column], whole.values[other])
            np.add.at(expected, place, cells if column < other else cells.T)
            np.testing.assert_allclose(table, expected, rtol=1e-9)


def asked_of(whole, coins):
    """Parts of a question: columns split by chance, each part with any weights."""
    columns = coins.permutation(NUMBER)[: coins.integers(1, NUMBER + 1)]
    found = []
    while len(columns):
        size = coins.integers(1, min(3, len(columns)) + 1)
        part, columns = tuple(sorted(columns[:size].tolist())), columns[size:]
        weights = coins.random([whole.sizes[column] for column in part])
        found.append((part, np.where(coins.random(weights.shape) < 0.5, np.rint(weights), weights)))
    return found


@given(seeds)
def test_expected_people_are_a_sum_over_all_combinations(seed):
    """Of questions with parts of one column and parts that tie several, to several models at once."""
    first = Whole(seed)
    wholes, coins = [first, Whole(seed + 1, like=first)], np.random.default_rng(seed)
    joint = Joint([each.model for each in wholes])
    for _ in range(4):  # later ones take sums that earlier ones left
        asked = asked_of(first, coins)
        expected = [
            PEOPLE * (whole.law * prod(whole.on(weights, *columns) for columns, weights in asked)).sum()
            for whole in wholes
        ]
        np.testing.assert_allclose(joint.expected(asked), expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_drawn_rows_follow_the_law_of_the_whole(seed):
    """Chi-square over all combinations, fixed seeds, wrong with a probability below 1e-6; another law is refused."""
    whole, number = Whole(seed), 100_000

    def accepted(law):
        drawn = draw_cells(whole.model, number, np.random.default_rng(seed))
        seen = np.bincount(np.ravel_multi_index(drawn, whole.sizes), minlength=law.size)
        law = law.ravel()
        rare = law * number < 10
        seen, expected = ([*each[~rare], each[rare].sum()] for each in (seen, law * number))
        assert seen[-1] <= 20 + 3 * expected[-1]
        off = (np.subtract(seen[:-1], expected[:-1]) ** 2 / expected[:-1]).sum()
        return bool(chi2.sf(off, len(seen) - 1) > 1e-7)

    assert accepted(whole.law)
    assert not accepted(0.9 * whole.law + 0.1 / whole.law.size)


# Trees


@st.composite
def graphs(draw):
    """Sizes of some columns, and edges between them."""
    number = draw(st.integers(1, 7))
    edges = [pair for pair in combinations(range(number), 2) if draw(st.booleans())]
    return tuple(draw(st.lists(st.integers(1, 9), min_size=number, max_size=number))), frozenset(edges)


def reached(one, gone, edges):
    """The columns that one reaches through columns that are gone: its clique when it goes itself."""
    found, waiting = set(), [one]
    while waiting:
        at = waiting.pop()
        for pair in edges:
            if at in pair:
                other = pair[0] + pair[1] - at
                if other not in found and other != one:
                    found.add(other)
                    if other in gone:
                        waiting.append(other)
    return found - gone


@given(graphs())
def test_elimination_takes_the_cheapest_clique_each_time(graph):
    """By walking the measured pairs anew for each column; the largest clique is the largest of these."""
    sizes, edges = graph
    gone, cliques = set(), [1]
    tied = {column for pair in edges for column in pair}
    for one, others in eliminated(sizes, edges):
        cost = {column: prod(sizes[each] for each in {column} | reached(column, gone, edges)) for column in tied - gone}
        assert one == min(cost, key=lambda each: (cost[each], each))
        assert set(others) == reached(one, gone, edges)
        cliques.append(cost[one])
        gone.add(one)
    assert gone == tied
    assert largest_clique(sizes, edges) == max(cliques)


@given(graphs())
def test_junction_trees_have_every_pair_and_every_column_hangs_together(graph):
    """No clique is a part of another; where a column is in two cliques, it is in all between them."""
    sizes, edges = graph
    tree = junction_of(sizes, edges)
    cliques = [set(each) for each in tree.cliques]
    assert not any(
        one <= other for place, one in enumerate(cliques) for other in cliques[:place] + cliques[place + 1 :]
    )
    for pair in edges:
        assert set(pair) <= set(tree.cliques[tree.holder(pair)])
    for at, parent in enumerate(tree.parents):
        assert parent == -1 or parent > at
        assert set(tree.separators[at]) == (cliques[at] & cliques[parent] if parent >= 0 else set())
        assert {each for each, above in enumerate(tree.parents) if at in (above,)} | {parent} - {-1} == set(
            tree.near[at]
        )
    for column in range(len(sizes)):
        places = {at for at, clique in enumerate(cliques) if column in clique}
        assert tree.home[column] in places
        tops = [at for at in places if tree.parents[at] not in places]
        assert len(tops) == 1

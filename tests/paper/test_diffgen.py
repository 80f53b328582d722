"""The numbers of [QSL]: Tables I and II, Figure 3 and Example 3, as they are when computed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.evaluate.reproduce.diffgen_example import OURS, PRINTED
from discreet.evaluate.reproduce.diffgen_trees import (
    NAMES,
    NOISY,
    PARENTS,
    TRUE,
    by_the_letter,
    changed_by_one_record,
    cover,
    differing_trees,
    edges,
    frequency_matrix,
    generalized_table,
    inconsistency,
    squared_error,
    variance,
)
from discreet.evaluate.reproduce.printed import NO, YES, tally
from discreet.mechanism.diffgen.making.consistency import consistent
from discreet.mechanism.diffgen.papers.consistency import consistent_by_paper


def least_squares() -> np.ndarray:
    """Figure 3's consistent counts by plain least squares over the four leaves."""
    sums = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    leaves = np.linalg.lstsq(sums.astype(float), np.array(NOISY, dtype=float), rcond=None)[0]
    return sums @ leaves


def test_tables_i_and_ii_count_what_they_show():
    """Both hold as printed."""
    assert frequency_matrix() == [(0, 2), (1, 1), (1, 2), (1, 0)]
    assert generalized_table() == {
        ("Asian Country", "15-24"): 3,
        ("Asian Country", "25-39"): 2,
        ("American Country", "15-24"): 0,
        ("American Country", "25-39"): 3,
    }


def test_one_record_moves_a_count_at_every_level():
    """Three counts on a tree of two edges: the sensitivity is not the height."""
    assert (edges(), changed_by_one_record()) == (2, 3)


def test_figure_3_is_consistent_before_the_noise_and_not_after():
    """By at most 3, at CD."""
    assert inconsistency(PARENTS, TRUE) == 0
    assert inconsistency(PARENTS, NOISY) == 3


def test_algorithm_2_by_the_letter_is_not_defined_at_leaves():
    """ChildNum of a leaf is 0; inner nodes get 6.5 and 0.5 from raw counts and the root keeps its 7."""
    found = dict(zip(NAMES, by_the_letter(PARENTS, NOISY), strict=True))
    assert (found["AB"], found["CD"], found["ABCD"]) == (6.5, 0.5, 7.0)
    assert all(math.isnan(found[name]) for name in "ABCD")


def test_with_the_parents_childnum_it_is_consistent_but_not_least_squares():
    """The first pass changes nothing, and the squared error grows from 27 to 30.75."""
    found = by_the_letter(PARENTS, NOISY, at_parent=True)
    assert found == [2.75, 3.75, -1.25, 1.75, 6.5, 0.5, 7.0]
    assert inconsistency(PARENTS, found) == 0
    assert (squared_error(NOISY), squared_error(found)) == (27, 30.75)
    assert not np.allclose(found, least_squares())


def test_as_meant_it_is_least_squares_on_figure_3():
    """By hand: A = 50/21, AB = 121/21, ABCD = 48/7; the squared error falls to 23.6."""
    meant = consistent_by_paper(PARENTS, NOISY)
    by_hand = [Fraction(x, 21) for x in (50, 71, -20, 43, 121, 23, 144)]
    assert meant.tolist() == pytest.approx([float(each) for each in by_hand])
    assert meant == pytest.approx(least_squares())
    assert consistent(PARENTS, NOISY) == pytest.approx(least_squares())
    assert squared_error(meant) == pytest.approx(23.619, abs=1e-3)


def test_on_an_arbitrary_tree_the_formula_is_not_least_squares():
    """On most random trees of up to 15 nodes."""
    assert differing_trees(200) > 150


def test_covers_of_example_3():
    """ABCD is one node, BCD two; neighbours without a common node stay apart."""
    assert (cover("ABCD"), cover("BCD"), cover("AD"), cover("AB")) == ("ABCD", "B + CD", "A + D", "AB")


def test_on_three_levels_every_count_is_worse_at_the_same_epsilon():
    """Leaves alone have a variance of 2 / eps^2 each; nine times that at every node costs more than covers save."""
    for letters in ("A", "AB", "BCD", "ABCD"):
        assert variance(letters, "leaves") < variance(letters, "consistent") < variance(letters, "cover")
    assert [variance("ABCD", how) for how in ("leaves", "cover")] == [8, 18]
    assert variance("ABCD", "consistent") == pytest.approx(72 / 7)


def test_four_of_the_seven_printed_statements_hold():
    """Not: the height as sensitivity, Algorithm 2 by the letter, Hay's adjustment on any tree. Ours are not counted."""
    rows = [each.row() for each in (*PRINTED, *OURS)]
    assert tally(rows) == {YES: 4, NO: 3}
    wrong = {row[1]: (row[3], row[4]) for row in rows if row[5] == NO}
    assert wrong == {
        "Theorem III.1": (2, 3),
        "Algorithm 2": (0, "not defined"),
        "section III.C": ("any", "complete ones"),
    }
    assert all(row[3] is None and row[5] == "" for row in rows[len(PRINTED) :])

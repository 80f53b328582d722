"""The classifier: C4.5's pessimistic errors, and a tree that keeps what is there and drops what is not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.evaluate.classify import encode, grow, pessimistic


def test_pessimistic_errors_are_those_of_the_book():
    """U(0, 6) = .206, U(0, 9) = .143, U(0, 1) = .750; U(1, 16) is .160 exactly, where the book's table has .157."""
    rates = pessimistic(np.array([0.0, 0, 0, 1]), np.array([6.0, 9, 1, 16])) / [6, 9, 1, 16]
    assert rates.round(3).tolist() == [0.206, 0.143, 0.75, 0.16]
    assert (1 - rates[3]) ** 16 + 16 * rates[3] * (1 - rates[3]) ** 15 == pytest.approx(0.25)
    assert pessimistic(np.array([3.0]), np.array([3.0])).tolist() == [3.0]


def test_the_books_subtree_is_replaced_by_a_leaf():
    """Branches of 6, 9 and 1 records, one of them of the other class: 3.27 expected errors against 2.55."""
    values = np.repeat([0, 1, 2], [6, 9, 1])
    features = encode([values], [3], [False])
    classes = (values == 2).astype(np.int64)
    assert grow(features, classes).leaves == 1
    assert grow(np.tile(features, (20, 1)), np.tile(classes, 20)).leaves == 2  # with 20 times the records it is kept


def test_a_class_that_depends_on_two_attributes_is_learned_exactly():
    """Four cells, three of one class: an and of two columns, whatever the names of the classes."""
    one, other = np.divmod(np.arange(400) % 4, 2)
    features = encode([one, other], [2, 2], [False, False])
    classes = np.where((one == 1) & (other == 1), 7, 3)
    tree = grow(features, classes)
    assert tree.accuracy(features, classes) == 100.0
    assert tree.leaves == 3


def test_pruning_drops_what_is_noise():
    """Classes drawn without looking at the rows: far fewer leaves, and no worse on fresh rows."""
    coins = np.random.default_rng(0)
    columns = [coins.integers(0, 6, 4_000) for _ in range(4)]
    classes = (coins.random(4_000) < 0.25).astype(np.int64)
    features = encode(columns, [6] * 4, [False, False, True, True])
    train, test = slice(0, 3_000), slice(3_000, None)
    whole = grow(features[train], classes[train], confidence=None)
    pruned = grow(features[train], classes[train])
    assert pruned.leaves < whole.leaves / 3
    assert pruned.accuracy(features[test], classes[test]) > whole.accuracy(features[test], classes[test]) + 2


@settings(max_examples=few(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 4)), min_size=1, max_size=12))
def test_a_weight_is_a_row_so_many_times(rows):
    """And a row of weight 0 is none; a release of no people is refused."""
    value, own, weight = (np.array(column) for column in zip(*rows, strict=True))
    features = encode([value], [4], [True])
    if not weight.any():
        with pytest.raises(DiscreetError, match="weights must hold one above 0"):
            grow(features, own, weight)
        return
    weighted = grow(features, own, weight)
    repeated = grow(np.repeat(features, weight, axis=0), np.repeat(own, weight))
    assert weighted.predict(features).tolist() == repeated.predict(features).tolist()
    assert weighted.leaves <= grow(features, own, weight, confidence=None).leaves


def test_codes_become_columns():
    """Ordered codes and two values stay one column; others get one for each value."""
    features = encode([np.array([0, 2]), np.array([1, 0]), np.array([5, 3])], [3, 2, 9], [False, False, True])
    assert features.tolist() == [[1, 0, 0, 1, 5], [0, 0, 1, 0, 3]]


def test_without_scikit_learn_there_is_one_sentence(monkeypatch):
    """Which package to install."""
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(DiscreetError, match="pip install scikit-learn"):
        grow(np.zeros((2, 1), dtype=np.float32), np.array([0, 1]))

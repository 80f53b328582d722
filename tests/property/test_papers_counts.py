"""The papers' random counts: how many columns and values each asks for, exactly, and their true counts."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.evaluate.papers_form import at_least, nearest, random_queries
from discreet.evaluate.scratch import true_counts

SIZES = {"a": 70, "b": 2, "c": 5, "d": 3, "e": 2, "f": 4, "g": 2, "h": 3, "i": 2, "secret": 30}  # nine and one


@pytest.fixture(scope="module")
def people() -> pa.Table:
    coins = np.random.default_rng(5)
    return pa.table({name: [str(code) for code in coins.integers(0, size, 3_000)] for name, size in SIZES.items()})


@given(size=st.integers(1, 10_000), columns=st.integers(2, 8))
def test_values_are_the_fewest_of_which_one_combination_in_a_hundred_matches(size, columns):
    """ceil(|D| .01^(1/columns)): no fewer would match 1 % of as many equal domains."""
    found = at_least(size, columns)
    assert 1 <= found <= size
    assert 100 * found**columns >= size**columns
    assert found == 1 or 100 * (found - 1) ** columns < size**columns
    assert abs(nearest(size, columns) - found) <= 1


def test_counts_ask_for_one_to_seven_columns_and_the_sensitive_one(people):
    """Every number of columns is as likely as any other, each column has its number of values, and somebody matches."""
    wheres, truths = random_queries(people, "secret", 700, seed=3, values_of=at_least)
    columns = Counter()
    for where in wheres:
        wanted = {name: listed.count("'") // 2 for name, listed in re.findall(r'"(\w+)" IN \(([^)]*)\)', where)}
        assert wanted == {name: at_least(SIZES[name], len(wanted)) for name in wanted}
        assert "secret" in wanted
        columns[len(wanted) - 1] += 1
    assert sorted(columns) == [1, 2, 3, 4, 5, 6, 7]
    assert min(truths) > 0
    assert truths.tolist() == true_counts(people, wheres).tolist()

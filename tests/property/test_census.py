"""The synthetic census: the papers' domains and frequencies, exactly, and columns that are related."""

import time
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from cases import few
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from discreet.datasets.census import bootstrap, synthetic_census
from discreet.errors import TableError

SIZES = {
    "Age": 76,
    "Gender": 2,
    "Education": 14,
    "Marital": 6,
    "Race": 9,
    "WorkClass": 10,
    "Country": 83,
    "Occupation": 50,
}
ROWS = 300_000


@pytest.fixture(scope="module")
def census():
    return synthetic_census(ROWS)


def shares(table: pa.Table, column: str) -> np.ndarray:
    """The shares of the values that occur, the largest first."""
    counts = table[column].value_counts().field("counts").to_numpy(zero_copy_only=False)
    return np.sort(counts)[::-1] / table.num_rows


def by_value(table: pa.Table, column: str) -> dict[object, int]:
    return {each["values"]: each["counts"] for each in table[column].value_counts().to_pylist()}


def relation(table: pa.Table, one: str, other: str) -> tuple[float, float]:
    """Chi-square per degree of freedom (about 1 if unrelated), and Cramér's V."""
    left, right = (table[name].combine_chunks().dictionary_encode() for name in (one, other))
    crossed = np.zeros((len(left.dictionary), len(right.dictionary)))
    np.add.at(crossed, (left.indices.to_numpy(), right.indices.to_numpy()), 1)
    found = chi2_contingency(crossed)
    return found.statistic / found.dof, np.sqrt(found.statistic / table.num_rows / (min(crossed.shape) - 1))


@pytest.mark.parametrize("rows", [5_000, 5_003, ROWS])
def test_domains_are_as_large_as_the_papers(rows):
    """From 5,000 rows on every value occurs; ages are the whole numbers 17 to 92, and the rest readable texts."""
    table = synthetic_census(rows)
    assert table.num_rows == rows
    assert {name: len(table[name].unique()) for name in table.column_names} == SIZES
    assert set(table["Age"].to_pylist()) == set(range(17, 93))
    assert "Occupation-07" in table["Occupation"].to_pylist()
    assert all(pa.types.is_string(table[name].type) for name in SIZES if name != "Age")


def test_frequencies_end_where_the_papers_do(census):
    """Occupation from 0.18 % to 7.5 %, Education from 0.44 % to 27.3 %, and no step between is wild."""
    for name, low, high in (("Occupation", 0.0018, 0.075), ("Education", 0.0044, 0.273)):
        found = shares(census, name)
        assert found[-1] == pytest.approx(low, abs=1 / ROWS)
        assert found[0] == pytest.approx(high, abs=1 / ROWS)
        ratios = [small / large for large, small in pairwise(found)]
        assert max(ratios) < 1
        assert min(ratios) > 0.85 * (low / high) ** (1 / (len(found) - 1))


def test_the_other_columns_are_skewed_as_in_a_census(census):
    """Gender about even, one race and one country dominant, and an attribute's first value far before its last."""
    assert shares(census, "Gender")[0] < 0.53
    assert shares(census, "Race")[0] == pytest.approx(0.8)
    assert shares(census, "Country")[0] == pytest.approx(0.9)
    assert shares(census, "WorkClass")[0] == pytest.approx(0.62)
    assert shares(census, "Marital")[0] == pytest.approx(0.52)
    assert shares(census, "Age")[0] < 0.03


@given(st.integers(1, 3_000), st.integers(0, 2**32))
@settings(max_examples=few(40), deadline=None)
def test_the_seed_moves_rows_and_never_a_count(rows, seed):
    """Every column's counts depend on the number of rows alone, and are the large table's shares, rounded."""
    table, other = synthetic_census(rows, seed), synthetic_census(rows, seed + 1)
    large = synthetic_census_at_large()
    for name in table.column_names:
        counts = by_value(table, name)
        assert counts == by_value(other, name)
        for value, count in by_value(large, name).items():
            assert abs(counts.get(value, 0) - rows * count / large.num_rows) < 1.02


_LARGE: list[pa.Table] = []


def synthetic_census_at_large() -> pa.Table:
    """One table for all examples above."""
    if not _LARGE:
        _LARGE.append(synthetic_census(ROWS))
    return _LARGE[0]


def test_the_same_seed_gives_the_same_table(census):
    """And another seed another one."""
    assert synthetic_census(ROWS).equals(census)
    assert synthetic_census(2_000, seed=5).equals(synthetic_census(2_000, seed=5))
    assert not synthetic_census(2_000, seed=5).equals(synthetic_census(2_000, seed=6))


@pytest.mark.parametrize(
    ("one", "other", "least"),
    [
        ("Education", "Occupation", 0.15),
        ("Gender", "Occupation", 0.3),
        ("Age", "Occupation", 0.08),
        ("Age", "Education", 0.1),
        ("Age", "Marital", 0.3),
        ("Race", "Country", 0.1),
    ],
)
def test_columns_are_related(census, one, other, least):
    """Far above independence, where chi-square per degree of freedom is about 1; and strong, not only significant."""
    ratio, strength = relation(census, one, other)
    assert ratio > 10
    assert strength > least


def test_a_shuffled_column_is_not_related(census):
    """The measure used above rejects: with occupations shuffled it sees no relation."""
    shuffled = pa.array(np.random.default_rng(1).permutation(ROWS))
    mixed = census.set_column(7, "Occupation", census["Occupation"].take(shuffled))
    assert relation(mixed, "Education", "Occupation")[0] < 1.5
    assert relation(mixed, "Gender", "Occupation")[0] < 2.5


def test_half_a_million_rows_take_seconds():
    """Processor time, so that a busy machine does not matter."""
    start = time.process_time()
    synthetic_census(500_000)
    assert time.process_time() - start < 6  # about 1 on an idle machine


def test_bootstrap_draws_rows_of_the_table_with_replacement(census):
    """Whole rows, of the same types, as many as asked, the same for a seed."""
    few = census.slice(10, 50)
    drawn = bootstrap(few, 1_000, seed=3)
    assert drawn.schema == few.schema
    assert drawn.num_rows == 1_000
    rows = {tuple(row.values()) for row in few.to_pylist()}
    found = {tuple(row.values()) for row in drawn.to_pylist()}
    assert found <= rows
    assert len(found) == len(rows)  # a row of 50 misses 1,000 draws with probability below 2e-9
    assert drawn.equals(bootstrap(few, 1_000, seed=3))
    assert not drawn.equals(bootstrap(few, 1_000, seed=4))


def test_bootstrap_keeps_frequencies_beyond_one_batch():
    """More rows than one batch, from a table of several chunks."""
    table = pa.concat_tables([pa.table({"x": ["a"] * 3}), pa.table({"x": ["b"]})])
    drawn = bootstrap(table, 2_500_000)
    assert drawn.num_rows == 2_500_000
    assert pc.mean(pc.equal(drawn["x"], "a")).as_py() == pytest.approx(0.75, abs=0.002)  # seven standard errors


@pytest.mark.parametrize("rows", [0, -1])
def test_no_rows_are_refused(rows):
    """In a sentence that names the number."""
    with pytest.raises(TableError, match=f"rows \\({rows}\\) must be at least 1"):
        synthetic_census(rows)
    with pytest.raises(TableError, match="must be at least 1"):
        bootstrap(pa.table({"x": [1]}), rows)
    with pytest.raises(TableError, match="must have a row"):
        bootstrap(pa.table({"x": pa.array([], pa.int64())}), 5)

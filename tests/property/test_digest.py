"""The digest of a table's rows: the same for the same rows, another for any others, and nothing without the key."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.schema.domain import Integers, Listed
from discreet.series.digest import RowDigest

COLUMNS = {
    "a": Integers(low=-3, high=4),
    "b": Listed(values=("x", "y", "z")),
    "c": Listed(values=("x", "y", "z"), missing=True),
    "d": Listed(values=(7, -1, 4)),
}
REORDERED = {
    "a": Integers(low=-3, high=4),
    "b": Listed(values=("z", "x", "y")),
    "c": Listed(values=("y", "z", "x"), missing=True),
    "d": Listed(values=(4, 7, -1)),
}
SIZES = tuple(len(domain) for domain in COLUMNS.values())
KEY = bytes(range(32))
Row = tuple[int, ...]
rows_of = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES)), min_size=1, max_size=12)


def digest_of(rows: list[Row], order: tuple[int, ...] = (0, 1, 2, 3), key: bytes = KEY, cut: int = 0) -> RowDigest:
    """The digests of rows of codes, with the columns in some order, fed in one batch or two."""
    names = list(COLUMNS)
    digest = RowDigest(key, [(names[i], COLUMNS[names[i]].encoding) for i in order])
    for part in (rows[:cut], rows[cut:]):
        digest.update([np.array([row[i] for row in part], dtype=np.int64) for i in order])
    return digest


@given(rows_of, st.randoms(use_true_random=False), st.permutations(range(4)), st.integers(0, 12))
def test_the_digest_ignores_the_order_of_rows_and_columns(rows, coins, order, cut):
    """And how the rows come in batches."""
    shuffled = coins.sample(rows, len(rows))
    assert digest_of(rows).rows == digest_of(shuffled, tuple(order), cut=cut).rows


@given(rows_of, st.data())
def test_any_changed_cell_changes_the_digest(rows, data):
    """One cell of one row, in any column."""
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 3))
    value = data.draw(st.integers(0, SIZES[column] - 1).filter(lambda value: value != rows[row][column]))
    changed = [*rows]
    changed[row] = (*rows[row][:column], value, *rows[row][column + 1 :])
    assert digest_of(rows).rows != digest_of(changed).rows
    assert digest_of(rows).ordered != digest_of(changed).ordered


@given(rows_of, rows_of)
def test_tables_have_the_same_digest_only_if_they_have_the_same_rows(one, two):
    """As multisets: rows added, removed, doubled, or with cells swapped between rows or columns."""
    assert (digest_of(one).rows == digest_of(two).rows) == (sorted(one) == sorted(two))
    assert (digest_of(one).ordered == digest_of(two).ordered) == (one == two)


@given(rows_of, st.data())
def test_cells_swapped_between_two_rows_change_the_digest(rows, data):
    """The columns alone stay the same, yet the people are others."""
    column = data.draw(st.integers(0, 3))
    one, two = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, len(rows) - 1))
    swapped = [list(row) for row in rows]
    swapped[one][column], swapped[two][column] = swapped[two][column], swapped[one][column]
    found = [tuple(row) for row in swapped]
    assert (digest_of(rows).rows == digest_of(found).rows) == (sorted(rows) == sorted(found))


@given(rows_of)
def test_the_digest_needs_the_key(rows):
    """Without the key nobody can compare a guess with it."""
    assert digest_of(rows).rows != digest_of(rows, key=bytes(32)).rows
    assert digest_of(rows).ordered != digest_of(rows, key=bytes(32)).ordered


@given(rows_of)
@settings(max_examples=30)
def test_values_listed_in_another_order_give_the_same_digest(rows):
    """The digest is of the values, not of their places in the policy."""
    digest = RowDigest(KEY, [(name, domain.encoding) for name, domain in REORDERED.items()])
    values = [[list(domain)[row[i]] for row in rows] for i, domain in enumerate(COLUMNS.values())]
    digest.update(
        [
            np.array([list(domain).index(value) for value in column], dtype=np.int64)
            for domain, column in zip(REORDERED.values(), values, strict=True)
        ]
    )
    assert digest.rows == digest_of(rows).rows
    assert digest.ordered == digest_of(rows).ordered

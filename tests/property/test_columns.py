"""Between Arrow and numpy: the same numbers and texts, whatever they are, and nothing that is missing."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet.engine.columns import column_of, numbers, texts_of

KINDS = st.sampled_from([np.uint8, np.uint16, np.int32, np.int64, np.float64])


@given(arrays.arrays(KINDS, st.integers(0, 20)), st.integers(1, 3))
def test_numbers_come_back_as_they_were(values, step):
    """Also of a slice that is not in one piece; what is read may not be written to."""
    some = values[::step]
    found = numbers(column_of(some))
    assert found.dtype == some.dtype
    assert found.tobytes() == some.tobytes()
    assert not found.flags.writeable or not len(found)


@given(arrays.arrays(KINDS, st.integers(0, 20)), st.lists(st.integers(0, 20), max_size=4))
def test_a_column_in_pieces_is_one_array(values, cuts):
    """None, one or several pieces, some of them empty."""
    pieces = [column_of(piece) for piece in np.split(values, sorted(cuts))] if cuts else []
    found = numbers(pa.chunked_array(pieces, type=pa.from_numpy_dtype(values.dtype)))
    assert found.tobytes() == (values.tobytes() if cuts else b"")


@given(st.lists(st.text(), max_size=20))
def test_texts_are_those_that_were_given(texts):
    """Empty ones and any sign too."""
    column = texts_of(texts)
    column.validate(full=True)
    assert column.to_pylist() == texts


@pytest.mark.parametrize("column", [pa.array([1, None]), pa.array(["a"]), pa.array([True])], ids=str)
def test_what_is_missing_or_no_number_is_refused(column):
    """Never a number that nobody wrote."""
    with pytest.raises(TypeError):
        numbers(column)

"""A cell has one digest, whoever computes it and however it is written."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cases import CASES, policy_of, ward_frame
from hypothesis import example, given
from hypothesis import strategies as st

import discreet
from discreet.engine.digest import digest_of
from discreet.engine.duck.engine import DuckEngine
from discreet.engine.encoding import Encoding
from discreet.engine.source import CsvFiles, InMemory

BIGINT = st.integers(-(2**63), 2**63 - 1)
SPACED = st.text(" \t0123456789+-aé\U0001f9ec", max_size=6)
NUMBERS = st.from_regex(r"[+-]?0{0,30}[0-9]{0,30}", fullmatch=True)
TEXTS = st.one_of(st.none(), st.text().filter(lambda text: "\0" not in text), SPACED, NUMBERS)


def digests(column: pa.Array) -> list[int]:
    """What the engine says of a column in memory."""
    engine = DuckEngine()
    engine.open(InMemory(columns=pa.table({"cell": column})), [])
    try:
        return [int(each) for (batch,) in engine.digests(["cell"]) for each in batch]
    finally:
        engine.close()


@given(st.lists(TEXTS, min_size=1, max_size=30))
@example([f"{space}7{space}" for space in map(chr, range(1, 0x3001)) if space.isspace() or space < "!"])
def test_text_has_the_digest_that_python_gives_it(cells):
    """Leading zeros, signs, spaces, digits beyond BIGINT, any script, the empty text and the empty cell."""
    assert digests(pa.array(cells, pa.string())) == [digest_of(cell) for cell in cells]


@given(st.lists(st.one_of(st.none(), BIGINT), min_size=1, max_size=30))
def test_whole_numbers_have_one_digest_in_every_type(cells):
    """As numbers, as digits, and as digits with zeros and a plus in front."""
    expected = [digest_of(cell) for cell in cells]
    assert digests(pa.array(cells, pa.int64())) == expected
    assert digests(pa.array([None if cell is None else str(cell) for cell in cells], pa.string())) == expected
    long = [None if cell is None else f"{'-' if cell < 0 else '+'}000{abs(cell)}" for cell in cells]
    assert digests(pa.array(long, pa.string())) == expected
    assert [digest_of(cell) for cell in long] == expected
    exact = pa.array([None if cell is None else decimal.Decimal(cell) for cell in cells], pa.decimal128(38, 2))
    assert digests(exact) == expected


@given(st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=30))
def test_fractions_that_are_whole_have_the_digest_of_the_number(cells):
    assert digests(pa.array([float(cell) for cell in cells], pa.float64())) == [digest_of(cell) for cell in cells]


def test_other_types_have_the_digest_of_their_text():
    """Fractions, dates, yes or no, lists; a number beyond BIGINT keeps its digits."""
    day = np.array(["2024-02-29"], dtype="datetime64[D]")
    for column, text in (
        (pa.array([2.5, -0.0, float("inf"), float("nan"), 1e30]), ["2.5", "0", "inf", "nan", "1e+30"]),
        (pa.array(day), ["2024-02-29"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([[7], [1, 2]]), ["[7]", "[1, 2]"]),
        (pa.array([2**64 - 1], pa.uint64()), [str(2**64 - 1)]),
        (pa.array([decimal.Decimal("7.10")]), ["7.10"]),
        (pa.array(["07", None]).dictionary_encode(), ["7", None]),
        (pa.array([b"07", None]), ["7", None]),
    ):
        assert digests(column) == [digest_of(each) for each in text], column.type


def test_an_empty_text_is_not_an_empty_cell():
    """Nor is a cell of spaces."""
    assert digest_of("") == digest_of("  ")
    assert digest_of(None) not in (digest_of(""), digest_of(" "), digest_of("None"), digest_of("NULL"))
    assert digest_of("0" * 9000 + "7") == digest_of(7)


CELLS = ["02139", "2139", "+7", " a b ", "é", "9" * 30, "", "x,y", '"q"']


def test_kept_digests_are_those_of_the_file(tmp_path):
    """Text is parsed once: what was kept beside the rows and a second look at the file say the same."""
    path = tmp_path / "rows.csv"
    pd.DataFrame({"who": CELLS, "other": CELLS[::-1], "age": range(len(CELLS))}).to_csv(path, index=False)
    engine = DuckEngine()
    engine.open(CsvFiles(paths=(path,), delimiter=",", quote='"', header=True), ["age"])
    engine.encode({"age": ("age", Encoding(range(20)))}, ["who"])
    expected = [digest_of(cell or None) for cell in CELLS]
    assert [int(each) for (batch,) in engine.digests(["who"]) for each in batch] == expected
    both = [[int(each) for each in column] for batch in engine.digests(["other", "who"]) for column in batch]
    assert both == [expected[::-1], expected]
    assert engine.persons("who") == (len(CELLS), len(CELLS) - 2, 1)  # 02139 is 2139
    path.unlink()
    assert [int(each) for (batch,) in engine.digests(["who"]) for each in batch] == expected
    engine.close()


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_table_gives_the_digests_of_any_column(name, tmp_path):
    """In the order of its rows, by the source's names, which it tells; a file that changed is noticed."""
    frame = ward_frame().rename(columns=str.upper).assign(Beside=[f"0{each}" for each in range(len(ward_frame()))])
    path = tmp_path / name
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    with discreet.read_table(path, policy_of(CASES[0], tmp_path)) as table:
        assert table.columns == tuple(frame.columns)
        assert all(table.given[each] == each.upper() for each in table.schema.columns)
        heard: list[float] = []
        found = [np.concatenate(each) for each in zip(*table.digests("Beside", "AGE", tell=heard.append), strict=True)]
        assert found[0].dtype == np.uint64
        assert found[0].tolist() == [digest_of(each) for each in range(table.rows)]
        assert found[1].tolist() == [digest_of(int(each)) for each in frame["AGE"]]
        assert heard[-1] == 1.0
        path.unlink()
        with pytest.raises(discreet.TableError, match="changed"):
            list(table.digests("Beside"))

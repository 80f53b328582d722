"""What is sorted or told apart in parts comes out as if it were in one piece, within the memory there is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.engine.duck import engine as duck
from discreet.engine.duck import look, parts
from discreet.engine.duck.database import Database
from discreet.engine.duck.engine import DuckEngine
from discreet.engine.encoding import Encoding
from discreet.engine.source import InMemory
from discreet.errors import OutOfMemory

ROWS = 300_000
ENCODINGS = {
    "age": Encoding(range(-20, 100), missing=True),
    "sex": Encoding(("M", "F")),
    "code": Encoding((70_000, 3, 12), missing=True),
    "far": Encoding(range(2**40, 2**40 + 1000)),
}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Rows of every kind of column; some cells are empty."""
    coins = np.random.default_rng(1)
    columns = {}
    for name, encoding in ENCODINGS.items():
        values = list(encoding)
        columns[name] = pa.array([values[each] for each in coins.integers(0, len(values), ROWS)])
    return pa.table({**columns, "who": pa.array([f"{each % (ROWS - 7)}" for each in range(ROWS)])})


def opened(table: pa.Table, memory: str | None = None) -> DuckEngine:
    engine = DuckEngine(memory=memory)
    engine.open(InMemory(columns=table), list(ENCODINGS))
    engine.encode({name: (name, encoding) for name, encoding in ENCODINGS.items()})
    return engine


def written(table: pa.Table, by: list[str], to, memory: str | None = None) -> bytes:
    engine = opened(table, memory)
    engine.attach("BID", np.random.default_rng(2).integers(0, len(table) // 5 + 1, len(table)).astype(np.int32))
    engine.write_sorted([*ENCODINGS, "BID"], by, to)
    engine.close()
    return to.read_bytes()


@pytest.mark.parametrize("number", [2, 3, 17])
@pytest.mark.parametrize(
    "by", [["BID", *ENCODINGS], [*ENCODINGS, "BID"], ["code", "BID", "age", "sex", "far"]], ids=str
)
def test_parts_are_written_as_one(table, by, number, tmp_path, monkeypatch):
    """The same bytes, whatever comes first in the order and however many parts there are; whole numbers are wide."""
    whole = written(table, by, tmp_path / "one")
    monkeypatch.setattr(duck, "parts_for", lambda *_: number)
    assert written(table, by, tmp_path / "several") == whole
    kinds = {each.name: str(each.type) for each in pq.read_schema(tmp_path / "one")}
    assert kinds == {"age": "int64", "sex": "string", "code": "int64", "far": "int64", "BID": "int32"}


def test_rows_are_sorted_by_code(table, tmp_path):
    """An oracle: codes sorted by numpy."""
    by = ["code", "BID", "age", "sex", "far"]
    written(table, by, tmp_path / "one")
    found = pq.read_table(tmp_path / "one")
    codes = {name: {value: code for code, value in enumerate(encoding)} for name, encoding in ENCODINGS.items()}
    keys = [
        [codes[each][cell] for cell in found[each].to_pylist()] if each in codes else found[each].to_numpy()
        for each in by
    ]
    assert (np.lexsort(keys[::-1]) == np.arange(ROWS)).all()


@pytest.mark.parametrize("number", [1, 2, 5])
def test_distinct_rows_are_those_of_all_parts(table, number, monkeypatch):
    """Each once."""
    monkeypatch.setattr(duck, "parts_for", lambda *_: number)
    engine = opened(table)
    found = [row for batch in engine.distinct(["age", "sex", "code"]) for row in zip(*batch, strict=True)]
    expected = {row for batch in engine.codes(["age", "sex", "code"]) for row in zip(*batch, strict=True)}
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert engine.persons("who") == (ROWS, ROWS - 7, 0)
    engine.close()


@pytest.mark.parametrize("fails", [1, 2, 3])
def test_too_few_parts_are_doubled(table, fails, tmp_path, monkeypatch):
    """What did not fit is tried again in smaller parts; nothing is told twice."""
    left = {"rows": fails, "batches": fails, "arrow": fails - 1}

    def failing(name):
        real = getattr(Database, name)

        def run(self, sql, **more):
            if ("DISTINCT" in sql or "ORDER BY" in sql) and left[name] > 0:
                left[name] -= 1
                raise OutOfMemory("no memory")
            return real(self, sql, **more)

        return run

    whole = written(table, ["BID", *ENCODINGS], tmp_path / "one")
    engine = opened(table)
    expected = sorted(row for batch in engine.distinct(["age", "sex"]) for row in zip(*batch, strict=True))
    for name in left:
        monkeypatch.setattr(Database, name, failing(name))
    assert sorted(row for batch in engine.distinct(["age", "sex"]) for row in zip(*batch, strict=True)) == expected
    assert engine.persons("who") == (ROWS, ROWS - 7, 0)
    left["rows"] = fails
    seen = look.closer(engine._database, "source_rows", {"age": (engine._types["age"], False)})
    assert seen["age"].distinct == len(ENCODINGS["age"]) - 1
    left["rows"] = 1
    assert written(table, ["BID", *ENCODINGS], tmp_path / "again") == whole
    engine.close()


def test_more_rows_than_fit_are_sorted_in_parts(table, tmp_path):
    """In a memory that one sort of them does not get along with, the same bytes."""
    many = pa.concat_tables([table] * 4)
    whole = written(many, ["BID", *ENCODINGS], tmp_path / "one")
    assert written(many, ["BID", *ENCODINGS], tmp_path / "several", memory="25MB") == whole


def test_what_no_part_helps_is_refused_in_a_sentence(table, tmp_path, monkeypatch):
    """Rows that are all alike in the first column cannot be cut."""

    def never(*_):
        raise OutOfMemory("no memory")

    engine = opened(table)
    monkeypatch.setattr(Database, "write_parquet", never)
    with pytest.raises(OutOfMemory, match="cannot be sorted within the memory"):
        engine.write_sorted(["sex"], ["sex"], tmp_path / "one")
    engine.close()
    assert parts.parts_for(Database(), 10**12, 100) > 1

"""The question that a README shows: whatever the columns are called, it is read as it was meant and counts the same."""

from __future__ import annotations

import itertools
import shlex

import pandas as pd
from cases import few
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot.dialects.duckdb import DuckDB

from discreet.query.parse import parse_query
from discreet.release.example_2 import example_of
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.schema import Schema

KEYWORDS = sorted({word.lower() for keys in DuckDB.Tokenizer.KEYWORDS for word in keys.split() if word.isidentifier()})
NAMES = st.one_of(
    st.sampled_from(KEYWORDS), st.text(min_size=1, max_size=50), st.sampled_from(["a b", 'x"y', "it's", "$x", "Größe"])
)
NUMBERS = st.integers(min_value=-5, max_value=5)


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    missing = draw(st.booleans())
    if draw(st.booleans()):
        low, high = sorted((draw(NUMBERS), draw(NUMBERS)))
        return Integers(low=low, high=high, missing=missing)
    kind = draw(st.sampled_from([NUMBERS, st.text(min_size=1, max_size=45)]))
    return Listed(values=tuple(draw(st.lists(kind, min_size=1, max_size=4, unique=True))), missing=missing)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists(NAMES, min_size=2, max_size=3, unique_by=str.casefold))
    *quasi, sensitive = names
    return Schema(
        quasi_identifiers=tuple(quasi), sensitive=sensitive, domains={name: draw(domains()) for name in names}
    )


def _tuples(schema: Schema) -> pd.DataFrame:
    rows = itertools.product(*(list(schema.domains[name]) for name in schema.columns))
    return pd.DataFrame(rows, columns=list(schema.columns), dtype=object)


def _meets(row: pd.Series, column: str, sign: str, value: object) -> bool:
    cell = row[column]
    if cell is None or pd.isna(cell):
        return False
    return cell >= value if sign == ">=" else cell == value


@settings(max_examples=few(400), deadline=None)
@given(schemas())
def test_a_question_is_read_as_it_was_meant(schema):
    """SQL names the columns that were chosen; the tuples that it counts are those one by one, and pandas has them."""
    asked = example_of(schema, *schema.columns)
    assert asked.sql == "\n".join(asked.sql.splitlines()[:1])
    assert shlex.split(f"discreet query . {asked.shell}") == ["discreet", "query", ".", asked.sql]
    parse_query(asked.sql, schema)  # raises where a name or a value is read as something else
    rows = _tuples(schema)
    met = [all(_meets(row, test.column, test.sign, test.value) for test in asked.tests) for _, row in rows.iterrows()]
    missing = [test.column for test in asked.tests if schema.domains[test.column].missing]
    assert asked.tuples() == sum(met)
    if not missing:
        typed = rows.infer_objects()
        assert len(eval(asked.rows("rows"), {"rows": typed})) == sum(met)  # noqa: S307 - what a README shows


@settings(max_examples=few(200), deadline=None)
@given(schemas(), st.lists(st.integers(1, 9), min_size=20, max_size=20))
def test_weights_add_up_over_the_tuples_that_meet_it(schema, numbers):
    """As one by one."""
    asked = example_of(schema, *schema.columns)
    first = schema.columns[0]
    weights = tuple(numbers[: len(schema.domains[first])])
    own = dict(zip(schema.domains[first], weights, strict=True))
    found = 0
    for _, row in _tuples(schema).iterrows():
        if all(_meets(row, test.column, test.sign, test.value) for test in asked.tests):
            cell = row[first]
            found += own[None if cell is None or pd.isna(cell) else cell]
    assert asked.tuples({first: weights}) == found


@example("end")
@example("group")
@given(st.sampled_from(KEYWORDS))
def test_a_column_called_as_a_word_of_sql_is_found(word):
    """Quoted where it must be."""
    schema = Schema(
        quasi_identifiers=(word,),
        sensitive="other column",
        domains={word: Integers(low=0, high=9), "other column": Listed(values=("a", "b"))},
    )
    asked = example_of(schema, *schema.columns)
    assert [test.column for test in asked.tests] == [word, "other column"]
    parse_query(asked.sql, schema)


def test_what_cannot_be_shown_on_a_line_is_left_out():
    """Long or strange names and values; without any other, everybody is asked for."""
    strange = Schema(
        quasi_identifiers=("x" * 500,),
        sensitive="s\n",
        domains={"x" * 500: Integers(low=0, high=9), "s\n": Listed(values=("a", "b"))},
    )
    asked = example_of(strange, *strange.columns)
    assert (asked.sql, asked.shell, asked.rows("view")) == ("", '""', "view")
    assert asked.tuples() == 20
    long = Schema(
        quasi_identifiers=("q",), sensitive="s", domains={"q": Listed(values=("v" * 99, "w")), "s": Listed(values=(1,))}
    )
    assert example_of(long, *long.columns).sql == "q = 'w' AND s = 1"


def test_a_number_that_takes_too_long_to_write_is_not_written():
    """A stranger's domains may have any size."""
    names = [f"c{number}" for number in range(60)]
    huge = Schema(
        quasi_identifiers=tuple(names[1:]), sensitive="c0",
        domains={name: Integers(low=0, high=9 if name == "c0" else 2**52) for name in names},
    )  # fmt: skip
    assert example_of(huge, *huge.columns).tuples() is None

"""A condition means what SQL says of the joined row, and whatever is not a condition is refused in one sentence."""

from __future__ import annotations

import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from cases import few
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import discreet
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier
from discreet.engine.encoding import Encoding
from discreet.errors import QueryError
from discreet.query.condition import render
from discreet.query.level import Key
from discreet.query.parse import Query, parse_query
from discreet.query.scope import Auxiliary
from discreet.query.split import split_by
from discreet.schema.domain import Integers, Listed

ODD = "it's; -- 100% _😀\\"  # a value with everything that a careless quoting would trip over
SCHEMA = discreet.Schema(
    quasi_identifiers=("age", "code", "Full Name", "level"),
    sensitive="ill",
    domains={
        "age": Integers(low=-5, high=9, missing=True),
        "code": Listed(values=(-3, 0, 2, 70), missing=True),
        "Full Name": Listed(values=("F", "flu", ODD), missing=True, ordered=True),  # in the order of their letters
        "level": Integers(low=-2, high=3, missing=True),
        "ill": Listed(values=("F", "HIV", "flu", ODD), missing=True, ordered=True),
    },
)
COLUMNS = {name: SCHEMA.domains[name].type for name in SCHEMA.columns}
CELLS: dict[str, tuple[Any, ...]] = {
    "age": (-5, 0, 2, 9, None),
    "code": (-3, 0, None),
    "Full Name": ("F", ODD, None),
    "level": (-2, 0, 1, 3, None),
    "ill": ("flu", "F", "HIV", ODD, None),
}
ROWS = tuple(dict(zip(CELLS, cells, strict=True)) for cells in product(*CELLS.values()))
NEAR = {"n": (0, 2, None, 9), "z": ("F", None, "flu", ODD), "w": (1, 2, 3, 1)}
NEAR_ROWS = tuple(dict(zip(NEAR, cells, strict=True)) for cells in zip(*NEAR.values(), strict=True))
NEAR_TYPES = {"n": "integer", "z": "text", "w": "integer"}
KNOWN = {"near": Auxiliary(relation="auxiliary_0", types=NEAR_TYPES)}

SQL = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


# --- A small language: what is generated, how it is written, and what it means -------------------------------------


@dataclass(frozen=True)
class Name:
    column: str
    written: str


@dataclass(frozen=True)
class Constant:
    value: int | Fraction | str | None


@dataclass(frozen=True)
class Minus:
    of: Any


@dataclass(frozen=True)
class Abs:
    of: Any


@dataclass(frozen=True)
class Arithmetic:
    sign: str
    left: Any
    right: Any


@dataclass(frozen=True)
class Compare:
    sign: str
    left: Any
    right: Any


@dataclass(frozen=True)
class Among:
    negated: bool
    left: Any
    listed: tuple[Any, ...]


@dataclass(frozen=True)
class Between:
    negated: bool
    left: Any
    low: Any
    high: Any


@dataclass(frozen=True)
class Like:
    negated: bool
    left: Any
    pattern: Any


@dataclass(frozen=True)
class IsNull:
    negated: bool
    left: Any


@dataclass(frozen=True)
class AmongNear:
    negated: bool
    left: Any
    column: str
    where: Any


@dataclass(frozen=True)
class Negation:
    of: Any


@dataclass(frozen=True)
class Junction:
    word: str
    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Parens:
    of: Any


BINDS = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2}


def strength(node: Any) -> int:
    """How tightly a node binds, among terms or among conditions: parentheses are written only where they are needed."""
    match node:
        case Arithmetic(sign):
            return BINDS[sign]
        case Minus() | Negation():
            return 3
        case Junction(word):
            return {"or": 1, "and": 2}[word]
        case _:
            return 4


def inside(node: Any, least: int) -> str:
    return written(node) if strength(node) >= least else f"({written(node)})"


def written(node: Any) -> str:
    """The node as SQL text."""
    match node:
        case Name(_, text):
            return text
        case Constant(None):
            return "NULL"
        case Constant(str(value)):
            return "'" + value.replace("'", "''") + "'"
        case Constant(Fraction() as value):
            return str(float(value))
        case Constant(value):
            return str(value)
        case Minus(of):
            return "- " + inside(of, 3)
        case Abs(of):
            return f"abs({written(of)})"
        case Arithmetic(sign, left, right):
            return f"{inside(left, BINDS[sign])} {sign} {inside(right, BINDS[sign] + 1)}"
        case Compare(sign, left, right):
            return f"{written(left)} {sign} {written(right)}"
        case Among(negated, left, listed):
            return f"{written(left)} {'NOT ' * negated}IN ({', '.join(map(written, listed))})"
        case Between(negated, left, low, high):
            return f"{written(left)} {'not ' * negated}between {written(low)} and {written(high)}"
        case Like(negated, left, pattern):
            return f"{written(left)} {'NOT ' * negated}LIKE {written(pattern)}"
        case IsNull(negated, left):
            return f"{written(left)} IS {'NOT ' * negated}NULL"
        case AmongNear(negated, left, column, where):
            condition = f" WHERE {written(where)}" if where else ""
            return f"{written(left)} {'NOT ' * negated}IN (SELECT {column} FROM near{condition})"
        case Negation(of):
            return "NOT " + inside(of, 3)
        case Junction(word, parts):
            return f" {word.upper()} ".join(inside(part, strength(node) + 1) for part in parts)
        case Parens(of):
            return f"({written(of)})"
    raise AssertionError(node)


Number = int | Fraction | float
Truth = bool | None
with Database() as _engine:  # whether x / 0 is infinite, or unknown as x // 0 is
    IEEE = _engine.rows("SELECT current_setting('ieee_floating_point_ops')") == [(True,)]


def calculated(sign: str, left: Number, right: Number) -> Number | None:
    """Arithmetic as DuckDB does it: / gives doubles, // and % of whole numbers cut off towards zero."""
    if sign in ("+", "-", "*"):
        act = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign]
        return act(float(left), float(right)) if float in (type(left), type(right)) else act(left, right)
    whole = isinstance(left, int) and isinstance(right, int)
    exact = float not in (type(left), type(right))
    if right == 0 and (sign == "//" or (sign == "%" and exact) or not IEEE):
        return None
    if sign == "//" and whole:
        return int(Fraction(left, right))
    if sign == "%" and exact:
        rest = left - right * int(Fraction(left) / Fraction(right))
        return int(rest) if whole else rest
    x, y = float(left), float(right)
    if sign == "%":
        return math.nan if y == 0 or math.isinf(x) or math.isnan(x) or math.isnan(y) else math.fmod(x, y)
    if y == 0:
        return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)
    return x / y


def valued(term: Any, row: Mapping[str, Any]) -> Any:
    """What a term is on one row; None is NULL."""
    match term:
        case Name(column):
            return row[column]
        case Constant(value):
            return value
        case Parens(of):
            return valued(of, row)
        case Minus(of):
            value = valued(of, row)
            return None if value is None else -value
        case Abs(of):
            value = valued(of, row)
            return None if value is None else abs(value)
        case Arithmetic(sign, left, right):
            one, two = valued(left, row), valued(right, row)
            return None if one is None or two is None else calculated(sign, one, two)
    raise AssertionError(term)


ORDER = {
    "=": operator.eq,
    "==": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compared(sign: str, left: Any, right: Any) -> Truth:
    if left is None or right is None:
        return None
    if not isinstance(left, str) and float in (type(left), type(right)):
        left, right = ((math.isnan(x), 0.0 if math.isnan(x) else x) for x in (float(left), float(right)))
    return ORDER[sign](left, right)


def negated_if(negated: bool, truth: Truth) -> Truth:
    return (not truth) if negated and truth is not None else truth


def every(truths: Iterator[Truth]) -> Truth:
    found = list(truths)
    return False if False in found else None if None in found else True


def some(truths: Iterator[Truth]) -> Truth:
    found = list(truths)
    return True if True in found else None if None in found else False


def liked(value: str | None, pattern: str | None) -> Truth:
    if value is None or pattern is None:
        return None
    shape = "".join({"%": ".*", "_": "."}.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(shape, value, re.DOTALL) is not None


def holds(node: Any, row: Mapping[str, Any]) -> Truth:
    """SQL's three-valued truth of a condition on one row: True, False, or None for unknown."""
    match node:
        case Parens(of):
            return holds(of, row)
        case Negation(of):
            return negated_if(True, holds(of, row))
        case Junction("and", parts):
            return every(holds(part, row) for part in parts)
        case Junction("or", parts):
            return some(holds(part, row) for part in parts)
        case Compare(sign, left, right):
            return compared(sign, valued(left, row), valued(right, row))
        case Between(negated, left, low, high):
            value = valued(left, row)
            both = (compared(">=", value, valued(low, row)), compared("<=", value, valued(high, row)))
            return negated_if(negated, every(iter(both)))
        case Among(negated, left, listed):
            value = valued(left, row)
            return negated_if(negated, some(compared("=", value, valued(each, row)) for each in listed))
        case AmongNear(negated, left, column, where):
            value = valued(left, row)
            found = [each[column] for each in NEAR_ROWS if where is None or holds(where, each)]
            return negated_if(negated, some(compared("=", value, each) for each in found))
        case Like(negated, left, pattern):
            return negated_if(negated, liked(valued(left, row), valued(pattern, row)))
        case IsNull(negated, left):
            return (valued(left, row) is None) is not negated
    raise AssertionError(node)


# --- Generating it -------------------------------------------------------------------------------------------------

NUMBERS = st.sampled_from((0, 1, 2, 3, 7, 70)).map(Constant)
DECIMALS = st.sampled_from((Fraction(1, 2), Fraction(9, 4))).map(Constant)
TEXTS = st.sampled_from(("F", "flu", "HIV", ODD, "", "hiv", "%", "f_u", "%'s%", "_", "%\\", "😀", "'")).map(Constant)
NULL = st.just(Constant(None))


def spelled(column: str) -> st.SearchStrategy[Name]:
    """A column in any spelling that SQL takes for the same."""
    spellings = [identifier(column), identifier(column.upper())]
    if column.isidentifier():
        spellings += [column, column.upper()]
    return st.sampled_from(spellings).map(lambda text: Name(column, text))


def columns(types: Mapping[str, str], kind: str) -> st.SearchStrategy[Name]:
    return st.one_of([spelled(name) for name, each in types.items() if each == kind])


def numeric(types: Mapping[str, str]) -> st.SearchStrategy[Any]:
    leaf = st.one_of(columns(types, "integer"), columns(types, "integer"), NUMBERS, NUMBERS.map(Minus), DECIMALS, NULL)
    return st.recursive(
        leaf,
        lambda term: st.one_of(
            st.builds(Arithmetic, st.sampled_from(tuple(BINDS)), term, term),
            st.builds(Minus, term),
            st.builds(Abs, term),
            st.builds(Parens, term),
        ),
        max_leaves=4,
    )


def textual(types: Mapping[str, str]) -> st.SearchStrategy[Any]:
    return st.one_of(columns(types, "text"), columns(types, "text"), TEXTS, NULL, columns(types, "text").map(Parens))


def alone(term: Any) -> Any:
    """The constant that a term is, if it is just that; parentheses and signs do not matter."""
    match term:
        case Constant(value):
            return value
        case Parens(of):
            return alone(of)
        case Minus(of):
            return None if alone(of) is None else -alone(of)
    return None


def bare(term: Any) -> str | None:
    while isinstance(term, Parens):
        term = term.of
    return term.column if isinstance(term, Name) else None


def foreign(left: Any, right: Any) -> bool:
    """Whether one side is a column of the schema and the other a constant outside its domain."""
    pairs = ((bare(left), alone(right)), (bare(right), alone(left)))
    return any(
        column in SCHEMA.domains and value is not None and value not in SCHEMA.domains[column]
        for column, value in pairs
    )


def unordered(left: Any, right: Any) -> bool:
    """Whether the sides are text that has no order: two columns, or a column and what is outside its domain."""
    texts = [bare(each) in SCHEMA.domains and COLUMNS[bare(each) or ""] == "text" for each in (left, right)]
    return all(texts) or (any(texts) and foreign(left, right))


@st.composite
def predicates(draw: st.DrawFn, types: Mapping[str, str], nested: bool = True) -> Any:
    kinds = ["compare", "compare", "among", "between", "null", "like"] + ["near"] * nested
    kind = draw(st.sampled_from(kinds))
    term = textual(types) if kind == "like" or draw(st.integers(0, 2)) == 0 else numeric(types)
    left, negated = draw(term), draw(st.booleans())
    if kind == "like":
        return Like(negated, left, draw(term))
    if kind == "null":
        return IsNull(negated, left)
    if kind == "between":
        low, high = draw(term), draw(term)
        return (
            IsNull(negated, left)
            if unordered(left, low) or unordered(left, high)
            else Between(negated, left, low, high)
        )
    if kind == "near":
        wanted = "text" if is_text(left, types) else "integer"
        column = draw(st.sampled_from([name for name, each in NEAR_TYPES.items() if each == wanted]))
        return AmongNear(negated, left, column, draw(st.none() | conditions(NEAR_TYPES, 2, nested=False)))
    if kind == "among":
        listed = draw(st.lists(term, min_size=1, max_size=3))
        return Among(negated, left, tuple(each for each in listed if not foreign(left, each)) or (Constant(None),))
    right, sign = draw(term), draw(st.sampled_from(tuple(ORDER)))
    if unordered(left, right):
        return IsNull(negated, left) if foreign(left, right) else Compare("=", left, right)
    return Compare(">=" if foreign(left, right) else sign, left, right)


def is_text(term: Any, types: Mapping[str, str]) -> bool:
    return isinstance(alone(term), str) or types.get(bare(term) or "") == "text"


def conditions(types: Mapping[str, str], most: int = 6, *, nested: bool = True) -> st.SearchStrategy[Any]:
    return st.recursive(
        predicates(types, nested),
        lambda part: st.one_of(
            st.builds(Junction, st.sampled_from(("and", "or")), st.lists(part, min_size=2, max_size=3).map(tuple)),
            st.builds(Negation, part),
            st.builds(Parens, part),
        ),
        max_leaves=most,
    )


# --- Oracles -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def raw() -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with the joined rows, to which the text itself is given."""
    with duckdb.connect() as db:
        db.execute("SET error_on_division_by_zero = false")
        db.execute(f"SET ieee_floating_point_ops = {IEEE}")
        joined = pa.table({name: [row[name] for row in ROWS] for name in CELLS} | {"row": range(len(ROWS))})
        db.register("joined", joined)
        db.register("near", pa.table({name: list(cells) for name, cells in NEAR.items()}))
        yield db


@pytest.fixture(scope="module")
def engine() -> Iterator[Database]:
    """For each column, the rows without it: what a condition split by that column is asked of."""
    with Database() as engine:
        engine.register("auxiliary_0", pa.table({name: list(cells) for name, cells in NEAR.items()}))
        for column in CELLS:
            names = [name for name in CELLS if name != column]
            cells = zip(*product(*(CELLS[name] for name in names)), strict=True)
            engine.register(f"without_{column}", pa.table(dict(zip(names, map(list, cells), strict=True))))
        yield engine


def matched(db: duckdb.DuckDBPyConnection, text: str) -> set[int]:
    return {row[0] for row in db.execute(f"SELECT row FROM joined WHERE {text}\n").fetchall()}


def split_matches(engine: Database, query: Query, column: str) -> set[int]:
    """The joined rows that the parts hold to match: their value is in a part whose condition the rest meets.

    Where the column has no missing cell, the split is the same without it.
    """
    with_missing, without = (_split_matches(engine, query, column, missing) for missing in (True, False))
    assert without == {row for row in with_missing if ROWS[row][column] is not None}
    return with_missing


def _split_matches(engine: Database, query: Query, column: str, missing: bool) -> set[int]:
    *present, _ = CELLS[column]
    values = Encoding(tuple(present), missing=missing)
    (parts,) = split_by([query.where], column, values, engine)
    listed = [position for part in parts for position in part.values]
    assert len(listed) == len(set(listed)), "a value must be in one part"
    names = [name for name in CELLS if name != column]
    selected = ", ".join(map(identifier, names))
    found = set()
    for part in parts:
        rest = set(engine.rows(f"SELECT {selected} FROM without_{column} WHERE {render(part.condition)}"))
        found |= {(CELLS[column][position], *row) for position in part.values for row in rest}
    return {number for number, row in enumerate(ROWS) if (row[column], *(row[name] for name in names)) in found}


@settings(SQL, max_examples=few(150))
@given(node=conditions(COLUMNS), column=st.sampled_from(("ill", "level")))
@example(
    node=Junction(
        "or", (Compare("=", Name("age", "age"), Name("level", "level")), IsNull(False, Name("code", "code")))
    ),
    column="level",
)
@example(
    node=Negation(
        Junction("and", (Compare("=", Name("ill", "ill"), Constant(None)), IsNull(True, Name("age", "age"))))
    ),
    column="ill",
)
@example(node=Like(True, Name("ill", "ill"), Name("Full Name", '"Full Name"')), column="ill")
def test_a_split_condition_has_the_truth_that_sql_gives_the_joined_row(
    node: Any, column: str, raw: duckdb.DuckDBPyConnection, engine: Database
) -> None:
    """For every row and sensitive value: the parts, an evaluator in Python, and DuckDB on the joined row agree."""
    text = written(node)
    mine = {number for number, row in enumerate(ROWS) if holds(node, row) is True}
    assert matched(raw, text) == mine, text
    assert split_matches(engine, parse_query(text, SCHEMA, KNOWN), column) == mine, text


@settings(SQL, max_examples=few(50))
@given(node=conditions(COLUMNS, 4), column=st.sampled_from(("ill", "level")))
def test_a_condition_and_its_negation_and_its_unknown_share_out_the_rows(
    node: Any, column: str, engine: Database
) -> None:
    """No row meets a condition and its negation; those that meet neither are the rows where it is unknown."""
    text = written(node)
    yes, no = (split_matches(engine, parse_query(each, SCHEMA, KNOWN), column) for each in (text, f"NOT ({text})"))
    assert not yes & no
    assert set(range(len(ROWS))) - yes - no == {n for n, row in enumerate(ROWS) if holds(node, row) is None}


# --- Text that is almost a condition, and text that is none --------------------------------------------------------

WORDS = re.findall(
    r"\S+",
    r"""( ) , . ; = <> < >= + - * / // % @ ! ~ ^ | & :: ' " -- /* */ \ AND OR NOT IN IS NULL LIKE BETWEEN TRUE FALSE
    ESCAPE ILIKE ANY ALL EXISTS CASE WHEN THEN END CAST AS SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT UNION WITH
    DISTINCT SYMMETRIC UNKNOWN abs age level code ill near near.n joined.age n z 0 1 2.5 .5 1e1 0.0 70 'F' 'flu' ''""",
)


@st.composite
def disturbed(draw: st.DrawFn) -> str:
    """A condition with one to three of its words lost, doubled, exchanged or added."""
    words = re.findall(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|[^\w\s]+", written(draw(conditions(COLUMNS, 3))))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(words)))
        match draw(st.sampled_from(("lose", "double", "exchange", "add", "replace"))):
            case "lose":
                words[place : place + 1] = []
            case "double":
                words[place:place] = words[place : place + 1]
            case "exchange":
                words[place : place + 2] = reversed(words[place : place + 2])
            case "add":
                words.insert(place, draw(st.sampled_from(WORDS)))
            case _:
                words[place : place + 1] = [draw(st.sampled_from(WORDS))]
    return " ".join(words)


@settings(SQL, max_examples=few(200))
@given(text=disturbed())
def test_a_text_is_refused_or_means_what_duckdb_reads_in_it(
    text: str, raw: duckdb.DuckDBPyConnection, engine: Database
) -> None:
    """Where both read a disturbed condition, they read the same; otherwise only QueryError is raised."""
    try:
        query = parse_query(text, SCHEMA, KNOWN)
    except QueryError:
        return
    try:
        found = matched(raw, f"({text}\n)")
    except duckdb.Error:
        return
    assert split_matches(engine, query, "level") == found, text


@settings(SQL, max_examples=few(200))
@given(text=st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), disturbed()))
@example(text="\ud800")
@example(text='"\ud800" = 1')
@example(text="ill LIKE '\ud800'")
@example(text="\ufeffage = 2")
@example(text="SELECT")
@example(text="with")
@example(text="age = 2 --")
@example(text="*")
@example(text="age IN (SELECT")
@example(text="age = 1e999999")
@example(text="age = " + "9" * 5000)
@example(text="age * 99999999999 * 99999999999 > 1")
def test_any_text_is_answered_or_refused_with_a_query_error(text: str, release: discreet.Release) -> None:
    """Nothing that a person can type ends in another exception, neither when it is read nor when it is counted."""
    try:
        answer = release.query(text)
    except QueryError:
        return
    for estimate in [answer] if isinstance(answer, discreet.Estimate) else [each for _, each in answer]:
        assert 0 <= estimate.bounds[0] <= estimate.bounds[1] <= release.rows


def refusal(text: str, auxiliary: Mapping[str, Auxiliary] | None = None) -> str:
    """The sentence with which a text is refused; fails where it is accepted or anything else is raised."""
    with pytest.raises(QueryError) as caught:
        parse_query(text, SCHEMA, KNOWN if auxiliary is None else auxiliary)
    error, message = caught.value, str(caught.value)
    assert error.__suppress_context__ or error.__context__ is None, "no other exception may show behind it"
    assert "Traceback" not in message
    return message


OFF_THE_LIST = r"""
functions:
lower(ill) = 'flu' ; length(ill) = 3 ; coalesce(age, 1) = 1 ; sqrt(age) = 1 ; now() = 1 ; random() > 0.5 ;
getenv('HOME') = 'x' ; regexp_matches(ill, 'f') ; list_contains([1], age) ; abs() = 1 ; abs(age, 2) = 1 ;
abs(DISTINCT age) = 1 ; if(age = 1, TRUE, FALSE) ; round(age) = 1 ; greatest(age, 1) = 1 ; hash(age) = 1
casts:
CAST(age AS VARCHAR) = '1' ; age::VARCHAR = '1' ; TRY_CAST(ill AS INTEGER) = 1 ; DATE '2020-01-01' = age ;
INTERVAL 1 DAY = age ; ill COLLATE nocase = 'flu'
case and lists:
CASE WHEN age = 1 THEN TRUE END ; age = CASE WHEN age = 1 THEN 1 END ; [1, 2][1] = age ; {'a': 1}.a = age ;
(age, level) = (1, 2) ; x -> x ; age = #1 ; ill[1] = 'f'
other operators:
age ^ 2 = 4 ; age ** 2 = 4 ; ill || 'x' = 'flux' ; age & 1 = 1 ; age | 1 = 1 ; ~age = 1 ; age << 1 = 2 ; age <=> 1 ;
ill ~ 'f' ; ill GLOB 'f*' ; ill SIMILAR TO 'f' ; age = 1 XOR level = 1 ; age IS DISTINCT FROM 1 ;
age IS NOT DISTINCT FROM 1 ; age < 2 < 3 ; age = level = 1 ; (age = 1) = (level = 1) ; (age = 1) IS NULL
kinds of LIKE:
ill ILIKE 'FLU' ; ill NOT ILIKE 'FLU' ; ill LIKE 'f%' ESCAPE '!' ; ill LIKE ANY ('f%', 'g%') ; ill ~~ 'f%' ^ 1
kinds of IS and BETWEEN:
age IS TRUE ; age IS NOT FALSE ; age IS 1 ; age BETWEEN SYMMETRIC 3 AND 1 ; age BETWEEN 1 ;
age BETWEEN 1 AND 2 AND 3 ; TRUE IS TRUE
kinds of IN:
age IN () ; age NOT IN () ; age IN near ; age IN 1 ; age IN UNNEST([1]) ; (age) IN ((1, 2))
values that are no conditions:
age ; 1 ; 'F' ; NULL ; NOT age ; age AND level ; age + 1 ; * ; age.* ; COUNT(*) ; -TRUE
parameters:
age = ? ; age = $1 ; age = :x ; age = $x
odd constants:
ill = E'flu' ; ill = $$flu$$ ; ill = N'flu' ; age = 0x1 ; age > 1e400 ; age > 9007199254740993 ; ill = x'00'
subqueries in other places:
age = (SELECT n FROM near) ; EXISTS (SELECT n FROM near) ; age = ANY (SELECT n FROM near) ;
age > ALL (SELECT n FROM near) ; (SELECT TRUE) ; (SELECT n FROM near) IN (1) ; age + (SELECT 1) = 2 ;
age BETWEEN (SELECT 1) AND 2 ; age IN (1, (SELECT n FROM near)) ; (age, level) IN (SELECT n FROM near)
subqueries that are no plain SELECT:
age IN (SELECT * FROM near) ; age IN (SELECT n, w FROM near) ; age IN (SELECT n + 1 FROM near) ;
age IN (SELECT max(n) FROM near) ; age IN (SELECT n FROM near LIMIT 1) ; age IN (SELECT n FROM near ORDER BY n) ;
age IN (SELECT n FROM near GROUP BY n) ; age IN (SELECT n FROM near, near b) ;
age IN (SELECT n FROM near JOIN near b ON TRUE) ; age IN (SELECT n FROM near UNION SELECT w FROM near) ;
age IN (WITH x AS (SELECT 1) SELECT n FROM near) ; age IN (VALUES (1)) ; age IN (TABLE near) ; age IN (FROM near) ;
age IN (SELECT n FROM main.near) ; age IN (SELECT n FROM '/etc/passwd') ;
age IN (SELECT n FROM read_csv('/etc/passwd')) ; age IN (SELECT n FROM (SELECT n FROM near)) ;
age IN (SELECT n FROM near WHERE age = 1) ; age IN (SELECT age FROM near) ;
age IN (SELECT n FROM near TABLESAMPLE 10%) ; age IN (SELECT n FROM near QUALIFY TRUE) ; age IN (SELECT 1) ;
age IN (SELECT n FROM near HAVING TRUE) ; age IN (DELETE FROM near RETURNING n)
files and functions in FROM:
SELECT COUNT(*) FROM '/etc/passwd' ; SELECT COUNT(*) FROM "/etc/passwd" ;
SELECT COUNT(*) FROM read_csv('/etc/passwd') ; SELECT COUNT(*) FROM read_parquet('x.parquet') ;
SELECT COUNT(*) FROM glob('*') ; SELECT COUNT(*) FROM range(3) ; SELECT COUNT(*) FROM 'https://x/y.csv' ;
SELECT COUNT(*) FROM duckdb_settings() ; SELECT COUNT(*) FROM "x.csv" ; SELECT COUNT(*) FROM 's3://x/y.parquet'
other things in FROM:
SELECT COUNT(*) ; SELECT COUNT(*) FROM (SELECT 1) ; SELECT COUNT(*) FROM (VALUES (1)) t ; SELECT COUNT(*) FROM a, b ;
SELECT COUNT(*) FROM a JOIN b ON TRUE ; SELECT COUNT(*) FROM a CROSS JOIN b ; SELECT COUNT(*) FROM main.a ;
SELECT COUNT(*) FROM db.main.a ; SELECT COUNT(*) FROM a TABLESAMPLE 10% ; SELECT COUNT(*) FROM a AS b(c) ;
SELECT COUNT(*) FROM a PIVOT (COUNT(*) FOR age IN (1)) ; SELECT COUNT(*) FROM a USING SAMPLE 3
other selections:
SELECT * ; SELECT * FROM a ; SELECT age FROM a ; SELECT age, COUNT(*) FROM a ; SELECT SUM(ill) FROM a ;
SELECT AVG(ill) FROM a ; SELECT SUM(DISTINCT age) FROM a ; SELECT 1 + 1 FROM a ;
SELECT MIN(age) FROM a ; SELECT COUNT(age) FROM a ; SELECT COUNT(1) FROM a ;
SELECT COUNT() FROM a ; SELECT COUNT(DISTINCT age) FROM a ; SELECT DISTINCT COUNT(*) FROM a ;
SELECT COUNT(*), COUNT(*) FROM a ; SELECT COUNT(*) + age FROM a ; SELECT COUNT(*) OVER () FROM a ;
SELECT COUNT(*) FILTER (WHERE x = 1) FROM a ; SELECT age FROM a GROUP BY age ;
SELECT level, COUNT(*) FROM a GROUP BY age ; SELECT COUNT(*) INTO b FROM a ; SELECT row_number() OVER () FROM a ;
SELECT 1 FROM a ; SELECT (SELECT COUNT(*) FROM a) FROM a
other clauses:
SELECT COUNT(*) FROM a HAVING COUNT(*) > 1 ; SELECT COUNT(*) FROM a ORDER BY 1 ; SELECT COUNT(*) FROM a LIMIT 1 ;
SELECT COUNT(*) FROM a OFFSET 1 ; SELECT COUNT(*) FROM a QUALIFY TRUE ; SELECT COUNT(*) FROM a WINDOW w AS () ;
SELECT COUNT(*) FROM a FOR UPDATE ; SELECT COUNT(*) FROM a GROUP BY ALL ; SELECT COUNT(*) FROM a GROUP BY 1 ;
SELECT COUNT(*) FROM a GROUP BY age + 1 ; SELECT COUNT(*) FROM a GROUP BY ROLLUP (age) ;
SELECT COUNT(*) FROM a GROUP BY CUBE (age) ; SELECT COUNT(*) FROM a GROUP BY GROUPING SETS ((age)) ;
SELECT COUNT(*) FROM a GROUP BY age, age ; SELECT COUNT(*) FROM a GROUP BY x ; age = 1 ORDER BY age ;
age = 1 LIMIT 1 ; age = 1 HAVING TRUE ; age = 1 WHERE age = 1 ; age = 1 FROM a ; age = 1 QUALIFY TRUE
several selections:
SELECT COUNT(*) FROM a UNION SELECT COUNT(*) FROM b ; SELECT COUNT(*) FROM a UNION ALL SELECT 1 ;
SELECT COUNT(*) FROM a EXCEPT SELECT 1 ; SELECT COUNT(*) FROM a INTERSECT SELECT 1 ; age = 1 UNION SELECT 1 ;
WITH x AS (SELECT 1) SELECT COUNT(*) FROM x ; with recursive x as (select 1) select count(*) from x ;
(SELECT COUNT(*) FROM a)
other statements:
DROP TABLE a ; DELETE FROM a ; UPDATE a SET age = 1 ; INSERT INTO a VALUES (1) ; CREATE TABLE a (b INT) ;
COPY a TO 'x' ; COPY (SELECT 1) TO '/tmp/x' ; ATTACH 'x' ; DETACH x ; PRAGMA version ; SET threads = 1 ;
RESET threads ; INSTALL httpfs ; LOAD httpfs ; CALL x() ; EXPLAIN SELECT 1 ; DESCRIBE a ; SHOW TABLES ;
EXPORT DATABASE 'x' ; CHECKPOINT ; VALUES (1) ; TABLE a ; FROM a ; FROM a SELECT COUNT(*) ; BEGIN ; COMMIT ; VACUUM ;
USE x ; PREPARE x AS SELECT 1 ; EXECUTE x ; GRANT ALL ON a TO b ; SUMMARIZE a
names of other tables:
near.n = 1 ; joined.age = 1 ; near.age = 1 ; main.joined.age = 1 ; qit.age = 1 ; st."COUNT" = 1 ; age.level = 1 ;
SELECT COUNT(*) FROM a WHERE b.age = 1 ; SELECT COUNT(*) FROM a GROUP BY b.age ; BID = 1 ; COUNT = 1 ; rowid = 1
kinds that do not compare:
age = '1' ; ill = 1 ; ill + 1 = 2 ; - ill = 1 ; abs(ill) = 1 ; age LIKE '1%' ; ill LIKE 1 ; age IN (1, 'x') ;
ill IN ('flu', 1) ; age BETWEEN 'a' AND 'b' ; ill BETWEEN 1 AND 2 ; age = ill ; age IN (SELECT z FROM near) ;
ill IN (SELECT n FROM near)
broken text:
age = ; = 1 ; age 1 ; age = 1 AND ; AND age = 1 ; NOT ; ( ; ) ; (age = 1 ; age = 1) ; age = ' ; age = " ; ' ;
age = 1 /* ; age IN (1 ; age = 1 OR OR age = 2 ; -- ; -- age = 1 ; /* age = 1 */ ; age = 1 \
"""


def listed_texts(lines: str) -> list[str]:
    """The texts between semicolons, without the headings, which end in a colon."""
    found = [line for line in lines.splitlines() if not line.endswith(":")]
    return [text.strip() for line in found for text in line.split(";") if text.strip()]


@pytest.mark.parametrize("text", listed_texts(OFF_THE_LIST))
def test_what_is_not_on_the_list_is_refused(text: str) -> None:
    """One short line says so, whatever is asked beyond the whitelist."""
    message = refusal(text)
    assert 10 < len(message) < 250
    assert "\n" not in message


@pytest.mark.parametrize(
    "text",
    [
        "age = 1; DROP TABLE a",
        "age = 1; SELECT COUNT(*) FROM a",
        "SELECT COUNT(*) FROM a; SELECT COUNT(*) FROM a",
        "SELECT COUNT(*) FROM a; COPY a TO 'x'",
        "; age = 1",
        "age = 1;; level = 2",
    ],
)
def test_several_statements_are_refused(text: str) -> None:
    """One question at a time, and a semicolon only at its end."""
    refusal(text)
    assert parse_query("age = 1;", SCHEMA) == parse_query("age = 1", SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("age = 1 GROUP BY level", id="GROUP BY after a condition"),
        pytest.param("age = 1 GROUP BY ALL", id="GROUP BY ALL after a condition"),
        pytest.param("SELECT COUNT(*) FROM a GROUP BY", id="GROUP BY nothing"),
        pytest.param("SELECT COUNT(* EXCLUDE (age)) FROM a", id="COUNT of some columns"),
        pytest.param("SELECT AS STRUCT COUNT(*) FROM a", id="SELECT AS STRUCT"),
        pytest.param("age IN (SELECT DISTINCT ON (w) n FROM near)", id="DISTINCT ON"),
        pytest.param("age IN (SELECT n FROM near AS b(w, z, n))", id="columns renamed in FROM"),
        pytest.param("@ level - 2 = 1", id="@ binds looser than - in SQL"),
    ],
)
def test_what_would_change_the_meaning_is_refused_and_never_dropped(text: str) -> None:
    """Syntax that the answer would not heed is refused, so that nobody takes the answer for another question's."""
    refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        " OR ".join(["age<1"] * 5_500),
        "OR ".join(["age<1 "] * 10_000),
        " AND ".join(["age<1"] * 5_500),
        "(" * 5_000 + "age = 1" + ")" * 5_000,
        "(" * 30_000,
        "NOT " * 5_000 + "age = 1",
        "age = " + "- " * 5_000 + "1",
        "age" + " + 1" * 5_000 + " = 1",
        "abs(" * 5_000 + "age" + ")" * 5_000 + " = 1",
        "(age = 1 OR " * 5_000 + "age = 2" + ")" * 5_000,
        "age IN (SELECT n FROM near WHERE n IN " * 1_000 + "(1)" + ")" * 1_000,
        "CASE WHEN " * 5_000,
        "[" * 5_000,
        "age = 1" + " " * 70_000,
        "ill = '" + "x" * 70_000 + "'",
        "x" * 10_000_000,
        "age = 1\0",
        "\0",
        "ill = 'fl\0u'",
    ],
    ids=lambda text: f"{text[:20]!r} and {len(text)} letters",
)
def test_huge_deep_and_binary_texts_are_refused(text: str) -> None:
    """Too long, too deep, too many, or a NUL byte: a sentence, not a crash."""
    assert len(refusal(text)) < 250


@pytest.mark.parametrize("text", [None, 3, b"age = 1", ["age = 1"], {"where": "age = 1"}])
def test_what_is_not_text_is_refused(text: Any) -> None:
    """A caller in Python may hand in anything."""
    refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 60_000 + " = 1",
        "ill = '" + "x" * 60_000 + "'",
        '"one\ntwo" = 1',
        "ill = 'one\ntwo'",
        "age = 1 AND\n\n)\n",
        "age IN (SELECT n FROM " + "x" * 60_000 + ")",
    ],
    ids=["long column", "long value", "column with a line break", "value with a line break", "lines", "long table"],
)
def test_a_refusal_is_one_short_line_whatever_the_text_holds(text: str) -> None:
    """A message that repeats what was asked shortens it."""
    message = refusal(text)
    assert len(message) < 500
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "age = 2 -- OR 1 = 1",
        "age = 2 -- OR 1 = 1\n",
        "age /* OR 1 = 1 */ = 2",
        "/* age = 1 OR */ age = 2",
        "-- age = 1 OR\nage = 2",
        "age = 2 /* ; DROP TABLE qit */ ;",
    ],
)
def test_a_comment_is_refused_or_changes_nothing(text: str) -> None:
    """What stands in a comment is never taken for part of the condition."""
    try:
        query = parse_query(text, SCHEMA)
    except QueryError:
        return
    assert query == parse_query("age = 2", SCHEMA)


# --- What a refusal suggests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("aeg = 1", "column aeg does not exist; did you mean age?"),
        ("\"full-name\" = 'F'", "column full-name does not exist; did you mean Full Name?"),
        ("LEVELS > 1", "did you mean level?"),
        ("ill = 'HVI'", "ill is never HVI; did you mean HIV?"),
        ("ill = 'hiv'", "ill is never hiv; did you mean HIV?"),
        ("'hiv' = ill", "ill is never hiv; did you mean HIV?"),
        ("ill <> 'fluu'", "did you mean flu?"),
        ("ill IN ('flu', 'hiv')", "ill is never hiv; did you mean HIV?"),
        ("NOT (age = 1 OR ill NOT IN ('hiv'))", "did you mean HIV?"),
        ("age = 10", "age is never 10; it goes from -5 to 9"),
        ("age IN (1, -6)", "age is never -6; it goes from -5 to 9"),
        ("age = 1.5", "age is never 1.5"),
        ("code = 7", "code is never 7; did you mean 70?"),
        ("SELECT COUNT(*) FROM a GROUP BY agee", "did you mean age?"),
        ("SELECT COUNT(*) FROM a WHERE ill = 'HVI' GROUP BY age", "did you mean HIV?"),
        ("age IN (SELECT n FROM neer)", "auxiliary table neer was not handed in; did you mean near?"),
        ("age IN (SELECT m FROM near)", "column m does not exist"),
        ("age IN (SELECT n FROM near WHERE age = 1)", "column age does not exist"),
        ("age = '1'", "age holds numbers; write them without quotes"),
        ("ill = 1", "ill holds text, such as 'F', 'HIV', 'flu'; write its values in single quotes"),
        ("ill = flu", "column flu does not exist"),
    ],
)
def test_a_mistake_is_named_with_the_nearest_that_exists(text: str, said: str) -> None:
    """Unknown columns, values and tables are errors that help."""
    assert said in refusal(text)


def test_an_auxiliary_table_that_was_not_handed_in_is_refused() -> None:
    """Without any auxiliary table, none is suggested."""
    assert "near was not handed in" in refusal("age IN (SELECT n FROM near)", {})


# --- Whole statements ----------------------------------------------------------------------------------------------


@settings(SQL, max_examples=few(100))
@given(
    node=st.none() | conditions(COLUMNS, 3),
    table=st.sampled_from(("release", "t", "Adult", '"Release"', "qit", "st", "größe")),
    alias=st.sampled_from(("", " r", " AS r")),
    name=st.sampled_from(("", " AS n", ' "how many"', " AS count")),
    upper=st.booleans(),
    grouped=st.lists(st.sampled_from(tuple(COLUMNS)), unique=True, max_size=3),
    end=st.sampled_from(("", ";", " ;\n")),
)
def test_a_whole_select_asks_what_its_condition_and_columns_ask(
    node: Any, table: str, alias: str, name: str, upper: bool, grouped: list[str], end: str
) -> None:
    """SELECT [columns,] COUNT(*) [AS n] FROM anything [WHERE] [GROUP BY] is the condition and the columns, in order."""
    where = f" WHERE {written(node)}" if node else ""
    by = ", ".join(map(identifier, grouped))
    select, count, start = ("SELECT", "COUNT(*)", " FROM") if upper else ("select", "count( * )", "\nfrom")
    listed = f"{by}, " if grouped and upper else ""
    text = f"{select} {listed}{count}{name}{start} {table}{alias}{where}{f' GROUP BY {by}' if grouped else ''}{end}"
    expected = parse_query(written(node) if node else "", SCHEMA, KNOWN)
    assert parse_query(text, SCHEMA, KNOWN) == Query(where=expected.where, group_by=tuple(map(Key, grouped)))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM t WHERE t.age = 2",
        "SELECT COUNT(*) FROM t WHERE T.AGE = 2",
        "SELECT COUNT(*) FROM t AS r WHERE r.age = 2",
        'SELECT COUNT(*) FROM t "R" WHERE "r"."age" = 2',
    ],
)
def test_a_column_may_be_named_by_the_table_that_is_asked(text: str) -> None:
    """The table's name or alias before a column is the same column."""
    assert parse_query(text, SCHEMA) == parse_query("age = 2", SCHEMA)


@pytest.mark.parametrize("text", ["", " ", "\n\t", ";", " ; "])
def test_an_empty_condition_counts_everybody(text: str) -> None:
    """Nothing asked is everybody."""
    assert parse_query(text, SCHEMA) == Query()


# --- A release with awkward names and values -----------------------------------------------------------------------

AWKWARD = {
    "a b": ("it's", "'", "x''y"),
    "a.b": ("a", "a.b", '"'),
    'q"q': ("%", "_", "\\"),
    "😀": ("😀", "👩‍👩‍👧", "é"),
    "Größe": ("klein", "groß", "GROSS"),
    "SELECT": ("'; DROP TABLE qit; --", "NULL", ""),
    "it's": (" x", "x ", "x"),
    "@": ("@", "?", "$1"),
    "MiXeD": ("z", "b", "A"),
    "t0": (3, 1, 2),
    "t1": (-1, 0, 5),
}
AILMENT = 'what "ails" you?'
AILMENTS = ("HIV", "it's", "none; --", "o\nn")


Row = dict[str, Any]
SIZE = 240


@pytest.fixture(scope="module")
def people() -> list[Row]:
    """Rows with columns and cells that are hard to quote."""
    cells = {
        name: [values[(i * (k + 3) + i // 7) % 3] for i in range(SIZE)]
        for k, (name, values) in enumerate(AWKWARD.items())
    }
    cells[AILMENT] = [AILMENTS[(i * i + i // 5) % 4] for i in range(SIZE)]
    return pa.table(cells).to_pylist()


def published(rows: list[Row], domains: Mapping[str, Any], sensitive: str, folder: Path) -> discreet.Release:
    """A release of the rows: one half is the most that anyone may learn of a value."""
    schema = discreet.Schema(
        quasi_identifiers=tuple(name for name in domains if name != sensitive), sensitive=sensitive, domains=domains
    )
    tolerance = discreet.Tolerance(floor="1/2")
    policy = discreet.Policy(schema=schema, mechanism=discreet.Buckets(tolerance=tolerance, max_size=8))
    parquet.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    table = discreet.read_table(folder / "rows.parquet", policy)
    try:
        return discreet.publish(table, policy, to=folder / "release", seed=1)
    finally:
        table.close()


@pytest.fixture(scope="module")
def awkward(people: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Release]:
    domains = {name: Listed(values=values) for name, values in AWKWARD.items()} | {AILMENT: Listed(values=AILMENTS)}
    release = published(people, domains, AILMENT, tmp_path_factory.mktemp("awkward"))
    yield release
    release.close()


@pytest.fixture(scope="module")
def plain() -> list[Row]:
    """People of the schema above, with every value of every domain and missing cells."""
    pools = {name: list(SCHEMA.domains[name]) for name in SCHEMA.columns}
    return [
        {name: pool[(i * (2 * k + 3) + i * i // (k + 5)) % len(pool)] for k, (name, pool) in enumerate(pools.items())}
        for i in range(SIZE)
    ]


@pytest.fixture(scope="module")
def release(plain: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Release]:
    release = published(plain, SCHEMA.domains, "ill", tmp_path_factory.mktemp("plain"))
    yield release
    release.close()


def quoted(value: int | str) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def number(rows: list[Row], meets: Callable[[Row], bool | None]) -> int:
    return sum(meets(row) is True for row in rows)


@pytest.mark.parametrize("name", AWKWARD)
def test_any_column_name_and_value_can_be_asked_for(name: str, awkward: discreet.Release, people: list[Row]) -> None:
    """Quotes double inside quotes, and names are found in any letter case; the counts are the rows' own."""
    for value in AWKWARD[name]:
        expected = number(people, lambda row: row[name] == value)  # noqa: B023 # called at once
        for spelling in (name, name.upper(), name.lower()):
            assert awkward.count(f"{identifier(spelling)} = {quoted(value)}").bounds == (expected, expected)
    found = {group[0]: estimate.value for group, estimate in awkward.count_by(name)}
    assert found == Counter(row[name] for row in people)


def test_the_sensitive_column_may_have_any_name_and_values(awkward: discreet.Release, people: list[Row]) -> None:
    """Its values are exact counts, and it mixes with the others in one predicate."""
    for value, expected in Counter(row[AILMENT] for row in people).items():
        assert awkward.count(f"{identifier(AILMENT)} = {quoted(value)}").bounds == (expected, expected)
    low, high = awkward.count(f'{identifier(AILMENT)} = "a b"').bounds
    assert low <= number(people, lambda row: row[AILMENT] == row["a b"]) <= high


def test_text_without_an_order_is_not_compared(awkward: discreet.Release) -> None:
    """Whoever asks what comes before 'b' is told that nothing does, instead of getting a wrong count."""
    for where in ("mixed < 'b'", "'b' <= mixed", "mixed BETWEEN 'A' AND 'b'", "mixed < mixed"):
        with pytest.raises(QueryError, match="order"):
            awkward.count(where)


@settings(SQL, max_examples=few(80))
@given(node=conditions({name: kind for name, kind in COLUMNS.items() if name != "ill"}, 5))
def test_a_release_counts_exactly_what_does_not_ask_for_the_sensitive_value(
    node: Any, release: discreet.Release, plain: list[Row]
) -> None:
    """Whatever the condition on the quasi-identifiers, the count is the truth."""
    expected = number(plain, lambda row: holds(node, row))
    found = release.count(written(node), aux={"near": {name: list(cells) for name, cells in NEAR.items()}})
    assert found.bounds == (expected, expected), written(node)
    assert found.value == expected


@settings(SQL, max_examples=few(80))
@given(node=conditions(COLUMNS, 5))
def test_a_releases_bounds_hold_the_truth_of_any_condition(
    node: Any, release: discreet.Release, plain: list[Row]
) -> None:
    """Sensitive and other columns in one predicate, across OR, with NULL and division by zero."""
    expected = number(plain, lambda row: holds(node, row))
    found = release.count(written(node), aux={"near": {name: list(cells) for name, cells in NEAR.items()}})
    assert found.bounds[0] <= expected <= found.bounds[1], written(node)
    assert found.bounds[0] <= found.low <= found.high <= found.bounds[1], written(node)


@pytest.mark.parametrize("column", SCHEMA.columns)
def test_a_missing_cell_is_a_group_of_its_own_and_meets_only_is_null(
    column: str, release: discreet.Release, plain: list[Row]
) -> None:
    """GROUP BY gives it a row; a comparison and its negation leave it out."""
    missing = number(plain, lambda row: row[column] is None)
    assert missing > 0
    assert release.count_by(column)[None].value == missing
    name, some = identifier(column), quoted(next(row[column] for row in plain if row[column] is not None))
    assert release.count(f"{name} IS NULL").value == missing
    assert release.count(f"{name} = {some} OR NOT {name} = {some}").value == SIZE - missing
    assert release.count(f"{name} IN ({some}) OR {name} NOT IN ({some})").value == SIZE - missing


@pytest.mark.parametrize("name", ["selection", "without", "position_", "listed", "t0", "value", '"TRUE"'])
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive"])
@pytest.mark.parametrize("domain", [Listed(values=(5, 6, 7, 8)), Integers(low=5, high=8)], ids=["listed", "range"])
def test_no_column_name_collides_with_the_librarys_own(name: str, role: str, domain: Any, tmp_path: Path) -> None:
    """A condition on such a column, alone or first in the text, gives the rows' own count."""
    column = name.strip('"')
    rows = [{column: 5 + (i * i + i // 3) % 4, "other": 1 + i % 3 + (i % 7 == 0)} for i in range(SIZE)]
    domains = {column: domain, "other": Integers(low=1, high=4)}
    release = published(rows, domains, column if role == "sensitive" else "other", tmp_path)
    try:
        for value, expected in Counter(row[column] for row in rows).items():
            assert release.count(f"{name} = {value}").value == expected
            assert release.count(f"{name} + 1 = {value + 1}").value == expected
    finally:
        release.close()


# --- Arithmetic ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["/", "//", "%"])
@pytest.mark.parametrize("divisor", ["0", "level - level", "0.0"])
def test_a_division_by_zero_is_unknown(sign: str, divisor: str, release: discreet.Release) -> None:
    """It is NULL for every operator: nobody meets a comparison with it, nor the comparison's negation."""
    assert release.count(f"age {sign} ({divisor}) > 1").value == 0
    assert release.count(f"NOT age {sign} ({divisor}) > 1").value == 0
    assert release.count(f"age {sign} ({divisor}) IS NULL").value == release.rows


@pytest.mark.parametrize("column", ["age", "level", "code"])
@pytest.mark.parametrize(
    "condition",
    ["{0} * 1000000000 >= 2000000000", "{0} * 1000000000000 >= age", "2147483647 + {0} > 2147483648 + age"],
)
def test_numbers_are_as_large_for_a_split_column_as_for_the_others(
    condition: str, column: str, raw: duckdb.DuckDBPyConnection, engine: Database
) -> None:
    """Products and sums beyond 2^31 are computed for the value of a column as they are for the column."""
    text = condition.format(column)
    assert split_matches(engine, parse_query(text, SCHEMA), column) == matched(raw, text)


@pytest.mark.parametrize(
    "text",
    [
        "age // 2 = -2",
        "age // -2 = -4",
        "age / 2 = -2.5",
        "age % 2 = -1",
        "age % -2 = 1",
        "abs(age) = 5",
        "-age = 5",
        "age - 2 - 1 = 6",
        "age - (2 - 1) = 8",
        "age + 2 * 3 = 15",
        "age // 2 * 2 = 8",
        "age * 3 % 4 = 3",
        "-age % 2 = 1",
        "level * age = -27 OR level - age = 6",
        "age = 2",
        "age <> 2",
        "age < 2",
        "age <= 2",
        "age > 2",
        "age >= 2",
        "level <= age",
        "level >= age",
        "age BETWEEN 0 AND 2",
    ],
)
def test_every_operator_does_what_it_does_in_sql(text: str, raw: duckdb.DuckDBPyConnection, engine: Database) -> None:
    """Some row meets each of these, so another operator, order or sign in its place would show."""
    expected = matched(raw, text)
    assert 0 < len(expected) < len(ROWS)
    assert split_matches(engine, parse_query(text, SCHEMA), "level") == expected


@pytest.mark.parametrize(
    "text",
    [
        "age // 2.0 = 1",
        "age // 2.0 = 4.5",
        "age * 0.00001 = 0.00009",
        "age * 0.1 + 0.2 = 0.4",
        "age = 9.0",
    ],
)
def test_a_constant_keeps_its_kind(text: str, raw: duckdb.DuckDBPyConnection, engine: Database) -> None:
    """2.0 is not 2 for //, and 0.00001 is exact: rewriting a condition must not change a constant."""
    assert split_matches(engine, parse_query(text, SCHEMA), "level") == matched(raw, text)


# --- IN (SELECT ...) over auxiliary tables -------------------------------------------------------------------------

NEARBY = {"n": [0, 2, 7, None], "z": ["F", "flu", None, "HIV"], "w": [1, 2, 3, 4]}
TABLES = {"dict": dict, "arrow": pa.table, "pandas": pd.DataFrame}


@pytest.fixture(params=TABLES)
def nearby(request: pytest.FixtureRequest) -> Any:
    """The same auxiliary table in each form that a caller may hand in."""
    return TABLES[request.param](NEARBY)


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("age IN (SELECT n FROM near)", lambda row: row["age"] in (0, 2, 7)),
        ("age NOT IN (SELECT n FROM near)", lambda row: False),
        ("NOT age IN (SELECT n FROM near)", lambda row: False),
        ("age NOT IN (SELECT n FROM near) OR level = 1", lambda row: row["level"] == 1),
        ("age NOT IN (SELECT n FROM near WHERE n IS NOT NULL)", lambda row: row["age"] not in (0, 2, 7, None)),
        ("age NOT IN (SELECT w FROM near)", lambda row: row["age"] not in (1, 2, 3, 4, None)),
        ("age IN (SELECT n FROM near WHERE w >= 2 AND z LIKE 'f%')", lambda row: row["age"] == 2),
        ("age IN (SELECT n FROM near WHERE n > 100)", lambda row: False),
        ("age NOT IN (SELECT n FROM near WHERE n > 100)", lambda row: True),
        ("age IN (SELECT n FROM near AS b WHERE b.w < 3)", lambda row: row["age"] in (0, 2)),
        ("age % 5 IN (SELECT w FROM near)", lambda row: (row["age"] or 0) > 0 and row["age"] % 5 in (1, 2, 3, 4)),
        ("age + level IN (SELECT w FROM near)",
         lambda row: None not in (row["age"], row["level"]) and row["age"] + row["level"] in (1, 2, 3, 4)),
        ("\"Full Name\" IN (SELECT z FROM near)", lambda row: row["Full Name"] in ("F", "flu")),
        ("age IN (SELECT n FROM NEAR WHERE w IN (SELECT N FROM near))", lambda row: row["age"] == 2),
        ("SELECT COUNT(*) FROM a WHERE age IN (SELECT n FROM near)", lambda row: row["age"] in (0, 2, 7)),
    ],
)  # fmt: skip
def test_an_auxiliary_table_is_asked_as_sql_asks_it(
    text: str, meets: Any, nearby: Any, release: discreet.Release, plain: list[Row]
) -> None:
    """NOT IN over a column with a null is never true; without nulls, with WHERE or over no rows, it is."""
    expected = number(plain, meets)
    assert release.count(text, aux={"near": nearby}).bounds == (expected, expected)


def test_the_sensitive_value_is_looked_up_in_an_auxiliary_table(
    nearby: Any, release: discreet.Release, plain: list[Row]
) -> None:
    """A sensitive value's lookup is decided value by value, so it is exact too."""
    expected = number(plain, lambda row: row["ill"] in ("F", "flu", "HIV"))
    assert release.count("ill IN (SELECT z FROM near)", aux={"near": nearby}).bounds == (expected, expected)
    assert release.count("ill NOT IN (SELECT z FROM near)", aux={"near": nearby}).bounds == (0, 0)
    groups = release.count_by("ill", where="ill IN (SELECT z FROM near WHERE w = 4)", aux={"near": nearby})
    assert {group[0] for group, estimate in groups if estimate.value} == {"HIV"}


@pytest.mark.parametrize(
    "table",
    [{"n": [1, 2], "w": [1]}, {"n": 1}, [1, 2], "near", None, {"n": [1, "a"]}, {"n": [object()]}, 7, Path("near.csv")],
    ids=["ragged", "number", "list", "text", "none", "mixed", "object", "whole", "path"],
)
def test_what_is_no_auxiliary_table_is_refused(table: Any, release: discreet.Release) -> None:
    """Ragged columns and things that are no table are refused in one sentence."""
    with pytest.raises(QueryError, match=r"aux \(near\) must be"):
        release.count("age IN (SELECT n FROM near)", aux={"near": table})


def test_a_suggestion_has_no_missing_cell() -> None:
    """The missing cell is a value of the domain, but nothing that could be written there."""
    assert refusal("ill = 'cholera'").endswith(f"there is F, HIV, flu, {ODD}")


def test_an_auxiliary_table_is_forgotten_after_the_question(release: discreet.Release) -> None:
    """A later question does not see it, nor the one that was handed in under the name before."""
    condition = "age IN (SELECT n FROM near)"
    ones, twos = ({"near": {"n": [number]}} for number in (1, 2))
    assert release.count(condition, aux=ones) == release.count("age = 1")
    assert release.count(condition, aux=twos) == release.count("age = 2")
    with pytest.raises(QueryError, match="near was not handed in"):
        release.count(condition)


def test_count_by_refuses_a_condition_that_groups_too(release: discreet.Release) -> None:
    """The columns to count by are given once."""
    with pytest.raises(QueryError):
        release.count_by("age", where="SELECT COUNT(*) FROM a GROUP BY level")
    with pytest.raises(QueryError):
        release.count("SELECT COUNT(*) FROM a GROUP BY level")

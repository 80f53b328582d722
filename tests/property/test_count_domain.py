"""Q(D) is what counting the tuples one by one gives, at any size, and nothing is enumerated."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from cases import few
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet import QueryError, count_domain
from discreet.engine.duck.database import Database
from discreet.query import count_domain as count_domain_module
from discreet.query import decompose
from discreet.query.auxiliary import register_auxiliary
from discreet.query.count_domain import count_matching
from discreet.query.parse import parse_in
from discreet.query.scope import Scope
from discreet.schema.domain import Integers, Listed

NUMBERS, TEXTS = ("a", "b", "c"), ("s", "t")
WORDS = ("x", "xy", "it's", "%")
ORDER = {"=": "eq", "<>": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
NEAR = {"n": [0, 2, None], "m": [1, 2, 3], "w": ["x", "it's", "q"]}
QUICK = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)


# --- Conditions as nested tuples: how they are written, and what they mean on one tuple -----------------------------


def quoted(value: Any) -> str:
    return "NULL" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def written(node: Any) -> str:
    match node:
        case ("column", name):
            return name
        case ("value", value):
            return f"({value})" if isinstance(value, int) and value < 0 else quoted(value)
        case ("abs", term):
            return f"abs({written(term)})"
        case ("and" | "or" as word, *parts):
            return "(" + f" {word} ".join(map(written, parts)) + ")"
        case ("not", part):
            return f"(NOT {written(part)})"
        case ("in", negated, term, listed):
            return f"{written(term)} {'NOT ' * negated}IN ({', '.join(map(quoted, listed))})"
        case ("near", negated, term, column, least):
            return f"{written(term)} {'NOT ' * negated}IN (SELECT {column} FROM near WHERE m >= {least})"
        case ("between", negated, term, low, high):
            return f"{written(term)} {'NOT ' * negated}BETWEEN {written(low)} AND {written(high)}"
        case ("like", negated, term, pattern):
            return f"{written(term)} {'NOT ' * negated}LIKE {quoted(pattern)}"
        case ("null", negated, term):
            return f"{written(term)} IS {'NOT ' * negated}NULL"
        case (sign, left, right):
            text = f"{written(left)} {sign} {written(right)}"
            return text if sign in ORDER else f"({text})"
    raise AssertionError(node)


def valued(term: Any, row: Mapping[str, Any]) -> Any:
    match term:
        case ("column", name):
            return row[name]
        case ("value", value):
            return value
        case ("abs", inner):
            value = valued(inner, row)
            return None if value is None else abs(value)
        case (sign, left, right):
            one, two = valued(left, row), valued(right, row)
            if one is None or two is None or (sign == "%" and two == 0):
                return None
            if sign == "%":  # cut off towards zero
                return abs(one) % abs(two) * (1 if one >= 0 else -1)
            return {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](one, two)
    raise AssertionError(term)


def compared(sign: str, one: Any, two: Any) -> bool | None:
    return None if one is None or two is None else getattr(operator, ORDER[sign])(one, two)


def some(truths: list[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def opposite(truth: bool | None, negated: bool = True) -> bool | None:
    return (not truth) if negated and truth is not None else truth


def every(truths: list[bool | None]) -> bool | None:
    return opposite(some([opposite(truth) for truth in truths]))


def holds(node: Any, row: Mapping[str, Any]) -> bool | None:
    match node:
        case ("and", *parts):
            return every([holds(part, row) for part in parts])
        case ("or", *parts):
            return some([holds(part, row) for part in parts])
        case ("not", part):
            return opposite(holds(part, row))
        case ("in", negated, term, listed):
            return opposite(some([compared("=", valued(term, row), each) for each in listed]), negated)
        case ("near", negated, term, column, least):
            listed = [each for each, m in zip(NEAR[column], NEAR["m"], strict=True) if m >= least]
            return opposite(some([compared("=", valued(term, row), each) for each in listed]), negated)
        case ("between", negated, term, low, high):
            value = valued(term, row)
            both = [compared(">=", value, valued(low, row)), compared("<=", value, valued(high, row))]
            return opposite(every(both), negated)
        case ("like", negated, term, pattern):
            value = valued(term, row)
            shape = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern)
            return None if value is None else opposite(re.fullmatch(shape, value) is not None, negated)
        case ("null", negated, term):
            return (valued(term, row) is None) is not negated
        case (sign, left, right):
            return compared(sign, valued(left, row), valued(right, row))
    raise AssertionError(node)


def enumerated(node: Any, domains: Mapping[str, Any]) -> int:
    rows = (dict(zip(domains, cells, strict=True)) for cells in product(*domains.values()))
    return sum(holds(node, row) is True for row in rows)


# --- Generating them ------------------------------------------------------------------------------------------------


def column(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(names).map(lambda name: ("column", name))


@st.composite
def predicates(draw: st.DrawFn, numbers: tuple[str, ...], texts: tuple[str, ...]) -> Any:
    negated = draw(st.booleans())
    if texts and (not numbers or draw(st.integers(0, 2)) == 0):
        term = draw(column(texts))
        word = st.sampled_from((*WORDS, "beyond", None))
        return draw(
            st.one_of(
                st.tuples(st.just("in"), st.just(negated), st.just(term), st.lists(word, min_size=1, max_size=3)),
                st.tuples(st.just("near"), st.just(negated), st.just(term), st.just("w"), st.integers(0, 4)),
                st.tuples(st.just("like"), st.just(negated), st.just(term), st.sampled_from(("x%", "_", "%", "it_s"))),
                st.tuples(st.just("null"), st.just(negated), st.just(term)),
                st.tuples(st.sampled_from(tuple(ORDER)), st.just(term), column(texts)),
            )
        )
    leaf = column(numbers) | column(numbers) | st.integers(-2, 4).map(lambda value: ("value", value))
    sums = st.tuples(st.sampled_from("+-*%"), leaf, leaf)
    term = leaf | sums | sums.map(lambda each: ("abs", each))
    listed = st.lists(st.sampled_from((-2, 0, 1, 3, 99, None)), min_size=1, max_size=3)
    return draw(
        st.one_of(
            st.tuples(st.sampled_from(tuple(ORDER)), term, term),
            st.tuples(st.sampled_from(tuple(ORDER)), column(numbers), leaf),
            st.tuples(st.just("between"), st.just(negated), term, leaf, leaf),
            st.tuples(st.just("in"), st.just(negated), column(numbers), listed),
            st.tuples(st.just("near"), st.just(negated), term, st.just("n"), st.integers(0, 4)),
            st.tuples(st.just("null"), st.just(negated), term),
        )
    )


@st.composite
def questions(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    numbers = NUMBERS[: draw(st.integers(1, 3))]
    texts = TEXTS[: draw(st.integers(1 if len(numbers) == 1 else 0, 2))]
    values = st.lists(st.none() | st.integers(-3, 4), min_size=1, max_size=6, unique=True)
    words = st.lists(st.none() | st.sampled_from(WORDS), min_size=1, max_size=5, unique=True)
    spans = st.builds(lambda low, size: range(low, low + size), st.integers(-3, 2), st.integers(1, 6))
    domains = {name: draw(values | spans) for name in numbers} | {name: draw(words) for name in texts}
    node = st.recursive(
        predicates(numbers, texts),
        lambda part: st.one_of(
            st.lists(part, min_size=2, max_size=4).flatmap(
                lambda parts: st.sampled_from((("and", *parts), ("or", *parts)))
            ),
            part.map(lambda each: ("not", each)),
        ),
        max_leaves=8,
    )
    return draw(node), domains


def agrees(question: tuple[Any, dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    node, domains = question
    wanted = enumerated(node, domains)
    aux = {"near": NEAR} if "near" in written(node) else None
    for together, exact in ((1 << 12, 2**62), (1, 1)):  # as it is; and with a gate at every turn, in wide integers
        monkeypatch.setattr(decompose, "_TOGETHER", together)
        monkeypatch.setattr(decompose, "_EXACT", exact)
        assert count_domain(written(node), domains, aux=aux) == wanted, (written(node), domains)


@settings(QUICK, max_examples=few(300))
@given(question=questions())
def test_the_count_is_that_of_the_tuples_one_by_one(question: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluator of three-valued logic in Python, on every tuple, gives the same number."""
    agrees(question, monkeypatch)


@pytest.mark.slow
@settings(QUICK, max_examples=few(3_000))
@given(question=questions())
def test_the_count_is_that_of_the_tuples_one_by_one_for_thousands(
    question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same, ten times as often."""
    agrees(question, monkeypatch)


def weighed(node: Any, domains: Mapping[str, Any], weights: Mapping[str, list[int]]) -> int:
    """The same sum, tuple by tuple."""
    found = 0
    for places in product(*(range(len(values)) for values in domains.values())):
        row = {name: list(values)[place] for (name, values), place in zip(domains.items(), places, strict=True)}
        if holds(node, row) is True:
            found += math.prod(weights[name][place] for name, place in zip(domains, places, strict=True))
    return found


@settings(QUICK, max_examples=few(200))
@given(question=questions(), data=st.data())
def test_weighted_counts_are_those_of_the_tuples_one_by_one(
    question: Any, data: st.DataObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tuple counts as often as the product of its values' weights, some of them 0 and some beyond 32 bits."""
    node, domains = question
    weight = st.integers(0, 3) | st.integers(2**40, 2**40 + 9)
    weights = {name: [data.draw(weight) for _ in values] for name, values in domains.items()}
    encodings = {name: count_domain_module._encoding(name, values) for name, values in domains.items()}
    # The missing value is the last of its encoding, wherever it is listed.
    domains = {name: list(encoding) for name, encoding in encodings.items()}
    aux = {"near": NEAR} if "near" in written(node) else None
    types = {name: count_domain_module._type(encoding) for name, encoding in encodings.items()}
    for together in (1 << 12, 1):
        monkeypatch.setattr(decompose, "_TOGETHER", together)
        with Database() as engine:
            scope = Scope(types=types, domains={}, auxiliary=register_auxiliary(aux, engine) if aux else {})
            condition = parse_in(written(node), scope).where
            assert count_matching(condition, encodings, engine, weights) == weighed(node, domains, weights)


# --- The paper's examples, and sizes beyond enumeration -------------------------------------------------------------

EXAMPLE = {"age": range(20, 40), "nationality": ["American", "British", "Indian"], "score": range(81, 101)}
TESTERS = {"age": range(16, 66), "nationality": [f"country {i}" for i in range(50)], "score": range(1, 101)}


def test_the_example_of_the_paper() -> None:
    """[RSH] Example 4.1 prints 190: it forgets the factor 3 of nationality, and takes <= for <."""
    assert count_domain("score < 3 * age", EXAMPLE) == 549
    assert count_domain("SELECT COUNT(*) FROM D WHERE score < 3 * age", EXAMPLE) == 549
    assert count_domain("", EXAMPLE) == 1_200


def test_both_queries_of_the_paper() -> None:
    """[RSH] section 2.3, Q1 and Q2."""
    assert count_domain("(age > 16 AND age < 17 OR age > 55) AND score > 91", TESTERS) == 10 * 50 * 9
    regions = {
        "country": [f"country {i}" for i in range(60)],
        "continent": ["Africa" if i % 3 == 0 else "Asia" for i in range(60)],
        "GDP": [1000 * i for i in range(60)],
    }
    poor = "score > 98 AND nationality IN (SELECT country FROM Regions WHERE continent = 'Africa' AND GDP < 10000)"
    assert count_domain(poor, TESTERS, aux={"Regions": regions}) == 50 * 4 * 2


@pytest.mark.parametrize("attributes", [10, 20])
def test_counts_are_exact_beyond_machine_integers(attributes: int) -> None:
    """10^20 and 10^40 tuples: every digit is right."""
    domains = {f"x{i}": range(100) for i in range(attributes)}
    m = 100**attributes
    assert count_domain("", domains) == m
    assert count_domain("x0 <> 7 OR x1 <> 7", domains) == m - m // 10_000
    every = " AND ".join(f"x{i} < 99" for i in range(attributes))
    assert count_domain(every, domains) == 99**attributes
    assert count_domain(f"NOT ({every})", domains) == m - 99**attributes
    rises = " AND ".join(f"x{i} = x{i + 1}" for i in range(attributes - 1))
    assert count_domain(rises, domains) == 100
    assert count_domain(f"NOT ({rises}) OR x0 = 3", domains) == m - 99
    pairs = " OR ".join(f"x{i} < x{i + 1}" for i in range(0, attributes, 2))
    assert count_domain(pairs, domains) == m - 5050 ** (attributes // 2)


def test_values_outside_a_domain_match_nothing() -> None:
    """No error: they are no values of any tuple; their negation holds wherever there is a value."""
    domains = {"age": Integers(low=1, high=9, missing=True), "name": Listed(values=("a", "b"))}
    assert count_domain("age = 77", domains) == 0
    assert count_domain("age <> 77", domains) == 9 * 2
    assert count_domain("name IN ('z', 'a')", domains) == 10
    assert count_domain("age BETWEEN 8 AND 80", domains) == 2 * 2
    assert count_domain("age IS NULL", domains) == 2
    assert count_domain("name NOT LIKE 'a%'", domains) == 10


def test_domains_without_values_and_with_nothing_but_the_missing_one() -> None:
    """An empty domain leaves no tuple; a missing value is unknown to all but IS NULL."""
    assert count_domain("", {"a": [], "b": range(3)}) == 0
    assert count_domain("", {}) == 1
    assert count_domain("a IS NULL AND b > 0", {"a": [None], "b": range(3)}) == 2
    assert count_domain("a + 1 > b OR b = 2", {"a": [None], "b": range(3)}) == 1
    assert count_domain("b >= 3", {"b": range(1, 8, 2)}) == 3


@pytest.mark.parametrize(
    ("where", "domains", "says"),
    [
        ("agee = 1", {"age": range(3)}, "did you mean age"),
        ("lower(age) = 1", {"age": range(3)}, "cannot be answered"),
        ("SELECT COUNT(*) FROM d GROUP BY age", {"age": range(3)}, "GROUP BY"),
        ("age < size", {"age": range(10_000), "size": range(10_000)}, "age and size has 100,000,000"),
        ("age * 2000000000000 * 2000000000000 > 1", {"age": range(9)}, "overflows"),
        ("", {"age": range(3), "AGE": range(3)}, "twice"),
        ("", {"age": [1, 1]}, "distinct"),
        ("", {"age": [1, "x"]}, "all text or all whole"),
        ("", {"age": "abc"}, "sequence"),
        ("", {"age": range(2**60)}, "2\\^53"),
    ],
)
def test_what_cannot_be_counted_is_refused(where: str, domains: Any, says: str) -> None:
    """One sentence, with what to do."""
    with pytest.raises(QueryError, match=says):
        count_domain(where, domains)

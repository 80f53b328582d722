"""Whatever is asked of a release is answered with estimates or refused in a sentence, and nothing outside is read.

From a grammar of honest and hostile pieces, from mutated questions and from random text: a few dozen questions to a
release of every family in the ordinary run, 10,000 to one of buckets and 4,000 to the others in the slow one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cases import CASES, Case, few
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tampering import Releases
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.schema.domain import Integers, Listed

FUZZ = settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
SECONDS = 20  # that the slowest question may take, on a busy machine
MARK = "Xyzzy"
CANARY = "CANARY.csv"  # stands for the path of a file that must never be read

DOMAINS = {
    "age": Integers(low=-5, high=9, missing=True),
    "code": Listed(values=(-3, 0, 2, 70)),
    "Full Name": Listed(values=("F", "flu", "it's; -- 100% _😀\\"), missing=True),
    "ill": Listed(values=("flu", "F", "HIV"), missing=True),
}
AUX = {"near": {"n": [0, 2, None, 9], "z": ["F", None, "flu", "x"]}, "odd one": {"select": [1]}}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[discreet.Release]:
    folder = tmp_path_factory.mktemp("asked")
    schema = discreet.Schema(quasi_identifiers=("age", "code", "Full Name"), sensitive="ill", domains=DOMAINS)
    tolerance = discreet.Tolerance(floor="1/2")
    policy = discreet.Policy(schema=schema, mechanism=discreet.Buckets(tolerance=tolerance, max_size=8))
    values = {name: list(domain) for name, domain in DOMAINS.items()}
    rows = [
        {name: each[(i * (k + 3) + i // 5) % len(each)] for k, (name, each) in enumerate(values.items())}
        for i in range(60)
    ]
    table = discreet.read_table(pd.DataFrame(rows).convert_dtypes(), policy)
    opened = discreet.publish(table, policy, to=folder / "release", seed=1)
    table.close()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file outside the release whose time of access tells whether it was read."""
    path = tmp_path_factory.mktemp("outside") / CANARY
    path.write_text(f"secret\n{MARK}\n")
    _set_back(path)
    path.read_bytes()
    if not _was_read(path):
        pytest.skip("this file system keeps no times of access")
    _set_back(path)
    return path


def _set_back(path: Path) -> None:
    os.utime(path, (1_000_000, 2_000_000))


def _was_read(path: Path) -> bool:
    return path.stat().st_atime != 1_000_000


def survives(release: discreet.Release, canary: Path, text: str, way: str, aux: bool) -> None:
    """The question gives estimates or a DiscreetError, in time, and the canary was not read."""
    text = text.replace(CANARY, str(canary))
    started = time.monotonic()
    if way == "command":
        said = CliRunner().invoke(app, ["query", str(release.path), "--", text])
        assert said.exception is None or isinstance(said.exception, SystemExit), repr(said.exception)
        assert said.exit_code in (0, 1, 2)
        assert MARK not in said.output
    else:
        try:
            found = _asked(release, text, way, AUX if aux else None)
        except discreet.DiscreetError as error:
            assert MARK not in str(error)  # noqa: PT017 # it may also be answered
        else:
            assert all(isinstance(each, discreet.Estimate) for each in found)
    assert time.monotonic() - started < SECONDS
    assert not _was_read(canary)


def _asked(release: discreet.Release, text: str, way: str, aux: Any) -> list[discreet.Estimate]:
    if way == "count":
        return [release.count(text, aux=aux)]
    if way == "count_many":
        return release.count_many([text, "age = 2", text], aux=aux)
    counts = release.query(text, aux=aux) if way == "query" else release.count_by("age", where=text, aux=aux)
    return [counts] if isinstance(counts, discreet.Estimate) else [estimate for _, estimate in counts]


# --- Pieces --------------------------------------------------------------------------------------------------------

COLUMNS = ("age", "AGE", "code", '"Full Name"', "ill", "Ill", "t.age", "release.ill", "n", "z", "nobody", '"a""b"', "*")
NUMBERS = (
    "0",
    "1",
    "-1",
    "2.5",
    "1e3",
    "1e400",
    "9" * 16,
    "9" * 400,
    ".5",
    "5.",
    "0x1F",
    "1_000",
    "NaN",
    "'inf'::DOUBLE",
    "2147483648",
    "9007199254740991",
    "-9007199254740991",
    "1e-300",
    "007",
    "٣",
    "1e",
    "- -1",
)
TEXTS = (
    "'flu'",
    "'F'",
    "''",
    "'it''s'",
    '"flu"',
    "$$flu$$",
    "E'\\x41'",
    "'\\'",
    "'%'",
    "'_'",
    "'\u2028'",
    "'😀'",
    "x'41'",
    "'" + "a" * 500 + "'",
    "'\ud800'",
    "'fl",
    "U&'\\0041'",
    f"'{CANARY}'",
    "'\x00'",
    "'/etc/passwd'",
)
HOSTILE_TERMS = (
    f"(SELECT secret FROM '{CANARY}')",
    f"(SELECT count(*) FROM read_csv('{CANARY}'))",
    f"read_text('{CANARY}')",
    f"(SELECT content FROM read_text('{CANARY}'))",
    "getenv('HOME')",
    "current_setting('threads')",
    f"(FROM glob('{CANARY}'))",
    "version()",
    "pg_sleep(9)",
    "(SELECT max(age) OVER () FROM t)",
    "row_number() OVER ()",
    "CAST(age AS VARCHAR)",
    "age::TEXT",
    "[1, 2, 3]",
    "[x + 1 FOR x IN [1]]",
    "list_transform([1], x -> x)",
    "{'a': 1}",
    "struct_pack(a := 1)",
    "MAP {1: 2}",
    "CASE WHEN age = 1 THEN 2 END",
    "EXISTS (SELECT 1)",
    "ANY (SELECT 1)",
    "?",
    "$1",
    ":name",
    "@age",
    "#1",
    "~age",
    "age!",
    "age ** 2",
    "age ^ 2",
    "age << 60",
    "age & 1",
    "age || 'a'",
    "random()",
    "now()",
    "DATE '2020-01-01'",
    "INTERVAL 1 DAY",
    "TIMESTAMP 'x'",
    "age COLLATE NOCASE",
    "sum(age)",
    "count(*)",
    "COLUMNS(*)",
    "abs(age, 1)",
    "abs()",
    "abs(DISTINCT age)",
    "(age, code)",
    "()",
    "NULL",
    "TRUE",
    "DEFAULT",
    "repeat('a', 1000000000)",
    "TRY(age)",
    "LAMBDA x: x",
    "age[1]",
    "age.b",
    "ill[1:2]",
    "nextval('s')",
    "{d '2020-01-01'}",
    "query('SELECT 1')",
)
HOSTILE_CONDITIONS = (
    f"age IN (SELECT secret FROM '{CANARY}')",
    f"age IN (SELECT secret FROM read_csv_auto('{CANARY}'))",
    f"ill IN (FROM '{CANARY}')",
    "age IN (SELECT n FROM near)",
    "age NOT IN (SELECT n FROM near WHERE z = 'F')",
    "age IN (SELECT n FROM near, near)",
    "age IN (SELECT n FROM near JOIN near USING (n))",
    "z IN (SELECT z FROM near)",
    "age IN (SELECT n FROM near LIMIT 1)",
    "age IN (SELECT n FROM near UNION SELECT 1)",
    'age IN (SELECT "select" FROM "odd one")',
    "age IN (WITH a AS (SELECT 1) SELECT * FROM a)",
    "age IN (VALUES (1))",
    "age IN (TABLE near)",
    "age IN ()",
    "age IN near",
    "age IN (SELECT n FROM near.near)",
    "age IN (SELECT n FROM qit)",
    "age IN (SELECT BID FROM st)",
    "ill IN ('flu', 1)",
    "(age, code) IN (SELECT 1, 2)",
    "age IS DISTINCT FROM 1",
    "age IS TRUE",
    "age ISNULL",
    "ill SIMILAR TO 'a'",
    "ill ~ 'a'",
    "ill ILIKE 'f%'",
    "ill LIKE 'f%' ESCAPE 'f'",
    "ill NOT LIKE '%'",
    "ill GLOB '*'",
    "ill ~~~ 'f'",
    "ill LIKE ill",
    "age",
    "BETWEEN 1 AND 2",
    "age BETWEEN SYMMETRIC 9 AND 1",
    "age BETWEEN 9 AND 1",
    "age = ANY ([1])",
    "age == 2",
    "age <=> 2",
    "age := 2",
    "NOT NOT age = 2",
    "age = 2 XOR age = 3",
    "age = 2 = TRUE",
    "TRUE",
    "FALSE",
    "NULL",
    "1",
    "'x'",
    "age = age",
    "regexp_matches(ill, '(a+)+$')",
    "age > 1 QUALIFY row_number() OVER () = 1",
    "age = 2 ORDER BY 1",
    "age = 2 LIMIT 1",
    "age IN (1, 2, NULL)",
    "age * 9007199254740991 * 9007199254740991 * 99999 > 0",
    "age // 0 = 1",
    "age % 0.0 = 1",
    "abs(age) * 9007199254740991 * 1025 > 1",
    "- (age) = 2",
    "age + NULL = 2",
    "abs(NULL) = NULL",
    "NULL IN (NULL)",
)
TAILS = (
    "; DROP TABLE qit",
    "; SELECT 1",
    ";;",
    " -- x",
    " /* x */",
    " /* x",
    "\n",
    "\x00",
    ";",
    ")",
    "(",
    "'",
    '"',
    "\\",
    "$$",
    "\u2028",
    f"; COPY qit TO '{CANARY}'",
    f"; ATTACH '{CANARY}'",
    "; INSTALL httpfs",
    "; PRAGMA version",
    "; SET threads = 1",
    " UNION SELECT 1",
    f" UNION SELECT count(*) FROM '{CANARY}'",
    " GROUP BY age",
    " HAVING count(*) > 1",
    " WINDOW w AS ()",
    " FOR UPDATE",
    " AND",
)
SIGNS = (
    "=",
    "<>",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "IS",
    "LIKE",
    "~~",
    "||",
    "->",
    "::",
    "<=>",
    "IN",
    "+",
    "%",
    "//",
    "@>",
    ".",
)
SOURCES = (
    "release",
    "t",
    f"'{CANARY}'",
    f'"{CANARY}"',
    f"read_csv('{CANARY}')",
    f"read_parquet('{CANARY}')",
    "glob('/*')",
    "qit",
    "st",
    "a, b",
    "a JOIN b USING (c)",
    "(SELECT 1)",
    "duckdb_settings()",
    "information_schema.tables",
    "range(9)",
    "a.b.c",
    "t AS u(v)",
    "pragma_version()",
    "t TABLESAMPLE 1%",
    "UNNEST([1])",
    "near",
    "'https://example.com/x.csv'",
    "t PIVOT (sum(a) FOR b IN (1))",
)
STATEMENTS = (
    f"COPY (SELECT 1) TO '{CANARY}'",
    f"ATTACH '{CANARY}' AS a",
    "PRAGMA database_list",
    "INSTALL httpfs",
    "LOAD httpfs",
    "EXPLAIN SELECT 1",
    "WITH t AS (SELECT 1) SELECT COUNT(*) FROM t",
    f"WITH t AS (FROM '{CANARY}') SELECT COUNT(*) FROM t",
    "CREATE TABLE a (b INT)",
    "VACUUM",
    "CALL pragma_version()",
    "DESCRIBE t",
    "SHOW TABLES",
    "SUMMARIZE t",
    "FROM t",
    "VALUES (1)",
    "SET memory_limit = '1TB'",
    "SELECT",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT COUNT(*) FROM t",
    "EXPORT DATABASE 'x'",
    "select*",
    "with",
)

TERMS = st.recursive(
    st.sampled_from(COLUMNS)
    | st.sampled_from(COLUMNS)
    | st.sampled_from(NUMBERS)
    | st.sampled_from(TEXTS)
    | st.sampled_from(HOSTILE_TERMS),
    lambda inner: st.tuples(
        st.sampled_from(("{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} // {}", "{} % {}", "({})", "-{}", "abs({})")),
        inner,
        inner,
    ).map(lambda drawn: drawn[0].format(*drawn[1:])),
    max_leaves=3,
)
PREDICATES = st.one_of(
    st.tuples(TERMS, st.sampled_from(SIGNS), TERMS).map(" ".join),
    st.tuples(TERMS, TERMS, TERMS).map(lambda drawn: "{} BETWEEN {} AND {}".format(*drawn)),
    st.tuples(TERMS, st.lists(TERMS, max_size=3).map(", ".join)).map(lambda drawn: "{} IN ({})".format(*drawn)),
    st.sampled_from(HOSTILE_CONDITIONS),
    st.tuples(TERMS, st.sampled_from(SOURCES)).map(lambda drawn: "age IN (SELECT {} FROM {})".format(*drawn)),
)
CONDITIONS = st.recursive(
    PREDICATES,
    lambda inner: st.tuples(
        st.sampled_from(("{} AND {}", "{} OR {}", "NOT {}", "({})", "NOT ({})", "({}) OR ({})", "{} and not {}")),
        inner,
        inner,
    ).map(lambda drawn: drawn[0].format(*drawn[1:])),
    max_leaves=4,
)
SELECTS = st.builds(
    "SELECT {}COUNT(*){} FROM {}{}{}".format,
    st.sampled_from(("", "", "age, ", "DISTINCT ", "ill, age, ", "sum(age), ", "*, ", "1, ", "COUNT(age), ", "TOP 1 ")),
    st.sampled_from(("", "", " AS n", " FILTER (WHERE age = 1)", " OVER ()", " + 1")),
    st.sampled_from(SOURCES) | st.just("release"),
    CONDITIONS.map(" WHERE {}".format) | st.just(""),
    st.sampled_from(
        ("", "", " GROUP BY age", " GROUP BY ill, age", " GROUP BY ALL", " GROUP BY 1", " GROUP BY ROLLUP (age)")
    ),
)
ASKED = st.one_of(
    CONDITIONS,
    SELECTS,
    st.tuples(CONDITIONS | SELECTS | st.sampled_from(STATEMENTS), st.sampled_from(TAILS)).map("".join),
    st.lists(
        st.sampled_from((*COLUMNS, *SIGNS, *NUMBERS, *TEXTS, *TAILS, "AND", "OR", "NOT", "(", ")")), max_size=9
    ).map(" ".join),
    st.text(max_size=40),
    st.text(st.sampled_from("age=<>!()'\";-/*%_.,[]{}$@:?\\|&^~ \n\t\x00\ud8000123"), max_size=40),
)
WAYS = st.sampled_from(("count", "query", "query", "count_by", "count_many"))


@pytest.mark.slow
@given(text=ASKED, way=WAYS, aux=st.booleans())
@settings(FUZZ, max_examples=few(9_000))
def test_any_question_is_answered_or_refused(
    text: str, way: str, aux: bool, release: discreet.Release, canary: Path
) -> None:
    """9,000 questions through the library."""
    survives(release, canary, text, way, aux)


@pytest.mark.slow
@given(text=ASKED)
@settings(FUZZ, max_examples=few(500))
def test_any_question_to_the_command_is_answered_or_refused(text: str, release: discreet.Release, canary: Path) -> None:
    """500 questions through the command line: exit 0, 1 or 2, and no traceback."""
    survives(release, canary, text, "command", aux=False)


# What the questions call columns, as the ward of every family has them.
WARD = {'"Full Name"': "postcode", "code": "gender", "Ill": "Disease", "ill": "disease"}


@pytest.mark.parametrize(
    ("case", "examples"),
    [
        pytest.param(case, number, id=f"{case}-{number}", marks=marks)
        for number, marks in ((20, ()), (500, pytest.mark.slow))
        for case in CASES
    ],
)
def test_any_question_to_any_family_is_answered_or_refused(
    case: Case, examples: int, releases: Releases, canary: Path
) -> None:
    """Whatever the mechanism; a plain question is answered."""
    opened = discreet.open_release(releases.plain(case))
    try:
        assert isinstance(opened.count("age > 3 AND disease = 'Flu'"), discreet.Estimate)

        @settings(FUZZ, max_examples=examples)
        @given(text=ASKED, way=WAYS, aux=st.booleans())
        def ask(text: str, way: str, aux: bool) -> None:
            for theirs, ours in WARD.items():
                text = text.replace(theirs, ours)
            survives(opened, canary, text, way, aux)

        ask()
    finally:
        opened.close()


REPEATED = st.sampled_from(
    (
        "age = 1 OR ",
        "age = 1 AND ",
        "NOT ",
        "(",
        "-",
        "- ",
        "abs(",
        "[",
        "{'a': ",
        "CASE WHEN ",
        "age IN (SELECT n FROM near WHERE ",
        "age IN (",
        "1 + ",
        "SELECT ",
        "'a' ",
        "/* ",
        "age.",
        "age[",
        "age::",
        "age = ",
        "1, ",
        "\n",
        "x -> ",
        "age BETWEEN ",
        "(SELECT ",
    )
)


@pytest.mark.slow
@given(
    piece=REPEATED,
    times=st.sampled_from((10, 100, 150, 400, 900, 2_000, 2_001, 5_000, 10_000, 20_000)),
    middle=st.sampled_from(("age = 1", "1", "TRUE", "", "age", "'flu'")),
    end=st.sampled_from((")", "]", "}", " END", "", " = 1", " OR age = 1")),
    way=WAYS,
)
@settings(FUZZ, max_examples=few(500))
def test_a_question_that_goes_on_and_on_is_answered_or_refused(
    piece: str, times: int, middle: str, end: str, way: str, release: discreet.Release, canary: Path
) -> None:
    """500 questions that repeat a piece up to 20,000 times, closed again as often or left open."""
    closing = end * (times if len(end) == 1 or end == " END" else 1)
    survives(release, canary, piece * times + middle + closing, way, aux=True)

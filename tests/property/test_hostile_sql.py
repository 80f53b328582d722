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
from hostile.questions import (
    AUX,
    CANARY,
    COLUMNS,
    HOSTILE_CONDITIONS,
    HOSTILE_TERMS,
    NUMBERS,
    SIGNS,
    SOURCES,
    STATEMENTS,
    TAILS,
    TEXTS,
    WARD,
)
from hostile.tables import MARK
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tampering import Releases
from typer.testing import CliRunner

import discreet
from discreet.cli.main import app
from discreet.schema.domain import Integers, Listed

FUZZ = settings(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
SECONDS = 20  # that the slowest question may take, on a busy machine

DOMAINS = {
    "age": Integers(low=-5, high=9, missing=True),
    "code": Listed(values=(-3, 0, 2, 70)),
    "Full Name": Listed(values=("F", "flu", "it's; -- 100% _😀\\"), missing=True),
    "ill": Listed(values=("flu", "F", "HIV"), missing=True),
}


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


# --- Questions ------------------------------------------------------------------------------------------------------

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

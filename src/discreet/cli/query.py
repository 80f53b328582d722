"""discreet query: counts from a release, and what is worked out from them."""

from __future__ import annotations

from typing import Annotated, Any

import pyarrow as pa
import typer

from discreet.cli.answers import Answer, as_csv, show_answer
from discreet.cli.answers import as_json as answers_as_json
from discreet.cli.options import AsJson, Folder
from discreet.cli.questions import Question, check_questions, read_questions
from discreet.cli.show import bar, guarded, say, show_json, show_text
from discreet.errors import QueryError
from discreet.estimate.open import open_release
from discreet.release.family import FAMILIES

EXAMPLE = "Example: discreet query release \"age BETWEEN 30 AND 40 AND disease = 'HIV'\""


def _ways() -> str:
    """The estimators of each family."""
    families = {family.name: family for family in FAMILIES.values()}
    return "; ".join(f"{name}: {', '.join(family.estimators)}" for name, family in families.items())


@guarded
def query(
    release: Folder,
    question: Annotated[
        str | None,
        typer.Argument(
            help="A condition, or SELECT COUNT(*) FROM release ... [GROUP BY ...]; SUM(column), AVG(column), "
            "MEDIAN(column), FILTER (WHERE ...) and + - * / of these too. The answer says its unit: people, "
            "records (rows of the custodian's table) or distinct tuples. People who are alike in every published "
            "column are one distinct tuple, so there are fewer of these than people.",
            show_default=False,
        ),
    ] = None,
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions",
            help="A UTF-8 file with one question a line (# for comments), or - for standard input; all are checked "
            "before the first is answered.",
            show_default=False,
        ),
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(help=f"How to answer; {_ways()}.", show_default="what is best for the release"),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How often the interval should hold the true count.")] = 0.95,
    aux: Annotated[
        list[str] | None,
        typer.Option("--aux", help="A public table for IN (SELECT ...), as NAME=FILE.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="What the answers may take at most.", show_default="no limit")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="The same, such as 2GB.", show_default="what releases of its size need"),
    ] = None,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV: a header, and a line for each answer or group.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask a release how many meet a condition; every answer has an interval and says what it counts."""
    if (question is None) == (questions is None):
        raise QueryError("a question must be given, or a file of them with --questions; give one of the two")
    if csv and as_json:
        raise QueryError("--csv and --json are two forms of one answer; choose one")
    asked = read_questions(questions) if questions is not None else [Question(0, question or "")]
    tables = dict(_auxiliary(each) for each in aux or [])
    with open_release(release, seconds=seconds, memory=memory) as opened:
        if questions is not None:
            check_questions(opened, asked, questions, tables)
        texts = [each.text for each in asked]
        with bar() as progress:
            opened.follow(progress)
            found = opened.query_many(texts, estimator=estimator, confidence=confidence, aux=tables)
    answers = [Answer(text, each) for text, each in zip(texts, found, strict=True)]
    if csv:
        show_text(as_csv(answers, asked=questions is not None))
    elif as_json:
        show_json(found[0].as_json() if questions is None else answers_as_json(answers))
    else:
        for each in answers:
            if questions is not None:
                say(each.question, style="bold")
            show_answer(each, opened.unit_words)


def _auxiliary(given: str) -> tuple[str, Any]:
    """A table from NAME=FILE, CSV or Parquet."""
    from pyarrow import parquet

    name, _, file = given.partition("=")
    try:
        return name, parquet.read_table(file) if file.endswith((".parquet", ".pq")) else _read_csv(file)
    except (OSError, ValueError, pa.ArrowException):
        raise QueryError(f"aux ({given}) must be NAME=FILE with a CSV or Parquet file that can be read") from None


def _read_csv(file: str) -> pa.Table:
    """A CSV file: columns of numbers as numbers, all others, and zip codes with leading zeros, as text."""
    from pyarrow import csv as arrow_csv

    guessed = arrow_csv.read_csv(file)
    as_text = arrow_csv.ConvertOptions(column_types={name: pa.string() for name in guessed.column_names})
    texts = arrow_csv.read_csv(file, convert_options=as_text)
    columns = [
        number if _is_number(number.type) and not _has_leading_zeros(text) else text
        for number, text in zip(guessed.columns, texts.columns, strict=True)
    ]
    return pa.table(columns, names=guessed.column_names)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _has_leading_zeros(column: pa.ChunkedArray) -> bool:
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(column, "^[+-]?0[0-9]")).as_py())

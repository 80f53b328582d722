"""discreet query: counts from a release."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Any

import pyarrow as pa
import typer
from pyarrow import compute, parquet
from pyarrow import csv as arrow_csv

import discreet
from discreet.cli.options import AsJson, Folder
from discreet.cli.show import estimate_row, guarded, say, show_counts, show_json

EXAMPLE = "Example: discreet query release \"age BETWEEN 30 AND 40 AND disease = 'HIV'\""


@guarded
def query(
    release: Folder,
    question: Annotated[
        str, typer.Argument(help="A condition, or SELECT COUNT(*) ... [GROUP BY ...].", show_default=False)
    ],
    estimator: Annotated[
        str,
        typer.Option(help="unbiased; for buckets uniform (the papers' model), for views clipped, best or control."),
    ] = "unbiased",
    confidence: Annotated[float, typer.Option(help="How often the interval should hold the true count.")] = 0.95,
    aux: Annotated[
        list[str] | None,
        typer.Option("--aux", help="A public table for IN (SELECT ...), as NAME=FILE.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a release how many people meet a condition; every answer has an interval."""
    tables = dict(_auxiliary(each) for each in aux or [])
    with closing(discreet.open_release(release)) as opened:
        answer = opened.query(question, estimator=estimator, confidence=confidence, aux=tables)
        model = None
        if not as_json and "uniform" in opened.estimators:
            model = opened.query(question, estimator="uniform", confidence=confidence, aux=tables)
    if as_json:
        show_json(answer.as_json())
        return
    if isinstance(answer, discreet.Counts):
        show_counts(answer, model if isinstance(model, discreet.Counts) else None)
    else:
        _show_one(answer, model if isinstance(model, discreet.Estimate) else None)


def _show_one(answer: discreet.Estimate, model: discreet.Estimate | None) -> None:
    if answer.exact:
        say(f"{answer.bounds[0]:,}, exactly: the published tables leave no doubt")
        return
    value, interval, bounds = estimate_row(answer)
    say(f"{value}", style="bold")
    say(f"  {answer.confidence:.0%} interval   {interval}  (over {answer.conditional_on})")
    say(f"  certainly      {bounds}")
    if model is not None and answer.conditional_on != "model":
        value, interval, _ = estimate_row(model)
        say(f"  uniform model  {value}, {interval}: right only if the buckets' rows are alike")
    if answer.note:
        say(f"  note: {answer.note}")


def _auxiliary(given: str) -> tuple[str, Any]:
    """A table from NAME=FILE, CSV or Parquet."""
    name, _, file = given.partition("=")
    try:
        return name, parquet.read_table(file) if file.endswith((".parquet", ".pq")) else _read_csv(file)
    except (OSError, ValueError, pa.ArrowException):
        raise discreet.QueryError(
            f"aux ({given}) must be NAME=FILE with a CSV or Parquet file that can be read"
        ) from None


def _read_csv(file: str) -> pa.Table:
    """A CSV file: columns of numbers as numbers, all others, and zip codes with leading zeros, as text."""
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
    return bool(compute.any(compute.match_substring_regex(column, "^[+-]?0[0-9]")).as_py())

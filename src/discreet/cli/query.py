"""discreet query: counts from a release."""

from __future__ import annotations

from typing import Annotated, Any

import pyarrow as pa
import typer

from discreet.cli.options import AsJson, Folder
from discreet.cli.show import estimate_row, guarded, say, show_counts, show_json
from discreet.errors import QueryError
from discreet.estimate.estimate import NOTHING, Counts, Estimate
from discreet.estimate.open import open_release
from discreet.estimate.release import Beside
from discreet.release.family import FAMILIES

EXAMPLE = "Example: discreet query release \"age BETWEEN 30 AND 40 AND disease = 'HIV'\""


def _ways() -> str:
    """The estimators of each family, the default first."""
    families = {family.name: family for family in FAMILIES.values()}
    return "; ".join(f"{name}: {', '.join(family.estimators)}" for name, family in families.items())


@guarded
def query(
    release: Folder,
    question: Annotated[
        str, typer.Argument(help="A condition, or SELECT COUNT(*) ... [GROUP BY ...].", show_default=False)
    ],
    estimator: Annotated[
        str | None,
        typer.Option(help=f"How to answer; {_ways()}.", show_default="the first of its family"),
    ] = None,
    confidence: Annotated[float, typer.Option(help="How often the interval should hold the true count.")] = 0.95,
    aux: Annotated[
        list[str] | None,
        typer.Option("--aux", help="A public table for IN (SELECT ...), as NAME=FILE.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="What an answer may take at most.", show_default="no limit")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", help="The same, such as 2GB.", show_default="what is there")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a release how many meet a condition; every answer has an interval and says what it counts."""
    tables = dict(_auxiliary(each) for each in aux or [])
    with open_release(release, seconds=seconds, memory=memory) as opened:
        answer = opened.query(question, estimator=estimator, confidence=confidence, aux=tables)
        beside, other = opened.beside, None
        if not as_json and beside is not None:
            other = opened.query(question, estimator=beside.estimator, confidence=confidence, aux=tables)
    if as_json:
        show_json(answer.as_json())
        return
    if isinstance(answer, Counts):
        show_counts(answer, other if isinstance(other, Counts) else None, beside.label if beside else "")
    else:
        _show_one(answer, other if isinstance(other, Estimate) else None, beside)


def _show_one(answer: Estimate, other: Estimate | None, beside: Beside | None) -> None:
    if answer.exact:
        say(f"{answer.bounds[0]:,} {answer.unit}, exactly: the published tables leave no doubt")
        return
    value, interval, bounds = estimate_row(answer)
    say(f"{value}", style="bold")
    over = "the bounds" if answer.conditional_on == NOTHING else f"over {answer.conditional_on}"
    asked = f"{answer.shown_confidence} interval"
    say(f"  {asked:<14} {interval}  ({over})")
    say(f"  certainly      {bounds}")
    if other is not None and beside is not None and answer.estimator != beside.estimator:
        value, interval, _ = estimate_row(other)
        say(f"  {beside.label:<14} {value}, {interval}: {beside.right}")
    if answer.note:
        say(f"  note: {answer.note}")


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

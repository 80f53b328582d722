"""The README of a release of pairs, version 1. It stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.release.diffgen.pairs.manifest import PairStatement
from discreet.release.example_2 import example_of
from discreet.release.phrases_1 import PACKAGE
from discreet.release.phrases_2 import PEOPLE, asking, promise
from discreet.schema.schema import Schema
from discreet.schema.taxonomy import taxonomy_of

_LONGEST = 40  # of a name or a label that is shown


def readme_1(statement: PairStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    schema = statement.schema
    pairs = sum(each is not None for each in statement.numbers.rounds)
    tables = "1 table of a pair" if pairs == 1 else f"{pairs} tables of pairs"
    return f"""# A release of noisy counts: {len(schema.columns)} columns, {tables} of columns
{promise(facts, seeded=statement.seeded)}
## What is here

- `data/columns.parquet`: for each column (ATTRIBUTE) and each of its cells (CELL, the finest that was looked at) what
  was counted, with noise (MEASURED, and AGAIN where it was counted twice), and about how many people there are (COUNT).
  GROUP is the group that the cell is in where a pair was counted by groups.
- `data/pairs.parquet`: for each pair of columns that was counted (ROUND, FIRST, SECOND) and each two of their cells or
  groups (FIRST_VALUE, SECOND_VALUE) what was counted, with noise (MEASURED), and about how many people there are
  (COUNT).
{PACKAGE}

COUNT is what one model says that was fitted to everything measured: none is negative, and all of them agree. Answers
come from that model, over any columns. What more than two columns have to do with each other beyond the pairs counted,
it does not know. Counts are not whole numbers. The number of people in the table is not released.

## How to count

{asking(example_of(schema, *schema.columns), PEOPLE)}
Also in Python:

    release.sample(1000)                  # synthetic rows
    release.to_training_table()           # weighted rows, for scikit-learn

With pandas alone, for one column, without an interval. It counts people:

    import pandas as pd
    columns = pd.read_parquet("data/columns.parquet")
    print({_rows(schema)}["COUNT"].sum())
"""


def _rows(schema: Schema) -> str:
    """The rows of the first cell of the sensitive column, or of all of them where it cannot be shown on a line."""
    name = schema.sensitive
    label = taxonomy_of(schema, name).labels[0]
    tests = [f'columns["ATTRIBUTE"] == {name!r}']
    if 0 < len(label) <= _LONGEST and label.isprintable():
        tests.append(f'columns["CELL"] == {label!r}')
    return f"columns[{' & '.join(f'({test})' for test in tests)}]"

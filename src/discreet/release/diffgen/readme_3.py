"""The README of a DiffGen release, version 3: with a question of its own columns, and what its counts are. It stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.guarantee.spent import For
from discreet.release.diffgen.manifest import DiffGenStatement
from discreet.release.example_2 import example_of
from discreet.release.phrases_1 import PACKAGE
from discreet.release.phrases_2 import PEOPLE, asking, promise

_TWICE = "\nNo attribute is specialized: with so few records, tables that were measured twice tell more.\n"


def readme_3(statement: DiffGenStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    schema, numbers = statement.schema, statement.numbers
    target = statement.mechanism.target_of(schema)
    columns = ", ".join(name for name in schema.columns if name != target)
    asked = example_of(schema, *schema.columns)
    by_class = example_of(schema, target)
    why = _TWICE if statement.guarantee.share(For.AGAIN) is not None else ""
    return f"""# A release of {numbers.leaves:,} noisy counts
{promise(facts, seeded=statement.seeded)}
## What is here

- `data/leaves.parquet`: for each combination of generalized values of {columns},
  and each value of {target}, about how many people there are (COUNT). It has {numbers.leaves:,} rows, one a count; that
  is no number of people.
- `data/tables.parquet`: for each ATTRIBUTE, each of its cells (CELL, the finest that was looked at), the generalized
  value above it (VALUE) and each value of {target}, about how many people there are (COUNT).
{PACKAGE}

{_steps(statement)}.
Counts are noisy, then made to agree: none is negative, and the cells of a value add up to its leaves. They are not
whole numbers. The number of people in the table is not released.
{why}
## How to count

{asking(asked, PEOPLE)}
Also in Python:

    release.sample(1000)                  # synthetic rows
    release.to_training_table()           # weighted rows, for scikit-learn

With pandas alone, for conditions that name whole generalized values, without an interval. It counts people:

    import pandas as pd
    leaves = pd.read_parquet("data/leaves.parquet")
    print({by_class.rows("leaves")}["COUNT"].sum())
"""


def _steps(statement: DiffGenStatement) -> str:
    wanted, made = statement.mechanism.specializations, statement.numbers.specializations
    more = f" of {wanted} that were asked for: more are not possible or not worth their noise"
    return f"There were {made} specializations{more if wanted is not None and wanted > made else ''}"

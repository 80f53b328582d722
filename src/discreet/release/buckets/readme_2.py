"""The README of a bucket release, version 2: with a question of its own columns. It stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.release.buckets.manifest import BucketStatement
from discreet.release.example_2 import Example, example_of
from discreet.release.phrases_1 import PACKAGE
from discreet.release.phrases_2 import PEOPLE, asking, promise


def readme_2(statement: BucketStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    schema = statement.schema
    sensitive, columns = schema.sensitive, ", ".join(schema.quasi_identifiers)
    example = example_of(schema, *schema.columns)
    known = Example(schema=schema, tests=tuple(test for test in example.tests if test.column != sensitive))
    hidden = Example(schema=schema, tests=tuple(test for test in example.tests if test.column == sensitive))
    return f"""# A release about {statement.numbers.rows:,} people
{promise(facts, seeded=statement.seeded)}
## What is here

- `data/qit.parquet`: one row a person with {columns} and the bucket id BID.
- `data/st.parquet`: for each bucket (BID), each value of {sensitive} in it and how many people have it (COUNT).
{PACKAGE}

Which row of a bucket has which value of {sensitive} is not in these files. Joining the two tables on BID gives every
row every value of its bucket: a count over such a join counts people many times.

## How to count

{asking(example, PEOPLE)}
With pandas alone, the estimate that treats every row of a bucket alike. It is biased where {sensitive} depends on
the other columns, and it has no interval. It counts people:

    import pandas as pd
    qit, st = pd.read_parquet("data/qit.parquet"), pd.read_parquet("data/st.parquet")
    size = qit.groupby("BID").size()
    matching = {known.rows("qit")}.groupby("BID").size()
    having = {hidden.rows("st")}.groupby("BID")["COUNT"].sum()
    print((matching * having / size).sum())
"""

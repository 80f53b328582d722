"""The README inside a release: what an analyst needs to know, made from the same facts that the manifest holds."""

from __future__ import annotations

from typing import Any

from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.schema.schema import Schema

_ASKING = """With discreet (`pip install discreet`), an estimate with an interval:

    import discreet
    release = discreet.open_release(".")
    print(release.count("..."))           # any condition over the columns
    print(discreet.verify("."))           # check the promise from these files
"""


def readme_of(schema: Schema, facts: dict[str, Any], *, rows: int, seeded: bool) -> str:
    """The whole text, the same for the same release."""
    sensitive = schema.sensitive
    columns = ", ".join(schema.quasi_identifiers)
    return f"""# A release about {rows:,} people
{_promise(facts, seeded=seeded)}
## What is here

- `data/qit.parquet`: one row a person with {columns} and the bucket id BID.
- `data/st.parquet`: for each bucket (BID), each value of {sensitive} in it and how often (COUNT).
- `datapackage.json`: a Frictionless Data Package; its block `discreet` holds the promise and all public parameters.

Which row of a bucket has which value of {sensitive} is not in these files. Joining the two tables on BID gives every
row every value of its bucket: a count over such a join counts people many times.

## How to count

{_ASKING}
With pandas alone, the estimate that treats every row of a bucket alike. It is biased where {sensitive} depends on
the other columns, and it has no interval:

    import pandas as pd
    qit, st = pd.read_parquet("data/qit.parquet"), pd.read_parquet("data/st.parquet")
    size = qit.groupby("BID").size()
    matching = qit[...].groupby("BID").size()                # rows that meet your condition
    having = st[st[{sensitive!r}].isin([...])].groupby("BID")["COUNT"].sum()
    print((matching * having / size).sum())
"""


def view_readme_of(schema: Schema, facts: dict[str, Any], promise: DGammaPrivacy, *, tuples: int, seeded: bool) -> str:
    """The whole text for a release of tuples among random ones."""
    alpha, beta = float(promise.keep - promise.insert), float(promise.insert)
    return f"""# A release of {tuples:,} tuples, true ones among random ones
{_promise(facts, seeded=seeded)}
## What is here

- `data/view.parquet`: tuples of {", ".join(schema.columns)}. Each distinct tuple of the table is here with probability
  {float(promise.keep):.6g}, and every other tuple of the public domains with probability {beta:.6g}. Nothing tells
  which is which.
- `datapackage.json`: a Frictionless Data Package; its block `discreet` holds the promise and all public parameters.

## How to count

{_ASKING}
With pandas alone, for a condition that D tuples of the public domains meet:

    import pandas as pd
    view = pd.read_parquet("data/view.parquet")
    print((len(view[...]) - {beta!r} * D) / {alpha!r})

Counts are of distinct tuples.
"""


def _promise(facts: dict[str, Any], *, seeded: bool) -> str:
    """What every release says first: the promise, to whom, and what it does not cover."""
    warning = f"\n**Note.** {facts['warning']}\n" if "warning" in facts else ""
    test = (
        "\n**This is a test release.** Its coins came from a seed, so anyone can toss them again; it protects nobody.\n"
        if seeded
        else ""
    )
    limits = "\n".join(f"- {limit}" for limit in facts["not_covered"])
    return f"""{test}{warning}
## What is promised

{facts["words"]}

- Adversary: {facts["adversary"]}
- Inequality: {facts["inequality"]}
- Unit: {facts["unit"]}

## What is not covered

{limits}
"""

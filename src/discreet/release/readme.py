"""The README inside a release: what an analyst needs to know, made from the same facts that the manifest holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
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


def view_readme_of(
    schema: Schema,
    facts: dict[str, Any],
    promise: DGammaPrivacy | FrappPrivacy,
    numbers: Mapping[str, int],
    *,
    seeded: bool,
) -> str:
    """The whole text for a release of tuples among random ones."""
    columns = ", ".join(schema.columns)
    here, counting = (
        _frapp_text(columns, promise) if isinstance(promise, FrappPrivacy) else _view_text(columns, promise, numbers)
    )
    return f"""# A release of {numbers["tuples"]:,} tuples, true ones among random ones
{_promise(facts, seeded=seeded)}
## What is here

{here}
- `datapackage.json`: a Frictionless Data Package; its block `discreet` holds the promise and all public parameters.

## How to count

{_ASKING}
{counting}"""


def leaf_readme_of(
    schema: Schema,
    facts: dict[str, Any],
    mechanism: Mapping[str, Any],
    numbers: Mapping[str, int],
    *,
    alone: bool,
    seeded: bool,
) -> str:
    """The whole text for a release of leaves and tables."""
    target = mechanism.get("target", schema.sensitive)
    columns = ", ".join(name for name in schema.columns if name != target)
    wanted = mechanism.get("specializations", 0)
    steps = f"There were {numbers['specializations']} specializations"
    if isinstance(wanted, int) and wanted > numbers["specializations"]:
        steps += f" of {wanted} that were asked for: more are not possible or not worth their noise"
    why = (
        "\nNo attribute is specialized: with so few records, tables that were measured twice tell more.\n"
        if alone
        else ""
    )
    return f"""# A release of {numbers["leaves"]:,} noisy counts
{_promise(facts, seeded=seeded)}
## What is here

- `data/leaves.parquet`: for each combination of generalized values of {columns},
  and each value of {target}, about how many people there are (COUNT).
- `data/tables.parquet`: for each ATTRIBUTE, each of its cells (CELL, the finest that was looked at), the generalized
  value above it (VALUE) and each value of {target}, about how many people there are (COUNT).
- `datapackage.json`: a Frictionless Data Package; its block `discreet` holds the promise and all public parameters.

{steps}.
Counts are noisy, then made to agree: none is negative, and the cells of a value add up to its leaves. They are not
whole numbers. The number of people in the table is not released.
{why}
## How to count

{_ASKING}
    release.sample(1000)                  # synthetic rows
    release.to_training_table()           # weighted rows, for scikit-learn

With pandas alone, for conditions that name whole generalized values:

    import pandas as pd
    leaves = pd.read_parquet("data/leaves.parquet")
    print(leaves[...]["COUNT"].sum())
"""


def _frapp_text(columns: str, promise: FrappPrivacy) -> tuple[str, str]:
    """What is in the files, and how to count with pandas alone."""
    keep, other = float(promise.keep), float(promise.other)
    here = f"""- `data/view.parquet`: one tuple of {columns} for each record of the table. A record has
  its own tuple with probability {keep:.6g}, and else a random other tuple of the public domains. Nothing tells
  which is which."""
    return here, _pandas(f"(len(view[...]) - {promise.rows} * {other!r} * D) / {keep - other!r}", "records")


def _view_text(columns: str, promise: DGammaPrivacy, numbers: Mapping[str, int]) -> tuple[str, str]:
    """What is in the files, and how to count with pandas alone."""
    view = min(max(numbers.get("view", 1), 1), promise.views)
    insert = promise.inserts[view - 1]
    alpha, beta, keep, again = map(float, (promise.keep - insert, insert, promise.keep, promise.again))
    if promise.later:
        here = f"""- `data/view.parquet`: tuples of {columns}, view {view} of at most {promise.views}. Each
  distinct tuple of the table is here with probability {keep:.6g}; every other tuple with probability {again:.6g}
  if an earlier view showed it, and else with {beta:.6g}. Nothing tells which is which.
- `data/earlier.parquet`: the {numbers["earlier"]:,} tuples that the earlier views showed, each once."""
        old = f"(both - {again!r} * len(earlier[...])) / {keep - again!r}"
        new = f"(len(view[...]) - both - {beta!r} * (D - len(earlier[...]))) / {alpha!r}"
        before = f"""earlier = pd.read_parquet("data/earlier.parquet")
    both = len(view[...].merge(earlier))
    print({old}
          + {new})"""
        return here, _pandas("", "distinct tuples").replace("print()", before)
    unit = "distinct tuple" if promise.slots == 1 else "record"
    weight = "" if promise.weights == EVEN else " times its weight in the public source"
    slots = "" if promise.slots == 1 else f", with a random slot (SLOT, of {promise.slots:,}) for each copy"
    here = f"""- `data/view.parquet`: tuples of {columns}{slots}. Each {unit} of the table is here
  with probability {keep:.6g}, and every other tuple of the public domains with probability {beta:.6g}{weight}.
  Nothing tells which is which."""
    factor = "" if promise.slots == 1 else f"{promise.slots} * "
    counting = _pandas(f"(len(view[...]) - {beta!r} * {factor}D) / {alpha!r}", f"{unit}s")
    return here, counting if not weight else counting.replace("that D tuples of", "whose weights add up to D in")


def _pandas(formula: str, unit: str) -> str:
    return f"""With pandas alone, for a condition that D tuples of the public domains meet:

    import pandas as pd
    view = pd.read_parquet("data/view.parquet")
    print({formula})

Counts are of {unit}.
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

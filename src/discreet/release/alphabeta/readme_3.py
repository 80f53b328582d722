"""The README of an alpha-beta or FRAPP release, version 3: with a question of its own columns, and what an answer
counts. It stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import PolicyError
from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.manifest import AlphaBetaNumbers, AlphaBetaStatement, StatedAlphaBeta
from discreet.release.example_2 import Example, example_of
from discreet.release.phrases_1 import PACKAGE
from discreet.release.phrases_2 import asking, promise


def readme_3(statement: AlphaBetaStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    columns, guarantee = ", ".join(statement.schema.columns), statement.guarantee
    example = example_of(statement.schema, *statement.schema.columns)
    here, recipe = (
        _frapp_text(columns, guarantee)
        if isinstance(guarantee, FrappPrivacy)
        else _view_text(columns, guarantee, statement.numbers, example)
    )
    size = _size(statement, example)
    weights = "" if isinstance(guarantee, FrappPrivacy) or guarantee.weights == EVEN else " (times their weights)"
    told = f"{size}  # tuples of the public domains that meet the condition{weights}"
    return f"""# A release of {statement.numbers.tuples:,} tuples, true ones among random ones
{promise(facts, seeded=statement.seeded)}
## What is here

{here}
{PACKAGE}

## How to count

The {statement.numbers.tuples:,} tuples of the view are not what is counted: random ones are among them, and true ones
are missing.

{asking(example, facts["counts"])}
With pandas alone, the same without an interval. It counts {facts["counts"].partition(":")[0]}:

    import pandas as pd
    view = pd.read_parquet("data/view.parquet")
    shown = {example.rows("view")}
    D = {told}
{recipe}
"""


def _size(statement: AlphaBetaStatement, example: Example) -> str:
    """How many tuples of the domain meet the condition, or what they weigh; `...` where that cannot be written out."""
    mechanism = statement.mechanism
    if not isinstance(mechanism, StatedAlphaBeta) or not mechanism.source:
        found = example.tuples()
        return "..." if found is None else str(found)
    try:
        source = mechanism.weighed(statement.schema)
    except PolicyError:
        return "..."
    found = example.tuples(dict(source.weights))
    return "..." if found is None else repr(float(Fraction(found) * source.scale))


def _frapp_text(columns: str, own: FrappPrivacy) -> tuple[str, str]:
    """What is in the files, and how to count with pandas alone."""
    keep, other = float(own.keep), float(own.other)
    here = f"""- `data/view.parquet`: one tuple of {columns} for each record of the table. A record has
  its own tuple with probability {keep:.6g}, and else a random other tuple of the public domains. Nothing tells
  which is which."""
    return here, f"    print((len(shown) - {own.rows} * {other!r} * D) / {keep - other!r})"


def _view_text(columns: str, own: DGammaPrivacy, numbers: AlphaBetaNumbers, example: Example) -> tuple[str, str]:
    """What is in the files, and how to count with pandas alone."""
    view = min(max(numbers.view, 1), own.views)
    insert = own.inserts[view - 1]
    alpha, beta, keep, again = map(float, (own.keep - insert, insert, own.keep, own.again))
    if own.later:
        here = f"""- `data/view.parquet`: tuples of {columns}, view {view} of at most {own.views}. Each
  distinct tuple of the table is here with probability {keep:.6g}; every other tuple with probability {again:.6g}
  if an earlier view showed it, and else with {beta:.6g}. Nothing tells which is which.
- `data/earlier.parquet`: the {numbers.earlier:,} tuples that the earlier views showed, each once."""
        return (
            here,
            f"""    earlier = pd.read_parquet("data/earlier.parquet")
    before = {example.rows("earlier")}
    both = len(shown.merge(earlier))
    old = (both - {again!r} * len(before)) / {keep - again!r}
    new = (len(shown) - both - {beta!r} * (D - len(before))) / {alpha!r}
    print(old + new)""",
        )
    unit = "distinct tuple" if own.slots == 1 else "record"
    weight = "" if own.weights == EVEN else " times its weight in the public source"
    slots = "" if own.slots == 1 else f", with a random slot (SLOT, of {own.slots:,}) for each copy"
    here = f"""- `data/view.parquet`: tuples of {columns}{slots}. Each {unit} of the table is here
  with probability {keep:.6g}, and every other tuple of the public domains with probability {beta:.6g}{weight}.
  Nothing tells which is which."""
    factor = "" if own.slots == 1 else f"{own.slots} * "
    return here, f"    print((len(shown) - {beta!r} * {factor}D) / {alpha!r})"

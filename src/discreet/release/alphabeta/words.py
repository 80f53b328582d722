"""What an alpha-beta or FRAPP release says to people, by version: a version that was published stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.release.alphabeta.facts_1 import facts_1
from discreet.release.alphabeta.facts_2 import facts_2
from discreet.release.alphabeta.facts_3 import facts_3
from discreet.release.alphabeta.manifest import (
    AlphaBetaGuarantee,
    AlphaBetaNumbers,
    AlphaBetaStatement,
    StatedMechanism,
)
from discreet.release.alphabeta.readme_3 import readme_3
from discreet.release.family import Words, of_guarantee
from discreet.release.phrases_1 import ASKING, PACKAGE, promise


def readme_1(statement: AlphaBetaStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    columns, guarantee = ", ".join(statement.schema.columns), statement.guarantee
    here, counting = (
        _frapp_text(columns, guarantee)
        if isinstance(guarantee, FrappPrivacy)
        else _view_text(columns, guarantee, statement.numbers)
    )
    return f"""# A release of {statement.numbers.tuples:,} tuples, true ones among random ones
{promise(facts, seeded=statement.seeded)}
## What is here

{here}
{PACKAGE}

## How to count

{ASKING}
{counting}"""


def _frapp_text(columns: str, own: FrappPrivacy) -> tuple[str, str]:
    """What is in the files, and how to count with pandas alone."""
    keep, other = float(own.keep), float(own.other)
    here = f"""- `data/view.parquet`: one tuple of {columns} for each record of the table. A record has
  its own tuple with probability {keep:.6g}, and else a random other tuple of the public domains. Nothing tells
  which is which."""
    return here, _pandas(f"(len(view[...]) - {own.rows} * {other!r} * D) / {keep - other!r}", "records")


def _view_text(columns: str, own: DGammaPrivacy, numbers: AlphaBetaNumbers) -> tuple[str, str]:
    """What is in the files, and how to count with pandas alone."""
    view = min(max(numbers.view, 1), own.views)
    insert = own.inserts[view - 1]
    alpha, beta, keep, again = map(float, (own.keep - insert, insert, own.keep, own.again))
    if own.later:
        here = f"""- `data/view.parquet`: tuples of {columns}, view {view} of at most {own.views}. Each
  distinct tuple of the table is here with probability {keep:.6g}; every other tuple with probability {again:.6g}
  if an earlier view showed it, and else with {beta:.6g}. Nothing tells which is which.
- `data/earlier.parquet`: the {numbers.earlier:,} tuples that the earlier views showed, each once."""
        old = f"(both - {again!r} * len(earlier[...])) / {keep - again!r}"
        new = f"(len(view[...]) - both - {beta!r} * (D - len(earlier[...]))) / {alpha!r}"
        before = f"""earlier = pd.read_parquet("data/earlier.parquet")
    both = len(view[...].merge(earlier))
    print({old}
          + {new})"""
        return here, _pandas("", "distinct tuples").replace("print()", before)
    unit = "distinct tuple" if own.slots == 1 else "record"
    weight = "" if own.weights == EVEN else " times its weight in the public source"
    slots = "" if own.slots == 1 else f", with a random slot (SLOT, of {own.slots:,}) for each copy"
    here = f"""- `data/view.parquet`: tuples of {columns}{slots}. Each {unit} of the table is here
  with probability {keep:.6g}, and every other tuple of the public domains with probability {beta:.6g}{weight}.
  Nothing tells which is which."""
    factor = "" if own.slots == 1 else f"{own.slots} * "
    counting = _pandas(f"(len(view[...]) - {beta!r} * {factor}D) / {alpha!r}", f"{unit}s")
    return here, counting if not weight else counting.replace("that D tuples of", "whose weights add up to D in")


def _pandas(formula: str, unit: str) -> str:
    return f"""With pandas alone, for a condition that D tuples of the public domains meet:

    import pandas as pd
    view = pd.read_parquet("data/view.parquet")
    print({formula})

Counts are of {unit}.
"""


WORDS: Mapping[int, Words[StatedMechanism, AlphaBetaGuarantee, AlphaBetaNumbers]] = {
    1: Words(facts=of_guarantee(facts_1), readme=readme_1),
    2: Words(  # a README has its facts in it, and nothing else in it has changed
        facts=lambda own: facts_2(own.guarantee, own.continued, own.schema.public_rows), readme=readme_1
    ),
    3: Words(facts=lambda own: facts_3(own.guarantee, own.continued, own.schema.public_rows), readme=readme_3),
}

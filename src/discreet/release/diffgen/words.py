"""What a DiffGen release says to people, by version: a version that was published stays as it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.ground.exact import fraction_text
from discreet.guarantee.epsilon import MOST, NAME, EpsilonPrivacy
from discreet.guarantee.spent import For
from discreet.release.diffgen.manifest import DiffGenNumbers, DiffGenStatement, StatedDiffGen
from discreet.release.diffgen.readme_3 import readme_3
from discreet.release.family import Words, of_guarantee
from discreet.release.phrases_1 import ASKING, PACKAGE, again_warning, promise
from discreet.release.phrases_2 import PEOPLE, counting


def facts_1(guarantee: EpsilonPrivacy, continued: bool) -> dict[str, Any]:
    """The promise for people and for programs."""
    series = (
        f" With the earlier releases of this series, all together cost epsilon = {_plain(guarantee.total)}, a factor "
        f"of {_factor(guarantee.total)}."
        if guarantee.before
        else ""
    )
    return {
        "notion": NAME,
        "words": "Whether or not a person's record is in the table, any release is almost as probable: at most "
        f"{_factor(guarantee.epsilon)} times as probable with it as without it, or without it as with it "
        f"(epsilon = {_plain(guarantee.epsilon)}).{series}",
        "adversary": "Anyone, whatever else he knows: even all other records of the table.",
        "inequality": "Pr(release | table) <= e^epsilon Pr(release | table with one record added or removed), with "
        f"epsilon = {_plain(guarantee.epsilon)}",
        "unit": "one record, added or removed",
        "epsilon": fraction_text(guarantee.epsilon),
        "total_epsilon": fraction_text(guarantee.total),
        "parts": {part.name: fraction_text(part.share) for part in guarantee.parts},
        "unspent": f"{_plain(guarantee.unspent)} of epsilon was reserved for choices that were not needed; nothing was "
        "done with it"
        if guarantee.unspent
        else "nothing is left over",
        "not_covered": [
            "People with several records, and groups: k records together may change the probability by e^(k epsilon).",
            "What the release teaches about people in general, and so about those who were not in the table too.",
            "The domains, hierarchies and bounds: they are public, and must not have been taken from the table.",
            "Other releases about the same people: their epsilons add up. Those of this series are counted in "
            "total_epsilon.",
            "The number of rows is not released; the total of the counts is a noisy one.",
        ],
        **again_warning(continued),
    }


def _factor(epsilon: Fraction) -> str:
    """e^epsilon as people read it."""
    return f"{math.exp(float(epsilon)):.4g}" if epsilon <= MOST else f"e^{_plain(epsilon)}"


def _plain(number: Fraction) -> str:
    return f"{float(number):.6g}"


def readme_1(statement: DiffGenStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    schema, mechanism, numbers = statement.schema, statement.mechanism, statement.numbers
    target = mechanism.target_of(schema)
    columns = ", ".join(name for name in schema.columns if name != target)
    wanted = mechanism.specializations
    steps = f"There were {numbers.specializations} specializations"
    if wanted is not None and wanted > numbers.specializations:
        steps += f" of {wanted} that were asked for: more are not possible or not worth their noise"
    why = (
        "\nNo attribute is specialized: with so few records, tables that were measured twice tell more.\n"
        if statement.guarantee.share(For.AGAIN) is not None
        else ""
    )
    return f"""# A release of {numbers.leaves:,} noisy counts
{promise(facts, seeded=statement.seeded)}
## What is here

- `data/leaves.parquet`: for each combination of generalized values of {columns},
  and each value of {target}, about how many people there are (COUNT).
- `data/tables.parquet`: for each ATTRIBUTE, each of its cells (CELL, the finest that was looked at), the generalized
  value above it (VALUE) and each value of {target}, about how many people there are (COUNT).
{PACKAGE}

{steps}.
Counts are noisy, then made to agree: none is negative, and the cells of a value add up to its leaves. They are not
whole numbers. The number of people in the table is not released.
{why}
## How to count

{ASKING}
    release.sample(1000)                  # synthetic rows
    release.to_training_table()           # weighted rows, for scikit-learn

With pandas alone, for conditions that name whole generalized values:

    import pandas as pd
    leaves = pd.read_parquet("data/leaves.parquet")
    print(leaves[...]["COUNT"].sum())
"""


def facts_2(guarantee: EpsilonPrivacy, continued: bool, public_rows: int | None) -> dict[str, Any]:
    """The same promise, for the tables that it holds for: others are refused, and nothing is published of them."""
    before, rows = facts_1(guarantee, continued), _rows(public_rows)
    return {
        **before,
        "words": f"{before['words']} This holds for tables that have {rows} with the record and without it.",
        "adversary": "Anyone, whatever else he knows: even all other records of the table, as long as it has "
        f"{rows} with the record and without it.",
        "inequality": "Pr(release | table) <= e^epsilon Pr(release | table with one record added or removed), for two "
        f"tables of {rows}, with epsilon = {_plain(guarantee.epsilon)}",
        "not_covered": [
            _refused(public_rows),
            *before["not_covered"],
            "That a table changed or did not: the same rows under the same policy give the same release again.",
        ],
    }


def _rows(public_rows: int | None) -> str:
    """How many rows a table has that is not refused."""
    if public_rows is None:
        return "1 row or more"
    return f"1 to {public_rows:,} rows" if public_rows > 1 else "exactly 1 row"


def _refused(public_rows: int | None) -> str:
    """What publishing at all tells."""
    if public_rows is None:
        return (
            "That anything was published at all: an empty table is refused, so it tells a table of 1 row from one of 0."
        )
    empty = " No table of 1 row is left with 1 row by a record more or less, so here nothing is promised."
    return (
        f"That anything was published at all: an empty table is refused, and so is one of more than {public_rows:,} "
        f"rows (public_rows), so it tells a table of 1 row from one of 0, and one of {public_rows:,} from one of "
        f"{public_rows + 1:,}.{empty if public_rows == 1 else ''}"
    )


def _facts_2(own: DiffGenStatement) -> dict[str, Any]:
    return facts_2(own.guarantee, own.continued, own.schema.public_rows)


WORDS: Mapping[int, Words[StatedDiffGen, EpsilonPrivacy, DiffGenNumbers]] = {
    1: Words(facts=of_guarantee(facts_1), readme=readme_1),
    2: Words(  # a README has its facts in it, and nothing else in it has changed
        facts=_facts_2, readme=readme_1
    ),
    3: Words(facts=counting(_facts_2, lambda _: PEOPLE), readme=readme_3),
}

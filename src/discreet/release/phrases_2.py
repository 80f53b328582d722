"""Sentences of version 2 that the READMEs and facts of all families share. Releases say them, so they stay.

Where the tool comes from is said without a package index: a package of its name there may be somebody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.release import phrases_1 as before
from discreet.release.example_2 import Example
from discreet.release.statement import G, M, N, Statement

PEOPLE = "people: every answer is about how many people of the table meet the condition"
RECORDS = (
    "records: every answer is about how many rows of the custodian's table meet the condition, and one row is one "
    "person where every person has one row"
)
TUPLES = (
    "distinct tuples: people who are alike in every published column are one distinct tuple and are counted once, so "
    "there are fewer of these than people; a release of the same table whose policy has slots counts records instead"
)


def counting(
    facts: Callable[[Statement[M, G, N]], dict[str, Any]], unit: Callable[[Statement[M, G, N]], str]
) -> Callable[[Statement[M, G, N]], dict[str, Any]]:
    """Facts that also say what an answer counts."""
    return lambda statement: {**facts(statement), "counts": unit(statement)}


def promise(facts: Mapping[str, Any], *, seeded: bool) -> str:
    """What every README says first: as in version 1, but a unit is what answers count, not what is protected."""
    return before.promise(facts, seeded=seeded).replace("\n- Unit: ", "\n- What is protected: ", 1)


def asking(example: Example, unit: str) -> str:
    """How to get the tool, what an answer counts, and a question about this release's own columns."""
    return f"""\
Get discreet from whoever gave you this folder, as a wheel file or as a source tree. `datapackage.json` has the version
that made this release (`discreet`, `version`).

    pip install ./discreet-*.whl          # where the wheel file lies
    pip install .                         # or in the source tree; `pip wheel --no-deps .` there makes the wheel file

pip takes the libraries that it needs from a package index. For a machine that has none, say
`pip wheel --wheel-dir wheels .` in the source tree where there is one, bring the folder `wheels` over, and say
`pip install --no-index --find-links wheels discreet`.

Ask in this folder, for an estimate with an interval, and check the promise from these files:

    discreet query . {example.shell}
    discreet verify .

In Python:

    import discreet
    release = discreet.open_release(".")
    print(release.count({example.sql!r}))
    print(discreet.verify("."))

An answer counts {unit}.
"""

"""Sentences of version 1 that the READMEs and facts of all families share. Releases say them, so they stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ASKING = """With discreet (`pip install discreet`), an estimate with an interval:

    import discreet
    release = discreet.open_release(".")
    print(release.count("..."))           # any condition over the columns
    print(discreet.verify("."))           # check the promise from these files
"""
PACKAGE = (
    "- `datapackage.json`: a Frictionless Data Package; its block `discreet` holds the promise and all public "
    "parameters."
)


def promise(facts: Mapping[str, Any], *, seeded: bool) -> str:
    """What every README says first: the promise, to whom, and what it does not cover."""
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


def again_warning(continued: bool) -> dict[str, str]:
    """What the facts say where the series has other releases that this one does not share a promise with."""
    if not continued:
        return {}
    return {
        "warning": "The custodian has released rows from this series before and said that this release stands on its "
        "own. If the same people are in both, the promise does not cover what the two releases give away together."
    }

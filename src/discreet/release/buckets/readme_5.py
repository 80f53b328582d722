"""The README of a bucket release against who knows others, version 5: what fakes are, and how to count beside them. It
stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.release.buckets.manifest import BucketStatement

_HOW = "## How to count\n"
_WHICH = "Which row of a bucket"
_JOINED = "every value of its bucket: a count over such a join counts people many times."
_PANDAS = "With pandas alone,"
_MATCHING = "    matching = "
_LISTED = "and how many people have it (COUNT)."


def readme_5(statement: BucketStatement, facts: Mapping[str, Any], text: str) -> str:
    """The whole text, the same for the same release; `text` is the README with these facts in the version without
    fakes, 3 or, where buckets are near, 4.
    """
    if not statement.mechanism.fakes:
        return text
    fakes = statement.mechanism.fakes
    first, how, rest = text.rpartition(_HOW)
    before, which, after = first.rpartition(_WHICH)
    before = _last(
        before,
        _LISTED,
        f"and how often (COUNT), the values of its people and its {_number(fakes)} together.",
    )
    after = _last(after, _JOINED, f"{_JOINED[:-1]}, and fakes too.")
    asking, pandas, recipe = rest.rpartition(_PANDAS)
    head, matching, tail = recipe.rpartition(_MATCHING)
    head = _last(
        head,
        "It counts people:",
        "It counts people.\n\nFakes are taken out first: COUNT is scaled until every bucket has as many as it has "
        "rows, and every value as many as\npeople in the buckets of each size have it, which `datapackage.json` "
        "says. What is left are parts of people:",
    )
    head = head.replace("    import pandas as pd\n", "    import pandas as pd\n    import json\n", 1)
    return (
        f"{before}{which}{after}## Fakes\n\n{facts['fakes']}\n\n{facts['certainty']}\n\n"
        f"{how}{asking}{pandas}{head}{_scaling(statement)}{matching}{tail}"
    )


def _scaling(statement: BucketStatement) -> str:
    """The lines that take fakes out of COUNT."""
    sensitive = statement.schema.sensitive
    domain = statement.schema.domains[sensitive]
    value = f"st[{sensitive!r}]"
    if domain.type == "number":
        value = f"{value}.astype(float)"
    if domain.missing:
        value = f"{value}.astype(object).where(st[{sensitive!r}].notna(), None)"
    return f"""\
    with open("datapackage.json", encoding="utf-8") as file:
        block = json.load(file)["discreet"]
    sizes = [each["size"] for each in block["classes"]]
    people = {{(value, of): n for value, held in block["people"] for of, n in zip(sizes, held)}}
    rows = st["BID"].map(size)
    cell = pd.Series(list(zip({value}, rows)))
    wanted, share = cell.map(people.get), st["COUNT"].astype(float)
    for _ in range(100):
        share = share * wanted / share.groupby(cell).transform("sum")
        share = share * rows / share.groupby(st["BID"]).transform("sum")
    st["COUNT"] = share
"""


def _last(text: str, old: str, new: str) -> str:
    """The last of a sentence in another wording: the ones before may be a stranger's, in names of columns."""
    before, found, after = text.rpartition(old)
    return f"{before}{new}{after}" if found else text


def _number(fakes: int) -> str:
    return "fake" if fakes == 1 else f"{fakes} fakes"

"""What a bucket release says to people, by version: a version that was published stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.guarantee.fprime import NAME, FPrimePrivacy
from discreet.guarantee.words import percent
from discreet.release.buckets.manifest import BucketNumbers, BucketStatement, StatedMechanism
from discreet.release.buckets.readme_2 import readme_2
from discreet.release.family import Words, of_guarantee
from discreet.release.phrases_1 import ASKING, PACKAGE, again_warning, promise
from discreet.release.phrases_2 import PEOPLE, counting

_ADVERSARY = (
    "Knows that the person is in the table, knows the person's quasi-identifiers, knows how the release was made, "
    "and uses the person's bucket alone. Does not know the secret key or any other person's sensitive value."
)
_NOT_COVERED = (
    "Presence: that a person is in the table can be learned; quasi-identifiers are published as they are.",
    "Identity: a row of the published quasi-identifiers can be linked to a named person.",
    "What all buckets together teach: relations between quasi-identifiers and sensitive values can be learned from "
    "the whole release and sharpen a guess about one person beyond the tolerance.",
    "Other people's values: one who already knows the sensitive values of others in the same bucket learns more.",
    "Several rows of one person: the promise is for each row; the table must hold one row a person.",
    "A second release of the same people: intersecting two releases can single out a value.",
    "Values that a person does not have: which values are absent from a bucket is visible.",
)


def facts_1(guarantee: FPrimePrivacy, continued: bool) -> dict[str, Any]:
    """The promise for people and for programs."""
    strictest, limit = min(guarantee.tolerance, key=lambda pair: pair[1])
    free = sum(1 for _, number in guarantee.tolerance if number == 1)
    words = (
        f"Whoever looks up a person's bucket in this release infers none of the {len(guarantee.tolerance)} sensitive "
        f"values with a probability above that value's tolerance. The strictest tolerance is {percent(limit)} "
        f"({strictest})"
        + (
            f"; {free} of the values {'counts' if free == 1 else 'count'} as not sensitive (tolerance 1)."
            if free
            else "."
        )
    )
    return {
        "notion": NAME,
        "words": words,
        "adversary": _ADVERSARY,
        "inequality": "Pr(x | person, bucket) = COUNT(bucket, x) / size(bucket) <= tolerance(x), for every bucket "
        "and value x",
        "unit": "one row of the table",
        "not_covered": list(_NOT_COVERED),
        **again_warning(continued),
    }


def readme_1(statement: BucketStatement, facts: Mapping[str, Any]) -> str:
    """The whole text, the same for the same release."""
    sensitive = statement.schema.sensitive
    columns = ", ".join(statement.schema.quasi_identifiers)
    return f"""# A release about {statement.numbers.rows:,} people
{promise(facts, seeded=statement.seeded)}
## What is here

- `data/qit.parquet`: one row a person with {columns} and the bucket id BID.
- `data/st.parquet`: for each bucket (BID), each value of {sensitive} in it and how often (COUNT).
{PACKAGE}

Which row of a bucket has which value of {sensitive} is not in these files. Joining the two tables on BID gives every
row every value of its bucket: a count over such a join counts people many times.

## How to count

{ASKING}
With pandas alone, the estimate that treats every row of a bucket alike. It is biased where {sensitive} depends on
the other columns, and it has no interval:

    import pandas as pd
    qit, st = pd.read_parquet("data/qit.parquet"), pd.read_parquet("data/st.parquet")
    size = qit.groupby("BID").size()
    matching = qit[...].groupby("BID").size()                # rows that meet your condition
    having = st[st[{sensitive!r}].isin([...])].groupby("BID")["COUNT"].sum()
    print((matching * having / size).sum())
"""


WORDS: Mapping[int, Words[StatedMechanism, FPrimePrivacy, BucketNumbers]] = {
    1: Words(facts=of_guarantee(facts_1), readme=readme_1),
    2: Words(facts=counting(of_guarantee(facts_1), lambda _: PEOPLE), readme=readme_2),
}

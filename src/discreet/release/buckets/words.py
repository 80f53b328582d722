"""What a bucket release says to people, by version: a version that was published stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.guarantee.fprime import FPrimePrivacy
from discreet.release.buckets.facts_1 import facts_1
from discreet.release.buckets.facts_2 import facts_2
from discreet.release.buckets.facts_3 import facts_3
from discreet.release.buckets.facts_4 import facts_4
from discreet.release.buckets.facts_5 import facts_5
from discreet.release.buckets.manifest import BucketNumbers, BucketStatement, StatedMechanism
from discreet.release.buckets.readme_2 import readme_2
from discreet.release.buckets.readme_3 import readme_3
from discreet.release.buckets.readme_4 import readme_4
from discreet.release.buckets.readme_5 import readme_5
from discreet.release.family import Words, of_guarantee
from discreet.release.phrases_1 import ASKING, PACKAGE, promise
from discreet.release.phrases_2 import PEOPLE, counting


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


def _beside(mechanism: StatedMechanism) -> bool:
    """Whether something is kept against who knows others of a bucket."""
    return bool(mechanism.known or mechanism.fakes)


def _facts_5(statement: BucketStatement) -> dict[str, Any]:
    return facts_5(statement, (facts_3 if statement.mechanism.near is None else facts_4)(statement))


def _readme_5(statement: BucketStatement, facts: Mapping[str, Any]) -> str:
    return readme_5(statement, facts, (readme_3 if statement.mechanism.near is None else readme_4)(statement, facts))


def _random(mechanism: StatedMechanism) -> bool:
    return mechanism.near is None and not _beside(mechanism)


def _near(mechanism: StatedMechanism) -> bool:
    return mechanism.near is not None and not _beside(mechanism)


WORDS: Mapping[int, Words[StatedMechanism, FPrimePrivacy, BucketNumbers]] = {
    1: Words(facts=of_guarantee(facts_1), readme=readme_1, speaks=_random),
    2: Words(facts=counting(facts_2, lambda _: PEOPLE), readme=readme_2, speaks=_random),
    3: Words(facts=counting(facts_3, lambda _: PEOPLE), readme=readme_3, speaks=_random),
    4: Words(facts=counting(facts_4, lambda _: PEOPLE), readme=readme_4, speaks=_near),
    5: Words(facts=counting(_facts_5, lambda _: PEOPLE), readme=_readme_5, speaks=_beside),
}

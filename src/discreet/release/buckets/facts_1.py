"""Version 1 of what a bucket release promises in words. Releases say it, so it stays."""

from __future__ import annotations

from typing import Any

from discreet.guarantee.fprime import NAME, FPrimePrivacy
from discreet.guarantee.words import percent
from discreet.release.phrases_1 import again_warning

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

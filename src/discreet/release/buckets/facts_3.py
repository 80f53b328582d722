"""Version 3 of what a bucket release promises in words: how the buckets were put together, and what one who learns from
all of them gets. Releases say it, so it stays.
"""

from __future__ import annotations

from typing import Any

from discreet.guarantee.words import percent
from discreet.release.buckets.facts_2 import facts_2
from discreet.release.buckets.manifest import BucketStatement

_DRAWN = {
    "free": "freely: every assignment of values to the places of buckets that coins can reach by exchanging two values "
    "within the tolerances is as likely as any other",
    "even": "evenly: of the buckets of one size each holds nearly the same number of a value, and coins decide which "
    "hold one more",
    "round-robin": "in turn, value after value, without coins",
}
_TOGETHER = (  # the third of version 1, where nobody was told that answers are learned too
    "What all buckets together teach: relations between quasi-identifiers and sensitive values can be learned from "
    "the whole release, as analysts do, and whoever does so may guess the value of one person better than the "
    "person's bucket allows, beyond the tolerance too."
)


def facts_3(statement: BucketStatement) -> dict[str, Any]:
    """The promise for people and for programs, and how the buckets were composed."""
    before = facts_2(statement)
    old = "What all buckets together teach"
    return {
        **before,
        "composition": f"The buckets were composed {_drawn(statement)}.{_slack(statement)}",
        "not_covered": [_TOGETHER if each.startswith(old) else each for each in before["not_covered"]],
    }


def _drawn(statement: BucketStatement) -> str:
    name = statement.mechanism.composition
    return _DRAWN["even" if name == "random" else name]


def _slack(statement: BucketStatement) -> str:
    """What the sizes of buckets leave unused, beside what they were to; nothing where that is nothing."""
    asked, kept = statement.mechanism.asked_slack, statement.numbers.slack_used
    if not asked:
        return ""
    if not kept:
        return f" Their sizes were to leave {percent(asked)} of what the tolerances allow unused, and cannot."
    halved = "" if kept == asked else f", of the {percent(asked)} that they were to leave"
    return (
        f" Their sizes leave a share of {percent(kept)} of what the tolerances allow unused{halved}, less for frequent "
        "values: the buckets can differ, and so more can be learned from their counts. The promise does not depend on "
        "it."
    )

"""Version 2 of what a bucket release promises in words: it names every value that is not protected, and how many
people have it. Releases say it, so it stays.
"""

from __future__ import annotations

from typing import Any

from discreet.ground.exact import plain_number
from discreet.ground.shown import name_some
from discreet.guarantee.words import percent
from discreet.release.buckets.facts_1 import facts_1
from discreet.release.buckets.manifest import BucketStatement

_PRESENCE = (  # the first of version 1, where columns could not be published in bands
    "Presence: that a person is in the table can be learned; quasi-identifiers are published, as fine as their domains "
    "are."
)
_NAMED = 20  # values without protection that are named in words; the list beside has all of them


def facts_2(statement: BucketStatement) -> dict[str, Any]:
    """The promise for people and for programs, with those whom it leaves out."""
    first = facts_1(statement.guarantee, statement.continued)
    unprotected = statement.numbers.unprotected or ()
    return {
        **first,
        "words": f"{_promise(statement)} {_exceptions(statement)}",
        "unprotected": [{"value": plain_number(value), "people": people} for value, people in unprotected],
        "alone": statement.numbers.alone,
        "not_covered": [*_unprotected_first(statement), _PRESENCE, *first["not_covered"][1:]],
    }


def _promise(statement: BucketStatement) -> str:
    kept = [pair for pair in statement.guarantee.tolerance if pair[1] < 1]
    total = len(statement.guarantee.tolerance)
    if not kept:
        return f"This release protects none of the {total:,} sensitive values: the tolerance of every one is 1."
    strictest, limit = min(kept, key=lambda pair: pair[1])
    loosest, most = max(kept, key=lambda pair: pair[1])
    those = f"none of the {total:,} sensitive values"
    if len(kept) < total:
        those = f"none of the {len(kept):,} protected values, of {total:,},"
    span = f"It is {percent(limit)} for each of them."
    if limit < most:
        span = (
            f"The strictest is {percent(limit)} ({_named(strictest)}), the loosest {percent(most)} ({_named(loosest)})."
        )
    return (
        f"Whoever looks up a person's bucket in this release infers {those} with a probability above that "
        f"value's tolerance. {span}"
    )


def _exceptions(statement: BucketStatement) -> str:
    """Who is not protected, by name and number."""
    rows, unprotected = statement.numbers.rows, statement.numbers.unprotected or ()
    if not unprotected:
        return "Every value has a tolerance below 1, so no bucket shows a value with certainty."
    people = sum(number for _, number in unprotected)
    listed = name_some([f"{_named(value)} ({number:,})" for value, number in unprotected], most=_NAMED)
    alone = statement.numbers.alone
    return (
        f"Not protected, with a tolerance of 1: {listed}. That is {people:,} of {rows:,} people, whose value their "
        f"bucket may show with certainty; {alone:,} of them stand in a bucket alone, which does."
    )


def _unprotected_first(statement: BucketStatement) -> list[str]:
    people = sum(number for _, number in statement.numbers.unprotected or ())
    if not people:
        return []
    return [f"The {people:,} people whose value has a tolerance of 1: their value may be read off their bucket."]


def _named(value: object) -> str:
    """A value as people read it; an empty cell is one."""
    return "a missing cell" if value is None else "the empty text" if value == "" else str(value)

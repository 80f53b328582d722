"""Version 5 of what a bucket release promises in words, for those alone that keep something against who knows others of
a bucket: how many may be known, what fakes are, and what neither covers. Releases say it, so it stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.ground.shown import name_some
from discreet.guarantee.words import percent
from discreet.release.buckets.manifest import BucketStatement

_ABOVE = "with a probability above that value's tolerance."
_OTHERS = "Other people's values"
_PRESENT = (
    "Knows that the person is in the table, knows the person's quasi-identifiers, knows how the release was made, and "
    "uses the person's bucket alone."
)
_ANY_FAKES = "He may know anything about which values are fakes."
_COUNTED = {  # how values and fakes were put together, by the name of the composition
    "free": "freely: every assignment to the places of these buckets that coins can reach by exchanging two of them "
    "within the tolerances is as likely as any other",
    "even": "evenly: each of these buckets holds nearly the same number of a value, and coins decide which hold one "
    "more",
    "round-robin": "in turn, value after value, without coins",
}
_NAMED = 20  # values without a fake that are named


def facts_5(statement: BucketStatement, before: Mapping[str, Any]) -> dict[str, Any]:
    """The promise for people and for programs, and what is kept against who knows others; `before` are the facts in the
    version without that, 3 or, where buckets are near, 4.
    """
    found = {
        **before,
        "words": _promise(statement, before["words"]),
        "adversary": _adversary(statement),
        "inequality": _inequality(statement),
        "not_covered": [_others(statement) if each.startswith(_OTHERS) else each for each in before["not_covered"]],
    }
    if not statement.mechanism.fakes:
        return found
    return {
        **found,
        "composition": _composition(statement, before["composition"]),
        "fakes": _fakes(statement),
        "certainty": _certainty(statement),
    }


def _promise(statement: BucketStatement, words: str) -> str:
    """The sentence of before, with those who may be known and without what fakes make untrue."""
    known, fakes, alone = statement.guarantee.known, statement.mechanism.fakes, statement.numbers.alone
    if known:
        also = f"{_ABOVE[:-1]}, even if he knows {_values_of(known)} of that bucket."
        words = words.replace(_ABOVE, also, 1)
    if fakes:
        beside = "a fake" if fakes == 1 else f"{fakes} fakes"
        shows = f"{alone:,} of them stand in a bucket alone"
        what = f"{shows}, which has {beside} beside their value." if alone else "none of them stands in a bucket alone."
        words = words.replace(f"{shows}, which does.", what, 1)
    return words


def _adversary(statement: BucketStatement) -> str:
    known, fakes = statement.guarantee.known, statement.mechanism.fakes
    beside = f" {_ANY_FAKES}" if fakes else ""
    if not known:
        return f"{_PRESENT}{beside} Does not know the secret key or any other person's sensitive value."
    them = "it" if known == 1 else "these"
    return (
        f"{_PRESENT} He may know {_values_of(known)} of the bucket, or anything about {them} that does not depend on "
        f"the person's own: a belief, a model, hearsay.{beside} Does not know the secret key."
    )


def _inequality(statement: BucketStatement) -> str:
    known = statement.guarantee.known
    left = f"(rows(bucket) - {known})" if known else "rows(bucket)"
    alike = " and fakes alike" if statement.mechanism.fakes else ""
    return (
        f"Pr(x | person, bucket, what he knows) <= COUNT(bucket, x) / {left} <= tolerance(x), for every bucket and "
        "every value x in it with a tolerance below 1; rows(bucket) is the number of its people, and COUNT counts "
        f"people{alike}"
    )


def _others(statement: BucketStatement) -> str:
    """What is not covered of what he may know about others."""
    known, fakes = statement.guarantee.known, statement.mechanism.fakes
    more = f"more than {'one other person' if known == 1 else f'{known} other people'} of" if known else "others in"
    without = " Fakes may make it harder; how much is said apart, and is no part of the promise." if fakes else ""
    return (
        f"{_OTHERS}: one who already knows the sensitive values of {more} the same bucket learns more, up to "
        "certainty. So does one whose belief ties other people's values to the person's own, such as \"these two have "
        f'the same".{without}'
    )


def _composition(statement: BucketStatement, before: str) -> str:
    """How values and fakes came into buckets; what is said of slack stays."""
    name = statement.mechanism.composition
    drawn = _COUNTED["even" if name == "random" else name]
    slack = before.partition(". ")[2]
    return (
        f"The buckets of each size were composed of people's values and fakes together, {drawn}. Then it was drawn "
        "which of them are fakes: as good as uniformly, by many exchanges of the fakes of two buckets, among all "
        "choices that leave the published numbers of people." + (f" {slack}" if slack else "")
    )


def _fakes(statement: BucketStatement) -> str:
    """What fakes are."""
    fakes, sensitive = statement.mechanism.fakes, statement.schema.sensitive
    made = (
        f"a value of {sensitive} that is nobody's: a fake"
        if fakes == 1
        else f"{fakes} values of {sensitive} that are nobody's: fakes"
    )
    return (
        f"Every bucket has, beside the values of its people, {made}. COUNT in data/st.parquet counts fakes too, and "
        "which values are fakes is in no file. In the buckets of each size every value has fakes in proportion to its "
        "people, but one at least, while there are as many fakes as values. How many people have each value in the "
        f"buckets of each size is published (`people` in `datapackage.json`), so a count of {sensitive} alone is "
        "exact, and whoever reads it knows how many fakes each value has. Fakes promise nothing by themselves: the "
        "inequality counts them as if they were people."
    )


def _certainty(statement: BucketStatement) -> str:
    """What fakes add, by the law of the draw, and for whom they do not."""
    stated = statement.numbers.certainty or Fraction(0)
    missing = "".join(f" {each}" for each in _without(statement))
    if all(limit == 1 for _, limit in statement.guarantee.tolerance):
        return "No value is protected, so nothing is said of how certain one could be who knows all others."
    knows = "One who knows the sensitive values of all other people of a bucket, and all published totals,"
    if stated == 1:
        return f"{knows} may be certain of a protected value: the fakes of this release do not rule that out.{missing}"
    return (
        f"{knows} believes in a protected value with a probability of {percent(stated)} ({stated}) at most, by the law "
        "of the draw, approximate; without fakes he would be certain. This is no promise. It is coarse in tables of "
        "few buckets, where totals may tell which values are fakes. It does not hold for one who also knows the values "
        "of people in other buckets, or who believes something of the person beforehand, such as which values the "
        f"person cannot have; nor for values with a tolerance of 1.{missing}"
    )


def _without(statement: BucketStatement) -> Iterator[str]:
    """The values that have no fake in the buckets of some size, or may have none: it follows from the people."""
    fakes, numbers = statement.mechanism.fakes, statement.numbers
    for place, (size, buckets) in enumerate(numbers.classes):
        held = {value: found[place] for value, found in numbers.people or () if found[place]}
        if (total := fakes * buckets) < len(held):
            least = sorted(held.values(), reverse=True)[total - 1]
            few = [each for each in held if held[each] < least]
            tied = [each for each in held if held[each] == least]
            if len(held) - len(few) > total:
                few += tied
            listed = name_some([_named(each) for each in few], most=_NAMED)
            where = f"The buckets of {size} {'person' if size == 1 else 'people'} have fewer fakes than values"
            yield f"{where}: these have none there, or may have none: {listed}."


def _values_of(known: int) -> str:
    """Whose values may be known."""
    if known == 1:
        return "the sensitive value of one other person"
    return f"the sensitive values of up to {known} other people"


def _named(value: object) -> str:
    """A value as people read it; an empty cell is one."""
    return "a missing cell" if value is None else "the empty text" if value == "" else str(value)

"""What an alpha-beta or FRAPP release promises, in words, version 2: it stays as it is.

Version 1 left two things out. FRAPP's promise is about one who looks up one tuple: to one who reads the whole release
and knows other records, a tuple may become more probable than gamma. And that anything was published says something of
the table, for some tables are refused.
"""

from __future__ import annotations

from typing import Any

from discreet.guarantee.dgamma import DGammaPrivacy
from discreet.guarantee.frapp import FrappPrivacy
from discreet.guarantee.words import percent
from discreet.release.alphabeta.facts_1 import facts_1


def facts_2(guarantee: DGammaPrivacy | FrappPrivacy, continued: bool, public_rows: int | None) -> dict[str, Any]:
    """The promise for people and for programs."""
    before = facts_1(guarantee, continued)
    if isinstance(guarantee, FrappPrivacy):
        return _looked_up(guarantee, before)
    return {**before, "not_covered": [*before["not_covered"], _refused(guarantee, public_rows)]}


def _refused(own: DGammaPrivacy, public_rows: int | None) -> str:
    unit = "distinct tuples" if own.slots == 1 else "records"
    others = [] if public_rows is None else [f"more than {public_rows:,} {unit}"]
    others += [] if own.slots == 1 else [f"more than {own.slots:,} copies of a tuple"]
    more = f", and so is one with {' or with '.join(others)}" if others else ""
    return (
        f"That anything was published at all: a table without rows is refused{more}. One who knows all the rest of the "
        "table may learn from that alone whether a tuple is in it."
    )


def _looked_up(own: FrappPrivacy, before: dict[str, Any]) -> dict[str, Any]:
    twice, *others = before["not_covered"]
    whole = (
        "One who reads the whole release instead of looking up one tuple, and knows other records: the more of these "
        "he finds unchanged, the less likely it is that a changed one became the tuple, and its posterior may pass "
        f"gamma. One who knows all other records may come near {percent(own.whole)} at a prior of d."
    )
    return {
        **before,
        "words": f"A tuple that an adversary holds for at most {percent(own.d)} probable before seeing this release is "
        f"at most {percent(own.gamma)} probable to him when he has looked up how often the release shows it, unless "
        "that is twice or more.",
        "adversary": "Believes of each tuple of the domain, one independently of the other, that it is in the table "
        "with a probability of at most d (or knows it for certain), looks up how often the release shows that tuple "
        "and reads nothing else of it, and knows how the release was made.",
        "not_covered": [twice, whole, *others],
    }

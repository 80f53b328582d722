"""What an alpha-beta or FRAPP release promises, in words, by version: a version that was published stays as it is."""

from __future__ import annotations

import math
from typing import Any

from discreet.guarantee.dgamma import EVEN, DGammaPrivacy
from discreet.guarantee.dgamma import NAME as DGAMMA
from discreet.guarantee.frapp import NAME as FRAPP
from discreet.guarantee.frapp import FrappPrivacy
from discreet.guarantee.words import percent
from discreet.release.phrases_1 import again_warning

_RECORD = "one record: a tuple of the published columns in a random slot"
_MOVING = (
    "A person whose tuple changes between views: one who knows that the tuples belong together puts together what each "
    "of them gives away."
)


def facts_1(guarantee: DGammaPrivacy | FrappPrivacy, continued: bool) -> dict[str, Any]:
    """The promise for people and for programs."""
    if isinstance(guarantee, FrappPrivacy):
        return _frapp_facts(guarantee, continued)
    return _dgamma_facts(guarantee, continued)


def _dgamma_facts(own: DGammaPrivacy, continued: bool) -> dict[str, Any]:
    return {
        "notion": DGAMMA,
        "words": _words(own),
        "adversary": _who(own),
        "inequality": _inequality(own),
        "unit": "one distinct tuple of the published columns" if own.slots == 1 else _RECORD,
        "not_covered": _not_covered(own),
        **again_warning(continued),
    }


def _words(own: DGammaPrivacy) -> str:
    before = f"at most {percent(own.d)} probable before seeing this release"
    if own.weights != EVEN:
        before = f"at most {percent(own.d)} times its weight probable before seeing this release"
    if own.later:
        before = f"at most {percent(own.d)} probable before seeing any of up to {own.views} views"
    after = f"at most {percent(own.gamma)} probable to him afterwards"
    whole = ", from all views together, whatever changed in the table between them" if own.later else ""
    what = "A tuple" if own.slots == 1 else "A tuple in a certain slot"
    return f"{what} that an adversary holds for {before} is {after}{whole}."


def _who(own: DGammaPrivacy) -> str:
    bound = "d" if own.weights == EVEN else "d times its weight in the public source"
    there = "is in the table" if not own.later else "is in any of the tables that the views are made of"
    if own.adversary == "independent":
        return (
            f"Believes of each tuple of the domain, one independently of the other, that it {there} with a "
            f"probability of at most {bound} (or knows it for certain), and knows how the release was made."
        )
    always = ", always the same while that person is there" if own.later else ""
    return (
        f"Knows sets of tuples of which exactly one {there} (a person whose tuple is one of many{always}), holds "
        f"each of them for at most as probable as {bound}, and knows how the release was made."
    )


def _inequality(own: DGammaPrivacy) -> str:
    table = "table" if not own.later else "any table"
    release = "release" if not own.later else "views"
    bound = "d" if own.weights == EVEN else "d w(t)"
    prior, posterior = f"Pr(t in {table})", f"Pr(t in {table} | {release})"
    above, below = f"{posterior} <= gamma", f"{posterior} >= ({bound} / gamma) {prior}"
    whom = f"for every tuple t with {prior} <= {bound}"
    numbers = f"with d = {percent(own.d)}, gamma = {percent(own.gamma)}"
    if own.adversary == "independent":
        return f"{above} and {below}, {whom}, {numbers}"
    if not own.holds_for_independent:
        return f"{above}, {whom}, {numbers}"
    return f"{above}, {whom}, {numbers}; for an adversary who holds tuples for independent, also that {below}"


def _not_covered(own: DGammaPrivacy) -> list[str]:
    least = math.ceil(1 / own.d)
    linker = (
        "That a tuple is not in the table: its absence from the release makes it less probable."
        if own.adversary == "exclusive"
        else f"One who knows that exactly one of {least:,} tuples is in the table reaches "
        f'{percent(own.linked(1 / own.d))}; adversary = "exclusive" bounds him.'
    )
    copies = (
        "Copies: the table is taken as a set of distinct tuples, and all counts are of distinct tuples."
        if own.slots == 1
        else f"How many copies a tuple has: each is in a random one of {own.slots:,} slots, and one who sees "
        "many slots of a tuple filled learns that it has copies."
    )
    more = (
        f"A view beyond the {own.views} declared, or another release of the same people."
        if own.later
        else "A second release of the same people with fresh coins: a tuple seen twice is hardly noise."
    )
    return [
        f"One who can narrow a person down to fewer than {least:,} equally probable tuples: his prior is above d. "
        "One who knows all quasi-identifiers of a person in the table, and that nobody else has them, is left with "
        f"{own.candidates:,} tuples and reaches {percent(own.linked(own.candidates))}.",
        "Several tuples that stand or fall together (relatives, rows of one person): seeing them together tells more.",
        linker,
        *([_MOVING] if own.later else []),
        copies,
        more,
    ]


def _frapp_facts(own: FrappPrivacy, continued: bool) -> dict[str, Any]:
    least = math.ceil(1 / own.d)
    return {
        "notion": FRAPP,
        "words": f"A tuple that an adversary holds for at most {percent(own.d)} probable before seeing this "
        f"release is at most {percent(own.gamma)} probable to him afterwards, unless the release shows it twice "
        "or more.",
        "adversary": "Believes of each tuple of the domain, one independently of the other, that it is in the "
        "table with a probability of at most d (or knows it for certain), looks at how often the release shows it, "
        "and knows how the release was made.",
        "inequality": "Pr(t in table | t shown once) <= gamma and Pr(t in table | t not shown) >= (d / gamma) "
        "Pr(t in table), for every tuple t with Pr(t in table) <= d, "
        f"with d = {percent(own.d)}, gamma = {percent(own.gamma)}",
        "unit": "one record",
        "not_covered": [
            "A tuple that is shown twice or more: its posterior may pass gamma "
            f"({percent(own.posterior(2))} at a prior of d and two times).",
            f"One who can narrow a person down to fewer than {least:,} equally probable tuples: his prior is above "
            "d. One who knows all quasi-identifiers of a person in the table, and that nobody else has them, is "
            f"left with {own.candidates:,} tuples and reaches {percent(own.linked(own.candidates))}.",
            f"One who knows that exactly one of {least:,} tuples is in the table reaches "
            f"{percent(own.linked(1 / own.d))}; alphabeta with an exclusive adversary bounds him.",
            "Several tuples that stand or fall together (relatives, rows of one person): seeing them together "
            "tells more.",
            "The number of records: it is public.",
            "A second release of the same people with fresh coins: a tuple seen in both is hardly noise.",
        ],
        **again_warning(continued),
    }

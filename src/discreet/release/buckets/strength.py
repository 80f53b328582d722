"""Two tolerances side by side: which is stronger, or what that depends on, in exact fractions.

Symbols: f the value's share of the rows; a tolerance is a fraction, or the rule min(ceiling, theta f + floor).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.ground.exact import stated
from discreet.ground.shown import name_of
from discreet.guarantee.fprime import fprime_from_json
from discreet.guarantee.words import percent
from discreet.release.family import Change, Content
from discreet.schema.domain import Domain, key_of


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The tolerance of a value that has none of its own: min(ceiling, theta x its share + floor)."""

    theta: Fraction
    floor: Fraction
    ceiling: Fraction = Fraction(1)

    def __str__(self) -> str:
        most = "" if self.ceiling == 1 else f", {percent(self.ceiling)} at most"
        return f"{self.theta} x its share + {percent(self.floor)}{most}"


Limit = Fraction | Rule
_NO_CEILING = "1"  # where none is stated


def rule_changes(a: Content, b: Content) -> Iterator[Change]:
    """How theta, floor and ceiling differ, and which tolerances are named otherwise though the promise is the same."""
    before, after = a["mechanism"]["tolerance"], b["mechanism"]["tolerance"]
    for name in ("theta", "floor", "ceiling"):
        one, two = before.get(name, _NO_CEILING), after.get(name, _NO_CEILING)
        if (old := _exact(one)) != (new := _exact(two)):
            side = "weaker" if new > old else "stronger"
            which = "frequent values" if name == "ceiling" else "values"
            yield {"name": name, "a": one, "b": two, "meaning": f"{side} for {which} without a tolerance of their own"}
    if "guarantee" in a and (keys := sorted(before["values"].keys() ^ after["values"].keys())):
        promised = [{key_of(value): limit for value, limit in _promised(content).items()} for content in (a, b)]
        for key in (key for key in keys if promised[0].get(key) == promised[1].get(key)):
            named = before["values"].get(key), after["values"].get(key)
            meaning = "the promised tolerance is the same"
            yield {"name": f"tolerance named for {key}", "a": named[0], "b": named[1], "meaning": meaning}


def tolerance_changes(a: Content, b: Content, before: Domain, after: Domain) -> Iterator[Change]:
    """The tolerance of each value that has another one in B: exact, as shown, and what it means.

    Of releases these are the promised tolerances; of policies those that a policy names. The rule of a policy for all
    other values is not repeated value by value: `rule_changes` says how it differs.
    """
    read = _promised if "guarantee" in a else _named
    limits = [read(a, before), read(b, after)]
    values = dict.fromkeys((*limits[0], *limits[1]))
    if "guarantee" not in a:
        for own, content, domain in ((limits[0], a, before), (limits[1], b, after)):
            own |= {value: _rule(content) for value in values if value in domain and value not in own}
    for value in values:
        old, new = limits[0].get(value), limits[1].get(value)
        only = "" if value in before and value in after else f"only {'A' if value in before else 'B'} has this value"
        if old != new:
            shown = _shown(old), _shown(new)
            if shown[0] == shown[1]:  # they differ beyond what a percentage shows
                shown = str(old), str(new)
            exact = [None if limit is None else str(limit) for limit in (old, new)]
            said = only or meaning(old, new)
            yield {"name": name_of(value), "a": exact[0], "b": exact[1], "meaning": said, "shown": shown}


def _promised(content: Content, _domain: Domain | None = None) -> dict[object, Limit]:
    return dict(fprime_from_json(content["guarantee"]).tolerance)


def _named(content: Content, domain: Domain) -> dict[object, Limit]:
    """The tolerances that a policy names, by value."""
    named = content["mechanism"]["tolerance"]["values"]
    read = {"integer": int, "number": Decimal, "text": str}[domain.type]
    values = ((None if not key and domain.missing else read(key), text) for key, text in named.items())
    return {value: _exact(text) for value, text in values}


def known_meaning(old: object, new: object) -> str:
    """Which of two numbers of others who may be known is the stronger promise; none is 0."""
    side = "stronger" if _number(new) > _number(old) else "weaker"
    return (
        f"{side} against who knows others: the tolerances are kept beside so many people of a bucket whose values are "
        "known"
    )


def fakes_meaning(old: object, new: object) -> str:
    """What more fakes add, or fewer leave: no part of the promise."""
    before, after = _number(old), _number(new)
    side = "less certain as a rule, and answers less exact" if after > before else "more certain as a rule"
    return (
        "in every bucket so many values are nobody's; the promise does not depend on it. One who knows all others of a "
        f"bucket is {side}: `certainty` says how much, by the law of the draw"
    )


def certainty_meaning(a: Content, b: Content) -> str:
    """Which of two releases leaves one who knows all others less certain."""
    side = "more" if _exact(b["certainty"]) > _exact(a["certainty"]) else "less"
    return (
        f"B leaves one who knows all others of a bucket {side} certain at most, by the law of the draw, approximate; "
        "it is no part of the promise"
    )


def _number(stated_as: object) -> int:
    return stated_as if isinstance(stated_as, int) else 0


def meaning(old: Limit | None, new: Limit | None) -> str:
    """Stronger, weaker, or what it depends on."""
    if old is None or new is None:
        return "without one the value must not occur"
    if isinstance(old, Fraction) and isinstance(new, Fraction):
        return "weaker" if new > old else "stronger"
    if isinstance(new, Rule) and isinstance(old, Fraction):
        return _against(new, old, "weaker", "stronger")
    if isinstance(old, Rule) and isinstance(new, Fraction):
        return _against(old, new, "stronger", "weaker")
    return "another rule"


def _against(rule: Rule, limit: Fraction, above: str, below: str) -> str:
    """What a rule is beside a fixed limit: `above` where it allows more, `below` where it allows less."""
    if rule.floor > limit:
        return above
    if rule.ceiling < limit:
        return below
    if rule.floor == limit:
        return f"{above}, or the same where the value does not occur"
    turn = (limit - rule.floor) / rule.theta
    if turn > 1:
        return below
    beyond = "the same" if limit == rule.ceiling else f"{above} or the same"
    return f"{below} where its share is below {percent(turn)}, else {beyond}"


def _rule(content: Content) -> Limit:
    """The rule of a policy; where it does not depend on the share, the number that it is."""
    stated_by = {"ceiling": _NO_CEILING, **content["mechanism"]["tolerance"]}
    theta, floor, ceiling = (_exact(stated_by[name]) for name in ("theta", "floor", "ceiling"))
    return min(floor, ceiling) if not theta or floor >= ceiling else Rule(theta=theta, floor=floor, ceiling=ceiling)


def _exact(text: Any) -> Fraction:
    found = stated(text)
    if found is None:
        raise ValueError("a tolerance must be a number such as 1/50")
    return found


def _shown(limit: Limit | None) -> str:
    return "none" if limit is None else percent(limit) if isinstance(limit, Fraction) else str(limit)

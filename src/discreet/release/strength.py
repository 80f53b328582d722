"""Two tolerances side by side: which is stronger, or what that depends on, in exact fractions.

Symbols: f the value's share of the rows; a tolerance is a fraction, or the rule min(1, theta f + floor).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.guarantee.fprime import fprime_from_json, percent
from discreet.release.alike import name_of
from discreet.schema.domain import Domain, Integers, key_of

MOST_VALUES = 1_000_000  # a domain beyond this is compared by the values that have a tolerance of their own
_NUMBER = re.compile(r"[0-9]{1,40}(/[0-9]{1,40})?")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The tolerance of a value that has none of its own: min(1, theta x its share + floor)."""

    theta: Fraction
    floor: Fraction

    def __str__(self) -> str:
        return f"{self.theta} x its share + {percent(self.floor)}" if self.theta else percent(self.floor)


Limit = Fraction | Rule


def number_of(text: Any) -> Fraction | None:
    """A number as a release states it, such as 8 or 1/50; None for anything else, however long."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        return None
    top, _, bottom = text.partition("/")
    return Fraction(int(top), int(bottom or 1)) if int(bottom or 1) else None


def rule_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The changes of theta and floor: name, before, after, meaning."""
    for name in ("theta", "floor"):
        old, new = _exact(before[name]), _exact(after[name])
        if old != new:
            side = "weaker" if new > old else "stronger"
            yield name, str(before[name]), str(after[name]), f"{side} for values without a tolerance of their own"


def tolerance_changes(
    a: Mapping[str, Any], b: Mapping[str, Any], before: Domain, after: Domain
) -> Iterator[dict[str, Any]]:
    """The tolerance of each value of both domains that has another one in B: exact, as shown, and what it means.

    Of releases these are the promised tolerances; of policies those that the policy names. The rule of a policy for
    all other values is not repeated value by value: `rule_changes` says how it changed.
    """
    if "guarantee" in a:
        old, new = (dict(fprime_from_json(content["guarantee"]).tolerance) for content in (a, b))
        for value in dict.fromkeys((*old, *new)):
            if value in before and value in after:
                yield from _change(value, old.get(value), new.get(value))
        return
    rules = [_rule(content) for content in (a, b)]
    named = [content["mechanism"]["tolerance"]["values"] for content in (a, b)]
    for value in _named_values((before, after), {*named[0], *named[1]}):
        limits = [
            _exact(own[key_of(value)]) if key_of(value) in own else rule for own, rule in zip(named, rules, strict=True)
        ]
        yield from _change(value, *limits)


def _change(value: object, old: Limit | None, new: Limit | None) -> Iterator[dict[str, Any]]:
    if old == new:
        return
    shown = tuple(_shown(limit) for limit in (old, new))
    if shown[0] == shown[1]:  # they differ beyond what a percentage shows
        shown = tuple(str(limit) for limit in (old, new))
    exact = [None if limit is None else str(limit) for limit in (old, new)]
    yield {"name": name_of(value), "a": exact[0], "b": exact[1], "meaning": meaning(old, new), "shown": shown}


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
    if limit == 1:
        return "the same" if rule.floor == 1 else f"{below} unless its share makes the rule 100 %"
    if rule.floor >= limit:
        return above if rule.floor > limit else f"{above}, or the same where the value does not occur"
    if not rule.theta:
        return below
    turn = (limit - rule.floor) / rule.theta
    return f"{below} where its share is below {percent(turn)}, else {above} or the same" if turn <= 1 else below


def _rule(content: Mapping[str, Any]) -> Rule:
    tolerance = content["mechanism"]["tolerance"]
    return Rule(theta=_exact(tolerance["theta"]), floor=_exact(tolerance["floor"]))


def _named_values(domains: tuple[Domain, Domain], keys: set[str]) -> Iterator[object]:
    """The values of both domains that some policy names, in the order of the first."""
    first, second = domains
    if isinstance(first, Integers) and len(first) > MOST_VALUES:
        candidates: Any = sorted(int(key) for key in keys if re.fullmatch(r"-?[0-9]{1,16}", key))
    else:
        candidates = first
    for value in candidates:
        if value in first and value in second and key_of(value) in keys:
            yield value


def _exact(text: Any) -> Fraction:
    found = number_of(text)
    if found is None:
        raise ValueError("a tolerance must be a number such as 1/50")
    return found


def _shown(limit: Limit | None) -> str:
    return "none" if limit is None else percent(limit) if isinstance(limit, Fraction) else str(limit)

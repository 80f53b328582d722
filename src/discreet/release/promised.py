"""Two promises of one notion side by side, number by number: how they differ, and what that means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import PolicyError
from discreet.guarantee.dgamma import number_from
from discreet.guarantee.words import percent

_MEANING = {
    "d": "covers adversaries who held a tuple for up to that probable",
    "gamma": "how probable a tuple may become",
    "adversary": "who is kept from learning more",
    "keep": "how often a tuple of the table is kept",
    "insert": "how often another tuple is inserted",
    "later": "how often another tuple is inserted in later views",
    "again": "how often a tuple that was shown before is shown again",
    "weights": "the least and the largest weight of a tuple in the public source",
    "slots": "places for the copies of a tuple",
    "candidates": "tuples that are left for one who knows all quasi-identifiers",
    "rows": "how many records there are",
    "domain": "how many tuples there may be",
    "before": "what earlier releases of the series cost",
}


def promise_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What two guarantees of the same notion, read from releases, state otherwise."""
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old == new or name == "notion":
            continue
        if name == "parts":
            yield from _parts(old or {}, new or {})
            continue
        meaning = _MEANING.get(name, "stated otherwise")
        if name == "epsilon":
            smaller = number_from(new) < number_from(old)
            meaning = f"{'stronger' if smaller else 'weaker'}: what a record may change"
        yield {"name": name, "a": old, "b": new, "meaning": meaning, "shown": (_shown(name, old), _shown(name, new))}


def _parts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            shown = (_shown("epsilon", old.get(name)), _shown("epsilon", new.get(name)))
            meaning = "its share of epsilon"
            yield {"name": f"part: {name}", "a": old.get(name), "b": new.get(name), "meaning": meaning, "shown": shown}


def _shown(name: str, value: Any) -> str:
    """A number as people read it: shares of epsilon and costs as they are, probabilities in percent."""
    if isinstance(value, list):
        return ", ".join(_shown(name, each) for each in value)
    try:
        number = number_from(value)
    except PolicyError:
        return "none" if value is None else str(value)
    return f"{float(number):.4g}" if name in ("epsilon", "before", "weights") else percent(number)

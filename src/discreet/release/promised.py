"""Two guarantees of one notion side by side, number by number: how they differ, and what that means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.errors import PolicyError
from discreet.guarantee.dgamma import number_from
from discreet.guarantee.words import percent
from discreet.release.family import Change

TOGETHER = "other rows or other coins; if the same people are in both, no promise covers what both give away together"


def guarantee_changes(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    meanings: Mapping[str, str],
    plain: tuple[str, ...] = (),
    told: tuple[str, ...] = (),
) -> Iterator[Change]:
    """What two guarantees of the same notion, read from releases, state otherwise; `plain` numbers are no shares, and
    what is `told` elsewhere is left out.
    """
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        if old != new and name not in told:
            meaning = meanings.get(name, "stated otherwise")
            shown = tuple(shown_number(value, plain=name in plain) for value in (old, new))
            yield {"name": name, "a": old, "b": new, "meaning": meaning, "shown": shown}


def shown_number(value: Any, *, plain: bool) -> str:
    """A number as people read it: as it is, or in percent where it is a probability."""
    if isinstance(value, list):
        return ", ".join(shown_number(each, plain=plain) for each in value)
    try:
        number = number_from(value)
    except PolicyError:
        return "none" if value is None else str(value)
    return f"{float(number):.4g}" if plain else percent(number)

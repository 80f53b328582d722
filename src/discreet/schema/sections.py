"""Sections of a policy document: each is a table of known keys, and what is neither is complained of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.schema.mechanisms import Complain
from discreet.schema.nearest import did_you_mean


def section_of(document: Mapping[str, Any], name: str, complain: Complain) -> Mapping[str, Any]:
    """A section by its name; an empty one where it is missing or no table, with a complaint."""
    section = document.get(name)
    if isinstance(section, dict):
        return section
    complain((name,), f"[{name}] is missing; add it" if section is None else f"{name} must be a table: [{name}]")
    return {}


def unknown_keys(section: Mapping[str, Any], known: tuple[str, ...], key: tuple[str, ...], complain: Complain) -> None:
    """Complain of every key that a section may not have, with the nearest that it may."""
    for name in section:
        if name not in known:
            complain(
                (*key, name),
                f"{name} is not a key of {'.'.join(key) or 'a policy'}{did_you_mean(name, known)}",
            )

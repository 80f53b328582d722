"""What a release's domains say of values that look alike, from its schema alone.

Two spellings of one sensitive value have a bound each, and together pass both: such a release does not hold what its
reader takes it to promise, unless its schema states that they are kept apart on purpose. A promise that is not made
value by value, such as differential privacy, loses nothing by it, and neither does one by a quasi-identifier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.ground.shown import name_some, plain
from discreet.release.family import FAMILIES
from discreet.release.statement import Manifest
from discreet.schema.domain import Listed
from discreet.schema.lookalikes import twins_of
from discreet.schema.twins import Alike, told

_NAMED = 3  # columns, and lists of a column, that are named


def check_lookalikes(manifest: Manifest[Any, Any, Any]) -> str | None:
    """Sensitive values that look alike are stated to be distinct, where something is promised of each."""
    name = manifest.schema.sensitive
    found = _sure(manifest, name)
    if not found or not FAMILIES[manifest.kind].by_value:
        return None
    return (
        f"values of {plain(name)} look alike, and the schema does not state them as distinct: {told(found)}; what is "
        "promised holds for each spelling alone"
    )


def lookalikes_told(manifest: Manifest[Any, Any, Any]) -> str | None:
    """What an auditor should look at although nothing is broken by it."""
    return "; ".join(_reported(manifest)) or None


def _reported(manifest: Manifest[Any, Any, Any]) -> Iterator[str]:
    schema, distinct, alike = manifest.schema, [], []
    for name in schema.columns:
        domain = schema.domains[name]
        if isinstance(domain, Listed) and domain.distinct:
            groups = tuple(Alike(values=each, sure=True) for each in domain.distinct)
            distinct.append(f"of {plain(name)} {told(groups)}")
        if found := _sure(manifest, name):
            alike.append(f"of {plain(name)} {told(found)}")
    if distinct:
        yield f"stated as distinct although they look alike: {name_some(distinct, most=_NAMED)}"
    if alike:
        yield f"values look alike where no promise rests on it: {name_some(alike, most=_NAMED)}"


def _sure(manifest: Manifest[Any, Any, Any], name: str) -> list[Alike]:
    return [each for each in twins_of(manifest.schema.domains[name]) if each.sure]

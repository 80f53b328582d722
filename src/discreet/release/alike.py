"""Two values or two domains side by side, without listing what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from discreet.ground.shown import FEW, name_of, name_some
from discreet.schema.domain import Dates, Decimals, Domain, Integers, Listed
from discreet.schema.valued import Value


def same(one: Any, two: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true."""
    return json.dumps(one, sort_keys=True) == json.dumps(two, sort_keys=True)


def domain_text(domain: Domain) -> str:
    """A domain in a few words."""
    if isinstance(domain, Decimals):
        text = f"{domain.low} to {domain.high} by {domain.step}"
    elif isinstance(domain, Integers | Dates):
        text = f"{domain.low} to {domain.high}"
    else:
        text = f"{len(domain.values):,} {'whole numbers' if domain.type == 'integer' else 'values'}"
    return f"{text}{' or missing' if domain.missing else ''}{' in a hierarchy' if domain.paths else ''}"


def domain_change(before: Domain, after: Domain) -> str:
    """What was added to a domain and what was removed, how many and the first few; empty where nothing differs."""
    changes = []
    for verb, domain, other in (("added", after, before), ("removed", before, after)):
        number, first = _only(domain, other)
        if number:
            changes.append(f"{number:,} {verb} ({name_some([name_of(value) for value in first], number)})")
    if bool(before.paths) != bool(after.paths):
        changes.append(f"only {'A' if before.paths else 'B'} has a hierarchy")
    above = {path[0]: path[1:] for path in before.paths}
    if moved := [path[0] for path in after.paths if path[0] in above and path[1:] != above[path[0]]]:
        changes.append(f"{len(moved):,} elsewhere in the hierarchy ({name_some(moved)})")
    if _apart(before) != _apart(after):
        changes.append(f"other values are kept apart although they look alike ({_named(before)} -> {_named(after)})")
    if not changes and before != after:
        same = list(before) == list(after)  # here both have the same values, so a range is as short as a list
        changes.append("the same values, declared otherwise" if same else "the same values in another order")
    return ", ".join(changes)


def _apart(domain: Domain) -> set[frozenset[str]]:
    return {frozenset(each) for each in domain.distinct} if isinstance(domain, Listed) else set()


def _named(domain: Domain) -> str:
    lists = domain.distinct if isinstance(domain, Listed) else ()
    return name_some([" and ".join(map(name_of, each)) for each in lists]) or "none"


def _only(domain: Domain, other: Domain) -> tuple[int, list[Value]]:
    """How many values only the first domain has, and the first few of them; a long range is never listed."""
    own: Iterator[Value]
    if not isinstance(domain, Integers):
        found = [value for value in domain if value is not None and value not in other]
        number, own = len(found), iter(found)
    elif isinstance(other, Integers):
        below = range(domain.low, min(domain.high, other.low - 1) + 1)
        above = range(max(domain.low, other.high + 1), domain.high + 1)
        number, own = len(below) + len(above), chain(below, above)
    else:
        taken = {value for value in other if value is not None and value in domain}
        number = domain.high - domain.low + 1 - len(taken)
        own = (value for value in range(domain.low, domain.high + 1) if value not in taken)
    only_missing = domain.missing and not other.missing
    own = chain(own, [None] if only_missing else [])
    return number + only_missing, list(islice(own, FEW))

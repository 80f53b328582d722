"""Values that look alike and are kept apart on purpose: `distinct` in a domain of a policy.

What is published is stated with it; of cells whose labels alone are published, the policy alone says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from discreet.errors import PolicyError
from discreet.schema.domain import Domain, Listed
from discreet.schema.levels import published_at
from discreet.schema.twins import Lists

KEY = "distinct"


def lists_of(entry: Mapping[str, Any]) -> Lists:
    """The lists of an entry of [domains], as far as they are written as such."""
    written = entry.get(KEY)
    return tuple(tuple(each) for each in written if _are_texts(each)) if isinstance(written, list) else ()


def kept_apart(domain: Domain, level: int, distinct: Any) -> Domain:
    """A domain at the level that is published: each list is of values of the cells, or of labels of the level."""
    published = published_at(domain, level)
    if not isinstance(published, Listed):
        raise PolicyError("distinct is for listed text: numbers and dates never look alike; take it out")
    if not distinct:
        raise PolicyError('distinct must be lists of two values or more, such as [["HIV", "hiv"]]')
    if published is domain:
        return replace(published, distinct=distinct)
    lists = distinct if isinstance(distinct, list) else [distinct]
    cells = [each for each in lists if isinstance(domain, Listed) and _are_texts(each) and set(each) <= {*domain.texts}]
    if cells and isinstance(domain, Listed):
        domain = replace(domain, distinct=tuple(cells))
    return published_at(domain, level, tuple(each for each in lists if each not in cells))


def _are_texts(each: object) -> bool:
    return isinstance(each, list) and all(isinstance(value, str) for value in each)

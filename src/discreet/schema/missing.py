"""Texts that mean a missing cell: a table that writes '?' or 'NA' is read as if it had written nothing there.

They are how one table is written, and no fact about its domain: a release does not state them, and a policy's digest
does not count them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.domain import Domain, own_domain
from discreet.schema.mechanisms import Complain

KEY = "missing_as"
Marks = Mapping[str, tuple[str, ...]]  # for each column, the texts that mean a missing cell


def read_marks(
    section: Mapping[str, Any], domains: Mapping[str, Domain], complain: Complain
) -> dict[str, tuple[str, ...]]:
    """What the domains of a policy say of it; complains of what is wrong."""
    marks = {}
    for name, entry in section.items():
        if not isinstance(entry, dict) or KEY not in entry or name not in domains:
            continue
        try:
            check_marks(name, entry[KEY], domains[name])
        except PolicyError as error:
            complain(error.key, str(error))
        else:
            marks[name] = tuple(entry[KEY])
    return marks


def check_marks(name: str, marks: object, domain: Domain) -> None:
    """Raise PolicyError where such texts are none, where a missing cell is not allowed, or where they are values."""
    key = ("domains", name, KEY)
    if not _is_list(marks) or not all(isinstance(mark, str) for mark in marks) or not marks:  # type: ignore[attr-defined]
        raise PolicyError(f'{name}: {KEY} must be a list of texts, such as ["?", "NA"]', key=key)
    if not domain.missing:
        raise PolicyError(f'{name}: {KEY} must go with missing = "category"; add that line', key=key)
    if taken := [mark for mark in marks if _is_value(mark, domain)]:  # type: ignore[attr-defined]
        raise PolicyError(
            f"{name}: {KEY} ({shown(taken[0])}) must not be a value of the domain too; take it out of one of them",
            key=key,
        )


def _is_list(marks: object) -> bool:
    return isinstance(marks, Sequence) and not isinstance(marks, str)


def _is_value(mark: str, domain: Domain) -> bool:
    """Whether a text is how a value of the table's own domain is written."""
    own = own_domain(domain)
    if own.type == "integer":
        return mark.removeprefix("-").isdecimal() and int(mark) in own
    return mark in own.texts

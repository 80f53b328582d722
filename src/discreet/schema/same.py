"""Other spellings of a value: a table that writes 'hiv' for 'HIV' is read as if it had written 'HIV' there.

They are how one table is written, and no fact about its domain: a release does not state them, and a policy's digest
does not count them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import PolicyError
from discreet.schema.domain import Domain, Listed, own_domain
from discreet.schema.mechanisms import Complain
from discreet.schema.twins import alike, quoted

KEY = "same"
Same = Mapping[str, Mapping[str, str]]  # for each column, the spellings that are read as a value


def spellings_of(entry: Mapping[str, Any]) -> Mapping[str, str]:
    """The spellings of an entry of [domains] that are no values; none where they are not written as such."""
    same = entry.get(KEY)
    if not isinstance(same, dict) or not _is_written(same):
        return {}
    return {spelling: value for spelling, value in same.items() if value not in same}


def read_same(section: Mapping[str, Any], domains: Mapping[str, Domain], complain: Complain) -> dict[str, Any]:
    """What the domains of a policy say of it; complains of what is wrong."""
    found = {}
    for name, entry in section.items():
        if not isinstance(entry, dict) or KEY not in entry or name not in domains:
            continue
        try:
            check_same(name, entry[KEY], domains[name], entry.get("missing_as", ()))
        except PolicyError as error:
            complain(error.key, str(error))
        else:
            found[name] = dict(entry[KEY])
    return found


def check_same(name: str, same: object, domain: Domain, marks: object = ()) -> None:
    """Raise PolicyError where such spellings are none of a value of the domain."""
    key, own = ("domains", name, KEY), own_domain(domain)
    if not isinstance(same, Mapping) or not same or not _is_written(same):
        raise PolicyError(f'{name}: {KEY} must say which value a text is read as, such as {{ hiv = "HIV" }}', key=key)
    if not isinstance(own, Listed) or own.type != "text":
        raise PolicyError(
            f"{name}: {KEY} is for listed text: numbers and dates have no spellings; take it out", key=key
        )
    for spelling, value in same.items():
        where = (*key, spelling)
        wrong = f"{name}: {KEY} ({quoted(spelling)} = {quoted(value)}) must"
        if spelling == value:
            raise PolicyError(f"{wrong} name another spelling than the value's own; take it out", key=where)
        if value in same:
            raise PolicyError(f"{wrong} not name a text that is read as a third; name the last one", key=where)
        if value not in own.texts:
            raise PolicyError(f"{wrong} name a value of the domain behind the sign '='; list it or mend it", key=where)
        if spelling in own.texts:
            raise PolicyError(f"{wrong} not name a value that is kept; take {quoted(spelling)} out", key=where)
        if isinstance(marks, list | tuple) and spelling in marks:
            raise PolicyError(f"{wrong} not name a text of missing_as; take it out of one of them", key=where)
        if not alike((spelling, value)):
            raise PolicyError(f"{wrong} name two texts that look alike; these do not: correct the cells", key=where)


def _is_written(same: Mapping[Any, Any]) -> bool:
    return all(isinstance(each, str) for pair in same.items() for each in pair)

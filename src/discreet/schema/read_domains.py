"""From the section [domains] of a policy to domains, with every problem said at once."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.apart import KEY as APART
from discreet.schema.apart import kept_apart, lists_of
from discreet.schema.bands import hierarchy_of_bands
from discreet.schema.domain import Dates, Decimals, Domain, Integers, Listed
from discreet.schema.hierarchy import hierarchy_of_prefixes, hierarchy_of_ranges, read_hierarchy
from discreet.schema.levels import published_at
from discreet.schema.mechanisms import Complain
from discreet.schema.missing import KEY as MISSING_AS
from discreet.schema.nearest import did_you_mean
from discreet.schema.paths import Paths
from discreet.schema.roles import Roles
from discreet.schema.same import KEY as SAME
from discreet.schema.same import spellings_of
from discreet.schema.sections import unknown_keys
from discreet.schema.widths import hierarchy_of_dates, hierarchy_of_decimals

KINDS = {  # what says the values, and what may stand beside it
    "integers": ("hierarchy", "widths", "bands"),
    "decimals": ("step", "hierarchy", "widths", "bands"),
    "dates": ("by", "hierarchy", "widths", "bands"),
    "values": ("hierarchy", "prefixes", "ordered"),
    "hierarchy": ("ordered"),
}
ABOVE = ("hierarchy", "widths", "bands", "prefixes")  # of these a domain has one at most
ALWAYS = ("missing", MISSING_AS, SAME, APART, "publish_level")
KEYS = tuple(dict.fromkeys([*KINDS, *(key for keys in KINDS.values() for key in keys), *ALWAYS]))
MISSING = {"refuse": False, "category": True}


def read_domains(section: Mapping[str, Any], roles: Roles, folder: Path, complain: Complain) -> dict[str, Domain]:
    """The domains that can be told, by column; complains of everything that is wrong."""
    domains: dict[str, Domain] = {}
    columns = roles.published
    for role, name in roles:
        if name in columns and name not in section:
            complain(("table", role, name), f"[domains.{name}] is missing; declare the values that {name} may take")
    for name, entry in section.items():
        key = ("domains", name)
        if name not in columns:
            complain(key, f"{name} is not a quasi-identifier and not sensitive{did_you_mean(name, columns)}")
        elif not isinstance(entry, dict) or _kind(entry) is None:
            complain(
                key,
                f"[domains.{name}] must have one of integers, decimals, dates, values or hierarchy; numbers and dates "
                "may have a hierarchy, widths or bands besides, and values a hierarchy or prefixes",
            )
        else:
            unknown_keys(entry, KEYS, key, complain)
            found: list[tuple[str, PolicyError]] = []
            if (domain := _read_domain(entry, folder, found)) is not None:
                domains[name] = domain
            for part, error in found:
                complain((*key, part), f"{name}: {error}")
    return domains


def _kind(entry: Mapping[str, Any]) -> str | None:
    """The key that says the values of a domain; None where it is not clear, or what stands beside it does not fit."""
    kind = next((kind for kind in KINDS if kind in entry), None)
    if kind is None or len(set(entry) & set(ABOVE)) > 1:
        return None
    beside = set(entry) & set(KEYS) - {kind, *ALWAYS}
    return kind if beside <= set(KINDS[kind]) else None


def _read_domain(entry: Mapping[str, Any], folder: Path, found: list[tuple[str, PolicyError]]) -> Domain | None:
    """The domain that an entry declares, or None; what is wrong with its values and with its hierarchy is found."""
    kind, spellings = str(_kind(entry)), spellings_of(entry)
    if isinstance(entry.get("values"), list):
        entry = {**entry, "values": [each for each in entry["values"] if not _is_one_of(each, spellings)]}
    if str(entry.get("missing", "refuse")) not in MISSING:
        wrong = f'missing ({shown(entry["missing"])}) must be "refuse" or "category"'
        found.append(("missing", PolicyError(wrong)))
    domain: Domain | None = None
    paths: Paths = ()
    try:
        domain = _read_values(entry)
    except PolicyError as error:
        found.append((error.key[0] if error.key else kind, error))
        entry = {key: value for key, value in entry.items() if key in ("hierarchy", SAME, APART)}
    try:
        paths = _read_paths(entry, domain, folder)
        domain = replace(domain, paths=paths) if domain is not None else None
    except PolicyError as error:
        found.append((next(key for key in ABOVE if key in entry), error))
    if found:
        return None
    try:
        if domain is None:
            domain = Listed(values=tuple(path[0] for path in paths), paths=paths, **_flags(entry))
        published = published_at(domain, entry.get("publish_level", 0))
    except PolicyError as error:
        found.append(("publish_level" if "publish_level" in entry else kind, error))
        return None
    try:
        return kept_apart(domain, entry.get("publish_level", 0), entry[APART]) if APART in entry else published
    except PolicyError as error:
        found.append((APART, error))
        return None


def _is_one_of(value: object, spellings: Mapping[str, str]) -> bool:
    return isinstance(value, str) and value in spellings


def _flags(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"missing": _missing(entry), "ordered": entry.get("ordered", False)}


def _missing(entry: Mapping[str, Any]) -> bool:
    return MISSING.get(str(entry.get("missing")), False)


def _read_values(entry: Mapping[str, Any]) -> Domain | None:
    """The domain without its hierarchy, or None where the hierarchy is all that is declared."""
    missing = _missing(entry)
    match entry:
        case {"integers": [int(low), int(high)]} if bool not in (type(low), type(high)):
            return Integers(low=low, high=high, missing=missing)
        case {"integers": _}:
            raise PolicyError("integers must be [lowest, highest], two whole numbers")
        case {"decimals": [low, high], "step": step} if all(map(_is_number, (low, high, step))):
            return Decimals(low=low, high=high, step=step, missing=missing)
        case {"decimals": _}:
            raise PolicyError("decimals must be [lowest, highest], two numbers, and have a step, such as step = 0.1")
        case {"dates": [low, high]} if all(isinstance(end, str | datetime.date) for end in (low, high)):
            return Dates(low=low, high=high, by=entry.get("by", "day"), missing=missing)
        case {"dates": _}:
            raise PolicyError('dates must be [first, last], such as ["1990-01-01", "2026-12-31"]')
        case {"values": [*values]}:
            return Listed(values=tuple(values), **_flags(entry))
        case {"values": _}:
            raise PolicyError('values must be a list, such as ["F", "M"]')
        case _:
            return None


def _is_number(number: object) -> bool:
    return isinstance(number, int | Fraction | Decimal) and not isinstance(number, bool)


def _read_paths(entry: Mapping[str, Any], domain: Domain | None, folder: Path) -> Paths:
    """The paths of a domain whose values are known, or all there is to know of it."""
    match entry:
        case {"hierarchy": str(name)}:
            leaves = None if domain is None else _leaves(domain)
            return read_hierarchy(folder / name, leaves, without=spellings_of(entry), apart=lists_of(entry))
        case {"hierarchy": _}:
            raise PolicyError("hierarchy must be the name of a CSV file")
        case {"widths": [*widths]} if isinstance(domain, Integers):
            return hierarchy_of_ranges(domain.low, domain.high, widths)
        case {"widths": [*widths]} if isinstance(domain, Decimals):
            return hierarchy_of_decimals(domain, widths)
        case {"widths": [*widths]} if isinstance(domain, Dates):
            return hierarchy_of_dates(domain, widths)
        case {"widths": _}:
            raise PolicyError('widths must be a list, such as [5, 10, 20], or ["month", "year"] for dates')
        case {"bands": list() | dict() as bands} if isinstance(domain, Integers | Decimals | Dates):
            return hierarchy_of_bands(domain, bands)
        case {"bands": _}:
            raise PolicyError("bands must be a list, such as [0, 18, 65, 111], or { child = 0, adult = 18, old = 65 }")
        case {"prefixes": [*prefixes]} if isinstance(domain, Listed):
            return hierarchy_of_prefixes(domain.values, prefixes)
        case {"prefixes": _}:
            raise PolicyError("prefixes must be a list of whole numbers, such as [4, 3, 2]")
        case _:
            return ()


def _leaves(domain: Domain) -> range | tuple[int, ...] | tuple[str, ...]:
    """The values as a hierarchy's leaves name them."""
    if isinstance(domain, Integers):
        return range(domain.low, domain.high + 1)
    return domain.values if isinstance(domain, Listed) else domain.texts

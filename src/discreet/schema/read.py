"""From a parsed policy document to its parts, with every problem said at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.hierarchy import hierarchy_of_prefixes, hierarchy_of_ranges, read_hierarchy
from discreet.schema.mechanisms import MECHANISMS, Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.paths import Paths
from discreet.schema.roles import Roles, read_roles
from discreet.schema.schema import Schema
from discreet.schema.sections import section_of, unknown_keys

VERSION = 1
DOMAINS = (  # the keys that say a domain; with two, the second only generalizes
    {"integers"},
    {"integers", "hierarchy"},
    {"integers", "widths"},
    {"values"},
    {"values", "hierarchy"},
    {"values", "prefixes"},
    {"hierarchy"},
)
DOMAIN_KEYS = ("integers", "values", "hierarchy", "widths", "prefixes")
MISSING = {"refuse": False, "category": True}
_STAND_INS = (Integers(low=0, high=1), Integers(low=0, high=999))  # for domains that cannot be read


DATA = ("data",)  # the key of a problem that is the table's alone


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong with a policy, and the line it stands on; `key` is what it is about, DATA the table."""

    line: int | None
    message: str
    key: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f", line {self.line}: {self.message}" if self.line else f": {self.message}"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What could be read of a policy: the schema has the columns whose domains are right, and is None without the
    sensitive one; the mechanism is None where it is wrong, or where what it needs to know is.
    """

    schema: Schema | None
    mechanism: Mechanism | None
    roles: Roles


def read_document(document: Mapping[str, Any], version: int, folder: Path, complain: Complain) -> Parts:
    """The parts of a policy that can be told; complains of everything that is wrong."""
    unknown_keys(document, ("version", "table", "domains", "mechanism"), (), complain)
    if type(document.get("version")) is not int or document["version"] != version:
        complain(
            ("version",),
            f"version ({shown(document.get('version'))}) must be {version}; write version = {version} first",
        )
    roles = read_roles(section_of(document, "table", complain), complain)
    domains = _read_domains(section_of(document, "domains", complain), roles, folder, complain)
    section = section_of(document, "mechanism", complain)
    kind = section.get("kind")
    if "mechanism" in document and not (isinstance(kind, str) and kind in MECHANISMS):
        complain(("mechanism", "kind"), f"kind ({shown(kind)}) must name a mechanism{did_you_mean(kind, MECHANISMS)}")
    schema = mechanism = None
    if roles.sensitive is not None and roles.sensitive in domains:
        told = tuple(name for name in roles.quasi_identifiers if name in domains)
        try:
            schema = Schema(
                quasi_identifiers=told, sensitive=roles.sensitive, domains=domains, public_rows=roles.public_rows
            )
            mechanism = _read_mechanism(kind, section, schema, roles, complain)
        except PolicyError as error:
            complain(from_the_top(error.key), str(error))
    return Parts(schema=schema, mechanism=mechanism, roles=roles)


def _read_mechanism(
    kind: Any, section: Mapping[str, Any], schema: Schema, roles: Roles, complain: Complain
) -> Mechanism | None:
    """The mechanism; where the schema is not whole, complains only of what is wrong whatever stands in the gaps."""
    if not isinstance(kind, str) or kind not in MECHANISMS:
        return None
    read, rest = MECHANISMS[kind].read, {key: value for key, value in section.items() if key != "kind"}
    if roles.counted and schema.quasi_identifiers == roles.quasi_identifiers:
        return read(rest, schema, lambda key, message: complain(from_the_top(key), message))
    always: dict[tuple[tuple[str, ...], str], None] | None = None
    for whole in _completed(schema, roles):
        found: dict[tuple[tuple[str, ...], str], None] = {}
        read(rest, whole, lambda key, message, found=found: found.setdefault((key, message)))  # type: ignore[misc]
        always = found if always is None else {each: None for each in always if each in found}
    for key, message in always or ():
        complain(from_the_top(key), message)
    return None


def _completed(schema: Schema, roles: Roles) -> Iterator[Schema]:
    """Schemas as this one may have been meant: with few and with many values for a domain that cannot be read."""
    for rows in (roles.public_rows,) if roles.counted else (None, 1):
        for domain in _STAND_INS:
            domains = {name: schema.domains.get(name, domain) for name in roles.published}
            yield replace(schema, quasi_identifiers=roles.quasi_identifiers, domains=domains, public_rows=rows)


def from_the_top(key: tuple[str, ...]) -> tuple[str, ...]:
    """The whole path of a key that a mechanism blames: its own parameters stand in [mechanism]."""
    return key if key[:1] in (("table",), ("domains",)) else ("mechanism", *key)


def _read_domains(section: Mapping[str, Any], roles: Roles, folder: Path, complain: Complain) -> dict[str, Domain]:
    domains: dict[str, Domain] = {}
    columns = roles.published
    for role, name in roles:
        if name in columns and name not in section:
            complain(("table", role, name), f"[domains.{name}] is missing; declare the values that {name} may take")
    for name, entry in section.items():
        key = ("domains", name)
        if name not in columns:
            complain(key, f"{name} is not a quasi-identifier and not sensitive{did_you_mean(name, columns)}")
        elif not isinstance(entry, dict) or set(entry) & set(DOMAIN_KEYS) not in DOMAINS:
            complain(
                key,
                f"[domains.{name}] must have integers, values or hierarchy; "
                "integers may have a hierarchy or widths besides, and values a hierarchy or prefixes",
            )
        else:
            unknown_keys(entry, (*DOMAIN_KEYS, "missing"), key, complain)
            if str(entry.get("missing", "refuse")) not in MISSING:
                complain(
                    (*key, "missing"), f'{name}: missing ({shown(entry["missing"])}) must be "refuse" or "category"'
                )
            found: list[tuple[str, PolicyError]] = []
            if (domain := _read_domain(entry, folder, found)) is not None:
                domains[name] = domain
            for part, error in found:
                complain((*key, part), f"{name}: {error}")
    return domains


def _read_domain(entry: Mapping[str, Any], folder: Path, found: list[tuple[str, PolicyError]]) -> Domain | None:
    """The domain that an entry declares, or None; what is wrong with its values and with its hierarchy is found."""
    domain: Domain | None = None
    paths: Paths = ()
    try:
        domain = _read_values(entry)
    except PolicyError as error:
        found.append(("integers" if "integers" in entry else "values", error))
        entry = {key: value for key, value in entry.items() if key == "hierarchy"}
    try:
        paths = _read_paths(entry, domain, folder)
        domain = replace(domain, paths=paths) if domain is not None else None
    except PolicyError as error:
        found.append((next(key for key in ("hierarchy", "widths", "prefixes") if key in entry), error))
    if found:
        return None
    if domain is not None:
        return domain
    return Listed(values=tuple(path[0] for path in paths), paths=paths, missing=_missing(entry))


def _missing(entry: Mapping[str, Any]) -> bool:
    return MISSING.get(str(entry.get("missing")), False)


def _read_values(entry: Mapping[str, Any]) -> Domain | None:
    """The domain without its hierarchy, or None where the hierarchy is all that is declared."""
    match entry:
        case {"integers": [int(low), int(high)]} if bool not in (type(low), type(high)):
            return Integers(low=low, high=high, missing=_missing(entry))
        case {"integers": _}:
            raise PolicyError("integers must be [lowest, highest], two whole numbers")
        case {"values": [*values]}:
            return Listed(values=tuple(values), missing=_missing(entry))
        case {"values": _}:
            raise PolicyError('values must be a list, such as ["F", "M"]')
        case _:
            return None


def _read_paths(entry: Mapping[str, Any], domain: Domain | None, folder: Path) -> Paths:
    """The paths of a domain whose values are known, or all there is to know of it."""
    match entry:
        case {"hierarchy": str(name)}:
            return read_hierarchy(folder / name, domain.encoding.values if domain is not None else None)
        case {"hierarchy": _}:
            raise PolicyError("hierarchy must be the name of a CSV file")
        case {"widths": [*widths]} if isinstance(domain, Integers):
            return hierarchy_of_ranges(domain.low, domain.high, widths)
        case {"widths": _}:
            raise PolicyError("widths must be a list of whole numbers, such as [5, 10, 20]")
        case {"prefixes": [*prefixes]} if isinstance(domain, Listed):
            return hierarchy_of_prefixes(domain.values, prefixes)
        case {"prefixes": _}:
            raise PolicyError("prefixes must be a list of whole numbers, such as [4, 3, 2]")
        case _:
            return ()

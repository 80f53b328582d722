"""From a parsed policy document to its parts, with every problem said at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.domain import Domain, Integers, Listed
from discreet.schema.hierarchy import hierarchy_of_prefixes, hierarchy_of_ranges, read_hierarchy
from discreet.schema.mechanisms import MECHANISMS, Complain, Mechanism
from discreet.schema.missing import KEY as MISSING_AS
from discreet.schema.missing import Marks, read_marks
from discreet.schema.nearest import did_you_mean
from discreet.schema.paths import Paths
from discreet.schema.schema import MOST_ROWS, RESERVED, Schema

VERSION = 1
ROLES = ("identifiers", "quasi_identifiers", "sensitive", "person", "public_rows")
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


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that is wrong with a policy, and the line it stands on."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return f", line {self.line}: {self.message}" if self.line else f": {self.message}"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What could be read of a policy: the schema has the columns whose domains are right, and is None without the
    sensitive one; the mechanism is None where it is wrong.
    """

    schema: Schema | None
    mechanism: Mechanism | None
    identifiers: tuple[str, ...]
    person: str | None
    marks: Marks
    draft: bool


def read_document(document: Mapping[str, Any], version: int, folder: Path, complain: Complain) -> Parts:
    """The parts of a policy that can be told; complains of everything that is wrong."""
    _unknown(document, ("version", "draft", "table", "domains", "mechanism"), (), complain)
    if type(document.get("version")) is not int or document["version"] != version:
        complain(
            ("version",),
            f"version ({shown(document.get('version'))}) must be {version}; write version = {version} first",
        )
    if type(document.get("draft", False)) is not bool:
        complain(("draft",), "draft must be true or false; a policy that is no draft needs no such line")
    roles = _read_roles(_section(document, "table", complain), complain)
    columns = (*roles["quasi_identifiers"], *([roles["sensitive"]] if roles["sensitive"] else []))
    declared = _section(document, "domains", complain)
    domains = _read_domains(declared, columns, folder, complain)
    marks = read_marks(declared, domains, complain)
    section = _section(document, "mechanism", complain)
    kind = section.get("kind")
    if "mechanism" in document and not (isinstance(kind, str) and kind in MECHANISMS):
        complain(("mechanism", "kind"), f"kind ({shown(kind)}) must name a mechanism{did_you_mean(kind, MECHANISMS)}")
    schema = mechanism = None
    if roles["sensitive"] in domains:
        told = tuple(name for name in roles["quasi_identifiers"] if name in domains)
        try:
            schema = Schema(
                quasi_identifiers=told,
                sensitive=roles["sensitive"],
                domains=domains,
                public_rows=roles["public_rows"],
            )
            mechanism = _read_mechanism(kind, section, schema, complain)
        except PolicyError as error:
            complain(from_the_top(error.key), str(error))
    return Parts(
        schema=schema,
        mechanism=mechanism,
        identifiers=roles["identifiers"],
        person=roles["person"],
        marks=marks,
        draft=document.get("draft") is True,
    )


def _read_mechanism(kind: Any, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
    if not isinstance(kind, str) or kind not in MECHANISMS:
        return None
    rest = {key: value for key, value in section.items() if key != "kind"}
    return MECHANISMS[kind].read(rest, schema, lambda key, message: complain(from_the_top(key), message))


def from_the_top(key: tuple[str, ...]) -> tuple[str, ...]:
    """The whole path of a key that a mechanism blames: its own parameters stand in [mechanism]."""
    return key if key[:1] in (("table",), ("domains",)) else ("mechanism", *key)


def _section(document: Mapping[str, Any], name: str, complain: Complain) -> Mapping[str, Any]:
    section = document.get(name)
    if isinstance(section, dict):
        return section
    complain((name,), f"[{name}] is missing; add it" if section is None else f"{name} must be a table: [{name}]")
    return {}


def _unknown(section: Mapping[str, Any], known: tuple[str, ...], key: tuple[str, ...], complain: Complain) -> None:
    for name in section:
        if name not in known:
            complain(
                (*key, name),
                f"{name} is not a key of {'.'.join(key) or 'a policy'}{did_you_mean(name, known)}",
            )


def _read_roles(table: Mapping[str, Any], complain: Complain) -> dict[str, Any]:
    """Roles as tuples of names; a column has one role, and names that differ only in case are one name."""
    _unknown(table, ROLES, ("table",), complain)
    roles: dict[str, Any] = {}
    for role in ("identifiers", "quasi_identifiers"):
        names = table.get(role, [])
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            complain(("table", role), f'{role} must be a list of column names, such as ["age", "gender"]')
            names = []
        roles[role] = tuple(names)
    for role in ("sensitive", "person"):
        name = table.get(role)
        if name is not None and (not isinstance(name, str) or not name):
            complain(("table", role), f"{role} must be the name of one column")
            name = None
        roles[role] = name
    rows = table.get("public_rows")
    if rows is not None and (type(rows) is not int or not 1 <= rows <= MOST_ROWS):
        complain(
            ("table", "public_rows"), "public_rows must be a whole number, 1 or more: how many rows everybody knows of"
        )
        rows = None
    roles["public_rows"] = rows
    if table and not roles["quasi_identifiers"]:
        complain(("table", "quasi_identifiers"), "quasi_identifiers must name at least one column")
    if table and roles["sensitive"] is None:
        complain(("table", "sensitive"), "sensitive must name the column that must not be inferred")
    seen: dict[str, str] = {}
    for role, names in (
        ("identifiers", roles["identifiers"]),
        ("quasi_identifiers", roles["quasi_identifiers"]),
        ("sensitive", (roles["sensitive"],) if roles["sensitive"] else ()),
    ):
        for name in names:
            if name.casefold() in seen:
                complain(("table", role), f"{name} must have one role; it is in {seen[name.casefold()]} already")
            seen.setdefault(name.casefold(), role)
            if role != "identifiers" and name.upper() in RESERVED:
                complain(
                    ("table", role),
                    f"a published column must not be called {name}; a release adds its own {name}",
                )
    if roles["person"] and seen.get(roles["person"].casefold(), "identifiers") != "identifiers":
        complain(
            ("table", "person"),
            f"person ({roles['person']}) must not be published; take it out of the other roles",
        )
    return roles


def _read_domains(
    section: Mapping[str, Any], columns: tuple[str, ...], folder: Path, complain: Complain
) -> dict[str, Domain]:
    domains: dict[str, Domain] = {}
    for name in columns:
        if name not in section:
            complain(("domains",), f"[domains.{name}] is missing; declare the values that {name} may take")
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
            _unknown(entry, (*DOMAIN_KEYS, "missing", MISSING_AS), key, complain)
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

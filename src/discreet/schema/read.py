"""From a parsed policy document to its parts, with every problem said at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.mechanisms import MECHANISMS, Complain, Mechanism
from discreet.schema.missing import Marks, read_marks
from discreet.schema.nearest import did_you_mean
from discreet.schema.read_domains import read_domains, unknown_keys
from discreet.schema.schema import MOST_ROWS, RESERVED, Schema

VERSION = 1
ROLES = ("identifiers", "quasi_identifiers", "sensitive", "person", "public_rows")


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
    unknown_keys(document, ("version", "draft", "table", "domains", "mechanism"), (), complain)
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
    domains = read_domains(declared, columns, folder, complain)
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


def _read_roles(table: Mapping[str, Any], complain: Complain) -> dict[str, Any]:
    """Roles as tuples of names; a column has one role, and names that differ only in case are one name."""
    unknown_keys(table, ROLES, ("table",), complain)
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

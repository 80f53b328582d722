"""Roles: what [table] of a policy says of the columns, with every problem said at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.ground.most import MOST_ROWS
from discreet.schema.mechanisms import Complain
from discreet.schema.schema import RESERVED
from discreet.schema.sections import unknown_keys

ROLES = ("identifiers", "quasi_identifiers", "sensitive", "person", "public_rows")


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Names of columns by their role, as written; `counted` is False where the public number of rows is wrong."""

    identifiers: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: str | None
    person: str | None
    public_rows: int | None
    counted: bool

    @property
    def published(self) -> tuple[str, ...]:
        """The columns that a release would have."""
        return (*self.quasi_identifiers, *([self.sensitive] if self.sensitive else []))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Every name with its role; the person may be an identifier as well."""
        yield from (("identifiers", name) for name in self.identifiers)
        yield from (("quasi_identifiers", name) for name in self.quasi_identifiers)
        yield from ((role, name) for role, name in (("sensitive", self.sensitive), ("person", self.person)) if name)


def read_roles(table: Mapping[str, Any], complain: Complain) -> Roles:
    """Roles as names; a column has one role, and names that differ only in case are one name."""
    unknown_keys(table, ROLES, ("table",), complain)
    rows, counted = _rows(table, complain)
    found = Roles(
        identifiers=_names(table, "identifiers", complain),
        quasi_identifiers=_names(table, "quasi_identifiers", complain),
        sensitive=_name(table, "sensitive", complain),
        person=_name(table, "person", complain),
        public_rows=rows,
        counted=counted,
    )
    if table and not found.quasi_identifiers:
        complain(("table", "quasi_identifiers"), "quasi_identifiers must name at least one column")
    if table and found.sensitive is None:
        complain(("table", "sensitive"), "sensitive must name the column that must not be inferred")
    _one_role_each(found, complain)
    return found


def _names(table: Mapping[str, Any], role: str, complain: Complain) -> tuple[str, ...]:
    names = table.get(role, [])
    if isinstance(names, list) and all(isinstance(name, str) and name for name in names):
        return tuple(names)
    complain(("table", role), f'{role} must be a list of column names, such as ["age", "gender"]')
    return ()


def _name(table: Mapping[str, Any], role: str, complain: Complain) -> str | None:
    name = table.get(role)
    if name is None or (isinstance(name, str) and name):
        return name
    complain(("table", role), f"{role} must be the name of one column")
    return None


def _rows(table: Mapping[str, Any], complain: Complain) -> tuple[int | None, bool]:
    """The public number of rows, and whether what is said of it can be used."""
    rows = table.get("public_rows")
    if rows is None or (type(rows) is int and 1 <= rows <= MOST_ROWS):
        return rows, True
    complain(
        ("table", "public_rows"), "public_rows must be a whole number, 1 or more: how many rows everybody knows of"
    )
    return None, False


def _one_role_each(roles: Roles, complain: Complain) -> None:
    seen: dict[str, str] = {}
    for role, name in roles:
        if role == "person":
            continue
        if name.casefold() in seen:
            complain(("table", role), f"{name} must have one role; it is in {seen[name.casefold()]} already")
        seen.setdefault(name.casefold(), role)
        if role != "identifiers" and name.upper() in RESERVED:
            complain(("table", role), f"a published column must not be called {name}; a release adds its own {name}")
    if roles.person and seen.get(roles.person.casefold(), "identifiers") != "identifiers":
        complain(("table", "person"), f"person ({roles.person}) must not be published; take it out of the other roles")

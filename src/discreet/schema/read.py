"""From a parsed policy document to its parts, with every problem said at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.domain import Integers
from discreet.schema.lookalikes import check_lookalikes
from discreet.schema.mechanisms import MECHANISMS, Complain, Mechanism
from discreet.schema.missing import Marks, read_marks
from discreet.schema.nearest import did_you_mean
from discreet.schema.read_domains import read_domains
from discreet.schema.roles import Roles, read_roles
from discreet.schema.same import Same, read_same
from discreet.schema.schema import Schema
from discreet.schema.sections import section_of, unknown_keys

VERSION = 1
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
    marks: Marks
    same: Same
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
    roles = read_roles(section_of(document, "table", complain), complain)
    declared = section_of(document, "domains", complain)
    domains = read_domains(declared, roles, folder, complain)
    marks = read_marks(declared, domains, complain)
    same = read_same(declared, domains, complain)
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
            check_lookalikes(schema)
        except PolicyError as error:
            complain(_with_line(error.key, declared), str(error))
    draft = document.get("draft") is True
    return Parts(schema=schema, mechanism=mechanism, roles=roles, marks=marks, same=same, draft=draft)


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


def _with_line(key: tuple[str, ...], declared: Mapping[str, Any]) -> tuple[str, ...]:
    """The whole path of what is blamed; of a domain, the line that says its values."""
    if len(key) != 2 or key[0] != "domains":
        return from_the_top(key)
    return (*key, *(kind for kind in ("values", "hierarchy") if kind in declared[key[1]]))[:3]


def _completed(schema: Schema, roles: Roles) -> Iterator[Schema]:
    """Schemas as this one may have been meant: with few and with many values for a domain that cannot be read."""
    for rows in (roles.public_rows,) if roles.counted else (None, 1):
        for domain in _STAND_INS:
            domains = {name: schema.domains.get(name, domain) for name in roles.published}
            yield replace(schema, quasi_identifiers=roles.quasi_identifiers, domains=domains, public_rows=rows)


def from_the_top(key: tuple[str, ...]) -> tuple[str, ...]:
    """The whole path of a key that a mechanism blames: its own parameters stand in [mechanism]."""
    return key if key[:1] in (("table",), ("domains",)) else ("mechanism", *key)

"""The schema: which columns exist for the public, in which role, with which domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

from discreet.errors import PolicyError
from discreet.ground.most import MOST_ROWS
from discreet.schema.domain import Domain, Listed, domain_from_json

MOST_SENSITIVE = 1_000_000  # each has a tolerance of its own
RESERVED = ("BID", "COUNT")  # the columns that a bucket release adds


@dataclass(frozen=True, kw_only=True)
class Schema:
    """What a release says about its columns: quasi-identifiers in order, the sensitive one, and their domains."""

    quasi_identifiers: tuple[str, ...]
    sensitive: str
    domains: Mapping[str, Domain] = field(hash=False)
    public_rows: int | None = None  # the number of rows, where that is a public fact

    def __post_init__(self) -> None:
        if len(self.domains[self.sensitive]) > MOST_SENSITIVE:
            raise PolicyError(
                f"the domain of {self.sensitive} must have at most {MOST_SENSITIVE:,} values; group them",
                key=("domains", self.sensitive),
            )
        if self.public_rows is not None and (
            type(self.public_rows) is not int or not 1 <= self.public_rows <= MOST_ROWS
        ):
            raise PolicyError(
                f"public_rows must be a whole number between 1 and {MOST_ROWS:,}", key=("table", "public_rows")
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.quasi_identifiers, self.sensitive)

    def role_key(self, column: str) -> tuple[str, str]:
        """Where a policy says that a column is published."""
        return ("table", "sensitive" if column == self.sensitive else "quasi_identifiers")

    @cached_property
    def tuples(self) -> int:
        """How many tuples of the published columns the domains allow."""
        return prod(len(self.domains[name]) for name in self.columns)

    @property
    def listed(self) -> int:
        """How many values stand in it one by one, in a list or a hierarchy."""
        return sum(len(each) for each in self.domains.values() if isinstance(each, Listed) or each.paths)

    def as_json(self) -> dict[str, Any]:
        known = {} if self.public_rows is None else {"public_rows": self.public_rows}
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": self.sensitive,
            "domains": {name: self.domains[name].as_json() for name in self.columns},
            **known,
        }


def schema_from_json(data: Any) -> Schema:
    """Read a schema back from a release; raises PolicyError where it is not one."""
    match data:
        case {
            "quasi_identifiers": [*names],
            "sensitive": str(sensitive),
            "domains": dict(domains),
            **rest,
        } if set(rest) <= {"public_rows"}:
            columns = (*names, sensitive)
        case _:
            raise PolicyError("schema must have quasi_identifiers, sensitive and domains")
    if any(not isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise PolicyError("schema must name distinct columns")
    if set(domains) != set(columns):
        raise PolicyError("schema must have one domain for each column")
    read = {name: domain_from_json(domains[name]) for name in columns}
    rows = rest.get("public_rows")
    if rows is not None and not isinstance(rows, int):
        raise PolicyError("public_rows must be a whole number")
    return Schema(quasi_identifiers=tuple(names), sensitive=sensitive, domains=read, public_rows=rows)

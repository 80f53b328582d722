"""What a question counts by: a column, a level of its hierarchy, whole numbers cut into bands, or the branches of CASE.

Each is a list of labels for the values that a release does not rule out, and a condition for every label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from discreet.engine.duck.sql import literal
from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.condition import Atom, Column, Condition, Every, Not, Some, columns_of, parts_of
from discreet.query.level import Key, Level
from discreet.schema.valued import Value, Valued

if TYPE_CHECKING:
    from discreet.schema.schema import Schema


@dataclass(frozen=True)
class Quotient:
    """A column of whole numbers, divided: 34 // 10 is 3."""

    column: str
    divisor: int

    def __str__(self) -> str:
        return f"{Key(self.column)} // {self.divisor}"


@dataclass(frozen=True)
class Cases:
    """The branches of CASE in their order, and what everybody else is."""

    branches: tuple[tuple[Value, Condition], ...]
    otherwise: Value = None
    name: str = "case"

    def __str__(self) -> str:
        return self.name


Grouping = Key | Quotient | Cases


class Groups(Protocol):
    """The labels that something is counted by."""

    def possible(self, values: Mapping[str, Collection[Any]]) -> Collection[Any]:
        """The labels, in order, of the values that each column may have."""

    def is_label(self, label: Any) -> Condition:
        """What holds for the rows with a label."""


def groups_of(key: Grouping, schema: Schema) -> Groups:
    """How rows are grouped by it; raises QueryError where they cannot be."""
    if isinstance(key, Cases):
        return _Branches(key, schema)
    domain = schema.domains[key.column]
    if isinstance(key, Quotient):
        return _Bands(key, domain)
    return _Labels(Level(key, domain)) if key.level else _Values(key.column)


def column_of(key: Grouping) -> str | None:
    """The column whose values the labels are, where they are just that."""
    return key.column if isinstance(key, Key) and not key.level else None


def columns_in(key: Grouping) -> Iterable[str]:
    """The columns that must be known to say which labels there are."""
    return () if isinstance(key, Cases) else (key.column,)


def columns_named(key: Grouping) -> set[str]:
    """The columns that it reads."""
    return set().union(*(columns_of(each) for _, each in key.branches)) if isinstance(key, Cases) else {key.column}


@dataclass(frozen=True)
class _Values:
    column: str

    def possible(self, values: Mapping[str, Collection[Any]]) -> Collection[Any]:
        return values[self.column]

    def is_label(self, label: Any) -> Condition:
        return Atom((Column(self.column), " IS NULL" if label is None else f" = {literal(label)}"))


@dataclass(frozen=True)
class _Labels:
    level: Level

    def possible(self, values: Mapping[str, Collection[Any]]) -> Collection[Any]:
        return self.level.possible(values[self.level.key.column])

    def is_label(self, label: Any) -> Condition:
        return self.level.is_label(label)


class _Bands:
    """Bands of whole numbers, by what they are when divided."""

    def __init__(self, key: Quotient, domain: Valued) -> None:
        if domain.type != "integer" or domain.encoding.kind == "text":
            raise QueryError(f"{key} cannot be answered: {shown(key.column)} does not hold whole numbers")
        if any(number < 0 for number in (domain.encoding.values[0], *_few(domain.encoding.values))):
            raise QueryError(f"{key} cannot be answered where numbers may be below 0; say CASE WHEN ... THEN ... END")
        self._key = key

    def possible(self, values: Mapping[str, Collection[Any]]) -> Collection[Any]:
        known = values[self._key.column]
        found: list[Any] = sorted({value // self._key.divisor for value in known if value is not None})
        return [*found, *([None] if None in known else [])]

    def is_label(self, label: Any) -> Condition:
        column = Column(self._key.column)
        if label is None:
            return Atom((column, " IS NULL"))
        low = label * self._key.divisor
        return Atom((column, f" BETWEEN {low} AND {low + self._key.divisor - 1}"))


def _few(values: Any) -> Any:
    """The numbers of a list; of a range its first is the least."""
    return () if isinstance(values, range) else values


class _Branches:
    """CASE: a row is of the first branch whose condition is true."""

    def __init__(self, key: Cases, schema: Schema) -> None:
        found: dict[Value, list[Condition]] = {}
        before: list[Condition] = []
        for label, condition in key.branches:
            found.setdefault(label, []).append(Every((*before, condition)))
            before.append(_not_true(condition, schema))
        found.setdefault(key.otherwise, []).append(Every(tuple(before)))
        self._found = found

    def possible(self, values: Mapping[str, Collection[Any]]) -> Collection[Any]:
        return list(self._found)

    def is_label(self, label: Any) -> Condition:
        conditions = self._found[label]
        return conditions[0] if len(conditions) == 1 else Some(tuple(conditions))


def _not_true(condition: Condition, schema: Schema) -> Condition:
    """It is false, or unknown where a cell is missing."""
    if any(schema.domains[name].missing for name in columns_of(condition)):
        return Atom(("((", *parts_of(condition), ") IS NOT TRUE)"))
    return Not(condition)

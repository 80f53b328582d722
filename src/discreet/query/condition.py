"""Conditions as values: a tree of AND, OR and NOT over atoms, in SQL's three-valued logic.

An atom is a predicate as fragments of SQL in DuckDB's dialect with its columns left open, so that a column can be bound
to a value later without touching text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from discreet.engine.duck.sql import identifier, literal
from discreet.engine.encoding import Cell


@dataclass(frozen=True)
class Column:
    """A column of the relation that the condition is asked of."""

    name: str


@dataclass(frozen=True)
class Atom:
    """One predicate: text and columns in turn; `listed` has the values where it asks no more than whether a column is
    one of them.
    """

    parts: tuple[str | Column, ...]
    listed: frozenset[int | str | Decimal] | None = None

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(part.name for part in self.parts if isinstance(part, Column))

    @property
    def sql(self) -> str:
        """The predicate with its columns named."""
        return "".join(part if isinstance(part, str) else identifier(part.name) for part in self.parts)


@dataclass(frozen=True)
class Not:
    part: Condition


@dataclass(frozen=True)
class Every:
    """AND of all parts; true where there is none."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Some:
    """OR of all parts; false where there is none."""

    parts: tuple[Condition, ...]


Truth = bool | None  # None is SQL's unknown
Condition = Atom | Not | Every | Some
TRUE = Every(())
_SUBQUERY = " IN (SELECT "


def atoms(condition: Condition) -> list[Atom]:
    """Every distinct atom, in the order of the text."""
    if isinstance(condition, Atom):
        return [condition]
    parts = (condition.part,) if isinstance(condition, Not) else condition.parts
    return list(dict.fromkeys(atom for part in parts for atom in atoms(part)))


def of_release_alone(condition: Condition) -> bool:
    """Whether it can be asked again: an auxiliary table is gone when its question is answered."""
    return not any(_SUBQUERY in part for atom in atoms(condition) for part in atom.parts if isinstance(part, str))


def columns_of(condition: Condition) -> frozenset[str]:
    """Every column that the condition speaks of."""
    return frozenset().union(*(atom.columns for atom in atoms(condition)))


def render(condition: Condition) -> str:
    """The condition as SQL in DuckDB's dialect."""
    if isinstance(condition, Atom):
        return f"({condition.sql})"
    if isinstance(condition, Not):
        return f"(NOT {render(condition.part)})"
    if not condition.parts:
        return "TRUE" if isinstance(condition, Every) else "FALSE"
    word = " AND " if isinstance(condition, Every) else " OR "
    return "(" + word.join(map(render, condition.parts)) + ")"


def parts_of(condition: Condition) -> tuple[str | Column, ...]:
    """The condition as the parts of one atom: SQL with its columns left open."""
    if isinstance(condition, Atom):
        return ("(", *condition.parts, ")")
    if isinstance(condition, Not):
        return ("(NOT ", *parts_of(condition.part), ")")
    if not condition.parts:
        return (render(condition),)
    word = " AND " if isinstance(condition, Every) else " OR "
    first, *others = map(parts_of, condition.parts)
    return ("(", *first, *(each for other in others for each in (word, *other)), ")")


def bind(condition: Condition, bound: Mapping[str, str]) -> Condition:
    """The condition with columns replaced by the SQL literals they are bound to."""
    if isinstance(condition, Atom):
        return Atom(tuple(part if isinstance(part, str) else bound.get(part.name, part) for part in condition.parts))
    if isinstance(condition, Not):
        return Not(bind(condition.part, bound))
    return type(condition)(tuple(bind(part, bound) for part in condition.parts))


def decide(condition: Condition, known: Mapping[Atom, Truth]) -> Condition | Truth:
    """What is left of the condition when some atoms are known: a truth value, or the condition on the others."""
    if isinstance(condition, Atom):
        return known.get(condition, condition)
    if isinstance(condition, Not):
        part = decide(condition.part, known)
        return None if part is None else (not part) if isinstance(part, bool) else Not(part)
    ends = isinstance(condition, Some)  # the value that settles it
    left: list[Condition] = []
    unknown = False
    for part in condition.parts:
        found = decide(part, known)
        if found is ends:
            return ends
        if found is None:
            unknown = True
        elif not isinstance(found, bool):
            left.append(found)
    if unknown:
        left += [UNKNOWN] if left else []
        if not left:
            return None
    if not left:
        return not ends
    return left[0] if len(left) == 1 else Some(tuple(left)) if ends else Every(tuple(left))


UNKNOWN = Atom(("CAST(NULL AS BOOLEAN)",))


def one_of(column: str, values: Iterable[Cell]) -> Atom:
    """A column has one of some values, none of them missing."""
    listed = list(values)
    if not listed:
        return never(column)
    known = frozenset(value for value in listed if value is not None)
    return Atom((Column(column), f" IN ({', '.join(map(literal, listed))})"), known)


def never(column: str) -> Atom:
    """False for every value, and unknown for a missing cell."""
    return Atom((Column(column), " <> ", Column(column)))

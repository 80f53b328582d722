"""What names mean in a question, and the values that stand in its predicates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlglot import exp

from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.condition import Column
from discreet.query.refused import bare, name_of, unknown_column
from discreet.schema.valued import Valued


@dataclass(frozen=True, kw_only=True)
class Auxiliary:
    """A public table that the caller handed in: its relation in the engine and its columns' types."""

    relation: str
    types: Mapping[str, str]  # 'integer' or 'text'; other columns cannot be used


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What names mean at one place of a question."""

    types: Mapping[str, str]  # 'integer' (any number), 'text' or 'null'
    domains: Mapping[str, Valued]
    auxiliary: Mapping[str, Auxiliary]
    qualifiers: tuple[str, ...] = ()

    @classmethod
    def of(cls, domains: Mapping[str, Valued], auxiliary: Mapping[str, Auxiliary]) -> Scope:
        """The columns of a release, by their public domains."""
        types = {name: "text" if domain.type == "text" else "integer" for name, domain in domains.items()}
        return cls(types=types, domains=domains, auxiliary=auxiliary)

    def named(self, qualifiers: tuple[str, ...]) -> Scope:
        return replace(self, qualifiers=qualifiers)

    def column(self, node: exp.Expr) -> str:
        """The column that a node names, as the schema spells it."""
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise QueryError(f"a column name was expected instead of {name_of(node)}")
        if node.table and node.table.casefold() not in {name.casefold() for name in self.qualifiers}:
            raise QueryError(f"{shown(node.table)}.{shown(node.name)} must be a column of the table that is asked")
        if node.args.get("db") or node.args.get("catalog"):
            raise QueryError("a column must be named by itself")
        for name in self.types:
            if name.casefold() == node.name.casefold():
                return name
        compared = self._compared(node)
        known = self.domains.get(compared or "")
        raise unknown_column(node, self.types, compared, value=known is not None and bare(node.name) in known)

    def _compared(self, node: exp.Column) -> str | None:
        """The column of text that a node is compared with, where it is."""
        around = node.parent.args.values() if isinstance(node.parent, exp.EQ | exp.NEQ | exp.In) else ()
        for each in around:
            if isinstance(each, exp.Column) and each is not node and each.name.casefold() != node.name.casefold():
                named = {name.casefold(): name for name in self.types}.get(each.name.casefold())
                return named if named and self.types[named] == "text" else None
        return None


@dataclass(frozen=True)
class Term:
    """A value inside a predicate: its fragments and its type, and the column or literal it is, if it is just that."""

    parts: tuple[str | Column, ...]
    type: str  # 'integer' (any number), 'text' or 'null'
    column: str | None = None
    literal: int | Decimal | str | None = None

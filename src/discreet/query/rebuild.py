"""The whitelist: every construct that a condition may use, rebuilt piece by piece with its type.

Comparisons, arithmetic between columns and constants (with % and abs), IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT, and
IN (SELECT column FROM aux [WHERE ...]) over auxiliary tables that the caller handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.engine.duck.sql import identifier, text
from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.condition import TRUE, Atom, Column, Condition, Every, Not, Some, render
from discreet.query.refused import bare, name_of, refused_node, unknown_column
from discreet.schema.domain import Domain, Integers
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}
ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
}
MOST_ATOMS = 2_000


@dataclass(frozen=True, kw_only=True)
class Auxiliary:
    """A public table that the caller handed in: its relation in the engine and its columns' types."""

    relation: str
    types: Mapping[str, str]  # 'integer' or 'text'; other columns cannot be used


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What names mean at one place of a question."""

    types: Mapping[str, str]
    domains: Mapping[str, Domain]
    auxiliary: Mapping[str, Auxiliary]
    qualifiers: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: Schema, auxiliary: Mapping[str, Auxiliary]) -> Scope:
        types = {name: schema.domains[name].type for name in schema.columns}
        return cls(types=types, domains=schema.domains, auxiliary=auxiliary)

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
    literal: int | float | str | None = None


def rebuild(node: exp.Expr, scope: Scope) -> Condition:
    """The condition that a parsed expression means; raises QueryError where it uses anything else."""
    node = node.unnest()
    if isinstance(node, exp.And | exp.Or):
        parts = tuple(rebuild(part, scope) for part in _chain(node))
        return Every(parts) if isinstance(node, exp.And) else Some(parts)
    if isinstance(node, exp.Not):
        return Not(rebuild(node.this, scope))
    if isinstance(node, exp.Boolean):
        return TRUE if node.this else Some(())
    if sign := COMPARISONS.get(type(node)):
        _only(node, "this", "expression")
        return _comparison(node, sign, scope)
    if isinstance(node, exp.Between):
        _only(node, "this", "low", "high")
        value, low, high = (_term(node.args[name], scope) for name in ("this", "low", "high"))
        _comparable(value, low)
        _comparable(value, high)
        return Atom((*value.parts, " BETWEEN ", *low.parts, " AND ", *high.parts))
    if isinstance(node, exp.Is):
        _only(node, "this", "expression")
        if not isinstance(node.expression, exp.Null):
            raise QueryError("IS must be followed by NULL or NOT NULL")
        return Atom((*_term(node.this, scope).parts, " IS NULL"))
    if type(node) is exp.Like:
        return _like(node, scope)
    if isinstance(node, exp.In):
        return _in(node, scope)
    raise refused_node(node, value=False)


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """The operands of a run of the same word, without recursion: a AND b AND c."""
    kind, found, waiting = type(node), [], [node]
    while waiting:
        each = waiting.pop()
        if type(each) is kind:
            waiting += [each.expression, each.this]
        else:
            found.append(each)
        if len(found) + len(waiting) > MOST_ATOMS:
            raise QueryError(
                f"a condition must have at most {MOST_ATOMS:,} parts; use IN or BETWEEN, or several questions"
            )
    return found


def _only(node: exp.Expr, *allowed: str) -> None:
    """Refuse syntax that hides in other arguments of a known node."""
    if any(part for name, part in node.args.items() if name not in allowed):
        raise QueryError(f"this form of {name_of(node)} cannot be answered; write it plainly")


def _comparison(node: exp.Expr, sign: str, scope: Scope) -> Atom:
    left, right = _term(node.this, scope), _term(node.expression, scope)
    _comparable(left, right)
    if sign in ("=", "<>"):
        for one, other in ((left, right), (right, left)):
            _in_domain(one, other, scope)
    return Atom((*left.parts, f" {sign} ", *right.parts), _membership(left, [right]) if sign == "=" else None)


def _like(node: exp.Like, scope: Scope) -> Condition:
    _only(node, "this", "expression", "negate")
    value, pattern = _term(node.this, scope), _term(node.expression, scope)
    if "integer" in (value.type, pattern.type):
        raise QueryError("LIKE must compare text with a pattern in quotes, such as zipcode LIKE '02%'")
    atom = Atom((*value.parts, " LIKE ", *pattern.parts))
    return Not(atom) if node.args.get("negate") else atom


def _in(node: exp.In, scope: Scope) -> Atom:
    _only(node, "this", "expressions", "query")
    value = _term(node.this, scope)
    if query := node.args.get("query"):
        column, sql = _subquery(query.unnest(), scope)
        _comparable(value, column)
        return Atom((*value.parts, f" IN ({sql})"))
    if not node.expressions:
        raise QueryError("IN must list at least one value")
    listed = [_term(each, scope) for each in node.expressions]
    parts: list[str | Column] = [*value.parts, " IN ("]
    for position, each in enumerate(listed):
        _comparable(value, each)
        _in_domain(value, each, scope)
        parts += [", " if position else "", *each.parts]
    return Atom((*parts, ")"), _membership(value, listed))


def _membership(value: Term, listed: Sequence[Term]) -> frozenset[int | str] | None:
    """The values of the list, where a column is compared with whole numbers or texts and nothing else."""
    found = [each.literal for each in listed if isinstance(each.literal, int | str)]
    return frozenset(found) if value.column and len(found) == len(listed) else None


def _subquery(select: exp.Expr, scope: Scope) -> tuple[Term, str]:
    """SELECT column FROM aux [WHERE ...] over an auxiliary table, which sees that table's columns alone."""
    if type(select) is not exp.Select or len(select.expressions) != 1:
        raise QueryError("IN (SELECT ...) must select one column of an auxiliary table")
    allowed = ("expressions", "from_", "from", "where", "distinct")
    distinct = select.args.get("distinct")
    if any(part for name, part in select.args.items() if name not in allowed) or (distinct and distinct.args.get("on")):
        raise QueryError("IN (SELECT ...) must have only FROM and WHERE")
    table = one_table(select)
    if table is None:
        raise QueryError("IN (SELECT ...) must read one auxiliary table by its name")
    known = {name.casefold(): each for name, each in scope.auxiliary.items()}
    found = known.get(table.name.casefold())
    if found is None:
        hint = did_you_mean(table.name, scope.auxiliary)
        raise QueryError(
            f"auxiliary table {shown(table.name)} was not handed in{hint}; say --aux {shown(table.name)}=FILE (aux= in "
            "Python)"
        )
    names = tuple(name for name in (table.name, table.alias) if name)
    inner = Scope(types=found.types, domains={}, auxiliary=scope.auxiliary, qualifiers=names)
    column = inner.column(select.expressions[0].unalias())
    where = select.args.get("where")
    condition = f" WHERE {render(rebuild(where.this, inner))}" if where else ""
    term = Term(parts=(Column(column),), type=found.types[column])
    return term, f"SELECT {identifier(column)} FROM {identifier(found.relation)}{condition}"


def one_table(select: exp.Expr) -> exp.Table | None:
    """The one table that a SELECT reads by a plain name (and perhaps another name), or None where it does otherwise."""
    source = select.args.get("from_") or select.args.get("from")
    table = source.this if source else None
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        return None
    alias = table.args.get("alias")
    extra = any(part for name, part in table.args.items() if name not in ("this", "alias"))
    return None if extra or (alias and alias.args.get("columns")) else table


def _term(node: exp.Expr, scope: Scope) -> Term:
    node = node.unnest()
    if isinstance(node, exp.Column):
        name = scope.column(node)
        return Term(parts=(Column(name),), type=scope.types[name], column=name)
    if isinstance(node, exp.Literal):
        return Term(parts=(text(node.this),), type="text", literal=node.this) if node.is_string else _number(node.this)
    if isinstance(node, exp.Null):
        return Term(parts=("NULL",), type="null")
    if isinstance(node, exp.Neg):
        inner = _numeric(_term(node.this, scope), "-")
        literal = -inner.literal if isinstance(inner.literal, int | float) else None
        return Term(parts=("(-", *inner.parts, ")"), type="integer", literal=literal)
    if isinstance(node, exp.Abs):
        _only(node, "this")
        return Term(parts=("abs(", *_numeric(_term(node.this, scope), "abs").parts, ")"), type="integer")
    if sign := ARITHMETIC.get(type(node)):
        left, right = (_numeric(_term(part, scope), sign) for part in (node.this, node.expression))
        return Term(parts=("(", *left.parts, f" {sign} ", *right.parts, ")"), type="integer")
    raise refused_node(node, value=True)


def _number(digits: str) -> Term:
    try:
        number = float(digits)
        literal = int(digits) if digits.isdigit() else int(number) if number.is_integer() else number
    except (ValueError, OverflowError):
        raise QueryError(f"number ({digits[:20]}) must be written in digits") from None
    if abs(literal) >= 2**53:
        raise QueryError(f"number ({digits[:20]}) must be within 2^53 of zero")
    return Term(parts=(digits,), type="integer", literal=literal)


def _numeric(term: Term, sign: str) -> Term:
    if term.type == "text":
        raise QueryError(f"{term.column or 'text'} must be a number to be used with {sign}")
    return term


def _comparable(one: Term, other: Term) -> None:
    if {one.type, other.type} == {"integer", "text"}:
        number, words = (one, other) if one.type == "integer" else (other, one)
        if number.column:
            raise QueryError(f"{number.column} holds whole numbers; write them without quotes")
        raise QueryError(f"{words.column or 'text'} holds text; write its values in single quotes")


def _in_domain(column: Term, literal: Term, scope: Scope) -> None:
    """An equality with a value that the column can never have is a mistake, and says so."""
    domain = scope.domains.get(column.column or "")
    if domain is None or literal.literal is None or literal.literal in domain:
        return
    if isinstance(domain, Integers):
        hint = f"; it goes from {domain.low} to {domain.high}"
    else:
        hint = did_you_mean(literal.literal, domain)
    raise QueryError(f"{column.column} is never {shown(literal.literal)}{hint}")

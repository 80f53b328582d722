"""The whitelist: every construct that a condition may use, rebuilt piece by piece with its type.

Comparisons, arithmetic between columns and constants (with % and abs), IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT, and
IN (SELECT column FROM aux [WHERE ...]) over auxiliary tables that the caller handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from discreet.engine.duck.sql import identifier, text
from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.condition import TRUE, Atom, Column, Condition, Every, Not, Some, render
from discreet.query.level import Key, Level, label_level
from discreet.query.ordering import by_place, check_both
from discreet.query.refused import name_of, refused_node
from discreet.query.scope import Scope, Term
from discreet.query.signs import SIGNS, TURNED
from discreet.schema.nearest import did_you_mean

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
        return _between(node, scope)
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


def _comparison(node: exp.Expr, sign: str, scope: Scope) -> Condition:
    if (level := level_named(node.this, scope)) is not None:
        return _level_is(level, sign, _term(node.expression, scope))
    left, right = _term(node.this, scope), _term(node.expression, scope)
    _no_quoted_name(scope, left, right)
    left, right = _suited(right, left, scope), _suited(left, right, scope)
    if sign in SIGNS:
        return _ordered(left, sign, right, scope)
    _comparable(left, right)
    for one, other in ((left, right), (right, left)):
        _in_domain(one, other, scope)
    return Atom((*left.parts, f" {sign} ", *right.parts), _membership(left, [right]) if sign == "=" else None)


def _between(node: exp.Between, scope: Scope) -> Condition:
    if (level := level_named(node.this, scope)) is not None:
        ends = ((">=", node.args["low"]), ("<=", node.args["high"]))
        return Every(tuple(_level_is(level, sign, _term(end, scope)) for sign, end in ends))
    value = _term(node.this, scope)
    _no_quoted_name(scope, value)
    low, high = (_suited(value, _term(node.args[name], scope), scope) for name in ("low", "high"))
    both = (_ordered(value, ">=", low, scope), _ordered(value, "<=", high, scope))
    if value.type == "text":
        return Every(both)
    return Atom((*value.parts, " BETWEEN ", *low.parts, " AND ", *high.parts))


def level_named(node: exp.Expr, scope: Scope) -> Level | None:
    """The level that level(column, number) names, where that stands here."""
    node = node.unnest()
    if not isinstance(node, exp.Anonymous) or node.name.casefold() != "level":
        return None
    match node.expressions:
        case [exp.Column() as column, exp.Literal(is_string=False) as number] if number.name.isdigit():
            key = Key(scope.column(column), int(number.name))
        case _:
            raise QueryError("level must name a column and a level of its hierarchy, such as level(age, 1)")
    domain = scope.domains.get(key.column)
    if domain is None:
        raise QueryError(f"{key} cannot be answered here; {key.column} has no hierarchy")
    return Level(key, domain)


def _level_is(level: Level, sign: str, other: Term) -> Condition:
    """A comparison of a level with a label."""
    if not isinstance(other.literal, str):
        raise QueryError(f"{level.key} must be compared with a label in single quotes")
    if sign in SIGNS:
        return level.compared(sign, other.literal)
    found = level.is_label(other.literal)
    return Not(found) if sign == "<>" else found


def _suited(column: Term, other: Term, scope: Scope) -> Term:
    """The other side of a comparison as the column's domain writes it."""
    domain = scope.domains.get(column.column or "")
    if domain is None or other.literal is None:
        return other
    if level := label_level(domain, other.literal):
        asked = Key(str(column.column), level)
        raise QueryError(f"{column.column} is never {shown(other.literal)}: that is a label above it; ask for {asked}")
    if domain.type == "text" and domain.by_place and not isinstance(other.literal, str):
        values = ", ".join(shown(text(each)) for each in domain.texts[:3])
        raise QueryError(f"{column.column} holds text, such as {values}; write its values in single quotes")
    try:
        constant = domain.constant(other.literal)
    except ValueError as error:
        raise QueryError(f"{column.column} cannot be compared with {shown(other.literal)}: {error}") from None
    return other if constant == other.literal else Term((text(str(constant)),), "text", literal=constant)


def _ordered(left: Term, sign: str, right: Term, scope: Scope) -> Atom:
    """Which side is smaller; text that is no date goes by its place in a list, or is refused."""
    _comparable(left, right)
    found = None
    if "text" in (left.type, right.type):
        one, two = (scope.domains.get(each.column or "") for each in (left, right))
        if left.column and right.column:
            check_both((left.column, right.column), (one, two))
        elif one is not None and left.column and right.literal is not None:
            found = by_place(left.column, one, sign, right.literal)
        elif two is not None and right.column and left.literal is not None:
            found = by_place(right.column, two, TURNED[sign], left.literal)
    return Atom((*left.parts, f" {sign} ", *right.parts)) if found is None else found


def _like(node: exp.Like, scope: Scope) -> Condition:
    _only(node, "this", "expression", "negate")
    value, pattern = _term(node.this, scope), _term(node.expression, scope)
    if "integer" in (value.type, pattern.type):
        raise QueryError("LIKE must compare text with a pattern in quotes, such as zipcode LIKE '02%'")
    atom = Atom((*value.parts, " LIKE ", *pattern.parts))
    return Not(atom) if node.args.get("negate") else atom


def _in(node: exp.In, scope: Scope) -> Condition:
    _only(node, "this", "expressions", "query")
    if (level := level_named(node.this, scope)) is not None and node.expressions:
        return Some(tuple(_level_is(level, "=", _term(each, scope)) for each in node.expressions))
    value = _term(node.this, scope)
    _no_quoted_name(scope, value)
    if query := node.args.get("query"):
        column, sql = _subquery(query.unnest(), scope)
        _comparable(value, column)
        return Atom((*value.parts, f" IN ({sql})"))
    if not node.expressions:
        raise QueryError("IN must list at least one value")
    listed = [_suited(value, _term(each, scope), scope) for each in node.expressions]
    parts: list[str | Column] = [*value.parts, " IN ("]
    for position, each in enumerate(listed):
        _comparable(value, each)
        _in_domain(value, each, scope)
        parts += [", " if position else "", *each.parts]
    return Atom((*parts, ")"), _membership(value, listed))


def _no_quoted_name(scope: Scope, *sides: Term) -> None:
    """Refuse a text that is the name of a column where no column is: in single quotes a name is a text."""
    names = {name.casefold(): name for name in scope.types}
    for side in sides:
        if isinstance(side.literal, str) and side.literal.casefold() in names and not _columns(*sides):
            name = identifier(names[side.literal.casefold()])
            raise QueryError(f"{text(side.literal)} is a text; a column's name stands in no quotes or in these: {name}")


def _membership(value: Term, listed: Sequence[Term]) -> frozenset[int | str | Decimal] | None:
    """The values of the list, where a column is compared with numbers or texts and nothing else."""
    found = [each.literal for each in listed if each.literal is not None]
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
    if isinstance(node, exp.Cast) and node.to.is_type("date") and isinstance(node.this, exp.Literal):
        return Term(parts=(text(node.this.name),), type="text", literal=node.this.name)  # DATE '2020-03-31'
    if isinstance(node, exp.Neg):
        inner = _numeric(_term(node.this, scope), "-")
        literal = -inner.literal if isinstance(inner.literal, int | Decimal) else None
        return Term(parts=("(-", *inner.parts, ")"), type="integer", literal=literal)
    if isinstance(node, exp.Abs):
        _only(node, "this")
        return Term(parts=("abs(", *_numeric(_term(node.this, scope), "abs").parts, ")"), type="integer")
    if sign := ARITHMETIC.get(type(node)):
        left, right = (_numeric(_term(part, scope), sign) for part in (node.this, node.expression))
        known = [scope.domains[each] for each in _columns(left, right) if each in scope.domains]
        if sign == "//" and any(domain.type == "number" for domain in known):
            raise QueryError("// must divide whole numbers; use / with decimals")
        return Term(parts=("(", *left.parts, f" {sign} ", *right.parts, ")"), type="integer")
    raise refused_node(node, value=True)


def _columns(*terms: Term) -> list[str]:
    return [part.name for term in terms for part in term.parts if isinstance(part, Column)]


def _number(digits: str) -> Term:
    try:
        number = Decimal(digits)
        whole = abs(number) < 2**53 and number == number.to_integral_value()
    except (InvalidOperation, OverflowError):
        raise QueryError(f"number ({digits[:20]}) must be written in digits") from None
    literal: int | Decimal = int(number) if whole else number
    if not number.is_finite() or abs(number) >= 2**53:
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
            raise QueryError(f"{number.column} holds numbers; write them without quotes")
        raise QueryError(f"{words.column or 'text'} holds text; write its values in single quotes")


def _in_domain(column: Term, literal: Term, scope: Scope) -> None:
    """An equality with a value that the column can never have is a mistake, and says so."""
    domain = scope.domains.get(column.column or "")
    if domain is None or literal.literal is None or literal.literal in domain:
        return
    hint = f"; it goes {domain.extent}" if domain.extent else did_you_mean(literal.literal, domain)
    raise QueryError(f"{column.column} is never {shown(literal.literal)}{hint}")

"""From SQL text to a condition: parsed with sqlglot, then rebuilt from a whitelist; no text of the asker's is ever
run.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import TokenType

from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.aggregate import asked_of, is_count
from discreet.query.bands import Cases, Grouping, Quotient
from discreet.query.condition import TRUE, Condition
from discreet.query.figure import Asked
from discreet.query.level import Key
from discreet.query.rebuild import level_named, one_table, rebuild
from discreet.query.refused import refused_clause, refused_projection
from discreet.query.scope import Auxiliary, Scope
from discreet.schema.schema import Schema

LONGEST = 65_536
logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of what is refused here in words of our own


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question: a condition, what to count by, and the figure that is asked for; None is COUNT(*)."""

    where: Condition = TRUE
    group_by: tuple[Grouping, ...] = field(default=())
    figure: Asked | None = None


def parse_query(text: str, schema: Schema, auxiliary: Mapping[str, Auxiliary] | None = None) -> Query:
    """Read a condition, or a whole SELECT COUNT(*) ... [WHERE ...] [GROUP BY ...]; raises QueryError on anything
    else.
    """
    return parse_in(text, Scope.of({name: schema.domains[name] for name in schema.columns}, auxiliary or {}))


def parse_in(text: str, scope: Scope) -> Query:
    """Read a question about the columns of a scope; values are held against the domains that it has, if any."""
    if not isinstance(text, str) or len(text) > LONGEST or "\0" in text:
        raise QueryError(f"a question must be text of at most {LONGEST:,} characters")
    words = text.strip().rstrip(";").strip()
    try:
        if re.match(r"(select|with)\b", words, re.IGNORECASE):
            return _statement(_parse(words, ("expressions", "from_", "from", "where", "group")), scope)
        if not words:
            return Query()
        condition = _parse(f"SELECT 1 WHERE {words}\n", ("expressions", "where")).args["where"]
        return Query(where=rebuild(condition.this, scope))
    except RecursionError:
        raise QueryError("the condition must be less deeply nested; split it into several questions") from None


def _parse(words: str, allowed: tuple[str, ...]) -> exp.Select:
    """One SELECT that has nothing but the clauses allowed."""
    try:
        plain = (TokenType.IDENTIFIER, TokenType.STRING)
        tokens = sqlglot.tokenize(words, dialect="duckdb")
        if any(token.text == "@" and token.token_type not in plain for token in tokens):
            raise QueryError("@ cannot be answered; write abs(...)")
        trees = [tree for tree in sqlglot.parse(words, dialect="duckdb") if tree is not None]
    except SqlglotError as error:
        found = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
        near = f" near '{shown(found['highlight'])}'" if found.get("highlight") else ""
        raise QueryError(
            f"the question must be SQL such as age > 30 AND gender = 'F'; it cannot be read{near} (a name with a space "
            "or a sign in it stands in double quotes)"
        ) from None
    except (ValueError, TypeError, AttributeError, KeyError, IndexError):
        raise QueryError("the question must be SQL such as age > 30 AND gender = 'F'") from None
    if len(trees) != 1 or type(trees[0]) is not exp.Select:
        raise QueryError(
            "the question must be one condition or one SELECT COUNT(*), and no other statement; ask several questions "
            "one by one, or in a file with --questions"
        )
    given = {name for name, part in trees[0].args.items() if part}
    if extra := given - set(allowed):
        raise refused_clause(min(extra))
    return trees[0]


def _statement(select: exp.Select, scope: Scope) -> Query:
    """A whole SELECT: one figure, such as COUNT(*), and, at most, what it is grouped by."""
    scope = scope.named(_from(select))
    group = select.args.get("group")
    named = {each.alias.casefold(): each.this for each in select.expressions if isinstance(each, exp.Alias)}
    grouped = tuple(_grouping(each, scope, named) for each in _group_columns(group)) if group else ()
    counted, figure = 0, None
    for projection in select.expressions:
        each = projection.this if isinstance(projection, exp.Alias) else projection
        if is_count(each):
            counted += 1
        elif isinstance(each, exp.Column | exp.Anonymous | exp.Case | exp.IntDiv):
            if _grouping(each, scope, {}) not in grouped:
                raise refused_projection(each)
        elif (found := asked_of(each, scope, rebuild)) is not None:
            counted, figure = counted + 1, found
        else:
            raise refused_projection(each)
    if counted != 1:
        raise QueryError("SELECT must list one figure, such as COUNT(*) or AVG(age), once")
    if len(set(grouped)) < len(grouped):
        raise QueryError("GROUP BY must name each column once")
    where = select.args.get("where")
    return Query(where=rebuild(where.this, scope) if where else TRUE, group_by=grouped, figure=figure)


def _grouping(node: exp.Expr, scope: Scope, named: Mapping[str, exp.Expr]) -> Grouping:
    """What is counted by: a column, a level of its hierarchy, bands of whole numbers, or CASE, by itself or by the name
    that SELECT gives it.
    """
    node = node.unnest()
    if isinstance(node, exp.Column) and not node.table and node.name.casefold() in named:
        node = named[node.name.casefold()].unnest()
    if isinstance(node, exp.IntDiv):
        divisor = node.expression.unnest()
        if not isinstance(divisor, exp.Literal) or not divisor.name.isdigit() or not int(divisor.name):
            raise QueryError("GROUP BY ... // ... must divide a column by a whole number from 1, such as age // 10")
        return Quotient(scope.column(node.this.unnest()), int(divisor.name))
    if isinstance(node, exp.Case):
        return _cases(node, scope)
    level = level_named(node, scope)
    return Key(scope.column(node)) if level is None else level.key


def _cases(node: exp.Case, scope: Scope) -> Cases:
    """CASE WHEN condition THEN label ... [ELSE label] END."""
    if node.this is not None:
        raise QueryError("CASE must have conditions, such as CASE WHEN age < 18 THEN 'child' ELSE 'adult' END")
    branches = tuple((_label(each.args["true"]), rebuild(each.this, scope)) for each in node.args["ifs"])
    otherwise = node.args.get("default")
    return Cases(branches=branches, otherwise=None if otherwise is None else _label(otherwise))


def _label(node: exp.Expr) -> int | str:
    """What a branch of CASE is called."""
    node = node.unnest()
    if isinstance(node, exp.Literal) and (node.is_string or node.name.isdigit()):
        return str(node.name) if node.is_string else int(node.name)
    raise QueryError("THEN and ELSE must be followed by a text in single quotes or a whole number")


def _group_columns(group: exp.Group) -> list[exp.Expr]:
    if any(part for name, part in group.args.items() if name != "expressions"):
        raise QueryError("GROUP BY must list columns")
    if not group.expressions:
        raise QueryError("GROUP BY must list at least one column")
    return list(group.expressions)


def _from(select: exp.Select) -> tuple[str, ...]:
    """The names by which columns may be qualified: the one table that is asked has any plain name."""
    table = one_table(select)
    if table is None or not table.name.isidentifier():
        raise QueryError("FROM must be followed by one plain name, such as release; the release itself is asked")
    return tuple(name for name in (table.name, table.alias) if name)

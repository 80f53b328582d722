"""What SELECT asks for: COUNT(*), SUM or AVG of a column, with or without FILTER, and what is worked out of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from discreet.errors import QueryError
from discreet.ground.exact import fraction_of
from discreet.ground.shown import shown
from discreet.query.condition import TRUE, Condition
from discreet.query.figure import Asked, Figure, Number, Quantile, Sign, Sum, Worked, mean, sums_of
from discreet.query.refused import name_of, refused_projection
from discreet.query.scope import Scope

Reads = Callable[[exp.Expr, Scope], Condition]  # how a condition is read
_SIGNS: dict[type[exp.Expr], Sign] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}


def is_count(node: exp.Expr) -> bool:
    """Whether this is COUNT(*)."""
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star) and not any(node.this.args.values())


def asked_of(node: exp.Expr, scope: Scope, reads: Reads) -> Asked | None:
    """The figure or the quantile that stands here; None where it is none at all, such as a column."""
    where: Condition = TRUE
    inner = node.unnest()
    if isinstance(inner, exp.Filter):
        where, inner = _filter(inner, scope, reads), inner.this
    if not isinstance(inner, exp.PercentileDisc | exp.Quantile | exp.Median):
        figure = figure_of(node, scope, reads)
        return figure if figure is not None and sums_of(figure) else None  # a constant is no question
    given = inner.args.get("expression") or inner.args.get("quantile")
    share = Fraction(1, 2) if isinstance(inner, exp.Median) else fraction_of(given.name if given else None)
    if share is None or not 0 < share < 1:
        raise QueryError("a quantile must have a share between 0 and 1, such as QUANTILE_DISC(age, 0.5)")
    return Quantile(column=_column(inner, scope), share=share, where=where)


def figure_of(node: exp.Expr, scope: Scope, reads: Reads) -> Figure | None:
    """The figure that stands here; None where it is none at all, such as a column."""
    node = node.unnest()
    if sign := _SIGNS.get(type(node)):
        left, right = (figure_of(each, scope, reads) for each in (node.this, node.expression))
        if left is None or right is None or not (sums_of(left) or sums_of(right)):
            return None
        return Worked(left, sign, right)
    if isinstance(node, exp.Neg):
        inner = figure_of(node.this, scope, reads)
        return None if inner is None else Worked(Number(Fraction(-1)), "*", inner)
    if isinstance(node, exp.Literal) and not node.is_string:
        number = fraction_of(node.this)
        return None if number is None else Number(number)
    if isinstance(node, exp.Filter):
        return _one(node.this, _filter(node, scope, reads), scope)
    return _one(node, TRUE, scope)


def _one(node: exp.Expr, where: Condition, scope: Scope) -> Figure | None:
    """One aggregate over the rows that meet a condition."""
    if is_count(node):
        return Sum(where=where)
    if not isinstance(node, exp.Sum | exp.Avg):
        if isinstance(node, exp.AggFunc):
            raise refused_projection(node)
        return None
    column = _column(node, scope)
    if isinstance(node, exp.Sum):
        return Sum(where=where, column=column)
    domain = scope.domains.get(column)
    return mean(column, where, missing=domain is None or domain.missing)


def _filter(node: exp.Filter, scope: Scope, reads: Reads) -> Condition:
    """The condition of FILTER (WHERE ...)."""
    where = node.expression
    if not isinstance(where, exp.Where):
        raise QueryError("FILTER must have a WHERE, such as COUNT(*) FILTER (WHERE gender = 'F')")
    return reads(where.this, scope)


def _column(node: exp.Expr, scope: Scope) -> str:
    """The one column of numbers that an aggregate is of."""
    if not isinstance(node.this, exp.Column) or isinstance(node.this.this, exp.Star):
        raise QueryError(f"{name_of(node)} must be of one column, such as {name_of(node)}(age)")
    column = scope.column(node.this)
    if scope.types[column] == "text":
        raise QueryError(f"{shown(column)} holds text, so it has no {name_of(node)}; say COUNT(*) ... GROUP BY it")
    return column

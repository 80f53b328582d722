"""What a question may not use, and what to ask instead: one sentence for each kind of SQL.

Nothing is allowed here: the whitelist stands in `rebuild.py` and `parse.py`, and asks this page for words only.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.schema.nearest import did_you_mean, nearest

PLAIN = "use comparisons, IN, BETWEEN, LIKE, IS NULL, AND, OR, NOT"
_VALUE = "a value must be a column, a constant, or arithmetic on these"
_AUX = "hand the other table in with --aux NAME=FILE (aux= in Python) and write column IN (SELECT column FROM NAME)"
_LISTED = "list the values that you mean, as in column IN ('a', 'b')"

_CLAUSES = {  # of a whole SELECT, by sqlglot's name
    "joins": ("JOIN", _AUX),
    "with": ("WITH", "write its conditions into WHERE"),
    "having": ("HAVING", "leave it out and take the groups that you want from the answer"),
    "order": ("ORDER BY", "leave it out; groups come in the order of the domains"),
    "limit": ("LIMIT", "leave it out and take the first groups of the answer"),
    "offset": ("OFFSET", "leave it out and take the groups that you want from the answer"),
    "distinct": ("DISTINCT", "say GROUP BY with the columns whose values you want"),
    "laterals": ("LATERAL", _AUX),
    "group": ("GROUP BY", "ask a whole SELECT COUNT(*) FROM release WHERE ... GROUP BY ..."),
    "from": ("FROM", "ask the condition alone, or a whole SELECT COUNT(*) FROM release WHERE ..."),
}
_SUMS = (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Median, exp.Stddev, exp.Variance, exp.Quantile, exp.PercentileDisc)
_KINDS: tuple[tuple[tuple[type[exp.Expr], ...], str, str], ...] = (
    ((exp.Case, exp.If), "CASE", "ask one question for each branch, or say GROUP BY CASE WHEN ... THEN ... END"),
    ((exp.Exists,), "EXISTS", _AUX),
    ((exp.Select, exp.Subquery), "a SELECT inside a condition", f"ask it by itself and write the number, or {_AUX}"),
    ((exp.Cast, exp.TryCast), "CAST", "whole numbers stand without quotes and texts in single quotes"),
    ((exp.DPipe, exp.Concat), "joining texts", "compare each column by itself, with AND between"),
    ((exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike, exp.Glob), "", f"use LIKE, or {_LISTED}"),
    ((exp.Lower, exp.Upper, exp.Trim, exp.Substring, exp.Left, exp.Right, exp.Length), "", f"use LIKE, or {_LISTED}"),
    ((exp.Coalesce,), "COALESCE", "say column IS NULL OR column = ..."),
    ((exp.Window,), "OVER", "ask SELECT COUNT(*) ... GROUP BY ..."),
    ((exp.Count,), "COUNT inside a condition", "ask SELECT COUNT(*) ... GROUP BY ... and take groups from the answer"),
    ((exp.Column,), "a column alone", "compare it with something, as in column = 'a' or column > 3"),
    ((exp.Literal, exp.Neg, *(exp.Add, exp.Sub, exp.Mul, exp.Div)), "a value alone", "compare it with a column"),
    (
        (exp.Predicate, exp.And, exp.Or, exp.Not, exp.ArrayOverlaps),
        "a condition inside a comparison",
        "write age >= 18 AND age < 30, with AND between the two",
    ),
)


def refused_node(node: exp.Expr, *, value: bool) -> QueryError:
    """What is said of a node that is none of the whitelist, in the place of a condition or of a value."""
    if isinstance(node, _SUMS):
        return _no_sum(node)
    for kinds, name, remedy in _KINDS:
        if isinstance(node, kinds):
            return QueryError(f"{name or name_of(node)} cannot be answered; {remedy}")
    return QueryError(f"{name_of(node)} cannot be answered; {_VALUE if value else PLAIN}")


def refused_clause(name: str) -> QueryError:
    """What is said of a clause that a whole SELECT may not have."""
    plain = name.strip("_")
    word, remedy = _CLAUSES.get(plain, (plain.upper(), "ask SELECT COUNT(*) ... WHERE ... GROUP BY ..."))
    return QueryError(f"{word} cannot be answered; {remedy}")


def refused_projection(node: exp.Expr) -> QueryError:
    """What is said of something in SELECT's list that is neither COUNT(*) nor a column of GROUP BY."""
    if isinstance(node, _SUMS):
        return _no_sum(node)
    if isinstance(node, exp.Count):
        inner = "COUNT(DISTINCT ...)" if isinstance(node.this, exp.Distinct) else "COUNT of a column"
        remedy = "GROUP BY it and count the groups" if "DISTINCT" in inner else "say COUNT(*) ... WHERE it IS NOT NULL"
        return QueryError(f"{inner} cannot be answered; {remedy}")
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return QueryError(f"SELECT must list one figure and columns of GROUP BY only; add GROUP BY {shown(node.name)}")
    if isinstance(node, exp.Case | exp.IntDiv):
        return QueryError("SELECT must list one figure and what GROUP BY names only; add the same to GROUP BY")
    return QueryError(
        "SELECT must list one figure, such as COUNT(*), SUM(age), AVG(age) or COUNT(*) FILTER (WHERE ...) / COUNT(*), "
        "and columns of GROUP BY; rows are not answered: ask SELECT COUNT(*) FROM release WHERE ..."
    )


def unknown_column(node: exp.Column, known: Collection[str], compared: str | None, *, value: bool) -> QueryError:
    """What is said of a name that is no column: in double quotes, or beside the column that it is `compared` with, a
    text was probably meant, and surely so where it is a `value` of that column.
    """
    start = f"column {shown(node.name)} does not exist"
    quoted = isinstance(node.this, exp.Identifier) and node.this.quoted
    near = "" if value else nearest(node.name, known)
    held = node.parent.args.values() if isinstance(node.parent, exp.Binary) else ()
    beside_text = any(isinstance(each, exp.Literal) for each in held)  # then a column was meant
    if (quoted or compared is not None) and not near and not beside_text:
        reads = ": SQL reads double quotes as the name of a column" if quoted else ""
        text = shown(bare(node.name).replace("'", "''"))
        name = compared if compared and compared.isidentifier() else f'"{shown(compared or "")}"'
        example = f"{name} = '{text}'" if compared else f"'{text}'"
        return QueryError(f"{start}{reads}; texts stand in single quotes: {example}")
    return QueryError(f"{start}{near or did_you_mean(node.name, known)}")


def bare(name: str) -> str:
    """A name without the quotes that word processors make."""
    return name.strip("\u201c\u201d\u201e\u2018\u2019\u201a")


def name_of(node: exp.Expr) -> str:
    """A node as people call it: the function's own name, or the kind."""
    if isinstance(node, exp.Anonymous):
        return shown(str(node.this)).upper()
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()


def _no_sum(node: exp.Expr) -> QueryError:
    inner = node.this
    column = shown(inner.name) if isinstance(inner, exp.Column) else "the column"
    return QueryError(
        f"{name_of(node)} cannot be answered here; ask SELECT AVG({column}) FROM release, or SELECT {column}, "
        f"COUNT(*) FROM release GROUP BY {column}"
    )

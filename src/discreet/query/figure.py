"""Figures: what is worked out from several sums over the same rows, such as a difference, a share or a mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from discreet.errors import QueryError
from discreet.query.condition import TRUE, Atom, Column, Condition, Every, Not

Sign = Literal["+", "-", "*", "/"]
DEEPEST = 200  # of what is worked out from what


@dataclass(frozen=True, kw_only=True)
class Sum:
    """The rows that meet a condition: how many they are, or the sum of a column of numbers over them.

    As in SQL, a missing cell adds nothing.
    """

    where: Condition = TRUE
    column: str | None = None


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: Fraction


@dataclass(frozen=True)
class Worked:
    """Two figures and what is done with them. A `mean` is one of a column, and lies within its domain; a share is of a
    part of the rows, and lies between 0 and 1.
    """

    left: Figure
    sign: Sign
    right: Figure
    mean: str | None = None
    share: bool = False

    def __post_init__(self) -> None:
        if self.sign == "/" and self.right == Number(Fraction(0)):
            raise QueryError("nothing can be divided by 0")


Figure = Sum | Number | Worked


@dataclass(frozen=True, kw_only=True)
class Quantile:
    """The least number of a column that at least such a share of those who meet a condition have or stay below."""

    column: str
    share: Fraction
    where: Condition = TRUE


Asked = Figure | Quantile


def sums_of(figure: Figure) -> list[Sum]:
    """Every distinct sum of a figure, in the order of its text."""
    if isinstance(figure, Worked):
        return list(dict.fromkeys([*sums_of(figure.left), *sums_of(figure.right)]))
    return [figure] if isinstance(figure, Sum) else []


def depth(figure: Figure) -> int:
    """How many steps it takes to work it out."""
    return 1 + max(depth(figure.left), depth(figure.right)) if isinstance(figure, Worked) else 0


def of_those(asked: Asked, conditions: Sequence[Condition]) -> Asked:
    """The same of the rows that meet some conditions besides."""
    if isinstance(asked, Quantile):
        return replace(asked, where=Every((*conditions, asked.where)))
    return within(asked, conditions)


def within(figure: Figure, conditions: Sequence[Condition]) -> Figure:
    """The same of a figure."""
    if isinstance(figure, Worked):
        return replace(figure, left=within(figure.left, conditions), right=within(figure.right, conditions))
    if isinstance(figure, Number):
        return figure
    return Sum(where=Every((*conditions, figure.where)), column=figure.column)


def mean(column: str, where: Condition, *, missing: bool) -> Worked:
    """The mean of a column over the rows that meet a condition and have a number there; some may have none."""
    present = Every((Not(Atom((Column(column), " IS NULL"))), where)) if missing else where
    return Worked(Sum(where=where, column=column), "/", Sum(where=present), mean=column)


def share(part: Condition, of: Condition) -> Worked:
    """How many of the rows that meet one condition meet another."""
    return Worked(Sum(where=Every((part, of))), "/", Sum(where=of), share=True)

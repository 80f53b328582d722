"""Bands of a column of numbers, of one width or between edges, each without its upper end."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from discreet.errors import QueryError
from discreet.ground.shown import shown
from discreet.query.condition import Atom, Column, Condition, Every
from discreet.schema.valued import Valued

MOST_BANDS = 1_000
Bands = tuple[tuple[str, Condition], ...]  # each with its label


def bands_of(column: str, domain: Valued, width: object, edges: Sequence[object]) -> tuple[Bands, Condition]:
    """The bands, and what holds for everybody who is in one; raises QueryError where they are none."""
    if (width is None) == (not edges):
        raise QueryError("a histogram must have a width, such as width=10, or edges, such as edges=[0, 18, 65]")
    ends = [_decimal("edges", each) for each in edges] or _ends(domain, _decimal("width", width))
    if len(ends) < 2 or any(low >= high for low, high in pairwise(ends)):
        raise QueryError("edges must be two numbers or more, each larger than the one before")
    bands = tuple((f"{low:f} to {high:f}", _band(column, low, high)) for low, high in pairwise(ends))
    return bands, _band(column, ends[0], ends[-1])


def _ends(domain: Valued, width: Decimal) -> list[Decimal]:
    """The ends of bands of one width over a domain."""
    numbers = [Decimal(str(value)) for value in domain if value is not None]
    low, high = min(numbers), max(numbers)
    if width <= 0 or (high - low) / width >= MOST_BANDS:
        raise QueryError(f"width ({shown(width)}) must be above 0 and give at most {MOST_BANDS:,} bands")
    number = int((high - low) // width) + 1
    return [low + width * place for place in range(number + 1)]


def _band(column: str, low: Decimal, high: Decimal) -> Condition:
    own = Column(column)
    return Every((Atom((own, f" >= {low:f}")), Atom((own, f" < {high:f}"))))


def _decimal(name: str, given: object) -> Decimal:
    try:
        number = Decimal(str(given))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or abs(number) >= 2**53:
        raise QueryError(f"{name} ({shown(given)}) must be a number in digits, such as 10 or 0.5")
    return number

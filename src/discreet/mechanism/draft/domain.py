"""The domain that a draft proposes for a column: what occurs in the table, to be replaced by what may occur."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from discreet.errors import PolicyError
from discreet.mechanism.draft.toml import array
from discreet.schema.domain import Dates, Decimals
from discreet.schema.missing import KEY
from discreet.table.column import MOST_VALUES, Column

_DAYS, _MONTHS = 100, 25 * 366  # days that dates are spread over, to be published by day, and by month


def decimals_of(column: Column) -> Decimals | None:
    """The domain of a column of numbers with fractions whose values are known; None where it has none."""
    if column.kind != "fraction" or not column.counts:
        return None
    try:
        values = [Decimal(str(value)) for value in column.counts]
        digits = max(-int(value.normalize().as_tuple().exponent) for value in values)
        return Decimals(low=min(values), high=max(values), step=Decimal(1).scaleb(-max(digits, 0)))
    except (InvalidOperation, PolicyError, ValueError, TypeError):
        return None


def dates_of(column: Column) -> Dates | None:
    """The domain of a column of dates: by day where they are few and near each other, else by month or year."""
    if column.since is None or column.until is None:
        return None
    try:
        days = len(Dates(low=column.since, high=column.until))
        by = "day" if days <= _DAYS else "month" if days <= _MONTHS else "year"
        return Dates(low=column.since, high=column.until, by=by)
    except PolicyError:
        return None


def domain_lines(column: Column, *, sensitive: bool) -> Iterator[str]:
    """The lines of [domains.x]."""
    if _in_limits(column, sensitive=sensitive):
        yield f"integers = [{column.low}, {column.high}]  # the lowest and the highest are somebody's: widen them"
    elif (decimals := decimals_of(column)) is not None:
        yield f"decimals = [{decimals.low}, {decimals.high}]  # the lowest and the highest are somebody's: widen them"
        yield f"step = {decimals.step}"
    elif (dates := dates_of(column)) is not None:
        yield f'dates = ["{column.since}", "{column.until}"]  # the first and the last are somebody\'s: widen them'
        yield f'by = "{dates.by}"  # what a date is cut to: "day", "month" or "year"'
    elif column.kind == "whole":
        yield from array("values", column.counts or ())
    else:
        if column.kind == "fraction":
            yield "# numbers that are not written with a decimal point are texts here: nobody can ask for less or more"
        yield from array("values", sorted(map(str, column.counts or ())))
    if column.missing:
        yield f'missing = "category"  # {column.missing:,} rows are empty, or say that nothing is known'
    if column.marks:
        yield from array(KEY, column.marks)


def listed_as_text(column: Column, *, sensitive: bool) -> bool:
    """Whether the domain is a list of texts."""
    numbers = column.kind == "whole" or _in_limits(column, sensitive=sensitive)
    return not numbers and decimals_of(column) is None and dates_of(column) is None


def width_of(column: Column, *, sensitive: bool = False) -> int:
    """How many values that domain has."""
    if _in_limits(column, sensitive=sensitive):
        return (column.high or 0) - (column.low or 0) + 1 + (column.missing > 0)
    found = decimals_of(column) or dates_of(column)
    return column.values if found is None else len(found) + (column.missing > 0)


def _in_limits(column: Column, *, sensitive: bool) -> bool:
    """Whether two limits say it: always for a quasi-identifier of whole numbers, else where they are not far apart."""
    if column.kind != "whole" or column.low is None or column.high is None:
        return False
    return not sensitive or column.high - column.low < MOST_VALUES

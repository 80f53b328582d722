"""The domain that a draft proposes for a column: what occurs in the table, to be replaced by what may occur."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.ground.shown import and_more
from discreet.mechanism.draft.toml import array, shown
from discreet.schema.missing import KEY
from discreet.table.profile import MOST_VALUES, Column

_MARKS = 4  # texts that mean a missing cell, shown in a comment


def domain_lines(column: Column, *, sensitive: bool) -> Iterator[str]:
    """The lines of [domains.x]."""
    if _in_limits(column, sensitive=sensitive):
        yield f"integers = [{column.low}, {column.high}]  # the lowest and the highest are somebody's: widen them"
    elif column.kind == "whole":
        yield from array("values", column.counts or ())
    else:
        yield from array("values", sorted(map(str, column.counts or ())))
    if column.missing:
        yield f'missing = "category"  # {column.missing:,} rows are empty: that counts as a value'
    if column.missing_as:
        yield from array(KEY, column.missing_as)
    elif column.marks:
        first = ", ".join(shown(mark, 24) for mark in column.marks[:_MARKS])
        more = and_more(len(column.marks), _MARKS)
        means = "means" if len(column.marks) == 1 else "mean"
        listed = " ".join(filter(None, (first, more)))
        yield f"# {listed} {means} that nothing is known, it seems; here it is a value as any other"


def width_of(column: Column, *, sensitive: bool = False) -> int:
    """How many values that domain has."""
    if _in_limits(column, sensitive=sensitive):
        return (column.high or 0) - (column.low or 0) + 1 + (column.missing > 0)
    return column.values


def _in_limits(column: Column, *, sensitive: bool) -> bool:
    """Whether two limits say it: always for a quasi-identifier of whole numbers, else where they are not far apart."""
    if column.kind != "whole" or column.low is None or column.high is None:
        return False
    return not sensitive or column.high - column.low < MOST_VALUES

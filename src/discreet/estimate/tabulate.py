"""Questions with many answers that are made from counts: histograms, and tables of two things with their margins."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.engine.duck.sql import identifier
from discreet.errors import QueryError
from discreet.estimate.asks import UNBIASED, Asks
from discreet.estimate.crosstab import Crosstab, Margin, common_width, fitted_table
from discreet.estimate.estimate import Counts, Estimate
from discreet.estimate.interval import Way
from discreet.estimate.sums import MOST_SUMS, Sums
from discreet.estimate.work_out import work_out
from discreet.ground.confidence import why_not
from discreet.ground.shown import shown
from discreet.query.bands import Cases, groups_of
from discreet.query.condition import Atom, Column, Condition, Every
from discreet.query.figure import Sum

if TYPE_CHECKING:
    from discreet.query.parse import Query

By = str | tuple[str, int]  # a column, or a column and a level of its hierarchy
MOST_BANDS = 1_000


class Tabulates(Asks):
    """What an open release can be asked for that is a table."""

    @abstractmethod
    def _grouped(self, query: Query, estimator: str | None, confidence: float) -> Counts:
        """An answer for each group."""

    @abstractmethod
    def _groups(self, query: Query) -> list[Collection[Any]]:
        """The labels of each thing that is grouped by."""

    def histogram(
        self,
        column: str,
        *,
        width: object = None,
        edges: Sequence[object] = (),
        where: str = "",
        estimator: str | None = None,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Counts:
        """How many of those meeting a condition have a number in each band: of one `width` from the least number of the
        column's domain on, or between `edges`, each band without its upper end.
        """
        from discreet.query.parse import Query

        name = self._numeric(column)
        if (width is None) == (not edges):
            raise QueryError("a histogram must have a width, such as width=10, or edges, such as edges=[0, 18, 65]")
        ends = [_decimal("edges", each) for each in edges] or self._ends(name, _decimal("width", width))
        if len(ends) < 2 or any(low >= high for low, high in pairwise(ends)):
            raise QueryError("edges must be two numbers or more, each larger than the one before")
        bands = tuple((f"{low:f} to {high:f}", _band(name, low, high)) for low, high in pairwise(ends))
        key = Cases(branches=bands, name=name)
        with self._asking():
            (condition,) = self._conditions([where], aux)
            inside = Every((condition, _band(name, ends[0], ends[-1])))
            found = self._grouped(Query(where=inside, group_by=(key,)), estimator, confidence)
        return replace(found, rows=tuple(row for row in found if row[0][0] is not None))

    def crosstab(
        self,
        rows: By,
        columns: By,
        *,
        where: str = "",
        together: bool = False,
        confidence: float = 0.95,
        aux: Mapping[str, Any] | None = None,
    ) -> Crosstab:
        """A table of counts by two things, each a column or ("age", 1), the first level of its hierarchy.

        Intervals are each by itself; `together` asks for such that all hold at once with the confidence.
        """
        if wrong := why_not(confidence):
            raise QueryError(wrong)
        grouped = ", ".join(map(grouped_by, (rows, columns)))
        with self._asking():
            (condition,) = self._conditions([where], aux)
            (query,) = self._parsed([f"SELECT COUNT(*) FROM release GROUP BY {grouped}"], None)
            self._checked(Sum(where=condition))
            labels = [tuple(each) for each in self._groups(query)]
            if len(labels[0]) * len(labels[1]) > MOST_SUMS:
                raise QueryError(f"a table must have at most {MOST_SUMS:,} cells; count by levels of a hierarchy")
            own, other = (
                [groups_of(key, self.schema).is_label(label) for label in listed]
                for key, listed in zip(query.group_by, labels, strict=True)
            )
            asked = [Sum(where=Every((*each, condition))) for each in product(own, other)]
            sums = self._answered(asked, apart=True)
            margins = [Sum(where=Every((each, condition))) for each in (*own, *other)] + [Sum(where=condition)]
            totals = self._worked_out(margins, confidence)
        times = common_width(sums, confidence) if together else None
        way = Way(unit=self.unit, estimator=UNBIASED, confidence=confidence, times=times)
        places = {each: place for place, each in enumerate(asked)}
        cells = [replace(work_out(each, sums, places, {}, way), origin=self._origin(each)) for each in asked]
        return _table(str(query.group_by[0]), str(query.group_by[1]), labels, cells, totals, sums, together=together)

    def _ends(self, column: str, width: Decimal) -> list[Decimal]:
        """The ends of bands of one width over a column's domain."""
        numbers = [Decimal(str(value)) for value in self.schema.domains[column] if value is not None]
        low, high = min(numbers), max(numbers)
        if width <= 0 or (high - low) / width >= MOST_BANDS:
            raise QueryError(f"width ({shown(width)}) must be above 0 and give at most {MOST_BANDS:,} bands")
        number = int((high - low) // width) + 1
        return [low + width * place for place in range(number + 1)]


def grouped_by(column: By) -> str:
    """What a question says in its GROUP BY."""
    if isinstance(column, str):
        return identifier(column)
    match column:
        case (str(name), int(level)):
            return f"level({identifier(name)}, {level})"
    raise QueryError('what is counted by must be the name of a column, or a name and a level such as ("age", 1)')


def _table(
    rows: str,
    columns: str,
    labels: Sequence[tuple[Any, ...]],
    cells: Sequence[Estimate],
    totals: Sequence[Estimate],
    sums: Sums,
    *,
    together: bool,
) -> Crosstab:
    """Cells and margins, put together, with the table that fits them."""
    shape = (len(labels[0]), len(labels[1]))
    *_, total = totals
    by_row, by_column = totals[: shape[0]], totals[shape[0] : -1]
    sure = np.array([each.exact for each in cells])
    values = np.where(sure, [each.bounds[0] for each in cells], sums.values)
    errors = np.where(sure, 0.0, np.sqrt(np.maximum(np.diag(sums.covariance), 0.0) + sums.stray**2))
    fitted = fitted_table(
        values.reshape(shape),
        errors.reshape(shape),
        _margin(by_row),
        _margin(by_column),
        sum(map(_value, by_row)) if all(each.exact for each in by_row) else _value(total),
    )
    return Crosstab(
        rows=rows,
        columns=columns,
        row_labels=labels[0],
        column_labels=labels[1],
        cells=tuple(tuple(cells[row * shape[1] : (row + 1) * shape[1]]) for row in range(shape[0])),
        row_totals=tuple(by_row),
        column_totals=tuple(by_column),
        total=total,
        together=together,
        fitted=tuple(map(tuple, fitted.tolist())),
    )


def _margin(totals: Sequence[Estimate]) -> Margin:
    return Margin(counts=np.array([_value(each) for each in totals]), certain=np.array([each.exact for each in totals]))


def _value(estimate: Estimate) -> float:
    """The value of a margin, or the middle of what is possible where there is none."""
    return sum(estimate.bounds) / 2 if estimate.value is None else estimate.value


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

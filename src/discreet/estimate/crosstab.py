"""Tables: a count for every pair of two labels, with its interval, margins, and one table that fits them all.

Counts of one release miss together or not at all, so intervals that hold at once need not be as wide as if each could
miss by itself: their common width is a quantile of the largest of normal numbers that go together as the counts do
(max-t). Where a model leaves something open, which may go any way, it is Bonferroni's width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.estimate.edge import mills
from discreet.estimate.estimate import Estimate
from discreet.estimate.sums import Sums
from discreet.ground.arrays import Bools, Floats
from discreet.ground.exact import plain_number
from discreet.schema.valued import Value

_DRAWS, _SEED = 20_000, 0
_ROUNDS, _NEAR = 2_000, 1e-7


@dataclass(frozen=True, kw_only=True)
class Crosstab:
    """Estimates by row and column, each as a count of its own; `together` says that all their intervals hold at once
    with the confidence that they state.

    `row_totals`, `column_totals` and `total` are the published margins. `fitted` has no estimates but one table without
    numbers below 0, whose margins are these, a margin that is not certain as far as the others let it.
    """

    rows: str
    columns: str
    row_labels: tuple[Value, ...]
    column_labels: tuple[Value, ...]
    cells: tuple[tuple[Estimate, ...], ...]
    row_totals: tuple[Estimate, ...]
    column_totals: tuple[Estimate, ...]
    total: Estimate
    together: bool
    fitted: tuple[tuple[float, ...], ...]

    def __getitem__(self, labels: tuple[Any, Any]) -> Estimate:
        """The estimate of one cell, by its two labels."""
        row, column = (
            [*map(plain_number, own)].index(plain_number(label))
            if plain_number(label) in [*map(plain_number, own)]
            else None
            for own, label in zip((self.row_labels, self.column_labels), labels, strict=True)
        )
        if row is None or column is None:
            raise KeyError(labels)
        return self.cells[row][column]

    def as_json(self) -> list[dict[str, Any]]:
        """A line for each cell: both labels, the estimate's fields, and `fitted`."""
        return [
            {
                self.rows: plain_number(row),
                self.columns: plain_number(column),
                **estimate.as_json(),
                "fitted": fitted,
            }
            for row, own, fits in zip(self.row_labels, self.cells, self.fitted, strict=True)
            for column, estimate, fitted in zip(self.column_labels, own, fits, strict=True)
        ]

    def to_arrow(self) -> pa.Table:
        """The same as a table; `.to_pandas()` of it is a data frame."""
        return pa.Table.from_pylist(self.as_json())

    def __str__(self) -> str:
        how = "all intervals at once" if self.together else "each interval by itself"
        lines = [f"{self.rows} by {self.columns}, {how}:"]
        for row, own in zip(self.row_labels, self.cells, strict=True):
            lines += [f"{row}, {column}: {estimate}" for column, estimate in zip(self.column_labels, own, strict=True)]
        return "\n".join(lines)


def common_width(sums: Sums, confidence: float) -> float:
    """So many standard errors that all sums are within them at once with that confidence."""
    own = np.sqrt(np.maximum(np.diag(sums.covariance), 0.0))
    vary = np.flatnonzero((own > 0) | (sums.stray > 0))
    if not len(vary):
        return NormalDist().inv_cdf((1 + confidence) / 2)
    bonferroni = NormalDist().inv_cdf(1 - (1 - confidence) / (2 * len(vary)))
    if sums.stray.any() or np.isnan(sums.values).any():
        return bonferroni
    values, vectors = np.linalg.eigh(sums.covariance[np.ix_(vary, vary)] / np.outer(own[vary], own[vary]))
    loads = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(vary))) @ loads.T
    return min(bonferroni, float(np.quantile(np.abs(drawn).max(axis=1), confidence)))


@dataclass(frozen=True, kw_only=True)
class Margin:
    """Counts of rows or columns, and which of them are certain."""

    counts: Floats
    certain: Bools


def fitted_table(cells: Floats, errors: Floats, rows: Margin, columns: Margin, total: float) -> Floats:
    """A table without numbers below 0 and with these margins, near to some cells; those without error stay.

    Each other cell is first what is expected of it if it cannot be below 0; then rows and columns are scaled in turn.
    """
    known = (errors == 0) & ~np.isnan(cells)
    sure = np.where(known, np.maximum(np.nan_to_num(cells), 0.0), 0.0)
    found = np.array([_expected(*each) for each in zip(cells.ravel(), errors.ravel(), strict=True)])
    found = np.where(known, 0.0, found.reshape(cells.shape))
    wanted = [
        np.maximum(_consistent(margin, total) - sure.sum(axis=1 - axis), 0.0)
        for axis, margin in enumerate((rows, columns))
    ]
    for _ in range(_ROUNDS):
        for axis, margin in enumerate(wanted):
            sums = found.sum(axis=1 - axis)
            scale = np.divide(margin, sums, out=np.zeros_like(sums), where=sums > 0)
            found = found * (scale[:, None] if axis == 0 else scale[None, :])
        if np.abs(found.sum(axis=1) - wanted[0]).max() < _NEAR:
            break
    return np.asarray(found + sure)


def _consistent(margin: Margin, total: float) -> Floats:
    """Counts that are not below 0 and have the total: those that are not certain are scaled."""
    kept = np.maximum(margin.counts, 0.0)
    sure = float(kept[margin.certain].sum())
    open_ = float(kept[~margin.certain].sum())
    return np.where(margin.certain, kept, kept * (max(0.0, total - sure) / open_ if open_ > 0 else 1.0))


def _expected(value: float, error: float) -> float:
    """Of a normal law round a value, cut to what is not below 0, the mean."""
    if math.isnan(value):
        return 1.0
    if error <= 0:
        return max(value, 0.0)
    away = -value / error
    return value + error / mills(away) if away > -8 else value


def table_of(
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

"""Sums over a view: of tuples, or of a column of numbers, and how they vary together over the coins.

The law of law.py for any weights f, f' of tuples. With F the sum of f over what is shown, W over the domain and Q over
    the table: E[F] = insert W + slope Q, where `insert` is the probability that a tuple is shown as noise, and
    Cov(F, F') = insert (1 - low) W(f f') + more Q(f f') for alpha-beta, tuple by tuple; FRAPP shows as many tuples as
    there are records n, each by itself: with b = insert W,
    Cov = n b(f f') - n b b' + s (1 - s) Q(f f') - s (b Q' + b' Q).
    Q(f f') is estimated from the view itself, as the sum of the products. One view of several is two such laws: among
    tuples that were shown before, and among the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.database import Database
from discreet.engine.duck.sql import identifier
from discreet.errors import QueryError
from discreet.estimate.alphabeta.shown import Shown, Stratum
from discreet.estimate.numeric import Numeric, numeric
from discreet.estimate.sums import Sums, range_of_sum
from discreet.ground.arrays import Floats, Ints
from discreet.query.condition import Condition, Every, render
from discreet.query.count_domain import Weights
from discreet.query.figure import Sum
from discreet.schema.schema import Schema

MOST_SUMMED = 1 << 60  # what weights of a domain's values are together, also where they are moved up
_SLICE = 1 << 22  # numbers that are multiplied at a time
Size = tuple[int, Fraction]  # tuples of the domain, and their weight


@dataclass(frozen=True, kw_only=True)
class View:
    """What a release shows, as its sums are asked of it.

    `weigh` gives the weight of the tuples of the domain that meet a condition, each times its values' numbers; `bounds`
    where the count of a condition lies.
    """

    schema: Schema
    shown: Shown
    engine: Database
    weigh: Callable[[Condition, Weights | None], Size]
    bounds: Callable[[int], tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class _Moments:
    """Sums over something of each f, and of each product of two."""

    single: Floats
    double: Floats

    def __sub__(self, other: _Moments) -> _Moments:
        return _Moments(single=self.single - other.single, double=self.double - other.double)


def view_sums(view: View, asked: Sequence[Sum], *, apart: bool) -> Sums:
    """Several sums with their covariance; `apart` says that no row is in two of them."""
    own = {str(each.column): numeric(view.schema, str(each.column)) for each in asked if each.column is not None}
    domain, bounds = _of_domain(view, asked, own, apart=apart)
    seen = _seen(view, asked)
    values, covariance = np.zeros(len(asked)), np.zeros((len(asked),) * 2)
    for stratum in view.shown.strata:
        before = None if stratum.among is None else seen[stratum.among]
        within = domain if before is None else before if stratum.inside else domain - before
        found, varies = _undone(stratum, seen[stratum.where], within)
        values, covariance = values + found, covariance + varies
    ends = [
        range_of_sum(count, (Fraction(1),) * 2 if each.column is None else own[each.column].ends)
        for each, count in zip(asked, bounds, strict=True)
    ]
    return Sums(values=values, covariance=covariance, stray=np.zeros(len(asked)), bounds=tuple(ends))


def _undone(stratum: Stratum, seen: _Moments, domain: _Moments) -> tuple[Floats, Floats]:
    """The values of some tuples' sums, and their covariance."""
    noisy, both = stratum.insert * domain.single, stratum.insert * domain.double
    values = (seen.single - stratum.times * noisy) / stratum.slope
    table = (seen.double - stratum.times * both) / stratum.slope
    own = np.sqrt(np.maximum(np.diag(table), 0.0))
    most = np.outer(own, own)
    table = np.clip(table, -most, most)
    if stratum.copies:
        s, shown = stratum.slope, np.outer(noisy, values)
        varies = stratum.times * (both - np.outer(noisy, noisy)) + s * (1 - s) * table - s * (shown + shown.T)
    else:
        varies = both * (1 - stratum.low) + stratum.more * table
    return values, np.asarray(varies / stratum.slope**2)


def _of_domain(
    view: View, asked: Sequence[Sum], own: dict[str, Numeric], *, apart: bool
) -> tuple[_Moments, list[tuple[int, int]]]:
    """Sums over the tuples of the domain, and where each count lies."""
    size = len(asked)
    single, double, bounds = np.zeros(size), np.zeros((size, size)), list[tuple[int, int]]()
    for place, each in enumerate(asked):
        single[place] = _weight(view, each.where, [each.column], own)
        bounds.append(view.bounds(view.weigh(each.where, None)[0]))
    for one, other in combinations_with_replacement(range(size), 2):
        if one == other or not apart:
            columns = [asked[one].column, asked[other].column]
            where = asked[one].where if one == other else Every((asked[one].where, asked[other].where))
            double[one, other] = double[other, one] = _weight(view, where, columns, own)
    return _Moments(single=single, double=double), bounds


def _weight(view: View, where: Condition, columns: Sequence[str | None], own: dict[str, Numeric]) -> float:
    """What the tuples of the domain weigh that meet a condition, times the numbers of up to two columns.

    Weights are whole and not below 0, so a column with numbers below 0 is moved up, and what that adds taken off again.
    """
    named = [name for name in columns if name is not None]
    per, powers = 1, dict[str, Ints]()
    for name in named:
        per *= own[name].per
        if own[name].largest ** len(named) * len(own[name].units) >= MOST_SUMMED:
            raise QueryError(f"{name} has too many or too large numbers in its domain to be summed up here")
        powers[name] = powers.get(name, np.ones(1, dtype=np.int64)) * own[name].units
    return float(_moved(view, where, powers) / per)


def _moved(view: View, where: Condition, powers: dict[str, Ints]) -> Fraction:
    for name, each in powers.items():
        if (least := int(each.min())) < 0:
            rest = {other: numbers for other, numbers in powers.items() if other != name}
            return _moved(view, where, {**powers, name: each - least}) + least * _moved(view, where, rest)
    return view.weigh(where, powers or None)[1]


def _seen(view: View, asked: Sequence[Sum]) -> dict[str, _Moments]:
    """Sums over the tuples that are shown, in each part of them."""
    columns = list(dict.fromkeys(each.column for each in asked if each.column is not None))
    flags = [f"coalesce(({render(each.where)})::UTINYINT, 0)" for each in asked]
    cells = [f"coalesce({identifier(name)}, 0)::DOUBLE" for name in columns]
    names = list(dict.fromkeys(each for stratum in view.shown.strata for each in stratum.reads))
    parts = [f"({each})::UTINYINT" for each in names]
    sizes, size = len(asked), len(asked)
    found = {name: _Moments(single=np.zeros(sizes), double=np.zeros((size, size))) for name in names}
    for batch in view.engine.batches(f"SELECT {', '.join([*flags, *cells, *parts])} FROM {view.shown.table}"):
        columns_of = [numbers(each) for each in batch.columns]
        weights = dict(zip(columns, columns_of[size : size + len(columns)], strict=True))
        step = max(1, _SLICE // size)
        for start in range(0, batch.num_rows, step):
            rows = slice(start, start + step)
            table = np.stack([each[rows] for each in columns_of[:size]], axis=1).astype(np.float64)
            for place, each in enumerate(asked):
                if each.column is not None:
                    table[:, place] *= weights[each.column][rows]
            for name, holds in zip(names, columns_of[size + len(columns) :], strict=True):
                some = table[holds[rows] == 1]
                held = found[name]
                found[name] = _Moments(single=held.single + some.sum(axis=0), double=held.double + some.T @ some)
    return found

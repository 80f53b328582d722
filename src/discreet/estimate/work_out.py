"""From sums to a figure: its value, its standard error by how it changes with every sum, and its interval.

A figure that is linear in the sums has the variance of that sum of them. A ratio of two such has Fieller's interval:
    all t for which (numerator - t denominator) is within z of its standard errors from 0; where the divisor may be
    nothing it has no end, and the bounds are its end. Everything else goes by its gradient (the delta method).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.estimate.estimate import COUNTED, NUMBER, PEOPLE, Estimate
from discreet.estimate.interval import Interval, Spread, Way
from discreet.estimate.sums import Ends, Sums
from discreet.ground.arrays import Floats
from discreet.query.figure import Figure, Number, Sum, sums_of

NO_DIVISOR = "what it is divided by may be nothing"
_LITTLE = 1e-9
_SHARE = (Fraction(0), Fraction(1))
Limits = tuple[Fraction | float, Fraction | float]
ANY: Limits = (-math.inf, math.inf)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A figure as it came out: its value, how it changes with each sum, where it lies, and what it counts."""

    value: float
    gradient: Floats
    bounds: Limits
    unit: str
    linear: bool = True
    parts: tuple[Known, Known] | None = None  # of a ratio of two that are linear


def work_out(figure: Figure, sums: Sums, places: Mapping[Sum, int], ranges: Mapping[str, Ends], way: Way) -> Estimate:
    """The figure with its interval; `places` are those of its sums, `ranges` where the columns' numbers lie, and the
    unit of `way` is what is counted.
    """
    found = _known(figure, sums, places, ranges, way.unit)
    whole = found.unit in COUNTED
    own = replace(way, unit=found.unit, half=way.half if whole else 0.0)
    bounds = _plain(found.bounds)
    if bounds[0] == bounds[1]:
        return own.certain(bounds[0])
    if math.isnan(found.value):
        lost = bool(np.isnan(sums.values[[places[each] for each in sums_of(figure)]]).any())
        return own.bounds_only(bounds, note=sums.unknown if lost else NO_DIVISOR)
    error = sums.error(found.gradient)
    if found.linear:
        return own.estimate(found.value, Spread(noise=error**2), bounds, over=sums.over, note=sums.note)
    reach = own.width * error
    interval = (found.value - reach, found.value + reach)
    if found.parts is not None:
        interval = _fieller(*found.parts, sums, own.width)
    if math.isfinite(interval[1]):
        return own.between(found.value, error, interval, bounds, over=sums.over, note=sums.note)
    return own.bounds_only(bounds, note="; ".join(filter(None, (NO_DIVISOR, sums.note))))


def _known(figure: Figure, sums: Sums, places: Mapping[Sum, int], ranges: Mapping[str, Ends], counted: str) -> Known:
    size = len(sums.values)
    if isinstance(figure, Number):
        return Known(value=float(figure.value), gradient=np.zeros(size), bounds=(figure.value, figure.value), unit="")
    if isinstance(figure, Sum):
        place, gradient = places[figure], np.zeros(size)
        gradient[place] = 1.0
        unit = counted if figure.column is None else f"sum of {figure.column}{over(counted)}"
        return Known(value=float(sums.values[place]), gradient=gradient, bounds=sums.bounds[place], unit=unit)
    left, right = (_known(each, sums, places, ranges, counted) for each in (figure.left, figure.right))
    if figure.sign in "+-":
        return _added(left, right, 1 if figure.sign == "+" else -1)
    if figure.sign == "*":
        return _times(left, right)
    found = _divided(left, right)
    if figure.share:
        return replace(found, unit=f"share{over(counted)}", bounds=_inside(found.bounds, _SHARE))
    if figure.mean is not None:
        return replace(
            found, unit=f"mean of {figure.mean}{over(counted)}", bounds=_inside(found.bounds, ranges[figure.mean])
        )
    return found


def over(counted: str) -> str:
    """Of what it is the sum or the mean, where that is not people."""
    return "" if counted == PEOPLE else f" over {counted}"


def _added(left: Known, right: Known, sign: int) -> Known:
    low, high = (right.bounds[0], right.bounds[1]) if sign > 0 else (-right.bounds[1], -right.bounds[0])
    return Known(
        value=left.value + sign * right.value,
        gradient=left.gradient + sign * right.gradient,
        bounds=(left.bounds[0] + low, left.bounds[1] + high),
        unit=left.unit or right.unit if "" in (left.unit, right.unit) or left.unit == right.unit else NUMBER,
        linear=left.linear and right.linear,
    )


def _times(left: Known, right: Known) -> Known:
    constant = not left.gradient.any() or not right.gradient.any()
    ends = [_product(one, other) for one in left.bounds for other in right.bounds]
    return Known(
        value=left.value * right.value,
        gradient=left.gradient * right.value + right.gradient * left.value,
        bounds=(min(ends), max(ends)),
        unit=NUMBER,
        linear=constant and left.linear and right.linear,
    )


def _divided(left: Known, right: Known) -> Known:
    constant = not right.gradient.any() and right.value != 0
    unit = "ratio" if left.unit == right.unit else NUMBER
    nothing = right.bounds[0] <= 0 <= right.bounds[1]
    if right.value <= _LITTLE and nothing:
        return Known(value=math.nan, gradient=left.gradient, bounds=_ratio(left, right), unit=unit, linear=False)
    value = left.value / right.value
    return Known(
        value=value,
        gradient=(left.gradient - value * right.gradient) / right.value,
        bounds=_ratio(left, right),
        unit=unit,
        linear=constant and left.linear,
        parts=(left, right) if left.linear and right.linear and not constant else None,
    )


def _ratio(left: Known, right: Known) -> Limits:
    """Where a ratio lies: without an end where the divisor may be nothing."""
    (low, high), (few, many) = left.bounds, right.bounds
    if few > 0 or many < 0:
        ends = [_quotient(one, other) for one in (low, high) for other in (few, many)]
        return min(ends), max(ends)
    if few < 0 or many == 0 or low < 0:
        return ANY
    return _quotient(low, many), math.inf


def _quotient(one: Fraction | float, other: Fraction | float) -> Fraction | float:
    return 0 if math.isinf(other) and not math.isinf(one) else one / other


def _product(one: Fraction | float, other: Fraction | float) -> Fraction | float:
    return 0 if 0 in (one, other) else one * other


def _inside(bounds: Limits, ends: Limits) -> Limits:
    return max(bounds[0], ends[0]), min(bounds[1], ends[1])


def _fieller(left: Known, right: Known, sums: Sums, width: float) -> Interval:
    """All t for which left - t right may be 0; any number where right may be."""
    varies = _variance(sums, [left.gradient, right.gradient])
    square = right.value**2 - width**2 * varies[1][1]
    if square <= 0:
        return -math.inf, math.inf
    middle = left.value * right.value - width**2 * varies[0][1]
    rest = left.value**2 - width**2 * varies[0][0]
    half = math.sqrt(max(0.0, middle**2 - square * rest))
    return (middle - half) / square, (middle + half) / square


def _variance(sums: Sums, gradients: Sequence[Floats]) -> list[list[float]]:
    """Of two sums of the sums; what a model leaves open is taken to go against each other."""
    found = [[float(one @ sums.covariance @ other) for other in gradients] for one in gradients]
    stray = [float(np.abs(each) @ sums.stray) for each in gradients]
    for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
        found[i][j] += stray[i] * stray[j] * (1 if i == j else -1)
    return found


def _plain(bounds: Limits) -> tuple[float, float]:
    """Whole numbers stay whole."""
    low, high = (int(each) if isinstance(each, Fraction) and each.denominator == 1 else float(each) for each in bounds)
    return low, high

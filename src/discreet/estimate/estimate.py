"""An estimate of a count: never a number without its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from discreet.errors import QueryError
from discreet.ground.exact import fraction_of, plain_number
from discreet.ground.most import MOST_ROWS
from discreet.schema.valued import Value

if TYPE_CHECKING:
    from discreet.query.figure import Figure, Sign

COINS = "publisher's coins"
MODEL = "model"
NOTHING = "nothing"
PEOPLE, RECORDS, TUPLES = "people", "records", "distinct tuples"  # what is counted
COUNTED = (PEOPLE, RECORDS, TUPLES)
RATIO, NUMBER = "ratio", "number"  # units of what counts nothing, which go without a word
_MOST_DIGITS = 9  # after the point
_ROUNDING = 1e-6  # of a count

Group = tuple[Value, ...]  # a value for each column that is counted by


class Source(Protocol):
    """Where an estimate comes from: an open release, which can work out more from the same sums."""

    def combined(self, left: Figure, sign: Sign, right: Figure | Fraction, confidence: float) -> Estimate:
        """Two figures of the release, or one and a number, and what is done with them."""


@dataclass(frozen=True)
class Origin:
    """What an estimate is of."""

    source: Source
    figure: Figure


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A count, or what was worked out from several, as a release can tell it.

    `low` and `high` hold the true count with probability `confidence` over what `conditional_on` names: "publisher's
    coins" (true for any table), "model" (true if the model is), or "nothing" (they are the bounds). `bounds` hold it
    always, and `value` and interval lie within them. `value` and `standard_error` are None where the release does not
    determine the count; `note` says why, or what was cut. `unit` is what is counted and `estimator` what made the
    value. `design` is the estimate that holds over the publisher's coins, as it came out and not cut to the bounds, so
    that sums of such values stay without bias; None where there is none. Estimates of one open release can be added,
    subtracted and divided: the result is worked out from their designs, with their covariance.
    """

    value: float | None
    standard_error: float | None
    low: float
    high: float
    confidence: float
    bounds: tuple[float, float]  # whole numbers of counts
    unit: str
    estimator: str
    conditional_on: str
    design: Estimate | None = None
    note: str = ""
    origin: Origin | None = field(default=None, repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Every field as a plain value; an end without limit is null."""
        own = {name: getattr(self, name) for name in ESTIMATE_FIELDS}
        ends = {name: _finite(own[name]) for name in ("low", "high")}
        nested = None if self.design is None else self.design.as_json()
        return {**own, **ends, "bounds": [*map(_finite, self.bounds)], "design": nested}

    def __getstate__(self) -> dict[str, Any]:
        """What is copied or sent elsewhere has left its release."""
        return {**vars(self), "origin": None}

    def __radd__(self, other: object) -> Estimate:
        return self + other  # so that sum() adds them up

    def __rmul__(self, other: object) -> Estimate:
        return self * other

    def __add__(self, other: object) -> Estimate:
        return self._worked("+", other)

    def __sub__(self, other: object) -> Estimate:
        return self._worked("-", other)

    def __mul__(self, other: object) -> Estimate:
        return self._worked("*", other)

    def __truediv__(self, other: object) -> Estimate:
        return self._worked("/", other)

    def _worked(self, sign: Sign, other: object) -> Estimate:
        """What comes of two estimates, or of one and a number."""
        if self.origin is None or (isinstance(other, Estimate) and other.origin is None):
            raise QueryError(
                "an estimate that has left its release, or needed a table in aux, cannot be worked with; ask the open "
                "release for the whole"
            )
        source = self.origin.source
        if not isinstance(other, Estimate):
            number = fraction_of(other)
            if number is None:
                raise QueryError(f"an estimate cannot be worked with a {type(other).__name__}; take a number")
            return source.combined(self.origin.figure, sign, number, self.confidence)
        if other.origin is None or other.origin.source is not source:
            raise QueryError("both estimates must be of one open release: how those of two vary together is not known")
        return source.combined(self.origin.figure, sign, other.origin.figure, self.confidence)

    @property
    def exact(self) -> bool:
        """Whether the published tables leave no doubt."""
        return self.bounds[0] == self.bounds[1]

    @property
    def shown_confidence(self) -> str:
        """The confidence in percent, with as many digits as it has: 99.9% is not 100%."""
        return f"{100 * self.confidence:.12g}%"

    @property
    def digits(self) -> int:
        """How many digits after the point say something: none of a count."""
        width = self.high - self.low
        if self.unit in COUNTED or all(float(each or 0).is_integer() for each in (self.value, self.low, self.high)):
            return 0
        if width == math.inf:
            return 3
        return 4 if width <= 0 else min(max(1 - math.floor(math.log10(width)), 0), _MOST_DIGITS)

    @property
    def shown_unit(self) -> str:
        """What stands behind a number: nothing where nothing is counted."""
        return "" if self.unit in (RATIO, NUMBER) else f" {self.unit}"

    @property
    def shown_value(self) -> str:
        """The value as a person reads it, with its unit."""
        return "unknown" if self.value is None else f"{self.value:,.{self.digits}f}{self.shown_unit}"

    @property
    def shown_exact(self) -> str:
        """The value that is certain, with its unit."""
        return f"{plain_digits(self.bounds[0])}{self.shown_unit}"

    @property
    def shown_interval(self) -> str:
        """The interval as a person reads it: rounded outwards, so that it still holds what it held."""
        return span(self.low, self.high, self.digits)

    @property
    def shown_bounds(self) -> str:
        """The bounds as a person reads them; the most rows that any table may have is no limit worth a word."""
        return span(*self.bounds, self.digits)

    def __str__(self) -> str:
        if self.exact and self.conditional_on == NOTHING:
            return f"{self.shown_exact}, exactly"
        value = self.shown_value
        over = "the bounds" if self.conditional_on == NOTHING else f"over {self.conditional_on}"
        return (
            f"{value}; {self.shown_confidence} interval {self.shown_interval} ({over}), certainly {self.shown_bounds}"
            + (f"; {self.note}" if self.note else "")
        )


ESTIMATE_FIELDS = tuple(each.name for each in fields(Estimate) if each.name != "origin")  # what is said of it


def span(low: float, high: float, digits: int = 0) -> str:
    """Two ends in words, rounded outwards; without the second where it is no less than what discreet takes as a table's
    rows, and without any where there is no limit.
    """
    unit = 10**digits
    if low <= -MOST_ROWS:
        most = math.ceil(min(high, MOST_ROWS) * unit - _ROUNDING) / unit
        return "any number" if high >= MOST_ROWS else f"{most:,.{digits}f} or less"
    few = math.floor(low * unit + _ROUNDING) / unit
    if high >= MOST_ROWS:
        return f"{few:,.{digits}f} or more"
    return f"{few:,.{digits}f} to {math.ceil(high * unit - _ROUNDING) / unit:,.{digits}f}"


def plain_digits(number: float) -> str:
    """A number that is certain, with at most four digits after the point."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4f}".rstrip("0").rstrip(".")


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


@dataclass(frozen=True, kw_only=True)
class Counts:
    """A table of estimates, one for each group."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Group, Estimate], ...]

    def __iter__(self) -> Iterator[tuple[Group, Estimate]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, group: Value | float | Group) -> Estimate:
        """The estimate of one group, by its value (or values, where several columns were asked for)."""
        wanted = [*map(plain_number, group if isinstance(group, tuple) else (group,))]
        for found, estimate in self.rows:
            if [*map(plain_number, found)] == wanted:
                return estimate
        raise KeyError(group)

    def as_json(self) -> list[dict[str, Any]]:
        rows = ((map(plain_number, group), estimate) for group, estimate in self.rows)
        return [{**dict(zip(self.columns, group, strict=True)), **estimate.as_json()} for group, estimate in rows]

    def to_arrow(self) -> pa.Table:
        """The table with the groups' columns first; `.to_pandas()` of it is a data frame."""
        return pa.Table.from_pylist(self.as_json())

    def __str__(self) -> str:
        return "\n".join(f"{', '.join(map(str, group))}: {estimate}" for group, estimate in self.rows)

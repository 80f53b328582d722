"""An estimate of a count: never a number without its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from discreet.ground.exact import plain_number
from discreet.schema.schema import MOST_ROWS
from discreet.schema.valued import Value

COINS = "publisher's coins"
MODEL = "model"
NOTHING = "nothing"
PEOPLE, RECORDS, TUPLES = "people", "records", "distinct tuples"  # what is counted
_ROUNDING = 1e-6  # of a count

Group = tuple[Value, ...]  # a value for each column that is counted by


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A count as a release can tell it.

    `low` and `high` hold the true count with probability `confidence` over what `conditional_on` names: "publisher's
    coins" (true for any table), "model" (true if the model is), or "nothing" (they are the bounds). `bounds` hold it
    always, and `value` and interval lie within them. `value` and `standard_error` are None where the release does not
    determine the count; `note` says why, or what was cut. `unit` is what is counted and `estimator` what made the
    value. `design` is the estimate that holds over the publisher's coins, as it came out and not cut to the bounds, so
    that sums of such values stay without bias; None where there is none.
    """

    value: float | None
    standard_error: float | None
    low: float
    high: float
    confidence: float
    bounds: tuple[int, int]
    unit: str
    estimator: str
    conditional_on: str
    design: Estimate | None = None
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        own = {**asdict(self), "bounds": list(self.bounds)}
        return {**own, "design": None if self.design is None else self.design.as_json()}

    @property
    def exact(self) -> bool:
        """Whether the published tables leave no doubt."""
        return self.bounds[0] == self.bounds[1]

    @property
    def shown_confidence(self) -> str:
        """The confidence in percent, with as many digits as it has: 99.9% is not 100%."""
        return f"{100 * self.confidence:.12g}%"

    @property
    def shown_interval(self) -> str:
        """The interval as a person reads it: whole counts, rounded outwards, so that it still holds what it held."""
        return span(math.floor(self.low + _ROUNDING), math.ceil(self.high - _ROUNDING))

    @property
    def shown_bounds(self) -> str:
        """The bounds as a person reads them; the most rows that any table may have is no limit worth a word."""
        return span(*self.bounds)

    def __str__(self) -> str:
        if self.exact and self.conditional_on == NOTHING:
            return f"{self.bounds[0]:,} {self.unit}, exactly"
        value = "unknown" if self.value is None else f"{self.value:,.0f} {self.unit}"
        over = "the bounds" if self.conditional_on == NOTHING else f"over {self.conditional_on}"
        return (
            f"{value}; {self.shown_confidence} interval {self.shown_interval} ({over}), certainly {self.shown_bounds}"
            + (f"; {self.note}" if self.note else "")
        )


def span(low: int, high: int) -> str:
    """Two counts in words; without the second where it is no less than what discreet takes as a table's rows."""
    return f"{low:,} or more" if high >= MOST_ROWS else f"{low:,} to {high:,}"


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

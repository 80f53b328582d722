"""Domains of dates: days, months or years from-to, written as ISO 8601 does, so that their texts sort as they do."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

from discreet.engine.encoding import DATES, Encoding
from discreet.errors import PolicyError
from discreet.ground.shown import shown

MOST = 1_000_000  # values of a domain of dates
EXAMPLES = {"day": "2020-03-31", "month": "2020-03", "year": "2020"}
WIDTHS = ("month", "quarter", "year", "decade")  # that days and months are put into
_WRITTEN = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Dated:
    """Every day, month or year (`by`) from `low` to `high`, both included; with `missing`, an empty cell is one more.

    A cell may hold a whole date or even a time: it is cut to what is published.
    """

    low: str
    high: str
    by: str = "day"
    paths: tuple[tuple[str, ...], ...] = ()
    missing: bool = False

    def __post_init__(self) -> None:
        if self.by not in DATES:
            raise PolicyError(f"by ({shown(self.by)}) must be one of {', '.join(DATES)}", key=("by",))
        for name in ("low", "high"):
            found = self.cut(getattr(self, name))
            if found is None:
                raise PolicyError(
                    f"dates ({shown(getattr(self, name))}) must be dates as text, such as '{EXAMPLES[self.by]}'"
                )
            object.__setattr__(self, name, found)
        if self.low > self.high:
            raise PolicyError(f"dates (['{self.low}', '{self.high}']) must be [first, last]; swap them")
        if self.by == "day" and int(self.high[:4]) - int(self.low[:4]) > MOST // 366:
            span = f"dates (['{self.low}', '{self.high}'])"
            raise PolicyError(f'{span} must have at most {MOST:,} days; narrow them, or say by = "month"')

    def cut(self, date: object) -> str | None:
        """A date (or the start of one) as the day, month or year that it is in; None where it is none, or too short."""
        found = _WRITTEN.fullmatch(date.isoformat() if isinstance(date, datetime.date) else str(date))
        if found is None or found[1] == "0000":
            return None
        try:
            datetime.date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
        except ValueError:
            return None
        kept = found[0][: len(EXAMPLES[self.by])]
        return kept if len(kept) == len(EXAMPLES[self.by]) else None

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Every day, month or year."""
        first, last = int(self.low[:4]), int(self.high[:4])
        years = range(first, last + 1)
        if self.by == "year":
            return tuple(f"{year:04}" for year in years)
        if self.by == "month":
            months = (f"{year:04}-{month:02}" for year in years for month in range(1, 13))
            return tuple(month for month in months if self.low <= month <= self.high)
        start, end = (datetime.date.fromisoformat(end).toordinal() for end in (self.low, self.high))
        return tuple(datetime.date.fromordinal(day).isoformat() for day in range(start, end + 1))

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as they are written."""
        return self.values

    def position(self, date: object) -> int:
        """How many values are before a date; raises PolicyError where it is none."""
        found = self.cut(date)
        if found is None:
            raise PolicyError(f"bands ({shown(date)}) must be dates such as '{EXAMPLES[self.by]}'")
        return bisect_left(self.values, found)

    @property
    def extent(self) -> str:
        """From where to where the values go."""
        return f"from {self.low} to {self.high}"

    def constant(self, literal: int | str | Decimal) -> str:
        """A date of a question as a day, month or year; raises ValueError with how to write it."""
        written = str(literal) if self.by == "year" else literal
        if not isinstance(written, str) or self.cut(written) != written:
            raise ValueError(f"it holds {self.by}s; write them such as '{EXAMPLES[self.by]}'")
        return written

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.missing
        return isinstance(value, str) and self.cut(value) == value and self.low <= value <= self.high

    @property
    def type(self) -> str:
        return "text"

    @property
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""
        return Encoding(self.values, self.missing)

    @property
    def given(self) -> Encoding:
        """The same values as they are read off a custodian's cells."""
        return replace(self.encoding, date=self.by)


def within(date: str, width: str) -> str:
    """The month, quarter, year or decade that a date is in."""
    if width == "month":
        return date[:7]
    if width == "quarter":
        return f"{date[:4]}-Q{(int(date[5:7]) + 2) // 3}"
    return date[:4] if width == "year" else f"{date[:3]}0s"

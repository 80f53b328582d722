"""What one classic notion says of classes: its number, the class that is worst, and why, without a cell of anybody."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.exact import Number, exact, fraction_text
from discreet.guarantee.classic.classes import Classes, Counts

_NEAR = 1e-9  # quotients of doubles that are further apart are not equal: each is right to 1e-15
Keeps = Literal["at least", "at most", "above"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A notion's number, exactly, and the worst class: which it is, its rows, and the rows of the value that makes it
    so. `number` is None where no number does. `keeps` says how a limit relates to the number that keeps it.
    """

    notion: str
    symbol: str
    number: Fraction | None
    keeps: Keeps
    group: int
    size: int
    why: str
    count: int | None = None

    @property
    def share(self) -> Fraction | None:
        """The share of that value in the worst class."""
        return None if self.count is None else Fraction(self.count, self.size)

    @property
    def value(self) -> float | None:
        """The number as a double: the nearest one."""
        return None if self.number is None else float(self.number)

    def holds(self, limit: Number) -> bool:
        """Whether every class keeps the notion with this limit, decided exactly."""
        wanted = limit_of(self.symbol, limit)
        if self.number is None:
            return False
        if self.keeps == "at least":
            return self.number >= wanted
        return wanted > self.number if self.keeps == "above" else wanted >= self.number

    def as_json(self) -> dict[str, Any]:
        return {
            "notion": self.notion,
            "symbol": self.symbol,
            "number": self.value,
            "exact": None if self.number is None else fraction_text(self.number),
            "class": self.group,
            "size": self.size,
            "count": self.count,
            "why": self.why,
        }

    def __str__(self) -> str:
        number = f"no {self.symbol} does" if self.value is None else f"{self.symbol} = {self.value:,.6g}"
        return f"{self.notion}: {number}; class {self.group:,} is worst: {self.why}"


def limit_of(symbol: str, limit: Number) -> Fraction:
    """A limit to decide by, exactly; raises PolicyError where it is no number."""
    found = exact(symbol, limit)
    if found < 0:
        raise PolicyError(f"{symbol} ({limit}) must be 0 or more")
    return found


def rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def percent(share: Fraction) -> str:
    return f"{float(100 * share):.4g} %"


def worst_place(classes: Classes, place: int) -> dict[str, int]:
    """Which class it is, and how large."""
    return {"group": int(classes.numbers[place]), "size": int(classes.people[place])}


def largest(top: Counts, bottom: Counts) -> int:
    """The place of the largest of many fractions, compared exactly; the first of equal ones. None is below 0."""
    ratio = top.astype(np.float64) / bottom.astype(np.float64)
    left = np.flatnonzero(ratio >= ratio.max() * (1 - _NEAR))
    divisor = np.gcd(top[left], bottom[left])
    tops, bottoms = top[left] // divisor, bottom[left] // divisor
    best, place = Fraction(-1), -1
    while len(left):
        if (found := Fraction(int(tops[0]), int(bottoms[0]))) > best:
            best, place = found, int(left[0])
        other = (tops != tops[0]) | (bottoms != bottoms[0])
        left, tops, bottoms = left[other], tops[other], bottoms[other]
    return place

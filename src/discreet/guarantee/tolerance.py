"""Tolerances: how probable an inference of each sensitive value may become, as exact fractions.

Paper: [WWFW] section 3.2.
Symbols: f_i the share of value i in the table, f'_i its tolerance; f'_i = min(1, theta f_i + floor) unless stated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.schema.nearest import shown

Number = Fraction | Decimal | int | float | str
_PLAIN = re.compile(r"\s*[+-]?\d{1,40}(/\d{1,40}|(\.\d{0,40})?([eE][+-]?\d{1,2})?)\s*|\s*[+-]?\.\d{1,40}\s*")


def exact(name: str, number: Number) -> Fraction:
    """Read a number as the fraction that its decimal text says: 0.05 is 1/20, not the nearest double."""
    if type(number) is Fraction:
        return number
    if isinstance(number, bool) or (isinstance(number, str) and not _PLAIN.fullmatch(number)):
        raise PolicyError(f"{name} ({shown(number)}) must be a number such as 0.05 or '1/20'")
    try:
        return Fraction(repr(float(number)) if isinstance(number, float) else number)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise PolicyError(f"{name} ({shown(number)}) must be a number such as 0.05 or '1/20'") from None


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """A tolerance for every sensitive value: linear in its share, with exceptions by value.

    A value in `values` has exactly the tolerance given there; 1 means that it is not sensitive at all.
    """

    theta: Number = 0
    floor: Number = 0
    values: Mapping[object, Number] = field(default_factory=dict)

    def __post_init__(self) -> None:
        theta, floor = exact("theta", self.theta), exact("floor", self.floor)
        if theta < 0:
            raise PolicyError(f"theta ({self.theta}) must be 0 or more; tolerances grow with frequency")
        if not 0 <= floor <= 1:
            raise PolicyError(f"floor ({self.floor}) must be between 0 and 1; it is a probability")
        values = {value: exact(f"tolerance of {value}", number) for value, number in self.values.items()}
        for value, number in values.items():
            if not 0 < number <= 1:
                raise PolicyError(
                    f"tolerance of {value} ({self.values[value]}) must be above 0 and at most 1; "
                    "it is a probability, and 1 means not sensitive"
                )
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "floor", floor)
        object.__setattr__(self, "values", values)

    def __hash__(self) -> int:
        return hash((self.theta, self.floor, tuple(sorted(map(str, self.values.items())))))

    def of(self, counts: Mapping[object, int]) -> dict[object, Fraction]:
        """The tolerance of each value, given how often each occurs; only a value that does not occur may have 0."""
        rows = sum(int(count) for count in counts.values())
        theta, floor = Fraction(self.theta), Fraction(self.floor)
        tolerance = {
            value: Fraction(self.values[value])
            if value in self.values
            else min(Fraction(1), theta * Fraction(int(count), rows or 1) + floor)
            for value, count in counts.items()
        }
        if zero := [value for value, number in tolerance.items() if number == 0 and counts[value]]:
            raise PolicyError(
                f"tolerance of {name_some(zero)} must be above 0; set floor or theta, or give the values their own"
            )
        return tolerance


def name_some(values: list[object] | tuple[object, ...], most: int = 5) -> str:
    """The first few values in words, with how many more there are."""
    shown = ", ".join(str(value) for value in values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown

"""Domains of decimals: from-to in steps, each exactly what its text says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from discreet.engine.encoding import WIDTH, Encoding
from discreet.errors import PolicyError
from discreet.ground.shown import shown

MOST = 1_000_000  # values of a domain of decimals
_LONGEST = 40  # digits before or after the point that are looked at
_PLAIN = re.compile(r"[+-]?[0-9]+([.][0-9]+|/[1-9][0-9]*)?", re.ASCII)
_MOST_DIGITS = 9  # after the point
_LARGEST = 10 ** (WIDTH - 3)  # steps of the last digit, so that every value is also a double


@dataclass(frozen=True, kw_only=True)
class Stepped:
    """All whole multiples of `step` from `low` to `high`, both included; with `missing`, an empty cell is one more.

    Numbers are given as text or as `Decimal`, and are exactly that; all values have as many digits after the point as
    the longest of the three.
    """

    low: Decimal
    high: Decimal
    step: Decimal
    paths: tuple[tuple[str, ...], ...] = ()
    missing: bool = False

    def __post_init__(self) -> None:
        ends = {name: _fraction(name, getattr(self, name)) for name in ("low", "high", "step")}
        digits = max(1, *map(_digits, ends.values()))  # one at least, so that a decimal looks like one
        units = {name: int(end * 10**digits) for name, end in ends.items()}
        for name, unit in units.items():
            object.__setattr__(self, name, Decimal(unit).scaleb(-digits))
        span, step = f"decimals ([{self.low}, {self.high}])", units["step"]
        if step <= 0:
            raise PolicyError(f"step ({self.step}) must be above 0, such as 0.1", key=("step",))
        if units["low"] > units["high"]:
            raise PolicyError(f"{span} must be [lowest, highest]; swap them")
        if units["low"] % step or units["high"] % step:
            raise PolicyError(f"{span} must be whole multiples of step ({self.step}); begin and end on a step")
        if max(abs(units["low"]), abs(units["high"])) >= _LARGEST:
            raise PolicyError(f"{span} must have fewer digits; use a larger step")
        if (units["high"] - units["low"]) // step >= MOST:
            raise PolicyError(f"{span} must have at most {MOST:,} values; use a larger step", key=("step",))

    @property
    def scale(self) -> int:
        """Digits after the point."""
        return -int(self.step.as_tuple().exponent)

    @property
    def steps(self) -> range:
        """The values in units of the last digit."""
        low, high, step = (int(end.scaleb(self.scale)) for end in (self.low, self.high, self.step))
        return range(low, high + 1, step)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values as they are written."""
        return tuple(map(self.text, self.steps))

    def text(self, steps: int) -> str:
        """A number of units of the last digit, as it is written."""
        return f"{Decimal(steps).scaleb(-self.scale):f}"

    def position(self, number: object) -> int:
        """How many values are below a number; raises PolicyError where it is none."""
        found = _exact(number)
        if found is None:
            raise PolicyError(f"bands ({shown(number)}) must be numbers")
        return min(max(-(-(found - Fraction(self.low)) // Fraction(self.step)), 0), len(self.steps))

    @property
    def extent(self) -> str:
        """From where to where the values go."""
        return f"from {self.low} to {self.high} in steps of {self.step}"

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.missing
        if not isinstance(value, int | Decimal) or isinstance(value, bool) or not Decimal(value).is_finite():
            return False
        return self.low <= value <= self.high and Fraction(value) % Fraction(self.step) == 0

    @property
    def type(self) -> str:
        return "number"

    @property
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""
        return Encoding(self.steps, self.missing, scale=self.scale)


def _fraction(name: str, number: object) -> Fraction:
    """A number that has an end when it is written as a decimal."""
    found = _exact(number)
    if found is None or _digits(found) > _MOST_DIGITS:
        raise PolicyError(
            f"{name} ({shown(number)}) must be a decimal of at most {_MOST_DIGITS} digits after the point, such as 0.1",
            key=("step",) if name == "step" else (),
        )
    return found


def _exact(number: object) -> Fraction | None:
    """A number that is not the nearest double of another, and not too long to be written out."""
    if isinstance(number, bool) or not isinstance(number, int | Fraction | Decimal | str):
        return None
    if isinstance(number, Decimal) and not (number.is_finite() and abs(number.adjusted()) < _LONGEST):
        return None
    written = f"{number:f}" if isinstance(number, Decimal) else str(number)
    return Fraction(written) if len(written) <= 2 * _LONGEST and _PLAIN.fullmatch(written) else None


def _digits(number: Fraction) -> int:
    """Digits after the point; more than are allowed where they do not end."""
    return next((digits for digits in range(_MOST_DIGITS + 1) if 10**digits % number.denominator == 0), 99)

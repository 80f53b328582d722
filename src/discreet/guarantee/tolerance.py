"""Tolerances: how probable an inference of each sensitive value may become, as exact fractions.

Paper: [WWFW] section 3.2.
Symbols: f_i the share of value i in the table, f'_i its tolerance; unless stated, f'_i = min(ceiling, theta f_i +
    floor).
Departs: the paper's ceiling is 1, so a frequent value is not protected at all; a lower one protects it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import PolicyError
from discreet.ground.exact import Number, exact
from discreet.ground.shown import name_some
from discreet.schema.domain import key_of


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """A tolerance for every sensitive value: linear in its share, with exceptions by value.

    A value in `values` has exactly the tolerance given there; 1 means that it is not sensitive at all. No other value
    has more than `ceiling`.
    """

    theta: Number = 0
    floor: Number = 0
    values: Mapping[object, Number] = field(default_factory=dict)
    ceiling: Number = 1

    def __post_init__(self) -> None:
        theta, floor = exact("theta", self.theta), exact("floor", self.floor)
        if theta < 0:
            raise PolicyError(f"theta ({self.theta}) must be 0 or more; tolerances grow with frequency", key=("theta",))
        if not 0 <= floor <= 1:
            raise PolicyError(f"floor ({self.floor}) must be between 0 and 1; it is a probability", key=("floor",))
        ceiling = exact("ceiling", self.ceiling)
        if not 0 < ceiling <= 1:
            raise PolicyError(
                f"ceiling ({self.ceiling}) must be above 0 and at most 1; it is a probability, and 1 leaves frequent "
                "values unprotected",
                key=("ceiling",),
            )
        values = {
            value: exact(f"tolerance of {value}", number, key=("values", key_of(value)))
            for value, number in self.values.items()
        }
        for value, number in values.items():
            if not 0 < number <= 1:
                raise PolicyError(
                    f"tolerance of {value} ({self.values[value]}) must be above 0 and at most 1; "
                    "it is a probability, and 1 means not sensitive",
                    key=("values", key_of(value)),
                )
        object.__setattr__(self, "theta", theta)
        object.__setattr__(self, "floor", floor)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "ceiling", ceiling)

    def __hash__(self) -> int:
        return hash((self.theta, self.floor, self.ceiling, tuple(sorted(map(str, self.values.items())))))

    def of(self, counts: Mapping[object, int]) -> dict[object, Fraction]:
        """The tolerance of each value, given how often each occurs; only a value that does not occur may have 0."""
        rows = sum(int(count) for count in counts.values())
        theta, floor, ceiling = Fraction(self.theta), Fraction(self.floor), Fraction(self.ceiling)
        tolerance = {
            value: Fraction(self.values[value])
            if value in self.values
            else min(ceiling, theta * Fraction(int(count), rows or 1) + floor)
            for value, count in counts.items()
        }
        if zero := [value for value, number in tolerance.items() if number == 0 and counts[value]]:
            raise PolicyError(
                f"tolerance of {name_some(zero)} must be above 0; set floor or theta, or give the values their own"
            )
        return tolerance

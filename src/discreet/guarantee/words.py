"""How numbers stand in words and in releases."""

from __future__ import annotations

from fractions import Fraction


def fraction_text(number: Fraction) -> str:
    """A fraction as a release states it."""
    return f"{number.numerator}/{number.denominator}"


def percent(number: Fraction) -> str:
    """A probability in words."""
    return f"{float(number) * 100:.4g} %"

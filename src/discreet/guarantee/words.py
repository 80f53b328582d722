"""How numbers stand in words."""

from __future__ import annotations

from fractions import Fraction


def percent(number: Fraction) -> str:
    """A probability in words."""
    return f"{float(number) * 100:.4g} %"

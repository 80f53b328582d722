"""What the facts of every notion say alike, and how numbers stand in them."""

from __future__ import annotations

from fractions import Fraction


def again_warning(continued: bool) -> dict[str, str]:
    """What a release says where its series has others that it does not share a promise with."""
    if not continued:
        return {}
    return {
        "warning": "The custodian has released rows from this series before and said that this release stands on its "
        "own. If the same people are in both, the promise does not cover what the two releases give away together."
    }


def fraction_text(number: Fraction) -> str:
    """A fraction as a release states it."""
    return f"{number.numerator}/{number.denominator}"


def percent(number: Fraction) -> str:
    """A probability in words."""
    return f"{float(number) * 100:.4g} %"

"""Exact numbers: read from what people and releases write, and printed again, in one place and with one limit.

A number is the fraction that its decimal text says: 0.05 is 1/20, not the nearest double. Written as 'a/b' it has at
most `LONGEST` characters, whoever wrote it: that holds every double, and no text or exponent takes long to read.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real

from discreet.errors import PolicyError
from discreet.ground.shown import shown

Number = Fraction | Decimal | int | float | str
LONGEST = 400
_PLAIN = re.compile(r"[+-]?([0-9]+(/[0-9]+|(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?)|\.[0-9]+([eE][+-]?[0-9]{1,3})?)")
_STATED = re.compile(r"[0-9]+(/[0-9]+)?")
_BITS = LONGEST * 10 // 3  # a number of so many bits has more digits than fit
_SURE = 3 * LONGEST  # both numbers of a fraction with so many bits together fit, with a sign and the bar


def fraction_of(given: object) -> Fraction | None:
    """The number that somebody gave, exactly; None where it is none, or too long.

    Texts are such as '0.05', '1/20', '2e-3' and ' 5 ', in ASCII digits. Numbers of other libraries are what they print.
    """
    if type(given) is Fraction and type(given.numerator) is type(given.denominator) is int:
        return _within(given)  # the most frequent, as it is: others may have numerators that overflow
    if isinstance(given, bool):
        return None
    if isinstance(given, Rational):
        return _within(Fraction(int(given.numerator), int(given.denominator)))
    if isinstance(given, float):
        return _plain(repr(float(given)))
    return _plain(str(given).strip()) if isinstance(given, str | Decimal | Real) else None


def stated(text: object) -> Fraction | None:
    """A number as a release states it, such as '8' or '1/50'; None for anything else, however long."""
    return _read(text) if isinstance(text, str) and len(text) <= LONGEST and _STATED.fullmatch(text) else None


def exact(name: str, number: object, *, key: tuple[str, ...] | None = None) -> Fraction:
    """The number, exactly; raises PolicyError where it is none. Its key is the name, unless another is given."""
    found = fraction_of(number)
    if found is None:
        key = (name,) if key is None else key
        raise PolicyError(f"{name} ({shown(number)}) must be a number such as 0.05 or '1/20'", key=key)
    return found


def fraction_text(number: Fraction) -> str:
    """A fraction as a guarantee states it: always 'a/b'."""
    return f"{number.numerator}/{number.denominator}"


def plain_number(value: object) -> object:
    """A value as JSON carries it: a decimal is the number that is written so, and everything else is itself."""
    return float(value) if isinstance(value, Decimal) else value


def exact_value(value: object) -> object:
    """A value that JSON carried, as it was: a number with a point is the decimal that is written so."""
    return Decimal(repr(value)) if isinstance(value, float) else value


def toml_number(number: Fraction) -> int | Decimal | str:
    """A fraction as TOML can carry it exactly: a whole number, a decimal, or text such as '1/3'."""
    if number.denominator == 1:
        return number.numerator
    decimal = Decimal(number.numerator) / Decimal(number.denominator)
    return decimal if Fraction(decimal) == number else fraction_text(number)


def _plain(text: str) -> Fraction | None:
    return _read(text) if len(text) <= LONGEST and _PLAIN.fullmatch(text) else None


def _read(text: str) -> Fraction | None:
    try:
        return _within(Fraction(text))
    except ZeroDivisionError:
        return None


def _within(number: Fraction) -> Fraction | None:
    bits = number.numerator.bit_length() + number.denominator.bit_length()
    if bits < _SURE:
        return number
    return number if bits < 2 * _BITS and len(fraction_text(number)) <= LONGEST else None

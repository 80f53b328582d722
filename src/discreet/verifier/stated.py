"""What a manifest states, read once more on the verifier's side: exact, strict about types, and without a default.

Nothing here is shared with what writes manifests, nor with what reads them for analysts.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.errors import ReleaseError
from discreet.ground.exact import stated


def keys(data: Any, name: str, *wanted: str, optional: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """An object that has exactly these keys, and some of the optional ones."""
    if type(data) is not dict or not set(wanted) <= set(data) <= {*wanted, *optional}:
        raise ReleaseError(f"{name} must have exactly the keys {', '.join((*wanted, *optional))}")
    return data


def whole(data: Any, name: str, least: int = 0, most: int | None = None) -> int:
    """A whole number within limits: true and 1.0 are none."""
    if type(data) is not int or data < least or (most is not None and data > most):
        raise ReleaseError(f"{name} must be a whole number, {least} or more")
    return data


def listed(data: Any, name: str) -> list[Any]:
    """A list."""
    if type(data) is not list:
        raise ReleaseError(f"{name} must be a list")
    return data


def one_of(data: Any, name: str, *words: str) -> str:
    """One of some words."""
    if type(data) is not str or data not in words:
        raise ReleaseError(f"{name} must be one of {', '.join(words)}")
    return data


def fraction(data: Any, name: str) -> Fraction:
    """A number of 0 or more, as a release states it: '8' or '1/20' in digits."""
    found = stated(data)
    if found is None:
        raise ReleaseError(f"{name} must be a fraction in digits")
    return found


def cell(data: Any, name: str) -> int | str | Decimal | None:
    """A value of a domain: a number with a point is the decimal that is written so, null is the missing cell."""
    if data is not None and type(data) not in (int, float, str):
        raise ReleaseError(f"{name} must be a value of a domain")
    return Decimal(repr(data)) if type(data) is float else data

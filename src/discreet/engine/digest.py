"""The digest of a cell: one number for all ways to write the same value, whatever the type of its column.

A whole number is written in digits alone, so that '02139', 2139 and 2139.0 agree; everything else is its text without
spaces around it. An engine gives the same numbers for its columns.
"""

from __future__ import annotations

import hashlib
import re

EMPTY = " "  # written for the empty cell; no cell is written so, for spaces around it are cut
LIMITS = (-(2**63), 2**63 - 1)  # whole numbers beyond them stay as they are written
_WHOLE = re.compile(r"([+-]?)0*([0-9]+)", re.ASCII)
_DIGITS = 19  # that a number within the limits has at most


def written(value: object) -> str:
    """The one way to write a value."""
    if value is None:
        return EMPTY
    text = str(value).strip(" ")
    if (whole := _WHOLE.fullmatch(text)) is not None and len(whole[2]) <= _DIGITS:
        number = int(whole[1] + whole[2])
        return str(number) if LIMITS[0] <= number <= LIMITS[1] else text
    return text


def digest_of(value: object) -> int:
    """64 bits of a value: the first half of the MD5 of how it is written; None is the empty cell."""
    digest = hashlib.md5(written(value).encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:8], "little")

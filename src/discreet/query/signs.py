"""The signs of order, and what comes before or after a value in a list."""

from __future__ import annotations

import operator
from collections.abc import Sequence

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}  # the same with its sides exchanged


def chosen(values: Sequence[str], sign: str, limit: object) -> list[str]:
    """The values before or after one of them."""
    place = values.index(str(limit))
    return [value for number, value in enumerate(values) if SIGNS[sign](number, place)]

"""Intervals of whole numbers, as people write them on the upper levels of a hierarchy."""

from __future__ import annotations

import math
import re

Interval = tuple[float, float]  # lowest and highest, both included; whole numbers, or infinite

_NUMBER = r"-?[0-9]{1,18}"
_FROM_TO = re.compile(rf"({_NUMBER})\s*(?:-|–|\.\.)\s*({_NUMBER})")
_BRACKETS = re.compile(rf"([\[\](])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\[\])])")
_ONE_SIDED = re.compile(rf"(<=|>=|[<>≤≥])\s*({_NUMBER})")
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")


def interval(label: str) -> Interval | None:
    """The whole numbers that a label names, or None where it is no interval.

    Known are "0-4", "0..4", "[0, 5[", "[0,5)", "]0, 5]", "(0,5]", "<5", ">=65" and "65+"; a negative bound has its
    sign: "-10--6".
    """
    if found := _FROM_TO.fullmatch(label):
        return int(found[1]), int(found[2])
    if found := _BRACKETS.fullmatch(label):
        return int(found[2]) + (found[1] != "["), int(found[3]) - (found[4] != "]")
    if found := _ONE_SIDED.fullmatch(label):
        bound = int(found[2])
        match found[1]:
            case "<":
                return -math.inf, bound - 1
            case "<=" | "≤":
                return -math.inf, bound
            case ">":
                return bound + 1, math.inf
            case _:
                return bound, math.inf
    if found := _AND_MORE.fullmatch(label):
        return int(found[1]), math.inf
    return None

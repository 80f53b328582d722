"""Kinds of columns of text, told by how their cells are written: whole, fraction, date, text."""

from __future__ import annotations

import re
from collections.abc import Iterable

LARGEST_WHOLE = 2**53 - 1  # the largest limit that a domain of whole numbers takes
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_DATE = re.compile(
    r"([0-9]{4}([-/.])[0-9]{1,2}\2[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\3([0-9]{4}|[0-9]{2}))([T ].*)?", re.ASCII
)


def is_whole(text: str) -> bool:
    """A whole number as a computer writes it: no leading zero, no plus sign, no space."""
    return _WHOLE.fullmatch(text) is not None and abs(int(text)) <= LARGEST_WHOLE


def kind_of_texts(texts: Iterable[str]) -> str:
    """The kind that all these texts have; leading zeros, as in zip codes, make them text."""
    listed = list(texts)
    if all(map(is_whole, listed)):
        return "whole"
    if all(map(_DATE.fullmatch, listed)):
        return "date"
    numbers = all(map(_NUMBER.fullmatch, listed))
    return "fraction" if numbers and any(set(text) & set(".,eE") for text in listed) else "text"

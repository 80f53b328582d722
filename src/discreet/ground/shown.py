"""What a message shows of names, lists and texts from strangers: one line, safe to print, and not long."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from itertools import islice

FEW = 5


def shown(given: object, most: int = 40) -> str:
    """What somebody wrote, for a message: one line, and not long."""
    try:
        text = str(given)
    except ValueError:  # a whole number of thousands of digits
        text = "a very long number"
    words = "".join(sign if sign.isprintable() else " " for sign in text[: most + 1])
    return words if len(words) <= most else words[:most] + "..."


def name_some(names: Iterable[object], total: int | None = None, *, most: int = FEW) -> str:
    """The first few of `total` names, and how many more there are: 'a, b, c and 4 more'.

    Of names that come one by one only the first few are asked for; say their number as `total`.
    """
    if total is None:
        names = names if isinstance(names, Sized) else tuple(names)
        total = len(names)
    first = ", ".join(map(str, islice(names, most)))
    return " ".join(part for part in (first, and_more(total, most)) if part)


def and_more(total: int, most: int = FEW) -> str:
    """'and 4 more' behind the first few of `total` things; nothing where there are no more."""
    return f"and {total - most:,} more" if total > most else ""


def plain(text: str, most: int | None = None) -> str:
    """A text that a terminal takes as text: what does not print is spelt out, and beyond `most` it is cut."""
    cut = text if most is None or len(text) <= most else text[: most - 3] + "..."
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut)


def name_of(value: object) -> str:
    """A value as people read it on one line, also where there is nothing to read."""
    return "(missing)" if value is None else "(empty text)" if value == "" else plain(str(value))

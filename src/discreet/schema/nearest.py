"""The nearest of the names that exist, for messages about one that does not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice


def did_you_mean(wrong: object, known: Iterable[object]) -> str:
    """'; did you mean X?' where some known name is close, else the first few that exist."""
    names = _named(known)
    some = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    return nearest(wrong, names) or (f"; there is {some}" if names else "")


def nearest(wrong: object, known: Iterable[object]) -> str:
    """'; did you mean X?' where some known name is close, else nothing: for names that may be cells by mistake."""
    close = nearest_name(wrong, known)
    return "" if close is None else f"; did you mean {close}?"


def nearest_name(wrong: object, known: Iterable[object]) -> str | None:
    """The known name that is close to a wrong one, letter case aside; None where none is."""
    folded = {name.casefold(): name for name in _named(known)}
    close = get_close_matches(str(wrong).casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def _named(known: Iterable[object]) -> list[str]:
    return [str(name) for name in islice(known, 10_000) if name is not None]  # None is the missing cell

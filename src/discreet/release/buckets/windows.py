"""Windows of a near release: how many there are, which buckets lie in which, and how large they are by the rule.

Rows are ordered along a curve through the quasi-identifiers and cut into windows; every bucket has rows of one window.
The number of windows and their sizes follow from the number of rows and the size of a window alone: there are
max(1, rows // window) of them, each of exactly `window` rows but for the last, which also takes the rest.

The rule, where no window is declared, is a function of what every release publishes: with c_x of n rows having value x
and the tolerance f'_x = p/q below 1, a window drawn at random exceeds it hardly ever (Bernstein) from
    320 p q n (n - c_x) / (p n - q c_x)^2
rows on; eight times as much as one in a million takes, for windows along a curve differ more than random ones. A window
has that many rows for every x, n // 400 and min(5,000, n // 6) at least, and 500; and n at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import ReleaseError
from discreet.schema.domain import Domain

NEAR_NUMBERS = ("windows", "refused_windows")  # that near releases state, and no others
_MARGIN, _LEAST, _GOOD, _FEWEST, _MOST = 320, 500, 5_000, 6, 400


@dataclass(frozen=True, kw_only=True)
class Near:
    """How many rows a window has; `declared` says that the policy gave the number, else it follows from the rule."""

    window: int
    declared: bool

    def as_json(self) -> dict[str, Any]:
        return {"assignment": "near", "window": self.window, "window_declared": self.declared}


@dataclass(frozen=True, kw_only=True)
class Window:
    """So many consecutive rows of the curve, in the buckets with the ids `first` to `last`."""

    rows: int
    first: int
    last: int

    def as_json(self) -> dict[str, int]:
        return {"rows": self.rows, "first": self.first, "last": self.last}


def by_frequency(domain: Domain) -> bool:
    """Whether the curve takes values by how often they occur: a list says nothing of which of them are alike."""
    return not domain.in_order and not domain.paths


def sizes_of(rows: int, window: int) -> list[int]:
    """How many rows each window has, in the order of the curve."""
    number = max(1, rows // window)
    return [*[window] * (number - 1), rows - window * (number - 1)]


def window_by_rule(rows: int, held: Iterable[tuple[int, Fraction]]) -> int:
    """How many rows a window has where none are declared, from how many have each value and its tolerance."""
    needed = [_LEAST, rows // _MOST, min(_GOOD, rows // _FEWEST)]
    for count, limit in held:
        if count and limit < 1:
            top, bottom = limit.numerator, limit.denominator
            over = top * rows - bottom * count
            most = _MARGIN * top * bottom * rows * (rows - count)
            needed.append(-(-most // over**2) if over > 0 else rows)
    return min(rows, max(needed))


def near_from_json(data: Mapping[str, Any]) -> tuple[Near | None, dict[str, Any]]:
    """What a mechanism states of windows, None where its buckets are random, and the rest of what it states."""
    rest = {name: value for name, value in data.items() if name not in ("assignment", "window", "window_declared")}
    if len(rest) == len(data):
        return None, rest
    match data:
        case {"assignment": "near", "window": int(window), "window_declared": bool(declared)} if (
            type(window) is int and window > 0
        ):
            return Near(window=window, declared=declared), rest
        case _:
            raise ReleaseError(
                'assignment must be "near" beside window, 1 or more, and window_declared, true or false; a release '
                "with random buckets states none of them"
            )


def windows_from_json(block: Mapping[str, Any]) -> tuple[tuple[Window, ...], tuple[int, ...]]:
    """The windows of a near release, and those that were refused before it; raises ReleaseError where they are none."""
    found = []
    for each in block["windows"] if isinstance(block["windows"], list) else [None]:
        match each:
            case {"rows": int(rows), "first": int(first), "last": int(last), **more} if (
                not more and bool not in map(type, (rows, first, last)) and rows > 0 and 0 < first <= last
            ):
                found.append(Window(rows=rows, first=first, last=last))
            case _:
                raise ReleaseError("windows must be a list of {rows, first, last}, whole numbers of 1 or more")
    refused = block["refused_windows"]
    if type(refused) is not list or not all(type(each) is int and each > 0 for each in refused):
        raise ReleaseError("refused_windows must be a list of whole numbers of 1 or more")
    if refused != sorted(set(refused)):
        raise ReleaseError("refused_windows must be ascending, each number once")
    return tuple(found), tuple(refused)

"""Statistics: they say of the cells exactly what the cells say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import ReleaseError
from discreet.ground.arrays import Bools
from discreet.verifier.layout.cells import BYTES, DOUBLE, Type
from discreet.verifier.layout.pages import Page

_SHORT = 256  # bytes of text that DuckDB states at most, from 1.4 on
_LAST = 0x7E  # the last byte that can be raised by one and stays text


@dataclass(frozen=True, kw_only=True)
class Found:
    """What pages hold: rows, how many have a cell, the least and the greatest, the same of text shortened before, the
    bytes of all text, and how many cells are no number. `odd` says for which cells a writer may leave limits out.
    """

    rows: int
    present: int
    limits: tuple[Any, Any] | None
    short: tuple[Any, Any] | None
    text: int
    no_numbers: int
    odd: frozenset[str]

    @classmethod
    def of(cls, page: Page, dictionary: Any, used: Bools, kind: Type, *, text: bool) -> Found:
        """What one page holds; of a dictionary it has `used` some, and bytes of `text` are for who asks for them."""
        cells = page.cells if page.places is None else dictionary
        own = cells if page.places is None else chosen(dictionary, used)
        limits = kind.limits(own)
        return cls(
            rows=page.rows,
            present=page.present,
            limits=limits,
            short=_shortened(own, limits),
            text=page.total(_lengths(cells)) if text and kind.number == BYTES else 0,
            no_numbers=page.total(np.isnan(cells)) if kind.number == DOUBLE else 0,
            odd=odd(own, limits),
        )

    @classmethod
    def together(cls, found: Iterable[Found], kind: Type) -> Found:
        """What several pages hold."""
        each = [*found]
        ends = [limit for one in each if one.limits is not None for limit in one.limits]
        short = [one.short for one in each if one.short is not None]
        limits = kind.limits(np.array(ends) if kind.numeric else ends)
        return cls(
            rows=sum(one.rows for one in each),
            present=sum(one.present for one in each),
            limits=limits,
            short=limits
            if kind.numeric or not short
            else (min(low for low, _ in short), max(high for _, high in short)),
            text=sum(one.text for one in each),
            no_numbers=sum(one.no_numbers for one in each),
            odd=frozenset().union(*(one.odd for one in each)),
        )


def odd(cells: Any, limits: tuple[Any, Any] | None) -> frozenset[str]:
    """What of text decides whether a writer states limits, and whether they are exact: long text, and empty text."""
    if not isinstance(cells, list) or limits is None:
        return frozenset()
    found = {"text": max(map(len, cells)), "least": len(limits[0]), "greatest": len(limits[1])}
    long = {f"long {name}" for name, length in found.items() if length > _SHORT}
    empty = {f"empty {name}" for name, length in found.items() if not length}
    return frozenset(long | empty | (set() if _short(limits[1], greatest=True) else {"none above"}))


def _short(cell: bytes, *, greatest: bool) -> bytes:
    """Long text, shortened to one that is below or above; empty where there is none above."""
    if len(cell) <= _SHORT:
        return cell
    short = cell[:_SHORT].decode("utf-8", "ignore").encode()
    if not greatest:
        return short
    while short and short[-1] > _LAST:
        short = short[:-1]
    return short[:-1] + bytes(each + 1 for each in short[-1:])


def _shortened(cells: Any, limits: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
    """The least and the greatest of cells, each shortened before it is compared."""
    if not isinstance(cells, list) or max(map(len, cells), default=0) <= _SHORT:
        return limits
    return min(_short(each, greatest=False) for each in cells), max(_short(each, greatest=True) for each in cells)


def _forms(kind: Type, cell: Any, *, greatest: bool) -> frozenset[bytes]:
    """How a limit may be written: as it is, or where it is long text shortened."""
    whole = kind.written(cell)
    return whole if kind.number != BYTES else whole | {_short(cell, greatest=greatest)}


def chosen(dictionary: Any, used: Bools) -> Any:
    """The entries of a dictionary that are used."""
    if isinstance(dictionary, list):
        return [dictionary[place] for place in np.flatnonzero(used).tolist()]
    return dictionary[used]


def _lengths(cells: list[bytes]) -> Any:
    return np.fromiter(map(len, cells), dtype=np.int64, count=len(cells))


def check_statistics(
    stated: Mapping[str, Any], kind: Type, found: Found, *, entries: int, others: Sequence[Any] = ()
) -> None:
    """What is stated of cells is so; least and greatest may also be those of `others`."""
    right = {"null_count": found.rows - found.present, "distinct_count": entries, "nan_count": found.no_numbers}
    if any(stated.get(key, each) != each for key, each in right.items()):
        raise ReleaseError("its statistics count other cells than it has")
    if "nan_count" in stated and kind.number != DOUBLE:
        raise ReleaseError("its statistics count what only numbers have")
    limits = [found.limits, found.short]
    for cells in others:
        limits += [own := kind.limits(cells), _shortened(cells, own)]
    for place, names in enumerate((("min", "min_value"), ("max", "max_value"))):
        fitting = {
            form for each in limits if each is not None for form in _forms(kind, each[place], greatest=bool(place))
        }
        if any(stated[name] not in fitting for name in names if name in stated):
            raise ReleaseError("its statistics name other limits than its cells have")
    sides = ("min_value", "max_value")
    exact = [stated.get(f"is_{name}_exact") for name in sides]
    whole = [
        limit in kind.written(cell) for limit, cell in zip(map(stated.get, sides), found.limits or (), strict=False)
    ]
    if exact[0] != exact[1] and exact != whole:
        raise ReleaseError("its statistics are exact on one side alone")

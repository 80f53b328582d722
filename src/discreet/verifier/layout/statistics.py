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
    """What pages hold: rows, how many have a cell, the least and the greatest, the bytes of all text, and how many
    cells are no number.
    """

    rows: int
    present: int
    limits: tuple[Any, Any] | None
    text: int
    no_numbers: int

    @property
    def long(self) -> bool:
        """Whether a limit is text that a writer may shorten or leave out."""
        return any(isinstance(each, bytes) and len(each) > _SHORT for each in self.limits or ())

    @classmethod
    def of(cls, page: Page, dictionary: Any, used: Bools, kind: Type, *, text: bool) -> Found:
        """What one page holds; of a dictionary it has `used` some, and bytes of `text` are for who asks for them."""
        cells = page.cells if page.places is None else dictionary
        return cls(
            rows=page.rows,
            present=page.present,
            limits=kind.limits(cells if page.places is None else chosen(dictionary, used)),
            text=page.total(_lengths(cells)) if text and kind.number == BYTES else 0,
            no_numbers=page.total(np.isnan(cells)) if kind.number == DOUBLE else 0,
        )

    @classmethod
    def together(cls, found: Iterable[Found], kind: Type) -> Found:
        """What several pages hold."""
        each = [*found]
        ends = [limit for one in each if one.limits is not None for limit in one.limits]
        return cls(
            rows=sum(one.rows for one in each),
            present=sum(one.present for one in each),
            limits=kind.limits(np.array(ends) if kind.numeric else ends),
            text=sum(one.text for one in each),
            no_numbers=sum(one.no_numbers for one in each),
        )


def _forms(kind: Type, cell: Any, greatest: bool) -> frozenset[bytes]:
    """How a limit may be written: as it is, or where it is long text shortened to one that is below or above."""
    if not isinstance(cell, bytes) or len(cell) <= _SHORT:
        return kind.written(cell)
    short = cell[:_SHORT].decode("utf-8", "ignore").encode()
    if greatest:
        while short and short[-1] > _LAST:
            short = short[:-1]
        short = short[:-1] + bytes(each + 1 for each in short[-1:])
    return frozenset([cell, short])


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
    limits = [found.limits, *map(kind.limits, others)]
    for place, names in enumerate((("min", "min_value"), ("max", "max_value"))):
        fitting = {form for each in limits if each is not None for form in _forms(kind, each[place], bool(place))}
        if any(stated[name] not in fitting for name in names if name in stated):
            raise ReleaseError("its statistics name other limits than its cells have")
    if stated.get("is_max_value_exact") != stated.get("is_min_value_exact") and not found.long:
        raise ReleaseError("its statistics are exact on one side alone")

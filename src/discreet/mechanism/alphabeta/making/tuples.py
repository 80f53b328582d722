"""The tuples of a table as a set: distinct ones, or records in random slots.

Departs: [RSH] takes a table for a set. With slots, every copy of a tuple gets a random place of its own, so that
    records are counted, and no two copies show as one tuple twice.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import TableError
from discreet.ground.arrays import Ints
from discreet.mechanism.alphabeta.making.codes import Radix, distinct
from discreet.schema.schema import Schema
from discreet.table.table import Table


def radix_of(schema: Schema, slots: int = 1) -> Radix:
    """The mixed radix of the published columns, with the slot last where there are several."""
    sizes = tuple(len(schema.domains[name]) for name in schema.columns)
    return Radix(sizes=sizes if slots == 1 else (*sizes, slots))


def distinct_tuples(table: Table, radix: Radix) -> Ints:
    """The table as a set, packed and in order."""
    packed = [radix.pack(codes) for codes in table.distinct()]
    return distinct(np.concatenate([np.zeros((len(radix.words), 0), dtype=np.int64), *packed], axis=1))


def every_row(table: Table, radix: Radix) -> Ints:
    """All rows, packed and in order, copies side by side."""
    packed = [radix.pack(codes) for codes in table.codes()]
    rows = np.concatenate([np.zeros((len(radix.words), 0), dtype=np.int64), *packed], axis=1)
    return rows[:, np.lexsort(rows[::-1])]


def check_copies(rows: Ints, slots: int) -> None:
    """Raise TableError where a tuple of these rows (in order) has more copies than there are slots."""
    if rows.shape[1] and int(np.bincount(_tuple_of(rows)).max()) > slots:
        raise TableError(
            f"slots ({slots}) must be as many as the copies of a tuple; raise slots, or publish finer columns",
            key=("slots",),
        )


def _tuple_of(rows: Ints) -> Ints:
    """The number of the distinct tuple that each row (in order) is."""
    fresh = np.ones(rows.shape[1], dtype=np.bool_)
    fresh[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    return np.cumsum(fresh) - 1


def in_slots(rows: Ints, radix: Radix, slotted: Radix, coins: np.random.Generator) -> Ints:
    """Every row (in order) as a tuple with a slot; the copies of a tuple have a uniform set of distinct slots."""
    slots = slotted.sizes[-1]
    number = rows.shape[1]
    check_copies(rows, slots)
    tuple_of = _tuple_of(rows)
    slot: Ints = coins.integers(0, slots, size=(number,))
    while True:  # whoever finds a slot taken draws again: nothing tells one slot from another, so the set is uniform
        order = np.lexsort((np.arange(number), slot, tuple_of))
        same = (np.diff(tuple_of[order]) == 0) & (np.diff(slot[order]) == 0)
        taken = order[1:][same]
        if not len(taken):
            break
        slot[taken] = coins.integers(0, slots, size=len(taken))
    return distinct(slotted.pack([*radix.unpack(rows), slot]))

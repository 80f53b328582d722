"""Whether buckets hold what the stated composition gives them.

Evenly: no two buckets of one size, of one window, differ by more than one in how often they hold a value. In turn: as
well, and what is left over is dealt around the buckets, value after value in the order of their domain. A free
composition may be any that keeps the tolerances, an even one too.
Symbols: of one size, b buckets of s values each, fakes included; r_x of them are x, and r_x mod b are left over.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.engine.columns import numbers
from discreet.engine.duck.sql import code, identifier
from discreet.ground.arrays import Ints
from discreet.verifier.buckets.held import classes, sizes
from discreet.verifier.buckets.stated import stated
from discreet.verifier.files import Files


def broken_composition(files: Files) -> str | None:
    """What is wrong with what buckets of one size hold."""
    own = files.once(stated)
    if own.composition == "free":
        return None
    if (size := _uneven(files)) is not None:
        return f"buckets of {size}: some hold a value more often than others by two or more, which are not composed so"
    if own.composition == "round-robin":
        for size, held in _buckets(files):
            if not in_turn(held):
                return f"buckets of {size}: what they hold was not dealt in turn"
    return None


def _uneven(files: Files) -> int | None:
    """A size whose buckets are not alike."""
    found = files.engine.rows(
        f"""SELECT z.part, z.persons, min(s.COUNT), max(s.COUNT), count(*)
            FROM st s JOIN {files.once(sizes)} z USING (BID)
            GROUP BY z.part, z.persons, s.{identifier(files.schema.sensitive)}"""
    )
    buckets = {(part, size): number for part, each in files.once(classes).items() for size, number in each}
    for part, size, least, most, holding in found:
        if most - (least if holding == buckets[part, size] else 0) > 1:
            return int(size)
    return None


def _buckets(files: Files) -> Iterator[tuple[int, Ints]]:
    """By window and size, a row for each bucket with the codes of its values, ascending, each as often as it counts."""
    name = files.schema.sensitive
    found = files.engine.arrow(
        f"""SELECT {code(name, files.schema.domains[name].encoding)}::BIGINT AS value, COUNT::BIGINT AS often
            FROM st_in_domain JOIN {files.once(sizes)} z USING (BID) ORDER BY z.part, z.persons, BID, value"""
    )
    values, fakes = np.repeat(*map(numbers, found.columns)), files.once(stated).fakes
    for _, each in sorted(files.once(classes).items()):
        for size, buckets in each:
            here, values = np.split(values, [buckets * (size + fakes)])
            yield size, here.reshape(buckets, -1)


def in_turn(held: Ints) -> bool:
    """Whether buckets of one size, a row of values each, are those of a round, in whatever order."""
    values, count = np.unique(held, return_counts=True)
    everywhere, left = np.divmod(count, len(held))
    dealt = np.repeat(values, left).reshape(-1, len(held)).T  # the first of them to the first bucket, and so on
    whole = np.tile(np.repeat(values, everywhere), (len(held), 1))
    expected = np.sort(np.concatenate([whole, dealt], axis=1), axis=1)
    return np.array_equal(_sorted(expected), _sorted(held))


def _sorted(rows: Ints) -> Ints:
    return rows[np.lexsort(rows.T[::-1])]

"""Maximum flow from values to bucket sizes, in exact integers of 64 bits.

There are few sizes, so paths are looked for among them alone: one step moves records of many values at once from one
size to another. When no path leads from a value with records left to a size with room left, the flow is maximal.

The term of art is blocking flows along shortest paths (Dinic), on a bipartite network whose one side is small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.ground.arrays import Bools, Ints


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How many records of each value (rows) go to each size (columns), and a minimum cut that shows why not more.

    The cut counts `values` with all their records and every other value with what it may send to the cut's `sizes`.
    """

    records: Ints
    values: Bools
    sizes: Bools


def route(most: Ints, counts: Ints, needs: Ints, start: Ints | None = None) -> Flow:
    """A maximum flow: at most `most` on each edge, `counts` from each value, `needs` into each size.

    `start` is a flow that keeps these limits, to begin with.
    """
    network = _Network(most, counts, needs, np.zeros_like(most) if start is None else start)
    for size in np.flatnonzero(network.need).tolist():
        network.place(size, int(network.need[size]))
    while True:
        levels = network.levels()
        ends = [size for size in levels if network.need[size]]
        if not ends:
            break
        before = {size: [each for each in levels if levels[each] == levels[size] - 1] for size in levels}
        for end in ends:
            network.pull(end, int(network.need[end]), before)
    reached = np.zeros(len(needs), dtype=np.bool_)
    reached[list(levels)] = True
    left = (network.rest > 0) | (network.records[reached] > 0).any(axis=0)
    return Flow(records=np.ascontiguousarray(network.records.T), values=~left, sizes=~reached)


class _Network:
    """The flow so far (a row for each size), the records that are not placed, and what each size still needs."""

    def __init__(self, most: Ints, counts: Ints, needs: Ints, records: Ints) -> None:
        self.records, self._most = records.T.copy(), np.ascontiguousarray(most.T)
        self.rest = counts - records.sum(axis=1)
        self.need = needs - records.sum(axis=0)

    def levels(self) -> dict[int, int]:
        """Each size that records without a place can reach, nearest first, with the number of moves that it takes."""
        room = self.records < self._most
        starts = (room & (self.rest > 0)).any(axis=1)
        found = dict.fromkeys(np.flatnonzero(starts).tolist(), 0)
        waiting = list(found)
        for size in waiting:  # grows while it is walked
            onward = (room & (self.records[size] > 0)).any(axis=1)
            for other in np.flatnonzero(onward).tolist():
                if other not in found:
                    found[other] = found[size] + 1
                    waiting.append(other)
        return found

    def pull(self, size: int, wanted: int, before: dict[int, list[int]]) -> int:
        """Bring records into a size from those one level `before` it, which pull in turn; how many came.

        What can give no more is struck from `before`.
        """
        if not before[size]:
            return self.place(size, wanted)
        got = 0
        while before[size] and got < wanted:
            other = before[size][-1]
            room = np.minimum(self.records[other], self._left(size))
            asked = min(wanted - got, int(room.sum()))
            came = self.pull(other, asked, before) if asked else 0
            self._move(other, size, _split(room, came))
            got += came
            if got < wanted:
                before[size].pop()
        return got

    def place(self, size: int, wanted: int) -> int:
        """Put records that have no place into a size; how many could go there."""
        placed = _split(np.minimum(self.rest, self._left(size)), wanted)
        self.records[size] += placed
        self.rest -= placed
        self.need[size] -= placed.sum()
        return int(placed.sum())

    def _move(self, source: int, target: int, moved: Ints) -> None:
        self.records[source] -= moved
        self.records[target] += moved
        self.need[source] += moved.sum()
        self.need[target] -= moved.sum()

    def _left(self, size: int) -> Ints:
        return np.asarray(self._most[size] - self.records[size])


def _split(room: Ints, amount: int) -> Ints:
    """Take `amount` from the values in their order, as far as there is room."""
    through = np.cumsum(room)
    if not len(room) or through[-1] <= amount:
        return room
    return np.asarray(room - np.minimum(np.maximum(through - amount, 0), room))


def fill(caps: Ints, counts: Ints, sizes: Ints, buckets: Ints, start: Ints | None = None) -> Flow:
    """Send records to the buckets within the caps; the setting is valid where every record arrives."""
    return route(np.minimum(caps * buckets, counts[:, None]), counts, sizes * buckets, start)

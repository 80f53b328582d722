"""Maximum flow from values to bucket sizes, in exact integers.

The library's maximum flow holds 32 bits, and a table may have more rows than that. So the flow is built up in rounds
over what is left of every capacity: its leading bits first, and whole at the end. When a round over the whole rest adds
nothing, no augmenting path is left and the flow is maximal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

_BITS = 30
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Flow:
    """How many records of each value (rows) go to each size (columns), and a minimum cut that shows why not more.

    The cut counts `values` with all their records and every other value with what it may send to the cut's `sizes`.
    """

    records: Ints
    values: Mask
    sizes: Mask


def route(most: Ints, counts: Ints, needs: Ints, start: Ints | None = None) -> Flow:
    """A maximum flow: at most `most` on each edge, `counts` from each value, `needs` into each size.

    `start` is a flow that keeps these limits, to begin with.
    """
    values, sizes = most.shape
    value, size = np.nonzero(most)
    network = _Network(
        sources=np.concatenate([np.zeros(values, dtype=np.int64), 1 + value, 1 + values + np.arange(sizes)]),
        targets=np.concatenate([1 + np.arange(values), 1 + values + size, np.full(sizes, 1 + values + sizes)]),
        capacity=np.concatenate([counts, most[value, size], needs]),
        nodes=values + sizes + 2,
    )
    if start is not None:
        network.flow = np.concatenate([start.sum(axis=1), start[value, size], start.sum(axis=0)])
    network.augment()
    records = np.zeros_like(most)
    records[value, size] = network.flow[values : values + len(value)]
    reached = network.reached()
    return Flow(records=records, values=~reached[1 : 1 + values], sizes=~reached[1 + values : -1])


class _Network:
    """Edges with 64-bit capacities and the flow on them; node 0 is the source and the last is the sink."""

    def __init__(self, sources: Ints, targets: Ints, capacity: Ints, nodes: int) -> None:
        self.capacity, self.nodes = capacity, nodes
        self.flow = np.zeros_like(capacity)
        rows, columns = np.concatenate([sources, targets]), np.concatenate([targets, sources])
        order = np.lexsort((columns, rows))
        self._place = np.empty(len(order), dtype=np.int64)  # where each edge, and then each edge back, stands
        self._place[order] = np.arange(len(order))
        self._columns = columns[order].astype(np.int32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=nodes))]).astype(np.int32)

    def augment(self) -> None:
        shift = max(0, int(self.capacity.max(initial=0)).bit_length() - _BITS)
        while True:
            added = self._round(shift)
            if not added and not shift:
                return
            shift = max(0, shift - _BITS // 2) if not added else shift

    def _round(self, shift: int) -> bool:
        """Add a maximum flow over what is left, in units of 2^shift; whether there was any."""
        graph = self._graph(np.minimum(self._left() >> shift, 1 << _BITS))
        found = maximum_flow(graph, 0, self.nodes - 1)
        if not found.flow_value:
            return False
        self.flow += found.flow.data[self._place[: len(self.flow)]].astype(np.int64) << shift
        return True

    def reached(self) -> Mask:
        """The nodes on the source's side of a minimum cut."""
        graph = self._graph(self._left() > 0)
        graph.eliminate_zeros()
        seen = np.zeros(self.nodes, dtype=np.bool_)
        seen[breadth_first_order(graph, 0, return_predecessors=False)] = True
        return seen

    def _left(self) -> Ints:
        return np.concatenate([self.capacity - self.flow, self.flow])

    def _graph(self, weights: Ints | Mask) -> csr_array:
        data = np.empty(len(weights), dtype=np.int32)
        data[self._place] = weights
        return csr_array((data, self._columns, self._starts), shape=(self.nodes, self.nodes))


def fill(caps: Ints, counts: Ints, sizes: Ints, buckets: Ints, start: Ints | None = None) -> Flow:
    """Send records to the buckets within the caps; the setting is valid where every record arrives."""
    return route(np.minimum(caps * buckets, counts[:, None]), counts, sizes * buckets, start)

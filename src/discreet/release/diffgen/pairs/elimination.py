"""Elimination: the order in which columns are summed out of a model, cheapest clique first, from whole numbers alone.

A graph has a size for each column and an edge for each pair that was measured. Ties go to the first column, so every
machine sums in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

MOST_CLIQUE = 50_000  # cells of the largest table that a model may need
Edge = tuple[int, int]


def neighbours_of(columns: int, edges: Iterable[Edge]) -> list[set[int]]:
    """The columns that each column has an edge with."""
    found: list[set[int]] = [set() for _ in range(columns)]
    for one, other in edges:
        found[one].add(other)
        found[other].add(one)
    return found


def eliminated(sizes: Sequence[int], edges: Iterable[Edge]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Each column that has an edge, in order of elimination, with the others that its clique has then."""
    near = neighbours_of(len(sizes), edges)
    cost = {one: sizes[one] * prod(sizes[each] for each in others) for one, others in enumerate(near) if others}
    found = []
    while cost:
        one = min(cost, key=lambda each: (cost[each], each))
        others = near[one]
        found.append((one, tuple(sorted(others))))
        del cost[one]
        for each in others:
            near[each].discard(one)
            near[each] |= others - {each}
        for each in others:
            cost[each] = sizes[each] * prod(sizes[other] for other in near[each])
    return tuple(found)


def largest_clique(sizes: Sequence[int], edges: Iterable[Edge]) -> int:
    """The cells of the largest clique of the elimination."""
    return max(
        (sizes[one] * prod(sizes[each] for each in others) for one, others in eliminated(sizes, edges)), default=1
    )

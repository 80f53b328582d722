"""How large the tables are that a model of chosen pairs needs: columns are taken out one by one, the cheapest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod


def largest(widths: Mapping[int, int], edges: Iterable[tuple[int, int]]) -> int:
    """The cells of the largest clique: a column that is taken out leaves its neighbours joined to each other.

    The next column is the one whose clique, itself and its neighbours, has the fewest cells; of equal ones the first.
    """
    joined: dict[int, set[int]] = {}
    for one, other in edges:
        joined.setdefault(one, {one}).add(other)
        joined.setdefault(other, {other}).add(one)
    cells = {column: prod(widths[each] for each in clique) for column, clique in joined.items()}
    found = 1
    while cells:
        first = min(cells, key=lambda column: (cells[column], column))
        clique = joined.pop(first)
        found = max(found, cells.pop(first))
        for column in clique - {first}:
            joined[column] = (joined[column] | clique) - {first}
            cells[column] = prod(widths[each] for each in joined[column])
    return found

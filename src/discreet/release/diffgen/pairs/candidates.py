"""Candidates: the tables of two columns that a round may choose between, from public numbers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

from discreet.release.diffgen.pairs.elimination import MOST_CLIQUE, Edge, largest_clique
from discreet.release.diffgen.pairs.groups import GROUPS
from discreet.release.diffgen.pairs.measured import Candidate, Level

NOISE = Fraction(7, 10)  # of 1 / e_m: what the noise of a cell counts for in a score
_Wide = tuple[tuple[int, int], ...]  # columns and their sizes


@dataclass(frozen=True)
class Graph:
    """The tables of two columns that were measured so far, in order."""

    measured: tuple[Candidate, ...] = ()

    def after(self, chosen: Candidate) -> Graph:
        return Graph((*self.measured, chosen))

    def edges(self) -> frozenset[Edge]:
        return frozenset(each.columns for each in self.measured)

    def widths(self, sizes: Sequence[int]) -> list[int]:
        """How many values each column has in a model of these tables: its groups, unless it was measured by cells."""
        found = [min(size, GROUPS) for size in sizes]
        for each in self.measured:
            for column, level in zip(each.columns, each.levels, strict=True):
                if level is Level.CELLS:
                    found[column] = sizes[column]
        return found

    def candidates(self, sizes: Sequence[int], most_cells: int) -> tuple[Candidate, ...]:
        """Tables that were not measured yet, with at most so many cells, and with which a model keeps small cliques."""
        widths, edges, known = self.widths(sizes), self.edges(), set(self.measured)
        whole = _components(len(sizes), edges)
        found = []
        for first, second in combinations([column for column, size in enumerate(sizes) if size > 1], 2):
            for one in _levels(sizes[first]):
                for other in _levels(sizes[second]):
                    each = Candidate(first, second, (one, other))
                    own = [_size(sizes[column], level) for column, level in ((first, one), (second, other))]
                    if own[0] * own[1] > min(most_cells, MOST_CLIQUE) or each in known:
                        continue
                    if len(whole[first]) == len(whole[second]) == 1:  # the table is the clique
                        found.append(each)
                        continue
                    wide = {column: widths[column] for column in (*whole[first], *whole[second])}
                    for column, size in zip((first, second), own, strict=True):
                        wide[column] = max(wide[column], size)
                    near = frozenset((a, b) for a, b in edges if a in wide) | {(first, second)}
                    if _clique(tuple(sorted(wide.items())), near) <= MOST_CLIQUE:
                        found.append(each)
        return tuple(found)


def _size(size: int, level: Level) -> int:
    """How many values a column of so many cells has at a level."""
    return size if level is Level.CELLS else min(size, GROUPS)


def _levels(size: int) -> tuple[Level, ...]:
    return (Level.CELLS,) if size <= GROUPS else (Level.GROUPS, Level.CELLS)


def _components(columns: int, edges: frozenset[Edge]) -> list[frozenset[int]]:
    """For each column, the columns that it hangs together with."""
    found = [frozenset([column]) for column in range(columns)]
    for one, other in sorted(edges):
        if found[one] is not found[other]:
            whole = found[one] | found[other]
            for column in whole:
                found[column] = whole
    return found


@cache
def _clique(wide: _Wide, edges: frozenset[Edge]) -> int:
    """The largest clique of columns that hang together."""
    place = {column: at for at, (column, _) in enumerate(wide)}
    return largest_clique([size for _, size in wide], [(place[one], place[other]) for one, other in edges])

"""Junction trees: cliques of columns in a forest, through which a model is summed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from discreet.release.diffgen.pairs.elimination import Edge, eliminated

Axes = tuple[int, ...]  # columns, in order


@dataclass(frozen=True)
class Junction:
    """Cliques, each with its parent, which stands later (-1 where it is a root), and the columns that both have."""

    cliques: tuple[Axes, ...]
    parents: tuple[int, ...]
    separators: tuple[Axes, ...]
    near: tuple[tuple[int, ...], ...]  # parent and children of each clique
    home: tuple[int, ...]  # for each column, a clique that has it

    def between(self, one: int, other: int) -> Axes:
        """The separator of two neighbours."""
        return self.separators[one] if self.parents[one] == other else self.separators[other]

    def holder(self, columns: Axes) -> int:
        """A clique with all these columns."""
        wanted = set(columns)
        return next(place for place, clique in enumerate(self.cliques) if wanted <= set(clique))


@lru_cache(maxsize=256)
def junction_of(widths: tuple[int, ...], edges: frozenset[Edge]) -> Junction:
    """The forest of the elimination's cliques, those that are parts of others left out; each lonely column is one."""
    steps = list(eliminated(widths, sorted(edges)))
    met = {column for column, _ in steps}
    steps = [(column, ()) for column in range(len(widths)) if column not in met] + steps
    step_of = {column: place for place, (column, _) in enumerate(steps)}
    above = [min((step_of[each] for each in others), default=-1) for _, others in steps]
    members = [frozenset((column, *others)) for column, others in steps]
    kept: list[int] = list(range(len(steps)))  # the step whose clique holds that of each
    for place, others in enumerate(members):
        parent = above[place]
        if parent >= 0 and kept[parent] == parent and members[parent] <= others:
            kept[parent] = kept[place]
    return _forest(members, above, kept, len(widths))


def _forest(members: list[frozenset[int]], above: list[int], kept: list[int], columns: int) -> Junction:
    """Cliques that hold others take their place."""

    def top(step: int) -> int:
        """The last step that a clique holds: its parent is the parent of that."""
        while above[step] >= 0 and kept[above[step]] == kept[step]:
            step = above[step]
        return step

    own = sorted(set(kept), key=lambda each: (top(each), each))
    place = {each: at for at, each in enumerate(own)}
    cliques = tuple(tuple(sorted(members[each])) for each in own)
    parents = tuple(place[kept[above[top(each)]]] if above[top(each)] >= 0 else -1 for each in own)
    shared = tuple(
        tuple(sorted(set(cliques[at]) & set(cliques[parent]))) if parent >= 0 else ()
        for at, parent in enumerate(parents)
    )
    near: list[list[int]] = [[] for _ in own]
    for at, parent in enumerate(parents):
        if parent >= 0:
            near[at].append(parent)
            near[parent].append(at)
    home = tuple(next(at for at, clique in enumerate(cliques) if column in clique) for column in range(columns))
    return Junction(cliques, parents, shared, tuple(map(tuple, near)), home)

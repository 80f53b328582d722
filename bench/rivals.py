"""Simple ways to answer counts under epsilon-differential privacy, each with all of epsilon, beside Pairs.

One-way tables; trees of pairs, at random or chosen as MST's are but for pure epsilon; Laplace noise on each question.
They get what Pairs has for tables: one total from all sums, and counts that are not negative. For simulations only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from questions import People, Questions

from discreet.estimate.diffgen.pairs.joint import Joint
from discreet.ground.arrays import Floats, Ints
from discreet.guarantee.epsilon import laplace_variance
from discreet.mechanism.diffgen.making.noise import SeededNoise
from discreet.release.diffgen.pairs.groups import groups_of
from discreet.release.diffgen.pairs.margins import FLOOR, projected, settled
from discreet.release.diffgen.pairs.measured import Candidate, Level
from discreet.release.diffgen.pairs.model import Model, plain
from discreet.release.diffgen.pairs.rake import scaled, widened

SWEEPS = 6
Edge = tuple[int, int]
Answers = Callable[[Questions, Fraction, np.random.Generator], Floats]


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact tables of one and of two columns."""

    people: People

    @cached_property
    def ones(self) -> list[Ints]:
        return [
            np.bincount(own, minlength=size) for own, size in zip(self.people.cells, self.people.sizes, strict=True)
        ]

    @cached_property
    def twos(self) -> dict[Edge, Ints]:
        return {edge: self._two(*edge) for edge in combinations(range(len(self.people.sizes)), 2)}

    def _two(self, one: int, other: int) -> Ints:
        rows, columns = self.people.sizes[one], self.people.sizes[other]
        place = self.people.cells[one] * columns + self.people.cells[other]
        return np.bincount(place, minlength=rows * columns).reshape(rows, columns)


_exact: dict[int, Exact] = {}


def exact(people: People) -> Exact:
    """Counted once."""
    return _exact.setdefault(id(people), Exact(people))


def alone(asked: Questions, epsilon: Fraction, coins: np.random.Generator) -> Floats:
    """One-way tables with equal shares; columns do not depend on each other."""
    return answers_of(asked, _fitted(asked.people, _ones(asked.people, epsilon, coins), {}, {}))


def tree(ones: Fraction, choosing: Fraction) -> Answers:
    """One-way tables, a spanning tree of pairs of columns, and their tables, with such shares of epsilon.

    Without a share for choosing it is any tree. Else each edge is chosen by permute-and-flip, as MST does with the
    exponential mechanism: by how far the true table is from what one-way tables expect.
    """

    def answers(asked: Questions, epsilon: Fraction, coins: np.random.Generator) -> Floats:
        people, noise = asked.people, SeededNoise(coins)
        first = _ones(people, epsilon * ones, coins)
        steps = len(people.sizes) - 1
        edges = _edges(people, first, epsilon * choosing / steps, noise, coins)
        share = epsilon * (1 - ones - choosing) / steps
        second = {edge: noise.laplace(exact(people).twos[edge], share).astype(np.float64) for edge in edges}
        variances = dict.fromkeys(second, laplace_variance(share))
        return answers_of(asked, _fitted(people, first, second, variances))

    return answers


def each(asked: Questions, epsilon: Fraction, coins: np.random.Generator) -> Floats:
    """Laplace noise on each question, none negative."""
    noisy = SeededNoise(coins).laplace(asked.truth, epsilon / len(asked.truth))
    return np.maximum(noisy.astype(np.float64), 0.0)


RIVALS: Mapping[str, Answers] = {
    "one-way tables": alone,
    "tree, by thirds": tree(Fraction(1, 3), Fraction(1, 3)),
    "tree, mostly tables": tree(Fraction(3, 10), Fraction(1, 10)),
    "tree at random": tree(Fraction(1, 4), Fraction(0)),
    "each question": each,
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Ones:
    """Noisy one-way tables."""

    counts: list[Ints]
    variance: float


def _ones(people: People, epsilon: Fraction, coins: np.random.Generator) -> Ones:
    share = epsilon / len(people.sizes)
    noise = SeededNoise(coins)
    return Ones(counts=[noise.laplace(own, share) for own in exact(people).ones], variance=laplace_variance(share))


def _edges(people: People, ones: Ones, share: Fraction, noise: SeededNoise, coins: np.random.Generator) -> list[Edge]:
    """The edges of a spanning tree."""
    if not share:
        return spanning(len(people.sizes), lambda left: left[int(coins.integers(len(left)))])
    model, tables = _fitted(people, ones, {}, {}), exact(people).twos
    scores = {edge: round(float(np.abs(table - _product(model, edge)).sum())) for edge, table in tables.items()}

    def best(left: Sequence[Edge]) -> Edge:
        return left[noise.highest(np.array([scores[edge] for edge in left]), share, 1)]

    return spanning(len(people.sizes), best)


def spanning(columns: int, choose: Callable[[Sequence[Edge]], Edge]) -> list[Edge]:
    """A spanning tree: of the edges that join two of its parts one is chosen, until all hang together."""
    part, found = list(range(columns)), list[Edge]()
    while left := [edge for edge in combinations(range(columns), 2) if part[edge[0]] != part[edge[1]]]:
        edge = choose(left)
        found.append(edge)
        part = [part[edge[0]] if own == part[edge[1]] else own for own in part]
    return found


def _fitted(people: People, ones: Ones, twos: Mapping[Edge, Floats], variances: Mapping[Edge, float]) -> Model:
    """One total, margins from all tables, and a product that has the tables."""
    known: list[list[tuple[Floats, float]]] = [[(own.astype(np.float64), ones.variance)] for own in ones.counts]
    for edge, table in twos.items():
        for axis, column in enumerate(edge):
            known[column].append((table.sum(axis=1 - axis), variances[edge] * table.shape[1 - axis]))
    sums = [(float(table.sum()), variance * table.size) for own in known for table, variance in own[:1]]
    sums += [(float(table.sum()), variances[edge] * table.size) for edge, table in twos.items()]
    number = max(1, round(sum(total / variance for total, variance in sums) / sum(1 / each for _, each in sums)))
    groups = [np.zeros(len(own), dtype=np.int64) for own in ones.counts]
    margins = [settled(own, (), where, number) for own, where in zip(known, groups, strict=True)]
    return product(margins, {edge: _possible(table, number) for edge, table in twos.items()}, number)


def product(margins: Sequence[Floats], tables: Mapping[Edge, Floats], people: int) -> Model:
    """The product of columns and of a tree's edges that has these margins and tables, which are above 0."""
    groups = [groups_of(np.rint(own).astype(np.int64), ordered=False) for own in margins]
    model = plain(groups, margins, people)
    for edge in tables:
        model = widened(model, Candidate(*edge, (Level.CELLS, Level.CELLS)))
    return scaled(model, list(tables.values()), SWEEPS)


def _possible(table: Floats, people: int) -> Floats:
    """The nearest table of these people, with every cell above 0."""
    near = projected(table.ravel(), float(people)).reshape(table.shape)
    return np.maximum(near, FLOOR * people / table.size)


def _product(model: Model, edge: Edge) -> Floats:
    """What is expected of two columns that do not depend on each other."""
    return np.multiply.outer(model.margins[edge[0]], model.margins[edge[1]]) / model.people


def answers_of(asked: Questions, model: Model) -> Floats:
    joint = Joint([model])
    return np.array([joint.expected(parts)[0] for parts in asked.asked])

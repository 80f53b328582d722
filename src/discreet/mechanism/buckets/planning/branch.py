"""Branching over the numbers of buckets: better settings, and a tree of prices that proves how good the best one is.

The term of art is branch and bound, with cutting planes.

Departs: [W14] calls the exact optimum with many sizes out of reach for large domains. Here the linear program has one
    variable for each size; its duals price the records, and exact prices bound every part of the tree.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.engine.progress import Tell
from discreet.mechanism.buckets.planning.caps import Ints
from discreet.mechanism.buckets.planning.certificate import Box, Leaf, Split, bound_of
from discreet.mechanism.buckets.planning.cuts import Cuts, Floats
from discreet.mechanism.buckets.planning.program import Point, Program

_DENOMINATOR = 1 << 40
_WHOLE = 1e-6  # how far from a whole number a solver's whole number may be
_DOUBLINGS = 60


@dataclass(kw_only=True)
class Node:
    """The settings with low <= buckets <= high, the prices that bound their loss from below, and the bound."""

    low: Ints
    high: Ints
    leaf: Leaf
    bound: int
    point: Floats | None
    split: tuple[int, int, Node, Node] | None = field(default=None)

    def tree(self, sizes: Ints) -> Leaf | Split:
        """What a certificate keeps of this node and those below it."""
        if self.split is None:
            return self.leaf
        column, most, fewer, more = self.split
        return Split(size=int(sizes[column]), buckets=most, fewer=fewer.tree(sizes), more=more.tree(sizes))


class Search:
    """The best setting so far and the nodes that are still open."""

    best: Ints | None = None
    loss: int | None = None

    def __init__(self, cuts: Cuts, limits: Sequence[Fraction], gap: Fraction, until: float, known: Ints | None) -> None:
        self.cuts, self._limits, self._gap, self._until = cuts, list(limits), gap, until
        self._counts = cuts.counts.tolist()
        if known is not None:
            self.offer(known)
        nothing, everything = np.zeros_like(cuts.sizes), cuts.rows // cuts.sizes
        inside = None if known is None else known.astype(np.float64)
        point = Program(cuts, nothing, cuts.rows).solve(nothing, everything, until, inside)
        self.root = self._node(nothing, everything, point, None)
        center = nothing if self.root.point is None else np.floor(self.root.point).astype(np.int64)
        self._program = Program(cuts, center, 1)
        self._order = itertools.count()
        self._open = [(self.root.bound, next(self._order), self.root)]
        self._stuck: list[Node] = []  # the solver could not say where to branch

    def offer(self, buckets: Ints) -> bool:
        """Take a valid setting that loses less than the best so far."""
        loss = sum(b * (s - 1) ** 2 for b, s in zip(buckets.tolist(), self.cuts.sizes.tolist(), strict=True))
        if self.loss is not None and loss >= self.loss:
            return False
        self.best, self.loss = buckets, loss
        return True

    @property
    def bound(self) -> int | None:
        """No setting loses less; None where no setting is left at all."""
        bounds = [bound for bound, _, _ in self._open[:1]] + [node.bound for node in self._stuck]
        return min([*bounds, self.loss] if self.loss is not None else bounds, default=None)

    @property
    def good(self) -> bool:
        """Whether the certified gap is small enough."""
        return self.loss is not None and (self.bound or 0) >= self.loss - int(self._gap * self.loss)

    def run(self, tell: Tell) -> None:
        """Branch until the gap is small enough, or time is over."""
        start = time.monotonic()
        while self._open and not self.good and (now := time.monotonic()) < self._until:
            tell((now - start) / (self._until - start))
            node = heapq.heappop(self._open)[2]
            if node.point is None:
                self._stuck.append(node)
            else:
                self._branch(node, node.point)

    def _branch(self, node: Node, point: Floats) -> None:
        column = int(np.argmax(np.abs(point - np.rint(point))))
        most = int(np.floor(point[column]))
        fewer, more = node.high.copy(), node.low.copy()
        fewer[column], more[column] = most, most + 1
        children = [self._visit(*box, node) for box in ((node.low, fewer), (more, node.high))]
        node.split = (column, most, children[0], children[1])
        for child in children:
            if self.loss is None or child.bound < self.loss:
                heapq.heappush(self._open, (child.bound, next(self._order), child))

    def _visit(self, low: Ints, high: Ints, parent: Node) -> Node:
        """Solve a box; a point without fractions is a setting, and is checked in exact integers."""
        while True:
            point = self._program.solve(low, high, self._until)
            node = self._node(low, high, point, parent.leaf)
            if node.point is None or np.abs(node.point - np.rint(node.point)).max() > _WHOLE:
                return node
            whole = np.rint(node.point).astype(np.int64)
            if not self.holds_the_table(whole):
                node.point = None
                return node
            if not self.cuts.separate_exactly(whole):
                self.offer(whole)
                node.point = None  # nothing below it is better
                return node

    def holds_the_table(self, buckets: Ints) -> bool:
        held = sum(s * b for s, b in zip(self.cuts.sizes.tolist(), buckets.tolist(), strict=True))
        return bool(held == self.cuts.rows)

    def _node(self, low: Ints, high: Ints, point: Point | None, known: Leaf | None) -> Node:
        """A node with the best exact bound at hand: the solver's prices, or those of the node above."""
        box = {s: (a, b) for s, a, b in zip(*(part.tolist() for part in (self.cuts.sizes, low, high)), strict=True)}
        leaves = [known] if known is not None else [Leaf(prices=(0,) * len(self._counts), denominator=1)]
        if point is not None:
            leaves.append(self._shown_empty(point.prices, box) if point.empty else _leaf(point.prices))
        bounds = [bound_of(leaf, box, self._counts, self._limits) for leaf in leaves]
        best = int(np.argmax(np.array(bounds, dtype=object)))
        where = None if point is None else point.buckets
        return Node(low=low, high=high, leaf=leaves[best], bound=bounds[best], point=where)

    def _shown_empty(self, prices: Floats, box: Box) -> Leaf:
        """Prices of a box without settings: raised until they prove a loss that no setting has."""
        worst = self.cuts.rows * int(self.cuts.sizes.max())
        for power, sign in itertools.product(range(0, _DOUBLINGS, 4), (1, -1)):
            leaf = _leaf(sign * prices * 2.0**power)
            if bound_of(leaf, box, self._counts, self._limits) > worst:
                return leaf
        return _leaf(prices)


def _leaf(prices: Floats) -> Leaf:
    return Leaf(prices=tuple(round(price * _DENOMINATOR) for price in prices.tolist()), denominator=_DENOMINATOR)

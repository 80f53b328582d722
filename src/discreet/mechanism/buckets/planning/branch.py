"""Branching over the numbers of buckets: better settings, and a tree of prices that proves how good the best one is.

The term of art is branch and bound, with cutting planes.

Departs: [W14] calls the exact optimum with many sizes out of reach for large domains. Here the linear program has one
    variable for each size; its duals price the records, and exact prices bound every part of the tree.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.ground.progress import Tell
from discreet.mechanism.buckets.planning.certificate import Leaf, Split
from discreet.mechanism.buckets.planning.groups import Groups
from discreet.mechanism.buckets.planning.point import Point
from discreet.mechanism.buckets.planning.prices import Prices
from discreet.mechanism.buckets.planning.work import Work, flow_of

_WHOLE = 1e-6  # how far from a whole number a solver's whole number may be
_DOUBLINGS = 60

Solve = Callable[[Ints, Ints], Point | None]
Valid = Callable[[Ints], bool]


@dataclass(kw_only=True)
class Node:
    """The settings with low <= buckets <= high, the prices that bound their loss from below, and the bound."""

    low: Ints
    high: Ints
    prices: Prices
    bound: int
    point: Floats | None
    split: tuple[int, int, Node, Node] | None = field(default=None)

    def tree(self, groups: Groups, enough: int) -> Leaf | Split:
        """What a certificate of the bound `enough` keeps of this node and those below it."""
        if self.split is None or self.bound >= enough:
            return Leaf(prices=self.prices.of_values(groups), denominator=self.prices.denominator)
        column, most, fewer, more = self.split
        size = int(groups.sizes[column])
        return Split(size=size, buckets=most, fewer=fewer.tree(groups, enough), more=more.tree(groups, enough))


class Search:
    """The best setting so far and the nodes that are still open."""

    best: Ints | None = None
    loss: int | None = None

    def __init__(self, groups: Groups, gap: Fraction, work: Work) -> None:
        self.groups, self.gap, self._work = groups, gap, work
        self.everywhere = np.zeros_like(groups.sizes), groups.rows // groups.sizes
        self.start(None)

    def start(self, point: Point | None) -> None:
        """Begin with the whole box and what is known of it; the best setting stays."""
        self.root = self._node(*self.everywhere, point, None)
        self._order = itertools.count()
        self._open = [(self.root.bound, next(self._order), self.root)]
        self._stuck: list[Node] = []  # nobody could say where to branch

    def offer(self, buckets: Ints) -> bool:
        """Take a valid setting that loses less than the best so far."""
        loss = sum(b * (s - 1) ** 2 for b, s in zip(buckets.tolist(), self.groups.sizes.tolist(), strict=True))
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
        return self.loss is not None and (self.bound or 0) >= self.loss - int(self.gap * self.loss)

    def tree(self) -> Leaf | Split:
        """What proves the bound."""
        return self.root.tree(self.groups, self.bound or 0)

    def run(self, solve: Solve, valid: Valid, tell: Tell, nodes: int) -> None:
        """Branch until the gap is small enough, so many nodes were looked at, or the work is done."""
        for _ in range(nodes):
            if not self._open or self.good or self._work.over:
                return
            tell(self._work.done)
            node = heapq.heappop(self._open)[2]
            if node.point is None:
                self._stuck.append(node)
            else:
                self._branch(node, node.point, solve, valid)

    def _branch(self, node: Node, point: Floats, solve: Solve, valid: Valid) -> None:
        column = int(np.argmax(np.abs(point - np.rint(point))))
        most = int(np.floor(point[column]))
        fewer, more = node.high.copy(), node.low.copy()
        fewer[column], more[column] = most, most + 1
        boxes = ((node.low, fewer), (more, node.high))
        children = [self._visit(low, high, node, solve, valid) for low, high in boxes]
        node.split = (column, most, children[0], children[1])
        for child in children:
            if self.loss is None or child.bound < self.loss:
                heapq.heappush(self._open, (child.bound, next(self._order), child))

    def _visit(self, low: Ints, high: Ints, parent: Node, solve: Solve, valid: Valid) -> Node:
        """Solve a box; a point without fractions is a setting, and is checked in exact integers."""
        before: Ints | None = None
        while True:
            node = self._node(low, high, solve(low, high), parent.prices)
            if node.point is None or np.abs(node.point - np.rint(node.point)).max() > _WHOLE:
                return node
            whole = np.rint(node.point).astype(np.int64)
            if not self.holds_the_table(whole) or (before is not None and np.array_equal(whole, before)):
                break
            if valid(whole):
                self.offer(whole)  # nothing below it is better
                break
            before = whole  # a cut that it breaks may be known now
        node.point = None
        return node

    def is_valid(self, buckets: Ints) -> bool:
        """Whether a setting that holds the table keeps every cap."""
        self._work.spend(flow_of(*self.groups.caps.shape))
        return int(self.groups.fill(buckets).records.sum()) == self.groups.rows

    def holds_the_table(self, buckets: Ints) -> bool:
        held = sum(s * b for s, b in zip(self.groups.sizes.tolist(), buckets.tolist(), strict=True))
        return bool(held == self.groups.rows)

    def _node(self, low: Ints, high: Ints, point: Point | None, known: Prices | None) -> Node:
        """A node with the best exact bound at hand: the solver's prices, or those of the node above."""
        every = [known or Prices.of(self.groups, (0,) * len(self.groups.counts), 1)]
        if point is not None:
            every.append(
                self._shown_empty(point.prices, low, high) if point.empty else Prices.near(self.groups, point.prices)
            )
        self._work.spend(10 * self.groups.caps.size + 200 * len(self.groups.member))  # and a certificate's part
        bounds = [prices.bound(low, high) for prices in every]
        best = int(np.argmax(np.array(bounds, dtype=object)))
        where = None if point is None else point.buckets
        return Node(low=low, high=high, prices=every[best], bound=bounds[best], point=where)

    def _shown_empty(self, prices: Floats, low: Ints, high: Ints) -> Prices:
        """Prices of a box without settings: raised until they prove a loss that no setting has."""
        worst = self.groups.rows * int(self.groups.sizes.max())
        for power, sign in itertools.product(range(0, _DOUBLINGS, 4), (1, -1)):
            raised = Prices.near(self.groups, sign * prices * 2.0**power)
            if raised.bound(low, high) > worst:
                return raised
        return Prices.near(self.groups, prices)

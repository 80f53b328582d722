"""Beliefs: a product of potentials over a junction tree, summed by messages that are kept until a potential changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Floats
from discreet.release.diffgen.pairs.junction import Axes, Junction


class Beliefs:
    """The potentials of cliques; marginals are those of their product, which need not add up to 1."""

    def __init__(self, junction: Junction, widths: Sequence[int]) -> None:
        self.junction = junction
        self.widths = tuple(widths)
        self._potentials = [np.ones([widths[column] for column in clique]) for clique in junction.cliques]
        self._messages: dict[tuple[int, int], Floats] = {}

    def times(self, clique: int, factor: Floats, columns: Axes) -> None:
        """Multiply a clique's potential by a factor over some of its columns, in order."""
        potential = self._potentials[clique]
        potential *= spread(factor, columns, self.junction.cliques[clique])
        self._forget(clique)

    def belief(self, clique: int) -> Floats:
        """The marginal over a clique's columns: its potential times what all neighbours tell."""
        return self._product(clique, but=-1)

    def marginal(self, clique: int, columns: Axes) -> Floats:
        """The marginal over some columns of a clique, in order."""
        return summed(self.belief(clique), self.junction.cliques[clique], columns)

    def _product(self, clique: int, but: int) -> Floats:
        found, own = self._potentials[clique], self.junction.cliques[clique]
        for each in self.junction.near[clique]:
            if each != but:
                found = found * spread(self._message(each, clique), self.junction.between(each, clique), own)
        return found

    def _message(self, sender: int, receiver: int) -> Floats:
        """What one clique tells its neighbour: all that lies behind it, over the columns that they share."""
        found = self._messages.get((sender, receiver))
        if found is None:
            junction = self.junction
            product = self._product(sender, but=receiver)
            found = summed(product, junction.cliques[sender], junction.between(sender, receiver))
            self._messages[sender, receiver] = found
        return found

    def _forget(self, clique: int) -> None:
        """Drop all messages that come from a clique; behind one that is not known none is."""
        waiting = [(clique, -1)]
        while waiting:
            sender, before = waiting.pop()
            for receiver in self.junction.near[sender]:
                if receiver != before and self._messages.pop((sender, receiver), None) is not None:
                    waiting.append((receiver, sender))


def spread(table: Floats, columns: Axes, over: Axes) -> Floats:
    """A table over some columns in the shape in which it meets one over more of them."""
    wide = iter(table.shape)
    return table.reshape([next(wide) if column in columns else 1 for column in over])


def summed(table: Floats, columns: Axes, over: Axes) -> Floats:
    """The sums of a table over some of its columns."""
    gone = tuple(axis for axis, column in enumerate(columns) if column not in over)
    return np.asarray(table.sum(axis=gone)) if gone else table

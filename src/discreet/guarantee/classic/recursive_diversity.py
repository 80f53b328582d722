"""Recursive (c, l)-diversity: in every class the most frequent value has fewer rows than c times those of the l-th
most frequent and all rarer ones.

Paper: Machanavajjhala and others, l-diversity, which [W14] section 2.3.1 starts from.
Symbols: r_1 >= r_2 >= ... rows of a class by value; r_1 < c (r_l + r_(l+1) + ...).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.measured import Measured, largest, rows, worst_place


def recursive_diversity(classes: Classes, l: int = 2) -> Measured:  # noqa: E741 - the paper's name
    """The least c that is not enough: every larger one is. None where a class has fewer than l values."""
    if type(l) is not int or l < 1:
        raise PolicyError(f"l ({shown(l)}) must be a whole number from 1 on", key=("l",))
    descending = classes.count[np.lexsort((-classes.count, classes.owner))]
    nth = np.arange(len(descending)) - classes.starts[classes.owner]
    first = descending[classes.starts]
    rest = np.add.reduceat(np.where(nth >= l - 1, descending, 0), classes.starts)
    without = np.flatnonzero(rest == 0)
    place = int(without[0]) if len(without) else largest(first, rest)
    count, size, others = int(first[place]), int(classes.sizes[place]), int(rest[place])
    why = f"the most frequent value has {count:,} of {rows(size)}, the values from number {l} on {others:,}"
    if len(without):
        why = f"{len(without):,} of {len(classes):,} classes have fewer than {l} values"
    return Measured(
        notion=f"recursive (c, {l})-diversity",
        symbol="c",
        number=None if len(without) else Fraction(count, others),
        keeps="above",
        count=count,
        why=why,
        **worst_place(classes, place),
    )

"""t-closeness: the values of every class are distributed as in the whole table, up to a distance of t.

Paper: [W14] Definition 4, after Li, Li and Venkatasubramanian: the Earth Mover's Distance.
Symbols: q_x = c_gx / S_g, p_x = n_x / n. Equal distance, all values as far apart as any: half of sum |q_x - p_x|.
    Ordered distance, |i - j| / (m - 1) between values number i and j: sum over i of |Q_i - P_i| / (m - 1), cumulative.
Departs: m counts the values that occur in the whole table, for a domain may be declared as wide as anybody likes.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.guarantee.classic.classes import Classes, Counts
from discreet.guarantee.classic.measured import Measured, largest, percent, rows, worst_place


def closeness(classes: Classes) -> Measured:
    """The least t under the equal distance, for values without an order."""
    return _measured(classes, "t-closeness, equal distance", _gained(classes), classes.rows)


def distances(classes: Classes) -> tuple[Fraction, ...]:
    """The equal distance of each class from the whole."""
    return _each(classes, _gained(classes), classes.rows)


def ordered_closeness(classes: Classes) -> Measured:
    """The least t under the ordered distance, for values in their order."""
    return _measured(
        classes, "t-closeness, ordered distance", _moved(classes), classes.rows * max(1, classes.values - 1)
    )


def ordered_distances(classes: Classes) -> tuple[Fraction, ...]:
    """The ordered distance of each class from the whole."""
    return _each(classes, _moved(classes), classes.rows * max(1, classes.values - 1))


def _each(classes: Classes, moved: Counts, scale: int) -> tuple[Fraction, ...]:
    sizes = classes.sizes.tolist()
    return tuple(Fraction(int(work), size * scale) for work, size in zip(moved, sizes, strict=True))


def _measured(classes: Classes, notion: str, moved: Counts, scale: int) -> Measured:
    (sizes,) = classes.exactly(classes.sizes)
    place = largest(moved, sizes)
    size = int(classes.sizes[place])
    entry = _strayed(classes, place)
    count, total = int(classes.count[entry]), int(classes.totals[classes.value[entry]])
    return Measured(
        notion=notion,
        symbol="t",
        number=Fraction(int(moved[place]), size * scale),
        keeps="at most",
        count=count,
        why=f"the value that is most above its share has {count:,} of {rows(size)}, {percent(Fraction(count, size))}, "
        f"and {percent(Fraction(total, classes.rows))} of all",
        **worst_place(classes, place),
    )


def _strayed(classes: Classes, place: int) -> int:
    """The entry of a class that is most above its share of all rows."""
    end = classes.starts[place + 1] if place + 1 < len(classes) else len(classes.count)
    own = np.arange(classes.starts[place], end)
    above = classes.count[own] / classes.sizes[place] - classes.totals[classes.value[own]] / classes.rows
    return int(own[np.argmax(above)])


def _gained(classes: Classes) -> Counts:
    """For each class sum of what n c_gx is above S_g n_x, which is as much as others are below."""
    count, sizes, totals = classes.exactly(classes.count, classes.sizes, classes.totals)
    above = np.maximum(count * classes.rows - totals[classes.value] * sizes[classes.owner], 0)
    gained: Counts = np.add.reduceat(above, classes.starts)
    return gained


def _moved(classes: Classes) -> Counts:
    """For each class sum over i of |n C_i - S N_i|, cumulative counts of the class and of all.

    C_i stays the same from one value of the class to the next and N_i never falls, so each such run of values has one
    place before which the class is ahead, and sums of N_i do the rest: no table of classes by values is made.
    """
    n, values = classes.rows, classes.values
    count, sizes, totals = classes.exactly(classes.count, classes.sizes, classes.totals)
    running = np.cumsum(totals)  # N_i
    summed = np.concatenate([running[:1] * 0, np.cumsum(running)])  # of N_0 to N_(i-1)
    passed = np.cumsum(count)
    held = passed - (passed - count)[classes.starts][classes.owner]  # C_i from each entry on
    start = classes.value
    end = np.append(start[1:], values)
    end[np.append(classes.starts[1:], len(start)) - 1] = values
    size = sizes[classes.owner]
    ahead = np.searchsorted(running, (n * held) // size, side="right")
    turn = np.clip(ahead, start, end)
    before = n * held * (turn - start) - size * (summed[turn] - summed[start])
    behind = size * (summed[end] - summed[turn]) - n * held * (end - turn)
    first = sizes * summed[start[classes.starts]]  # below the first value of the class it has nothing
    moved: Counts = np.add.reduceat(before + behind, classes.starts) + first
    return moved

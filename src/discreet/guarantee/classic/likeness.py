"""beta-likeness: no value's share of a class is more than beta above its share of the table, relative to the latter.

Paper: [W14] Definition 5, after Cao and Karras; the enhanced form is theirs.
Symbols: D = (q - p) / p where q > p; basic: D <= beta; enhanced: D <= min(beta, -ln p), so a frequent value may not
    rise to certainty however large beta is.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.logs import exceeds_log
from discreet.guarantee.classic.measured import Measured, largest, percent, rows, worst_place

_NEAR = 1e-9


def likeness(classes: Classes) -> Measured:
    """The least beta of the basic form."""
    count, sizes, totals = classes.exactly(classes.count, classes.sizes, classes.totals)
    entry = largest(count, totals[classes.value] * sizes[classes.owner])
    return _measured(classes, "beta-likeness", entry, _rise(classes, entry))


def rises(classes: Classes) -> tuple[Fraction, ...]:
    """The largest D of each class."""
    found = [Fraction(0)] * len(classes)
    for entry, place in enumerate(classes.owner.tolist()):
        found[place] = max(found[place], _rise(classes, entry))
    return tuple(found)


def enhanced_likeness(classes: Classes) -> Measured:
    """The least beta of the enhanced form; None where a value rises by more than -ln p, which no beta allows."""
    p = classes.totals[classes.value] / classes.rows
    rise = classes.count / classes.sizes[classes.owner] / p - 1
    excess = rise + np.log(p)
    sure, doubtful = excess > _NEAR * (1 + rise), np.abs(excess) <= _NEAR * (1 + rise)
    beyond = np.flatnonzero(sure)
    if not len(beyond):
        beyond = np.array([entry for entry in np.flatnonzero(doubtful).tolist() if _forbidden(classes, entry)])
    if not len(beyond):
        basic = likeness(classes)
        return Measured(**{**vars(basic), "notion": "enhanced beta-likeness"})
    entry = int(beyond[np.argmax(excess[beyond])])
    return _measured(classes, "enhanced beta-likeness", entry, None)


def _rise(classes: Classes, entry: int) -> Fraction:
    """D of a class and value."""
    q = Fraction(int(classes.count[entry]), int(classes.sizes[classes.owner[entry]]))
    return q / Fraction(int(classes.totals[classes.value[entry]]), classes.rows) - 1


def _forbidden(classes: Classes, entry: int) -> bool:
    p = Fraction(int(classes.totals[classes.value[entry]]), classes.rows)
    return exceeds_log(_rise(classes, entry), p)


def _measured(classes: Classes, notion: str, entry: int, number: Fraction | None) -> Measured:
    place, count = int(classes.owner[entry]), int(classes.count[entry])
    size, total = int(classes.sizes[place]), int(classes.totals[classes.value[entry]])
    more = "; that is more than any beta allows" if number is None else ""
    return Measured(
        notion=notion,
        symbol="beta",
        number=number,
        keeps="at most",
        count=count,
        why=f"one value has {count:,} of {rows(size)}, {percent(Fraction(count, size))}, and "
        f"{percent(Fraction(total, classes.rows))} of all{more}",
        **worst_place(classes, place),
    )

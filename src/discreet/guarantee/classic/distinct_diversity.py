"""Distinct l-diversity: every class has l values at least, however rare.

Paper: [W14] section 2.3.1, after Machanavajjhala and others.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.measured import Measured, percent, rows, worst_place


def distinct_diversity(classes: Classes) -> Measured:
    """The largest l: the fewest values of a class. Of the classes with so few, the one with the largest share of one
    value is told.
    """
    values = np.diff(classes.starts, append=len(classes.count))
    most = np.maximum.reduceat(classes.count, classes.starts)
    fewest = int(values.min())
    those = np.flatnonzero(values == fewest)
    place = int(those[np.argmax(most[those] / classes.sizes[those])])
    size, count = int(classes.sizes[place]), int(most[place])
    plural = "value" if fewest == 1 else "values"
    return Measured(
        notion="distinct l-diversity",
        symbol="l",
        number=Fraction(fewest),
        keeps="at least",
        count=count,
        why=f"{len(those):,} of {len(classes):,} classes have {fewest:,} {plural}, the fewest; here one value has "
        f"{count:,} of {rows(size)}, {percent(Fraction(count, size))}",
        **worst_place(classes, place),
    )

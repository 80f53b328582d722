"""k-anonymity: nobody stands in a class with fewer than k rows.

Paper: [W14] Definition 1, after Samarati and Sweeney.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.measured import Measured, rows, worst_place


def k_anonymity(classes: Classes) -> Measured:
    """The largest k that all classes have: the people of the smallest. It says nothing of sensitive values."""
    place = int(np.argmin(classes.people))
    size = int(classes.people[place])
    number = int((classes.people == size).sum())
    return Measured(
        notion="k-anonymity",
        symbol="k",
        number=Fraction(size),
        keeps="at least",
        why=f"{number:,} of {len(classes):,} classes have {rows(size)}, the fewest",
        **worst_place(classes, place),
    )

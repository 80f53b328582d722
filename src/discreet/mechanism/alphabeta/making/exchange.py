"""FRAPP's coins: every record keeps its tuple, or becomes a uniform other one of the domain.

Paper: [RSH] section 5.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.alphabeta.making.codes import Radix
from discreet.mechanism.alphabeta.planning.parameters import UNIT


def perturbed(
    rows: Ints, keep: Fraction, radix: Radix, keeping: np.random.Generator, others: np.random.Generator
) -> Ints:
    """Every packed record as it is, or as a uniform other tuple: packed, in order, copies and all."""
    found = rows.copy()
    changed = np.flatnonzero(keeping.integers(0, UNIT, size=rows.shape[1]) >= int(keep * UNIT))
    while len(changed):  # whoever draws his own tuple draws again
        found[:, changed] = radix.pack([others.integers(0, size, size=len(changed)) for size in radix.sizes])
        changed = changed[(found[:, changed] == rows[:, changed]).all(axis=0)]
    return found[:, np.lexsort(found[::-1])]

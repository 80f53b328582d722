"""Counting rows in leaves, exactly: what noise is added to."""

from __future__ import annotations

import numpy as np

from discreet.ground.arrays import Ints
from discreet.mechanism.diffgen.planning.cuts import Cuts, places
from discreet.mechanism.diffgen.planning.rows import Rows


def leaf_counts(rows: Rows, cuts: Cuts) -> Ints:
    """The counts of all combinations of the cuts' values and classes, exactly; classes last."""
    held = [cuts.groups(position)[rows.cells[position]] for position in cuts.axes]
    place = places([*held, rows.classes], [*(cuts.shape[each] for each in cuts.axes), rows.number_of_classes])
    return np.bincount(place, minlength=cuts.leaves * rows.number_of_classes)

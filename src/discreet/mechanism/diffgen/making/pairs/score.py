"""Scores: how far a model is from the rows, table by table, in whole numbers.

A score is |true - model|_1 - .7 cells / e_m in units of 1 / UNIT of a record; a stop scores 0. The model's table is
rounded to units first.

Sensitivity: the model follows from numbers that are published, so it is the same for two tables that differ by one
record; so are cells and e_m. The record is in one cell of every table of two columns and moves it by 1, which is UNIT
units. All are whole numbers, and | |a + UNIT - m| - |a - m| | <= UNIT. So each score moves by at most UNIT, exactly.
It can rise in one table and fall in another: scores are not monotone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.ground.arrays import Floats, Ints
from discreet.release.diffgen.pairs.candidates import NOISE

UNIT = 1024  # of a record


def score(true: Ints, model: Floats, measuring: Fraction) -> int:
    """What measuring a table would mend, less its noise, in units."""
    public = np.rint(model * UNIT).astype(np.int64)
    return int(np.abs(true * UNIT - public).sum()) - int(NOISE * true.size * UNIT / measuring)

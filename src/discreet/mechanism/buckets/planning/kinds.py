"""Which rows of caps are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.ground.arrays import Ints


def kinds_of(caps: Ints, unit: int = 1) -> Ints:
    """A number for each row of the caps, the same for equal rows only.

    Whole caps are monotone in the tolerance, so rows with equal sums are equal (at most 774 kinds for sizes up to 50).
    In parts of a record, `unit` of them to a record, they need not be.
    """
    if unit == 1:
        return np.asarray(caps.sum(axis=1))
    return np.asarray(np.unique(caps, axis=0, return_inverse=True)[1]).reshape(-1)

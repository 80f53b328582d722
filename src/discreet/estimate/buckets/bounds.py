"""Hard limits of a count: true whatever the coins and the data were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.estimate.buckets.composition import Ints


def bounds(matches: Sequence[Ints], held: Sequence[Ints], sizes: Ints) -> tuple[int, int]:
    """sum over buckets and parts of [max(0, a + c - S), min(a, c)]: of c records with the part's values, some of a
    rows match.
    """
    low = high = 0
    for a, c in zip(matches, held, strict=True):
        low += int(np.maximum(0, a + c - sizes).sum())
        high += int(np.minimum(a, c).sum())
    return low, high

"""What a bucket setting costs an analyst, as the papers measure it.

Paper: [WWFW] Definitions 2 and 3 (Loss, MSE); [W14] Definition 7 (information loss).
"""

from __future__ import annotations

import math

from discreet.mechanism.buckets.planning.caps import Classes


def loss_of(classes: Classes) -> int:
    """Loss = sum_j b_j (S_j - 1)^2."""
    return sum(buckets * (size - 1) ** 2 for size, buckets in classes)


def mean_squared_error(loss: int, rows: int) -> float:
    """MSE: 0 for the raw table, n - 1 for one bucket.  # [WWFW] Eq. 1"""
    return loss / (rows - 1) if rows > 1 else 0.0


def information_loss(loss: int, rows: int) -> float:
    """IL: 0 for the raw table, 1 for one bucket.  # [W14] Definition 7"""
    return math.sqrt(loss) / (rows - 1) if rows > 1 else 0.0

"""Whether a bucket setting with any number of sizes is valid, in exact integers.

Paper: [WWFW] Theorem 3; [W14] Theorem 1 and section 6.1.
Symbols: o_i counts, u_ij = floor(f'_i S_j) b_j. A setting is valid if and only if for every set J of its sizes
    sum_i min(o_i, sum_{j in J} u_ij) >= sum_{j in J} S_j b_j.
Departs: the papers prove this for two sizes, one at a time and both. With more, every subset counts; a maximum flow
    decides them all at once, and its minimum cut is the subset that is broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.ground.exact import Number, exact
from discreet.mechanism.buckets.planning.caps import Classes, caps_of
from discreet.mechanism.buckets.planning.flow import fill


@dataclass(frozen=True, kw_only=True)
class Violation:
    """Sizes whose buckets cannot all be filled: they need `needed` records, and only `available` may go there."""

    sizes: tuple[int, ...]
    needed: int
    available: int


def find_violation(
    counts: Mapping[object, int], tolerance: Mapping[object, Number], classes: Classes
) -> Violation | None:
    """Why a setting of (size, buckets) cannot keep every tolerance; None where it can."""
    occurring = {value: count for value, count in counts.items() if count}
    held = np.array(list(occurring.values()), dtype=np.int64)
    needed = sum(size * buckets for size, buckets in classes)
    if needed != int(held.sum()):
        return Violation(sizes=tuple(size for size, _ in classes), needed=needed, available=int(held.sum()))
    sizes = np.array([size for size, _ in classes], dtype=np.int64)
    buckets = np.array([number for _, number in classes], dtype=np.int64)
    caps = caps_of([exact("tolerance", tolerance[value]) for value in occurring], sizes)
    flow = fill(caps, held, sizes, buckets)
    broken = flow.sizes
    short = (sizes * buckets)[broken].sum() - np.minimum(held, (caps * buckets)[:, broken].sum(axis=1)).sum()
    if short <= 0:
        return None
    wanted = int((sizes * buckets)[broken].sum())
    return Violation(sizes=tuple(sizes[broken].tolist()), needed=wanted, available=wanted - int(short))

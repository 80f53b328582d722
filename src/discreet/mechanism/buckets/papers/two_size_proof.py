"""That a two-size setting is the best one: every setting of less loss is looked at, and none may be valid.

Paper: [WWFW] Theorem 3 (when two sizes are valid).
A proof among two-size settings. How far two sizes are from the best with any number of sizes is another question, which
the certificate of the optimum answers. Nothing of the closed form or of the papers' searches is used: no list is cut
short by a monotone constraint, only by the loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.ground.arrays import Bools, Ints

_AT_ONCE = 1 << 16  # settings that are looked at together


@dataclass(frozen=True, kw_only=True)
class TwoSizeProof:
    """How many two-size settings lose less than a given one, and how many of these are valid: none where it is best."""

    smaller: int
    valid: int

    @property
    def holds(self) -> bool:
        return self.valid == 0


def prove_two_sizes(caps: Ints, counts: Ints, sizes: Ints, loss: int) -> TwoSizeProof:
    """Count the settings of one or two sizes whose loss is below `loss`, and the valid ones among them."""
    rows = int(counts.sum())
    smaller = valid = 0
    for j, k in combinations(range(len(sizes)), 2):
        small, large = int(sizes[j]), int(sizes[k])
        for start in range(0, rows // large + 1, _AT_ONCE):
            many = np.arange(start, min(start + _AT_ONCE, rows // large + 1), dtype=np.int64)
            few, rest = np.divmod(rows - many * large, small)
            lost = few * (small - 1) ** 2 + many * (large - 1) ** 2
            wanted = (rest == 0) & (lost < loss)
            few, many = few[wanted], many[wanted]
            smaller += len(few)
            valid += int(_valid(caps[:, j], caps[:, k], counts, (small, few), (large, many)).sum())
    return TwoSizeProof(smaller=smaller, valid=valid)


def _valid(cap_1: Ints, cap_2: Ints, counts: Ints, first: tuple[int, Ints], second: tuple[int, Ints]) -> Bools:
    """The three constraints, of which the capacity holds already.  # [WWFW] Theorem 3"""
    (small, few), (large, many) = first, second
    fits = np.ones(len(few), dtype=np.bool_)
    filled_1, filled_2 = np.zeros_like(few), np.zeros_like(many)
    for one, other, count in zip(cap_1.tolist(), cap_2.tolist(), counts.tolist(), strict=True):
        into_1, into_2 = np.minimum(one * few, count), np.minimum(other * many, count)
        fits &= into_1 + into_2 >= count
        filled_1 += into_1
        filled_2 += into_2
    return np.asarray(fits & (filled_1 >= small * few) & (filled_2 >= large * many))

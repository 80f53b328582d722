"""The best setting with one bucket size.

Paper: [WWFW] Lemma 2.
Departs: the paper asks that one size fill the table exactly, so a table whose row count is prime has no setting. That
    is kept: such a table is infeasible with one size, and two sizes are the remedy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.ground.arrays import Ints
    from discreet.mechanism.buckets.planning.caps import Classes


def best_one_size(caps: Ints, counts: Ints, sizes: Ints, unit: int = 1) -> Classes | None:
    """The smallest size S that divides the table into b buckets with o_i <= floor(f'_i S) b for every value.

    Caps and counts are in parts of a record, `unit` of them to a record.
    """
    rows = int(counts.sum()) // unit
    for column, size in enumerate(sizes.tolist()):
        buckets, rest = divmod(rows, size)
        if buckets and not rest and (counts <= caps[:, column] * buckets).all():
            return ((size, buckets),)
    return None

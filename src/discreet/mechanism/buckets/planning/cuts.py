"""Cuts: the linear conditions on the numbers of buckets that every valid setting keeps.

The term of art is cutting planes.

Paper: [WWFW] Theorem 3 for two sizes; here for every set A of values and every set J of sizes:
    sum_{j in J} (S_j - sum_{i not in A} floor(f'_i S_j)) b_j <= sum_{i in A} o_i.
Together they are all that validity asks for (maximum flow = minimum cut). For one set J the best A is at hand: the
    values whose records all fit, o_i < sum_{j in J} floor(f'_i S_j) b_j; and for one A the best J has the sizes whose
    coefficient is positive. Sets of sizes that a point breaks are nearly
    always all sizes up to one, or from one on; from those, adding or leaving out one size at a time finds the others.
    That took 0.2 CPU s where minimum cuts took 10, for 10,000 values with counts like 1/rank. What it overlooks
    makes a bound weaker; a whole setting is checked by an exact flow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.ground.arrays import Bools, Floats, Ints
from discreet.mechanism.buckets.planning.caps import most_buckets
from discreet.mechanism.buckets.planning.groups import Groups
from discreet.mechanism.buckets.planning.work import Work, flow_of

Broken = tuple[Bools, float, Floats]  # sizes, what their buckets have to spare, and what each value may send there
_SLACK = 1e-9  # of the rows: what a solver in floating point may be off
_TIGHT = 1e-4  # of the rows: a cut with less to spare than this is near enough to matter


class Cuts:
    """A pool of cuts over one table: the coefficients of the numbers of buckets, the right sides, and the groups A."""

    def __init__(self, groups: Groups, work: Work, known: Sequence[Bools] | None = None) -> None:
        """Begin with the cuts of the sets of groups that are `known`, or else with the fill constraint of each size."""
        self.groups, self._work = groups, work
        self.rows = groups.rows
        self.coefficients: list[Ints] = []
        self.limits: list[int] = []
        self.values: list[Bools] = []
        self._together, self._records = groups.together, groups.records
        self._caps_of_all = self._together.sum(axis=0)
        self._caps, self._number = groups.caps.astype(np.float64), groups.number.astype(np.float64)
        self._counts = groups.counts.astype(np.float64)[:, None]
        if known is None:
            most = most_buckets(groups.caps, groups.counts, groups.sizes, groups.number)
            known = list((groups.caps * (most + 1) >= groups.counts[:, None]).T)
        self._add_all(known)

    def separate(self, buckets: Floats) -> bool:
        """Add cuts that a point with fractions breaks; whether any was found."""
        used = np.flatnonzero(buckets > 0)
        sizes, room = self.groups.sizes[used] * buckets[used], self._caps[:, used] * buckets[used]
        up = np.cumsum(room, axis=1)
        down = up[:, -1:] - up + room
        needs = np.cumsum(sizes)
        starts = []
        for together, needed in ((up, needs), (down, needs[-1] - needs + sizes)):
            spare = self._number @ np.minimum(self._counts, together) - needed
            best = int(np.argmin(spare))
            chosen = np.arange(len(used)) <= best if together is up else np.arange(len(used)) >= best
            starts.append((chosen, float(spare[best]), together[:, best]))
        self._work.spend(4 * room.size)
        slack = -_SLACK * self.rows
        found = [each for each in starts if each[1] < slack]
        found = found or [each for each in (self._widen(room, sizes, *start) for start in starts) if each[1] < slack]
        for _, _, together in found:
            self._add(together > self._counts[:, 0])
        return bool(found)

    def _widen(self, room: Floats, sizes: Floats, chosen: Bools, spare: float, together: Floats) -> Broken:
        """Add or leave out one size at a time, as long as less is to spare."""
        while True:
            sign = np.where(chosen, -1.0, 1.0)
            other = self._number @ np.minimum(self._counts, together[:, None] + sign * room)
            other -= sizes[chosen].sum() + sign * sizes
            self._work.spend(3 * room.size)
            best = int(np.argmin(other))
            if other[best] >= spare - _SLACK * self.rows:
                return chosen, spare, together
            together = together + sign[best] * room[:, best]
            chosen, spare = chosen.copy(), float(other[best])
            chosen[best] = not chosen[best]

    def tight(self, buckets: Floats) -> list[bool]:
        """Which cuts hold a point back."""
        return [
            bool(row @ buckets >= limit - _TIGHT * self.rows)
            for row, limit in zip(self.coefficients, self.limits, strict=True)
        ]

    def separate_exactly(self, buckets: Ints) -> bool:
        """Add the cut that a setting breaks; False where the setting is valid."""
        flow = self.groups.fill(buckets)
        self._work.spend(flow_of(*self._together.shape))
        if int(flow.records.sum()) == self.rows:
            return False
        self._add(flow.values)
        return True

    def _add_all(self, known: Sequence[Bools]) -> None:
        """The cuts of several sets at once; their sums are whole numbers below 2^53, so they are exact."""
        apart = np.array(known, dtype=np.bool_).reshape(-1, len(self._records))
        others = (~apart).astype(np.float64) @ self._together.astype(np.float64)
        self.coefficients += list(np.maximum(self.groups.sizes - others.astype(np.int64), 0))
        self.limits += (apart @ self._records).tolist()
        self.values += list(apart)

    def _add(self, values: Bools) -> None:
        """The cut of these values and the sizes that make it strongest: true of every setting, however it was found."""
        few = values.sum() * 2 < len(values)
        others = self._caps_of_all - self._together[values].sum(axis=0) if few else self._together[~values].sum(axis=0)
        self.coefficients.append(np.maximum(self.groups.sizes - others, 0))
        self.limits.append(int(self._records[values].sum()))
        self.values.append(values)

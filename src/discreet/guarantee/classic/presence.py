"""delta-presence: how probable it is that a person of an outside table is in the published one.

Paper: Nergiz, Atzori and Clifton, delta-presence; [W14] Example 1 has such an outside table.
Symbols: of the people of the outside table with certain quasi-identifiers, so many are in the published table: their
    share is between delta_min and delta_max for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import TableError
from discreet.ground.arrays import Ints
from discreet.guarantee.classic.measured import Measured, largest, percent, rows


@dataclass(frozen=True, kw_only=True)
class Presence(Measured):
    """`number` is the least delta_max, `least` the largest delta_min. `certain` people outside are known to be in the
    published table, `alone` of them by quasi-identifiers that nobody else has in either table: they are identified.
    `beyond` rows of the published table are more than there are outside of their kind: not everybody is there.
    """

    least: Fraction
    certain: int
    alone: int
    beyond: int

    def as_json(self) -> dict[str, Any]:
        own = {"least": float(self.least), "certain": self.certain, "alone": self.alone, "beyond": self.beyond}
        return {**super().as_json(), **own}


def presence(inside: Ints, outside: Ints) -> Presence:
    """The least delta_max and the largest delta_min, from the class of each row in the published and outside tables."""
    if not len(inside) or not len(outside):
        raise TableError("both tables must have rows; of nobody nothing can be said")
    numbers, place = np.unique(np.concatenate([inside, outside]), return_inverse=True)
    own = np.bincount(place[: len(inside)], minlength=len(numbers)).astype(np.int64)
    people = np.bincount(place[len(inside) :], minlength=len(numbers)).astype(np.int64)
    beyond = int(np.maximum(own - people, 0).sum())
    alone = int(((own == 1) & (people == 1)).sum())
    known = np.flatnonzero(people)
    numbers, own, people = numbers[known], np.minimum(own[known], people[known]), people[known]
    most, fewest = largest(own, people), largest(people - own, people)
    found, size = int(own[most]), int(people[most])
    missing = f"; {rows(beyond)} of the table are beyond those outside, so it does not hold everybody" if beyond else ""
    return Presence(
        notion="delta-presence",
        symbol="delta_max",
        number=Fraction(found, size),
        keeps="at most",
        group=int(numbers[most]),
        size=size,
        count=found,
        least=Fraction(int(own[fewest]), int(people[fewest])),
        certain=int(people[own == people].sum()),
        alone=alone,
        beyond=beyond,
        why=f"{found:,} of {rows(size)} outside are in the table, {percent(Fraction(found, size))}{missing}",
    )

"""What one makes of fakes who knows how many people have each value, in the buckets of each size: everybody does.

Paper: [WWFW] section 6.
Symbols: v_x people and m_x fakes with value x in the buckets of one size, u_x = m_x / v_x; he is left with r_x slots of
    each value, of which all but sigma are people's. e_k the sum over all k of these slots of the products of their u.
    Weights of product form: k slots are the fakes for prod u. Then a slot of x is a fake for
    u_x e_(sigma - 1)(others) / e_sigma, and of the slots that are not the person's is each with the same probability.
Departs: that the law of the draw is of product form is an approximation, coarse in tiny tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from discreet.ground.arrays import Floats, Ints

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition

Scores = Callable[[Ints, Ints], Floats]  # of buckets and the slots that are left of each value: how much is for it
_NOBODY = 1e-6  # people of a value that nobody has, so that its slots are fakes for all but certain


def fakes_beside(composition: Composition) -> Floats:
    """u_x of each value (rows) in the buckets of each size (columns)."""
    kinds, people = int(composition.kind.max()) + 1, np.asarray(composition.people, dtype=np.float64)
    cell = composition.value * kinds + composition.kind[composition.bucket]
    every = np.bincount(cell, composition.count, minlength=people.size).reshape(people.shape)
    return np.maximum(every - people, 0.0) / np.maximum(people, _NOBODY)


def by_totals(composition: Composition) -> Scores:
    """How probable it is that the person has each value, for one who knows the totals; up to a factor."""
    beside, fakes = fakes_beside(composition), composition.fakes

    def score(buckets: Ints, left: Ints) -> Floats:
        return np.asarray(left * (1 - fake(left, beside.T[composition.kind[buckets]], fakes)))

    return score


def fake(left: Ints, beside: Floats, fakes: int) -> Floats:
    """How probable it is that a slot of each value is a fake; `left` of them, so many fakes `beside` each person.

    Both have a row for each case and a column for each value; of each case `fakes` slots are fakes.
    """
    u = beside / np.maximum(np.where(left > 0, beside, 0.0).max(axis=1, keepdims=True), _NOBODY)
    sums = np.zeros((len(left), fakes + 1))
    sums[:, 0] = 1
    for x in np.flatnonzero(left.any(axis=0)).tolist():
        for nth in range(int(left[:, x].max())):
            weight = np.where(left[:, x] > nth, u[:, x], 0.0)[:, None]
            sums[:, 1:] += weight * sums[:, :-1]
    without = np.ones_like(u)
    for k in range(1, fakes):
        without = sums[:, k, None] - u * without
    whole = sums[:, -1, None]
    found = np.divide(u * without, whole, out=np.zeros_like(u), where=whole > 0)
    return np.asarray(np.clip(found, 0.0, 1.0))

"""(alpha, k)-anonymity: classes of k rows at least, and no sensitive value is more than alpha of one.

Paper: Wong and others, (alpha, k)-anonymity; beside [W14] Definitions 1 and 3, of which it is both at once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import PolicyError
from discreet.guarantee.classic.classes import Classes
from discreet.guarantee.classic.k_anonymity import k_anonymity
from discreet.guarantee.classic.measured import Measured, largest, percent, rows, worst_place


@dataclass(frozen=True, kw_only=True)
class AlphaK(Measured):
    """`number` is the least alpha; `k` the largest k."""

    k: int

    def as_json(self) -> dict[str, Any]:
        return {**super().as_json(), "k": self.k}

    def __str__(self) -> str:
        return f"{super().__str__()}, k = {self.k:,}"


def alpha_k_anonymity(classes: Classes, of: Collection[int] | None = None) -> AlphaK:
    """The least alpha and the largest k; `of` are the values that are sensitive, by position, by default all."""
    entries = np.arange(len(classes.count))
    if of is not None:
        if not of or not set(of) <= set(range(classes.values)):
            raise PolicyError(f"values must be positions below {classes.values}, one at least")
        entries = np.flatnonzero(np.isin(classes.value, list(of)))
    people = classes.people[classes.owner]
    counts = np.minimum(classes.count, people)  # of a class with fakes, as if all of the value's rows were people's
    entry = int(entries[largest(counts[entries], people[entries])])
    place, count, size = int(classes.owner[entry]), int(counts[entry]), int(people[entry])
    return AlphaK(
        notion="(alpha, k)-anonymity",
        symbol="alpha",
        number=Fraction(count, size),
        k=int(k_anonymity(classes).number or 0),
        keeps="at most",
        count=count,
        why=f"one value has {count:,} of {rows(size)}, {percent(Fraction(count, size))}",
        **worst_place(classes, place),
    )

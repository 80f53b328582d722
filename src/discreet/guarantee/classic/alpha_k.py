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
    entry = int(entries[largest(classes.count[entries], classes.sizes[classes.owner[entries]])])
    place, count = int(classes.owner[entry]), int(classes.count[entry])
    size = int(classes.sizes[place])
    return AlphaK(
        notion="(alpha, k)-anonymity",
        symbol="alpha",
        number=Fraction(count, size),
        k=k_anonymity(classes).size,
        keeps="at most",
        count=count,
        why=f"one value has {count:,} of {rows(size)}, {percent(Fraction(count, size))}",
        **worst_place(classes, place),
    )

"""What was learned of a release, as plain arrays: whoever answers needs no compiler, and a cache holds nothing else.

Symbols: W_ix the probability that row i has value x of its bucket, by networks (`weights`) and by the linear model
    (`second`): bucket after bucket, within it value after value, within that row after row; p_ux the probability of x
    for the pattern u before its bucket is looked at (`prior`, values by patterns).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]
Small = NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """What was learned, and how far it is off beyond chance (`excess`, tau^2) and from what is unbiased (`misfit`)."""

    weights: Singles
    second: Singles
    kept: Small  # the column of `prior` for each row; -1 where there is none
    prior: Singles
    members: int
    excess: float = 0.0
    misfit: float = 0.0

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        return {each.name: np.asarray(getattr(self, each.name)) for each in fields(self)}


def knowledge_of(arrays: Mapping[str, NDArray[Any]], rows: int, values: int, weights: int) -> Knowledge | None:
    """What a cache holds, if it is for a release with so many rows and values, and so many numbers in W."""
    kinds = {"weights": (np.float32, 1), "second": (np.float32, 1), "kept": (np.int32, 1), "prior": (np.float32, 2)}
    scalars = ("members", "excess", "misfit")
    if set(arrays) != {*kinds, *scalars} or not all(_is_number(arrays[name]) for name in scalars):
        return None
    if any(arrays[name].dtype != kind or arrays[name].ndim != axes for name, (kind, axes) in kinds.items()):
        return None
    kept, prior = arrays["kept"], arrays["prior"]
    fits = len(arrays["weights"]) == len(arrays["second"]) == weights and len(kept) == rows and len(prior) == values
    if not fits or not rows or kept.min() < -1 or kept.max() >= prior.shape[1]:
        return None
    return Knowledge(
        weights=arrays["weights"],
        second=arrays["second"],
        kept=kept,
        prior=prior,
        members=int(arrays["members"]),
        excess=float(arrays["excess"]),
        misfit=float(arrays["misfit"]),
    )


def _is_number(array: NDArray[Any]) -> bool:
    return array.shape == () and array.dtype.kind in "if" and not bool(np.isnan(array))

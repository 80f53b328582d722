"""What the estimators of this family ask of a model of published counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.estimate.diffgen.factors import Factor
from discreet.ground.arrays import Floats


@dataclass(frozen=True, kw_only=True)
class Reckoned:
    """A count, the standard deviation of its noise, and that of what the model leaves open.

    `note` says what the model had to guess; it is empty where only noise is in the way.
    """

    value: float
    noise: float
    model: float
    note: str


@dataclass(frozen=True, kw_only=True)
class Together:
    """Several counts: their values, the covariance of their noise, and the standard deviations of what is open."""

    values: Floats
    noise: Floats
    model: Floats
    note: str


def together(single: Sequence[Reckoned], common: Floats) -> Together:
    """Counts that were reckoned one by one; `common` says how their noise goes together, up to the size of each."""
    own = np.sqrt(np.maximum(np.diag(common), 0.0))
    scale = np.divide([each.noise for each in single], own, out=np.zeros(len(own)), where=own > 0)
    noise = common * np.outer(scale, scale)
    np.fill_diagonal(noise, [each.noise**2 for each in single])
    return Together(
        values=np.array([each.value for each in single]),
        noise=noise,
        model=np.array([each.model for each in single]),
        note=next((each.note for each in single if each.note), ""),
    )


class Answers(Protocol):
    """A model of how people are spread over the values of all columns.

    A part is the model's own; `part.possible` says whether any values of the domains meet it.
    """

    def part(self, factor: Factor) -> Any:
        """A part of a condition, to be counted with others."""

    def count(self, parts: Sequence[Any]) -> Reckoned:
        """How many people meet all parts, which speak of different columns."""

    def together(self, questions: Sequence[Sequence[Any]]) -> Together:
        """The same of several questions."""

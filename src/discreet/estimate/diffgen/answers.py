"""What the estimators of this family ask of a model of published counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.estimate.diffgen.factors import Factor


@dataclass(frozen=True, kw_only=True)
class Reckoned:
    """A count, the standard deviation of its noise, and that of what the model leaves open.

    `note` says what the model had to guess; it is empty where only noise is in the way.
    """

    value: float
    noise: float
    model: float
    note: str


class Answers(Protocol):
    """A model of how people are spread over the values of all columns.

    A part is the model's own; `part.possible` says whether any values of the domains meet it.
    """

    def part(self, factor: Factor) -> Any:
        """A part of a condition, to be counted with others."""

    def count(self, parts: Sequence[Any]) -> Reckoned:
        """How many people meet all parts, which speak of different columns."""

"""What every estimator can do: answer questions to one open release, with what it has learned of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from discreet.estimate.estimate import Estimate
from discreet.query.condition import Condition


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Where the conditions are those of groups: the columns, each group's values, and what all of them have to meet."""

    columns: tuple[str, ...]
    values: Sequence[tuple[Any, ...]]
    where: Condition


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Conditions to count, in their order; `groups` says more of those that a GROUP BY made."""

    conditions: Sequence[Condition]
    groups: Groups | None = None


class Estimator(Protocol):
    """One way to an estimate. It is made with the first question to a release and kept with it: what can be learned
    once, it keeps for the next question.
    """

    name: ClassVar[str]
    needs: ClassVar[str]  # what a release must have to be asked so; empty where every one will do

    def __init__(self, release: Any) -> None:
        """Get to know an open release of its family; learning may wait for the first question."""

    @classmethod
    def fits(cls, release: Any) -> bool:
        """Whether this release can be asked so."""

    def estimates(self, asked: Asked, confidence: float) -> list[Estimate]:
        """An estimate for each condition."""

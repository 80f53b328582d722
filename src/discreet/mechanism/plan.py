"""What every plan can do: say itself to a program and to people, and warn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class Stakes:
    """What a plan means for people, and the one number of its promise by which plans of the same notion are laid side
    by side: the lower, the stronger.
    """

    number: float
    what: str  # that number is
    unprotected: int  # people of whom the promise says nothing
    alone: int | None  # people in a bucket of their own; None where there are no buckets
    size: float  # rows, tuples or counts that would be published, about


class Plan(Protocol):
    """What would be published."""

    @property
    def stakes(self) -> Stakes:
        """What it means for people."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a custodian should think about before publishing this."""

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """The plan for programs; with `explain`, what makes it cost what it does, where that can be told."""

    def lines(self, *, explain: bool = False) -> Iterator[str]:
        """The plan for people, line by line."""


class Alternatives(Protocol):
    """One table planned in several ways."""

    def as_json(self) -> dict[str, Any]:
        """All of them, for programs."""

    def lines(self) -> Iterator[str]:
        """All of them, for people."""

    @property
    def curve(self) -> tuple[str, str, tuple[tuple[float, float], ...]]:
        """What they are compared by: the names of both axes, and the points."""

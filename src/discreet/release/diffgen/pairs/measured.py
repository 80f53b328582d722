"""What was measured for Pairs: whole noisy numbers, in the order in which they were bought.

A series keeps it as text, a release publishes all of it, and everything else follows from it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from discreet.errors import SeriesRefusal
from discreet.ground.arrays import Ints


class Level(Enum):
    """How finely a column stands in a table of two: each of its cells, or groups of cells."""

    CELLS = "cells"
    GROUPS = "groups"


@dataclass(frozen=True)
class Candidate:
    """A table of two columns that can be chosen: positions of the columns, the first being less, and their levels."""

    first: int
    second: int
    levels: tuple[Level, Level]

    @property
    def columns(self) -> tuple[int, int]:
        return self.first, self.second


@dataclass(frozen=True, eq=False)
class Round:
    """What one round chose: a table, with its noisy counts; or nothing, which is a stop."""

    chosen: Candidate | None = None
    counts: Ints | None = None  # first column x second column, at their levels

    def __post_init__(self) -> None:
        if (self.chosen is None) != (self.counts is None):
            raise ValueError("a round must have counts where it chose a table, and only there")


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """The noisy total; a noisy table of each column, by cells; the rounds; the columns' tables again, or nothing."""

    total: int
    ones: tuple[Ints, ...]
    rounds: tuple[Round, ...] = ()
    again: tuple[Ints, ...] | None = None

    def after(self, one: Round) -> Measured:
        return replace(self, rounds=(*self.rounds, one))

    @property
    def pairs(self) -> tuple[Round, ...]:
        """The rounds that were no stops."""
        return tuple(each for each in self.rounds if each.chosen is not None)

    def as_json(self) -> str:
        content = {
            "total": self.total,
            "ones": [each.tolist() for each in self.ones],
            "rounds": [_round_to_json(each) for each in self.rounds],
            "again": None if self.again is None else [each.tolist() for each in self.again],
        }
        return json.dumps(content, separators=(",", ":"))


def measured_from_json(text: str) -> Measured:
    """Read back what a series kept; raises SeriesRefusal on anything else."""
    try:
        data: dict[str, Any] = json.loads(text)
        again = data["again"]
        return Measured(
            total=int(data["total"]),
            ones=tuple(_line(each) for each in data["ones"]),
            rounds=tuple(_round_from_json(each) for each in data["rounds"]),
            again=None if again is None else tuple(_line(each) for each in again),
        )
    except (ValueError, TypeError, KeyError, OverflowError):
        raise SeriesRefusal("measurements must be those that a release was made from; restore the series") from None


def _round_to_json(given: Round) -> dict[str, Any] | None:
    if given.chosen is None or given.counts is None:
        return None
    levels = [each.value for each in given.chosen.levels]
    return {"pair": given.chosen.columns, "levels": levels, "counts": given.counts.tolist()}


def _round_from_json(data: Any) -> Round:
    if data is None:
        return Round()
    first, second = map(int, data["pair"])
    one, other = map(Level, data["levels"])
    return Round(Candidate(first, second, (one, other)), _whole(data["counts"], 2))


def _line(data: Any) -> Ints:
    return _whole(data, 1)


def _whole(data: Any, axes: int) -> Ints:
    found = np.array(data)
    if found.ndim != axes or found.dtype != np.int64:
        raise ValueError
    return found

"""Noisy measurements: what a series keeps of a release, and all that a release is made from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet.errors import SeriesRefusal
from discreet.mechanism.diffgen.planning.tree import Step


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """Noisy counts, and the specializations that followed from noisy choices.

    `tables` and `again` hold attribute x class counts, cells first; `leaves` the counts of all combinations of the
    values that the steps lead to, classes last, or of every node of the DiffGen tree where consistency needs them.
    """

    tables: tuple[tuple[int, ...], ...] = ()
    again: tuple[tuple[int, ...], ...] = ()
    steps: tuple[Step, ...] = ()
    leaves: tuple[int, ...] = ()
    splits: int = 0  # choices of split points that were paid for
    selections: int = 0  # choices of values that were paid for

    def as_json(self) -> str:
        content = {"tables": self.tables, "again": self.again, "steps": self.steps, "leaves": self.leaves}
        return json.dumps({**content, "splits": self.splits, "selections": self.selections}, separators=(",", ":"))


def measurements_from_json(text: str) -> Measurements:
    """Read back what a series kept; raises SeriesRefusal on anything else."""
    try:
        data: dict[str, Any] = json.loads(text)
        return Measurements(
            tables=tuple(tuple(map(int, each)) for each in data["tables"]),
            again=tuple(tuple(map(int, each)) for each in data["again"]),
            steps=tuple((int(one), int(two), int(three)) for one, two, three in data["steps"]),
            leaves=tuple(map(int, data["leaves"])),
            splits=int(data["splits"]),
            selections=int(data["selections"]),
        )
    except (ValueError, TypeError, KeyError):
        raise SeriesRefusal("measurements must be those that a release was made from; restore the series") from None

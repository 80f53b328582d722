"""Singling out: who is alone with what is known of him, in the table and in the release.

Paper: [W14] chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attack.attack import Finding, Group
from discreet.attack.linking import NOTHING, matched, packed, rows_of
from discreet.attack.rate import computed, rate_of
from discreet.attack.target import NO_TABLE, Target
from discreet.estimate.shown_rows import ShownRows
from discreet.ground.arrays import Bools
from discreet.ground.progress import Tell

_SUBSETS = 12  # sets of so many columns that are tried, at most
_MOST = 5_000_000  # rows of which sets of columns are tried
Side = Mapping[str, NDArray[np.integer[Any]]]


@dataclass(frozen=True, kw_only=True)
class Uniqueness:
    """He knows some quasi-identifiers of people, and counts who else has the same ones."""

    name: ClassVar[str] = "uniqueness"
    group: ClassVar[Group] = Group.SINGLING_OUT
    line: ClassVar[str] = "counts who is alone with the quasi-identifiers that are known of him"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 3.0

    def unfit(self, target: Target) -> str:
        return NO_TABLE if target.table is None and rows_of(target) is None else ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        names, rows = target.schema.quasi_identifiers, rows_of(target)
        steps = (target.table is not None) + (rows is not None)
        if target.table is not None:
            yield self._alone(
                target, "in the table", "people who are alone with their quasi-identifiers", target.codes, names
            )
            tell(1 / steps)
        if rows is not None:
            yield self._alone(
                target, "in the release", "rows that are alone with their quasi-identifiers", rows.codes, names
            )
            if target.table is not None:
                yield from self._claims(target, rows)

    def _alone(self, target: Target, variant: str, measures: str, side: Side, names: tuple[str, ...]) -> Finding:
        found = alone(side, names)
        small = len(found) <= _MOST
        return Finding(
            name=self.name,
            variant=variant,
            group=self.group,
            measures=measures,
            rate=computed(float(found.mean()), len(found)),
            covered=False,
            note="it says who can be found by one who knows as much, and not what he learns then",
            details={"known_columns": curve(side, names, target.coins(self.name))} if small else {},
        )

    def _claims(self, target: Target, rows: ShownRows) -> Iterator[Finding]:
        """Whether there is exactly one person with the quasi-identifiers of a row that is alone."""
        names = target.schema.quasi_identifiers
        chosen = np.flatnonzero(alone(rows.codes, names))
        if not len(chosen):
            return
        person, row = matched(target.codes, {name: rows.codes[name][chosen] for name in names}, names)
        people = np.where(row == NOTHING, 0, np.bincount(person)[row])
        yield Finding(
            name=self.name,
            variant="claims",
            group=self.group,
            measures="rows that are alone, of which it is right to say that exactly one person is so",
            rate=rate_of(int((people == 1).sum()), len(chosen), target.confidence),
            covered=False,
            note="rows that are people make all such claims right; random tuples make them wrong",
            details={"nobody": float((people == 0).mean()), "several": float((people > 1).mean())},
        )


def alone(side: Side, names: tuple[str, ...]) -> Bools:
    """Who shares the columns with nobody."""
    (key,) = packed(side, names=names)
    order = np.argsort(key)
    starts = np.ones(len(key) + 1, dtype=np.bool_)
    starts[1:-1] = np.diff(key[order]) != 0
    found = np.empty(len(key), dtype=np.bool_)
    found[order] = starts[:-1] & starts[1:]
    return found


def curve(side: Side, names: tuple[str, ...], coins: np.random.Generator) -> list[dict[str, float]]:
    """The share who are alone where so many columns are known: the mean and the most over sets of them."""
    found = []
    for number in range(1, len(names) + 1):
        if comb(len(names), number) <= _SUBSETS:
            sets = list(combinations(names, number))
        else:
            sets = [tuple(coins.choice(names, number, replace=False).tolist()) for _ in range(_SUBSETS)]
        shares = [float(alone(side, each).mean()) for each in sets]
        found.append({"columns": number, "alone": sum(shares) / len(shares), "most": max(shares), "sets": len(sets)})
    return found

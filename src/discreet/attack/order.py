"""Does the order of rows, or the numbers of buckets, tell more than the cells do? It must not, for any table.

Paper: [RSH] section 2 (noise that stands after what was kept tells everything); [WWFW] section 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.linking import NO_ROWS, NOTHING, NOTHING_SAID, matched
from discreet.attack.positions import Columns, contrary, displaced, falls, folded, in_order, pairs_apart, ranks
from discreet.attack.rate import Rate, computed, rate_of
from discreet.attack.target import Target
from discreet.estimate.shown_rows import Believes, ShownRows, ShowsRows
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell

_TESTS = 4  # findings of one audit that chance can move: all intervals hold together with the audit's confidence
_SORTED = "a file in the order of its cells says nothing by its order"
_COINS = "coins gave the numbers out, so that of two groups each has the smaller one with probability 1/2"


@dataclass(frozen=True, kw_only=True)
class Found:
    """The rows of a file that are known for one person's, in the order of the file, and what is known of them."""

    row: Ints = field(repr=False)
    position: Ints = field(repr=False)  # of the person, among the rows of the table
    value: Ints = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Order:
    """He looks at the order of rows and at numbers without meaning, and guesses what they were made from."""

    name: ClassVar[str] = "order"
    group: ClassVar[Group] = Group.LINKABILITY
    line: ClassVar[str] = "reads the order of rows and the numbers of buckets beside the table's order and its values"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.5

    def unfit(self, target: Target) -> str:
        if isinstance(target.release, ShowsRows):
            return ""
        return NO_ROWS if isinstance(target.release, Believes) else NOTHING_SAID

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        if not isinstance(target.release, ShowsRows):
            return
        files = target.release.shown_rows
        for done, rows in enumerate(files):
            yield self._of_cells(rows)
            yield from self._numbers(target, rows)
            if target.table is not None and rows.people:
                yield from self._beside_the_table(target, rows)
            tell((done + 1) / len(files))

    def _of_cells(self, rows: ShownRows) -> Finding:
        """From the file alone: whether its order follows from its cells."""
        fallen = falls(_columns(rows))
        return Finding(
            name=self.name,
            variant=f"{Path(rows.file).stem}, cells",
            group=self.group,
            measures="neighbouring rows that do not stand in the order of their cells",
            rate=computed(float(fallen.mean()) if len(fallen) else 0.0, len(fallen)),
            bound=Fraction(0),
            covered=True,
            note=_SORTED,
        )

    def _numbers(self, target: Target, rows: ShownRows) -> Iterator[Finding]:
        """Numbers of groups beside the cells of their first rows."""
        if rows.group is None:
            return
        what = "quasi-identifiers" if rows.people else "sensitive values"
        place = ranks([*rows.codes.values()])
        yield from self._given(target, rows, np.arange(len(place)), place, what)

    def _beside_the_table(self, target: Target, rows: ShownRows) -> Iterator[Finding]:
        known = found_of(target, rows)
        place = _places(rows)
        group = np.zeros(len(place), dtype=np.int64) if rows.group is None else rows.group
        if rows.group is not None:
            yield from self._given(target, rows, known.row, known.position, "rows of the table")
        others = {"rows of the table": known.position}
        if target.schema.sensitive not in rows.codes:
            others["true values"] = known.value
        for what, other in others.items():
            hits = contrary(group[known.row], place[known.row], other)
            if not len(hits):
                continue
            yield Finding(
                name=self.name,
                variant=f"{Path(rows.file).stem}, beside {what}",
                group=self.group,
                measures=f"neighbouring rows that stand in the order of the {what}, where their cells say otherwise",
                rate=rate_of(int(hits.sum()), len(hits), _strict(target)),
                bound=Fraction(0),
                covered=True,
                note=_SORTED,
            )
        if target.schema.sensitive in rows.codes:
            yield from self._true_or_not(target, rows, place)

    def _given(self, target: Target, rows: ShownRows, row: Ints, feature: Ints, what: str) -> Iterator[Finding]:
        """Whether numbers of groups are in the order of the least feature of their rows."""
        if rows.group is None or not len(row):
            return
        number, first = np.unique(rows.group[row], return_index=True)
        least = np.minimum.reduceat(feature, first)
        window = np.zeros(len(number), dtype=np.int64) if rows.window is None else rows.window[row][first]
        low, high = pairs_apart(least, window, target.coins(f"{self.name} {rows.file} {what}"))
        if not len(low):
            return
        yield Finding(
            name=self.name,
            variant=f"{Path(rows.file).stem}, numbers beside {what}",
            group=self.group,
            measures=f"pairs of groups whose numbers are in the order of their {what}, or against it",
            rate=in_order(number, low, high, _strict(target)),
            bound=Fraction(1, 2),
            baseline=0.5,
            baseline_is="a coin",
            covered=True,
            note=_COINS,
        )

    def _true_or_not(self, target: Target, rows: ShownRows, place: Ints) -> Iterator[Finding]:
        """Whether true tuples stand before the others, beyond what their cells say."""
        _, row = matched(target.codes, rows.codes, tuple(rows.codes))
        coins = target.coins(f"{self.name} {rows.file} true")
        true, other = (
            coins.permutation(np.flatnonzero(row != NOTHING)),
            coins.permutation(np.flatnonzero(row == NOTHING)),
        )
        pairs = min(len(true), len(other))
        if not pairs:
            return
        late = displaced(place)
        step = np.sign(late[other[:pairs]] - late[true[:pairs]])
        hits = float((step > 0).sum() + (step == 0).sum() / 2)
        yield Finding(
            name=self.name,
            variant=f"{Path(rows.file).stem}, true or not",
            group=self.group,
            measures="pairs of a true tuple and another that are told apart by where they stand beside their cells",
            rate=folded(_certain_at_half(rate_of(hits, pairs, _strict(target)), hits, pairs)),
            bound=Fraction(1, 2),
            baseline=0.5,
            baseline_is="a coin",
            covered=True,
            note=_SORTED,
        )


def found_of(target: Target, rows: ShownRows) -> Found:
    """People and rows that are alike in all that is shown, and like no other."""
    person, row = matched(target.codes, rows.codes, tuple(rows.codes))
    people, shown = np.bincount(person), np.bincount(row[row != NOTHING], minlength=int(person.max()) + 1)
    alone = (people == 1) & (shown == 1)
    position = np.empty(len(people), dtype=np.int64)
    position[person] = np.arange(len(person))
    chosen = np.flatnonzero((row != NOTHING) & alone[row])
    at = position[row[chosen]]
    return Found(row=chosen, position=at, value=target.codes[target.schema.sensitive][at])


def _columns(rows: ShownRows) -> Columns:
    """What the file must be in the order of."""
    return [*rows.codes.values()] if rows.group is None else [rows.group, *rows.codes.values()]


def _places(rows: ShownRows) -> Ints:
    """The place of each row in the order of all its cells; a file that is in order need not be sorted."""
    columns = _columns(rows)
    if falls(columns).any():
        return ranks(columns)
    fresh = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    return np.cumsum(fresh)


def _strict(target: Target) -> float:
    return 1 - (1 - target.confidence) / _TESTS


def _certain_at_half(rate: Rate, hits: float, pairs: int) -> Rate:
    """A file in order leaves every pair even: that is no chance."""
    return computed(0.5, pairs) if hits * 2 == pairs else rate

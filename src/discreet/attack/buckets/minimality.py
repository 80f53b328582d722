"""The minimality attack: he knows how releases are planned, and asks for which tables this plan would have been made.

Paper: Wong, Fu, Wang and Pei (VLDB 2007), on k-anonymity and l-diversity by generalization.
Of random buckets he gets nothing: plan, compositions and fakes depend on the histogram only, which is published. So do
those of near buckets, window by window, as long as the windows are those of the declared cut. A window that was joined
with another, or made larger, because it could not be bucketed tells what it held. Whether that was done is seen in the
files; what it tells is found by exact enumeration for tables of a few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.attack.attack import Finding, Group
from discreet.attack.buckets.beliefs import bucket_release
from discreet.attack.buckets.guessing import tolerances_of
from discreet.attack.rate import computed
from discreet.attack.target import Target
from discreet.ground.progress import Tell
from discreet.release.buckets.windows import Near, Window, sizes_of, window_by_rule

if TYPE_CHECKING:
    from discreet.estimate.buckets.composition import Composition

RANDOM = (
    "plan, compositions and fakes follow from the histogram, which is published: how they were made tells nothing "
    "more; that the classes are those of the usual planner is not checked"
)
NEAR = (
    "windows are cut by a declared size or by the rule, and planned each by its own published counts: how they were "
    "made tells nothing more; that no other size was tried in vain beside those that are stated the files cannot show"
)
JOINED = "some windows are not those of the declared cut: that they were joined or enlarged tells what they hold"
Bucket = tuple[tuple[int, ...], tuple[object, ...]]  # rows, and the values that they have in some order
World = Mapping[int, object]  # the value of each row


@dataclass(frozen=True, kw_only=True)
class Minimality:
    """He knows the planner, its rules and every parameter, and no table."""

    name: ClassVar[str] = "minimality"
    group: ClassVar[Group] = Group.INFERENCE
    line: ClassVar[str] = "knows how the release was planned, and looks for what was decided by more than it publishes"
    needs: ClassVar[str] = ""
    cost: ClassVar[float] = 0.1

    def unfit(self, target: Target) -> str:
        return ""

    def run(self, target: Target, tell: Tell) -> Iterator[Finding]:
        composition, statement = bucket_release(target).composition, target.manifest.statement
        numbers, near = statement.numbers, statement.mechanism.near
        rows = int(composition.sizes.sum())
        off = off_classes(composition, numbers.classes)
        if near is not None:
            held = zip(composition.totals.tolist(), tolerances_of(target), strict=True)
            ruled = near.declared or near.window == window_by_rule(rows, held)
            cut = off_cut(composition, near, numbers.windows or ()) if ruled else rows
            note = JOINED if cut else NEAR
            refused = len(numbers.refused_windows or ())
            yield self._found(
                "windows", "people in windows that are not those of the declared cut", cut, rows, note, refused=refused
            )
        note = RANDOM if near is None else ""
        yield self._found("classes", "people in buckets that are not of the stated classes", off, rows, note)

    def _found(self, variant: str, measures: str, people: int, rows: int, note: str, **details: int) -> Finding:
        return Finding(
            name=self.name,
            variant=variant,
            group=self.group,
            measures=measures,
            rate=computed(people / rows, rows),
            bound=Fraction(0),
            covered=True,
            note=note,
            details={"people": people, **details},
        )


def off_classes(composition: Composition, stated: Sequence[tuple[int, int]]) -> int:
    """How many people are in buckets beyond the stated classes, or would be in those that are stated and not there."""
    sizes, buckets = np.unique(composition.sizes, return_counts=True)
    found: dict[int, int] = dict(zip(sizes.tolist(), buckets.tolist(), strict=True))
    wanted = dict(stated)
    off = [size * (found.get(size, 0) - wanted.get(size, 0)) for size in {*found, *wanted}]
    return max(sum(people for people in off if people > 0), -sum(people for people in off if people < 0))


def off_cut(composition: Composition, near: Near, stated: Sequence[Window]) -> int:
    """How many people are in windows that do not begin and end where the cut of so many rows does."""
    rows: int = int(composition.sizes.sum())
    ends = np.cumsum([0, *sizes_of(rows, near.window)]).tolist()
    wanted = set(pairwise(ends))
    inside = start = 0
    for window in stated:
        first, last = np.searchsorted(composition.ids, [window.first, window.last + 1]).tolist()
        held = int(composition.sizes[first:last].sum())
        if held == window.rows and (start, start + held) in wanted:
            inside += held
        start += held
    return rows - inside


def posterior(
    buckets: Sequence[Bucket], made: Callable[[World], bool] = lambda world: True
) -> dict[int, dict[object, Fraction]]:
    """How probable each value is for each row, for one who knows for which tables such a release is `made`; exact.

    Every way to give the buckets' values to their rows is equally likely, but for those that would not have been made.
    For a few rows: all ways are looked at.
    """
    often: dict[tuple[int, object], int] = {}
    worlds = 0
    for ways in product(*(_ways(rows, values) for rows, values in buckets)):
        world = {row: value for way in ways for row, value in way}
        if made(world):
            worlds += 1
            for each in world.items():
                often[each] = often.get(each, 0) + 1
    if not worlds:
        raise ValueError("a release must be made of some table; no way to fill its buckets is left")
    rows = sorted({row for own, _ in buckets for row in own})
    return {
        row: {value: Fraction(count, worlds) for (whose, value), count in often.items() if whose == row} for row in rows
    }


def refused(values: Sequence[object], limits: Mapping[object, Fraction]) -> bool:
    """Whether a window with these values cannot be bucketed within the tolerances: some value is too frequent in it."""
    return any(values.count(value) > limits.get(value, Fraction(1)) * len(values) for value in set(values))


def _ways(rows: tuple[int, ...], values: tuple[object, ...]) -> Iterator[tuple[tuple[int, object], ...]]:
    """The different ways to give values to the rows of one bucket."""
    if not rows:
        yield ()
        return
    for value in dict.fromkeys(values):
        place = values.index(value)
        for rest in _ways(rows[1:], (*values[:place], *values[place + 1 :])):
            yield ((rows[0], value), *rest)

"""Plans of near buckets: every window by itself, from its own counts and the tolerances of the whole table.

A window's plan depends on its counts, which the release publishes, and on the counts of the whole table, and on nothing
else: that it could be made tells nothing more. So no window is ever enlarged, joined with another or tried again. Where
one cannot be planned, nothing can, and what is said names neither the window nor what it holds.

The slack of a window is s_x = min(s, (1 - f_x / f'_x) / 2) with the share f_x of the window's rows that have x, and the
tolerance f'_x of the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from discreet.errors import Infeasible, PolicyError
from discreet.ground.arrays import Ints
from discreet.ground.progress import Tell
from discreet.ground.shown import name_of
from discreet.mechanism.buckets.planning.caps import Classes, smallest_size
from discreet.mechanism.buckets.planning.metrics import loss_of
from discreet.mechanism.buckets.planning.plan import BucketPlan, WindowPlan
from discreet.release.buckets.windows import Near, sizes_of, window_by_rule


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Classes that a window can have, its records of each value (rows) in each class, and the slack that is kept."""

    classes: Classes
    records: Ints
    kept_slack: Fraction


@dataclass(frozen=True, kw_only=True)
class Held:
    """How often each value that occurs in a window does, and its tolerance in the whole table."""

    counts: Ints
    limits: Sequence[Fraction]


class WindowPlanner(Protocol):
    """What plans windows, from the first to the last; None for one that cannot be planned."""

    def __call__(self, windows: Sequence[Held]) -> Iterator[Setting | None]: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """How often each value (by position) occurs in each window, windows in order, those that occur alone."""

    window: Ints
    value: Ints
    count: Ints = field(repr=False)

    @classmethod
    def of(cls, codes: Ints, counts: Ints, values: int) -> Cells:
        """From codes window x values + value."""
        window, value = np.divmod(codes, values)
        return cls(window=window, value=value, count=counts)

    def add_up_to(self, totals: Sequence[int]) -> bool:
        """Whether all windows together have so many rows of each value."""
        found = np.zeros(len(totals), dtype=np.int64)
        np.add.at(found, self.value, self.count)
        return found.tolist() == list(totals)

    def each(self) -> Iterator[tuple[Ints, Ints]]:
        """The values and counts of each window."""
        starts = np.flatnonzero(np.diff(self.window, prepend=-1)).tolist()
        for start, stop in zip(starts, [*starts[1:], len(self.window)], strict=True):
            yield self.value[start:stop], self.count[start:stop]


def near_of(
    window: int | None, counts: Mapping[object, int], limits: Mapping[object, Fraction], known: int = 0
) -> Near:
    """The window that is used: the declared one, or that of the rule; raises PolicyError where it cannot be."""
    rows = sum(counts.values())
    if window is None:
        held = ((int(count), limits[value]) for value, count in counts.items() if count)
        return Near(window=window_by_rule(rows, held), declared=False)
    if window > rows:
        raise PolicyError(
            f"window ({window:,}) must be at most the {rows:,} rows of the table; give a smaller one, or leave it out",
            key=("window",),
        )
    value = max((each for each, count in counts.items() if count), key=lambda each: smallest_size(limits[each], known))
    least = smallest_size(limits[value], known)
    if window < least:
        raise PolicyError(
            f"window ({window:,}) must be at least {least:,}, the smallest bucket that may hold {name_of(value)}; give "
            "a larger one, or leave it out",
            key=("window",),
        )
    return Near(window=window, declared=True)


def plan_windows(
    whole: BucketPlan,
    near: Near,
    cells: Cells,
    limits: Sequence[Fraction],
    planner: WindowPlanner,
    tell: Tell = lambda done: None,
) -> BucketPlan:
    """The plan of all windows, with the certificate of `whole`, the plan of all rows together.

    Raises Infeasible, which says nothing of the window, where one cannot be planned: all others are planned too.
    """
    rows = sizes_of(sum(whole.counts.values()), near.window)
    held = [Held(counts=counts, limits=[limits[value] for value in values.tolist()]) for values, counts in cells.each()]
    found: list[WindowPlan] = []
    refused, first = False, 1
    for number, ((values, _), setting) in enumerate(zip(cells.each(), planner(held), strict=True)):
        if setting is None:
            refused = True
        else:
            last = first + sum(buckets for _, buckets in setting.classes) - 1
            found.append(
                WindowPlan(
                    rows=rows[number],
                    first=first,
                    last=last,
                    classes=setting.classes,
                    kept_slack=setting.kept_slack,
                    values=values,
                    records=setting.records,
                )
            )
            first = last + 1
        tell((number + 1) / len(rows))
    if refused:
        raise refusal(near)
    return _together(whole, near, tuple(found))


def refusal(near: Near) -> Infeasible:
    """What is said where some window cannot be planned: never which, nor how many, nor what they hold."""
    whose = "as declared" if near.declared else "by the rule"
    return Infeasible(
        f"window ({near.window:,}, {whose}) must be such that all windows of so many rows along the curve can be "
        'bucketed within the tolerances, and it is not; raise tolerances, or say assignment = "random". Another '
        "window, or other tolerances, are no free try: whoever learns that this was refused learns something of "
        "what windows hold. publish has the series remember it, for later near releases to state; plan and check "
        "remember nothing",
        key=("window",) if near.declared else ("assignment",),
        refused=str(near.window),
    )


def _together(whole: BucketPlan, near: Near, windows: tuple[WindowPlan, ...]) -> BucketPlan:
    """The totals over all windows."""
    names = list(whole.allocation)
    sizes = sorted({size for window in windows for size, _ in window.classes})
    buckets = np.zeros(len(sizes), dtype=np.int64)
    records = np.zeros((len(names), len(sizes)), dtype=np.int64)
    for window in windows:
        places = np.searchsorted(sizes, [size for size, _ in window.classes])
        buckets[places] += [number for _, number in window.classes]
        records[np.ix_(window.values, places)] += window.records
    classes = tuple(zip(sizes, buckets.tolist(), strict=True))
    allocation = {
        name: {size: number for size, number in zip(sizes, row, strict=True) if number}
        for name, row in zip(names, records.tolist(), strict=True)
    }
    return replace(
        whole,
        classes=classes,
        loss=loss_of(classes),
        allocation=allocation,
        kept_slack=min(window.kept_slack for window in windows),
        near=near,
        windows=windows,
    )

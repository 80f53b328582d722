"""What Buckets and Anatomy share of publishing: a plan from the histogram, buckets composed by coins, two tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from discreet.errors import PolicyError
from discreet.ground.progress import Progress, Steps
from discreet.ground.shown import shown
from discreet.guarantee.fprime import FPrimePrivacy
from discreet.mechanism.buckets.making.curve import Along, lay_along
from discreet.mechanism.buckets.making.fakes import compose_with_fakes
from discreet.mechanism.buckets.making.near import write_near
from discreet.mechanism.buckets.making.slots import WithFakes
from discreet.mechanism.buckets.making.write import SHARES, write_buckets
from discreet.mechanism.buckets.planning.near import Cells, WindowPlanner, near_of, plan_windows
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.mechanism import check_stated
from discreet.mechanism.plan import Alternatives
from discreet.release.buckets.manifest import BucketNumbers
from discreet.release.buckets.windows import Near, Window
from discreet.release.manifest import write_manifest
from discreet.schema.schema import Schema
from discreet.series.coins import Coins
from discreet.series.rules import Place
from discreet.table.table import Table, changed

COMPOSITIONS = ("free", "even", "round-robin")
COMPOSITION = {  # for a policy's JSON Schema
    "description": "How values are put together in buckets: freely within the caps, evenly (once called random), or in "
    "turn.",
    "enum": [*COMPOSITIONS, "random"],
}
_OLD = {"random": "even"}  # what policies called it before
_PLACE, _PLAN, _LAST = "placing rows along the curve", "planning", "writing the manifest"
_PUBLIC = Coins.from_seed(
    0
)  # a plan publishes nothing: who of equal rows falls to which side may differ from a release


def read_composition(name: object) -> str:
    """How values are spread over buckets, by its name of today; raises PolicyError where there is no such way."""
    found = _OLD.get(name, name) if isinstance(name, str) else None
    if found not in COMPOSITIONS:
        raise PolicyError(f"composition ({shown(name)}) must be one of {', '.join(COMPOSITIONS)}", key=("composition",))
    return found


class Bucketing(ABC):
    """A mechanism that publishes quasi-identifiers and sensitive values in two tables joined by a bucket id only."""

    kind: ClassVar[str]
    blamed: ClassVar[str]
    compared: ClassVar[tuple[str, ...]] = ()
    explains: ClassVar[bool] = False
    part_tells: ClassVar[bool] = True  # both the variance of what is unbiased and what is learned go with the rows
    composition: str  # how values are spread over buckets: one of COMPOSITIONS
    assignment: str  # which rows may share a bucket: any ("random"), or near ones
    window: int | None  # rows that are bucketed together, where they are near and the policy says it
    any_order: ClassVar[bool] = False  # each row is given its slot as it comes
    views: ClassVar[int] = 1
    shows_rows: ClassVar[bool] = True
    cost: ClassVar[Fraction] = Fraction(0)
    with_fakes: ClassVar[WithFakes] = staticmethod(compose_with_fakes)

    @property
    def steps(self) -> Mapping[str, float]:
        """The steps of `make`, and how long each takes, about."""
        near = {_PLACE: 0.2, _PLAN: 0.5} if self.assignment == "near" else {_PLAN: 0.05}
        return {**near, **SHARES, _LAST: 0.02}

    @property
    def undefended(self) -> Bucketing | None:
        """The same without anything against those who know others of a bucket; None where there is nothing."""
        return None

    @abstractmethod
    def window_planner(self, whole: BucketPlan) -> WindowPlanner:
        """What plans a window of near buckets, beside the plan of the whole table."""

    @abstractmethod
    def plan_of(self, counts: Mapping[object, int], progress: Progress | None = None) -> BucketPlan:
        """The plan for a table with these counts of sensitive values."""

    @abstractmethod
    def guarantee(self, counts: Mapping[object, int]) -> FPrimePrivacy:
        """What a release of a table with these counts promises."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Every public parameter."""

    def stated(self, near: Near | None = None) -> dict[str, Any]:
        """Every public parameter as a release states it, with the window that is used."""
        own = {name: value for name, value in self.as_json().items() if name not in ("assignment", "window")}
        return own if near is None else {**own, **near.as_json()}

    def fits(self, table: Table) -> None:  # noqa: B027 - nothing to refuse here, and none of them has more to say
        """Any table that can be planned can be published."""

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return ()

    def plan(self, table: Table, progress: Progress | None = None) -> BucketPlan:
        """The plan for a table: its histogram is all that counts, or those of its windows."""
        if self.assignment == "near":
            steps = Steps(progress, {_PLACE: 0.4, _PLAN: 0.6})
            found, _ = self._plan_near(table, _PUBLIC, steps)
        else:
            found = self.plan_of(table.histogram, progress)
        check_stated(self.stated(found.near), self.guarantee(table.histogram), (self.blamed,))
        plain = self.undefended
        return found if plain is None else replace(found, without=plain.plan(table))

    def _plan_near(self, table: Table, coins: Coins, steps: Steps) -> tuple[BucketPlan, Along]:
        """The plans of all windows, and the rows in them."""
        whole = self.plan_of(table.histogram)
        near = near_of(self.window, table.histogram, whole.tolerance, whole.defence.known)
        with steps.step(_PLACE) as tell:
            along = lay_along(table, near.window, coins, tell)
        codes, counts = along.cells
        cells = Cells.of(codes, counts, along.values)
        if not cells.add_up_to(list(table.histogram.values())):
            raise changed(table.name)
        limits = [whole.tolerance.get(value, Fraction(1)) for value in table.histogram]
        with steps.step(_PLAN) as tell:
            return plan_windows(whole, near, cells, limits, self.window_planner(whole), tell), along

    def alternatives(self, table: Table, over: str) -> Alternatives:
        raise PolicyError(f"{self.kind} has one plan; there is nothing to compare")

    def memo(self, table: Table, coins: Coins, steps: Steps) -> str:
        """Nothing: the same counts give the same plan, for no clock is looked at."""
        return ""

    def make(self, table: Table, place: Place, coins: Coins, folder: Path, *, csv: bool, steps: Steps) -> bytes:
        """Plan, draw the buckets of the planned classes, and write both tables and the manifest."""
        if self.assignment == "near":
            plan, along = self._plan_near(table, coins, steps)
            drawn, certainty = write_near(table, plan, along, coins, folder, csv=csv, steps=steps), None
        else:
            with steps.step(_PLAN) as tell:
                plan = self.plan_of(table.histogram, lambda _, done: tell(done))
            drawn, certainty = write_buckets(
                table, plan, coins, folder, csv=csv, steps=steps, with_fakes=self.with_fakes
            )
        with steps.step(_LAST):
            write_manifest(
                folder,
                table.schema,
                mechanism=self.stated(plan.near),
                guarantee=self.guarantee(table.histogram),
                numbers=BucketNumbers(
                    rows=table.rows,
                    classes=plan.classes,
                    loss=plan.loss,
                    unprotected=plan.unprotected,
                    kept_slack=plan.kept_slack,
                    **_windows(plan, place),
                    people=people_of(plan) if plan.defence.fakes else None,
                    certainty=certainty,
                ),
                csv=csv,
                continued=place.continued,
                seeded=coins.seeded,
            )
        return drawn


def people_of(plan: BucketPlan) -> tuple[tuple[object, tuple[int, ...]], ...]:
    """How many people of each value that occurs are in the buckets of each size."""
    sizes = [size for size, _ in plan.classes]
    found = ((value, tuple(held.get(size, 0) for size in sizes)) for value, held in plan.allocation.items())
    return tuple((value, numbers) for value, numbers in found if any(numbers))


def _windows(plan: BucketPlan, place: Place) -> dict[str, Any]:
    """What a near release states of its windows, and of those that were refused."""
    if plan.near is None:
        return {}
    windows = tuple(Window(rows=each.rows, first=each.first, last=each.last) for each in plan.windows)
    return {"windows": windows, "refused_windows": tuple(sorted(set(map(int, place.refused))))}

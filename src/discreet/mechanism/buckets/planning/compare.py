"""Plans side by side: what each way to choose bucket sizes costs, and how the cost moves with a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.errors import Infeasible
from discreet.mechanism.buckets.planning.anatomy import anatomy_classes, modelling_l, why_not_anatomy
from discreet.mechanism.buckets.planning.metrics import information_loss, loss_of, mean_squared_error
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.planners import PLANNERS

THETAS = (Fraction(2), Fraction(4), Fraction(8), Fraction(16), Fraction(32))
MAX_SIZES = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200)
_WIDTH = 30
Counts = Mapping[object, int]
Planned = Callable[[], BucketPlan]  # a plan, or Infeasible


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One way to plan and what it costs; `plan` is None where it is not a plan, and `note` says why."""

    name: str
    loss: int | None
    mse: float | None
    information_loss: float | None
    plan: BucketPlan | None = None
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        classes = self.plan.classes if self.plan else ()
        return {
            "name": self.name,
            "loss": self.loss,
            "lower_bound": self.plan.lower_bound if self.plan else None,
            "mse": self.mse,
            "information_loss": self.information_loss,
            "classes": [{"size": size, "buckets": buckets} for size, buckets in classes],
            "note": self.note,
        }


@dataclass(frozen=True, kw_only=True)
class Ways:
    """Every way to choose bucket sizes, for the same counts and tolerances."""

    outcomes: tuple[Outcome, ...]

    @property
    def curve(self) -> tuple[str, str, tuple[tuple[float, float], ...]]:
        return "way", "MSE", ()

    def as_json(self) -> dict[str, Any]:
        return {"plans": [outcome.as_json() for outcome in self.outcomes]}

    def lines(self) -> Iterator[str]:
        best = next(outcome.loss for outcome in self.outcomes if outcome.name == "optimal")
        rows = [["sizes", "loss", "/ optimal", "MSE", "IL", "buckets", "sizes used"]]
        rows += [_row(outcome, best) for outcome in self.outcomes]
        widths = [max(len(row[place]) for row in rows if place < len(row)) for place in range(len(rows[0]))]
        for name, *cells in rows:
            aligned = [f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=False)]
            yield "  ".join([f"{name:<{widths[0]}}", *aligned]).rstrip()
        yield from (f"{outcome.name}: {outcome.note}" for outcome in self.outcomes if outcome.note)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """The same plan with other values of one parameter, named by the value."""

    over: str
    outcomes: tuple[Outcome, ...]

    @property
    def curve(self) -> tuple[str, str, tuple[tuple[float, float], ...]]:
        """The parameter against the mean squared error, where there is a plan."""
        found = ((float(each.name), each.mse) for each in self.outcomes)
        return self.over, "MSE", tuple((place, mse) for place, mse in found if mse is not None)

    def as_json(self) -> dict[str, Any]:
        return {"sweep": self.over, "plans": [outcome.as_json() for outcome in self.outcomes]}

    def lines(self) -> Iterator[str]:
        most = max((each.mse or 0.0 for each in self.outcomes), default=0.0)
        for each in self.outcomes:
            if each.loss is None or each.mse is None:
                yield f"  {self.over} {each.name:>4}  no plan"
                continue
            drawn = "█" * max(1, round(_WIDTH * each.mse / most)) if each.mse else ""
            yield f"  {self.over} {each.name:>4}  loss {each.loss:>14,}  MSE {each.mse:>9.4f}  {drawn}".rstrip()
        yield from (f"{self.over} {each.name}: {each.note}" for each in self.outcomes if each.note)


def compare_sizes(counts: Counts, limits: Mapping[object, Fraction], plan: Callable[[str], BucketPlan]) -> Ways:
    """Every planner on the same counts and tolerances, and Anatomy with the l that keeps them."""
    found = tuple(outcome_of(sizes, partial(plan, sizes)) for sizes in PLANNERS)
    return Ways(outcomes=(*found, anatomy_outcome(counts, limits)))


def sweep(over: str, values: Sequence[Fraction | int], plan: Callable[[Any], BucketPlan]) -> Sweep:
    """The plans for some values of a parameter."""
    return Sweep(over=over, outcomes=tuple(outcome_of(str(value), partial(plan, value)) for value in values))


def outcome_of(name: str, planned: Planned) -> Outcome:
    """What a plan costs, or why there is none."""
    try:
        plan = planned()
    except Infeasible as error:
        return Outcome(name=name, loss=None, mse=None, information_loss=None, note=str(error))
    return _priced(name, plan.loss, plan.records, plan=plan)


def anatomy_outcome(counts: Counts, limits: Mapping[object, Fraction]) -> Outcome:
    """What Anatomy's buckets would cost with l = ceil(1 / min f'), eligible or not.  # [WWFW] section 7.2.1"""
    rows = sum(counts.values())
    wanted = modelling_l({value: limits[value] for value, count in counts.items() if count})
    name = f"anatomy, l = {wanted}"
    classes = anatomy_classes(rows, wanted)
    note = why_not_anatomy(counts, limits) or ""
    if classes is None:
        return Outcome(name=name, loss=None, mse=None, information_loss=None, note=note or "too few rows for this l")
    return _priced(name, loss_of(classes), rows, note=f"not possible here: {note}" if note else "")


def _priced(name: str, loss: int, rows: int, plan: BucketPlan | None = None, note: str = "") -> Outcome:
    mse, spread = mean_squared_error(loss, rows), information_loss(loss, rows)
    return Outcome(name=name, loss=loss, mse=mse, information_loss=spread, plan=plan, note=note)


def _row(outcome: Outcome, best: int | None) -> list[str]:
    if outcome.loss is None or outcome.mse is None or outcome.information_loss is None:
        return [outcome.name, "no plan"]
    ratio = f"{outcome.loss / best:.3f}" if best else ""
    row = [outcome.name, f"{outcome.loss:,}", ratio, f"{outcome.mse:.4f}", f"{outcome.information_loss:.6f}"]
    return [*row, f"{outcome.plan.buckets:,}", str(len(outcome.plan.classes))] if outcome.plan else row

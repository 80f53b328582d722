"""Plans side by side: what each way to choose bucket sizes costs, and how the cost moves with a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import Infeasible, PolicyError
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.metrics import information_loss, loss_of, mean_squared_error
from discreet.mechanism.buckets.planning.plan import BucketPlan, plan_buckets
from discreet.mechanism.buckets.planning.planners import PLANNERS
from discreet.mechanism.buckets.policy.anatomy import anatomy_classes, modelling_l, why_not_anatomy
from discreet.mechanism.buckets.policy.buckets import Buckets

THETAS = (Fraction(2), Fraction(4), Fraction(8), Fraction(16), Fraction(32))
MAX_SIZES = (10, 15, 20, 30, 40, 50, 75, 100, 150, 200)
SWEEPS = ("theta", "max_size")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One way to plan and what it costs; `plan` is None where it is not a plan, and `note` says why."""

    name: str
    loss: int | None
    mse: float | None
    information_loss: float | None
    plan: BucketPlan | None = None
    note: str = ""

    def as_json(self) -> dict[str, object]:
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


def compare_sizes(counts: Mapping[object, int], mechanism: Buckets) -> tuple[Outcome, ...]:
    """Every planner on the same counts and tolerances, and Anatomy with the l that keeps them."""
    found = [_outcome(sizes, counts, replace(mechanism, sizes=sizes)) for sizes in PLANNERS]
    return (*found, anatomy_outcome(counts, mechanism.tolerance.of(counts)))


def sweep(counts: Mapping[object, int], mechanism: Buckets, over: str) -> tuple[Outcome, ...]:
    """The same plan with other values of one parameter, named by the value."""
    if over == "theta":
        return tuple(_outcome(str(theta), counts, _with_theta(mechanism, theta)) for theta in THETAS)
    if over == "max_size":
        sizes = sorted({*MAX_SIZES, mechanism.max_size})
        return tuple(_outcome(str(size), counts, replace(mechanism, max_size=size)) for size in sizes)
    raise PolicyError(f"sweep ({over}) must be one of {', '.join(SWEEPS)}")


def anatomy_outcome(counts: Mapping[object, int], limits: Mapping[object, Fraction]) -> Outcome:
    """What Anatomy's buckets would cost with l = ceil(1 / min f'), eligible or not.  # [WWFW] section 7.2.1"""
    rows = sum(counts.values())
    wanted = modelling_l({value: limits[value] for value, count in counts.items() if count})
    name = f"anatomy, l = {wanted}"
    classes = anatomy_classes(rows, wanted)
    note = why_not_anatomy(counts, limits) or ""
    if classes is None:
        return Outcome(name=name, loss=None, mse=None, information_loss=None, note=note or "too few rows for this l")
    return _priced(name, loss_of(classes), rows, note=f"not possible here: {note}" if note else "")


def _with_theta(mechanism: Buckets, theta: Fraction) -> Buckets:
    old = mechanism.tolerance
    return replace(mechanism, tolerance=Tolerance(theta=theta, floor=old.floor, values=old.values))


def _outcome(name: str, counts: Mapping[object, int], mechanism: Buckets) -> Outcome:
    try:
        plan = mechanism.plan(counts)
    except Infeasible as error:
        return Outcome(name=name, loss=None, mse=None, information_loss=None, note=str(error))
    return _priced(name, plan.loss, plan.records, plan=plan)


def _priced(name: str, loss: int, rows: int, plan: BucketPlan | None = None, note: str = "") -> Outcome:
    mse, spread = mean_squared_error(loss, rows), information_loss(loss, rows)
    return Outcome(name=name, loss=loss, mse=mse, information_loss=spread, plan=plan, note=note)


def losses(counts: Mapping[object, int], limits: Mapping[object, Fraction], sizes: Sequence[str]) -> dict[str, int]:
    """The loss of each planner, for curves."""
    return {each: plan_buckets(counts, limits, sizes=each).loss for each in sizes}

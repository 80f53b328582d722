"""Anatomy: l-diversity with buckets of size l and l + 1, every value at most once in each; the papers' baseline.

Paper: [WWFW] Remark 1 and section 7.1, after Xiao and Tao's Anatomy.
Departs: Anatomy takes records from the l largest values, bucket by bucket. Here the composition is drawn, as for
    buckets of several sizes: the same sizes, the same promise, and answers without bias are possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import Infeasible, PolicyError
from discreet.ground.progress import Progress
from discreet.ground.shown import name_some, shown
from discreet.guarantee.fprime import FPrimePrivacy
from discreet.mechanism.buckets.planning.anatomy import anatomy_classes
from discreet.mechanism.buckets.planning.near import WindowPlanner
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.plan_buckets import plan_of_classes
from discreet.mechanism.buckets.planning.validity import find_violation
from discreet.mechanism.buckets.planning.window_plans import AnatomyWindows
from discreet.mechanism.buckets.policy.assignment import SCHEMA as ASSIGNMENT
from discreet.mechanism.buckets.policy.assignment import check_assignment, stated_assignment, toml_assignment
from discreet.mechanism.buckets.policy.bucketing import COMPOSITION, Bucketing, read_composition
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema

LARGEST_L = 199
_KNOWN = ("l", "composition", "assignment", "window")


@dataclass(frozen=True, kw_only=True)
class Anatomy(Bucketing):
    """l-diversity: no value is more than 1/l of a bucket."""

    l: int  # noqa: E741 - the paper's name
    composition: str = "free"
    assignment: str = "random"
    window: int | None = None

    kind: ClassVar[str] = "anatomy"
    blamed: ClassVar[str] = "l"

    def __post_init__(self) -> None:
        object.__setattr__(self, "composition", read_composition(self.composition))
        if not isinstance(self.l, int) or isinstance(self.l, bool) or not 2 <= self.l <= LARGEST_L:
            raise PolicyError(f"l ({shown(self.l)}) must be a whole number between 2 and {LARGEST_L}", key=("l",))
        check_assignment(self.assignment, self.window, self.l)

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        for name in section:
            if name in ("known", "fakes"):
                complain((name,), f'{name} must go with kind = "buckets"; Anatomy has nothing against who knows others')
            elif name not in _KNOWN:
                complain((name,), f"{name} is not a parameter of anatomy{did_you_mean(name, _KNOWN)}")
        if "l" not in section:
            complain((), "l is missing; give a whole number such as l = 4")
            return None
        try:
            found = cls(**{name: section[name] for name in _KNOWN if name in section})
            found.check(schema)
        except PolicyError as error:
            complain(error.key, str(error))
            return None
        return found

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where the domain has too few values."""
        if len(schema.domains[schema.sensitive]) < self.l:
            raise PolicyError(f"l ({self.l}) must be at most the number of values of {schema.sensitive}", key=("l",))

    def plan_of(self, counts: Mapping[object, int], progress: Progress | None = None) -> BucketPlan:
        """As many buckets of size l as there can be, some with one record more; raises Infeasible where none can."""
        rows = sum(int(count) for count in counts.values())
        if not rows:
            raise Infeasible("the table has no rows; there is nothing to publish")
        limits = {value: Fraction(1, self.l) for value in counts}
        frequent = tuple(value for value, count in counts.items() if count * self.l > rows)
        if frequent:
            largest = rows // max(int(count) for count in counts.values())
            remedy = f"l {largest} would do" if largest >= 2 else "no l would do"
            raise Infeasible(
                f"l ({self.l}) must be such that no value is more than 1/{self.l} of the rows, and "
                f"{name_some(frequent)} is; {remedy}, or buckets with a tolerance for each value",
                values=frequent,
            )
        classes = anatomy_classes(rows, self.l)
        if classes is None or find_violation(counts, limits, classes) is not None:
            raise Infeasible(f"l ({self.l}) must be smaller for a table of {rows} rows; its last rows fit in no bucket")
        plan = plan_of_classes(counts, limits, classes, (self.l, self.l + 1))
        return replace(plan, composition=self.composition)

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return (
            f"this is l-diversity with l = {self.l} in every form, distinct, by entropy and by shares: each bucket has "
            f"{self.l} or {self.l + 1} people, all with different values",
        )

    def window_planner(self, whole: BucketPlan) -> WindowPlanner:
        """Buckets of l and l + 1 in every window."""
        return AnatomyWindows(l=self.l)

    def guarantee(self, counts: Mapping[object, int]) -> FPrimePrivacy:
        """What a release of such a table promises: the tolerance 1/l for every value."""
        return FPrimePrivacy(tolerance=tuple((value, Fraction(1, self.l)) for value in counts))

    def as_toml(self) -> dict[str, Any]:
        return {"l": self.l, "composition": self.composition, **toml_assignment(self.assignment, self.window)}

    def as_json(self) -> dict[str, Any]:
        near = stated_assignment(self.assignment, self.window)
        return {"kind": self.kind, "l": self.l, "composition": self.composition, **near}

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        about = "No value is more than 1/l of a bucket."
        return {
            "required": ["l"],
            "properties": {
                "l": {"description": about, "type": "integer", "minimum": 2, "maximum": LARGEST_L},
                "composition": COMPOSITION,
                **ASSIGNMENT,
            },
        }

"""Buckets: publish quasi-identifiers and sensitive values in two tables joined by a bucket id only.

Paper: [WWFW] section 3; [W14] chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.engine.progress import Progress
from discreet.errors import PolicyError
from discreet.guarantee.fprime import FPrimePrivacy
from discreet.guarantee.tolerance import Tolerance, exact
from discreet.mechanism.buckets.planning.caps import Classes
from discreet.mechanism.buckets.planning.plan import BucketPlan, plan_buckets, plan_of_classes
from discreet.mechanism.buckets.planning.planners import LARGEST, PLANNERS
from discreet.schema.domain import key_of
from discreet.schema.mechanisms import Complain, Mechanism, register
from discreet.schema.nearest import did_you_mean, shown
from discreet.schema.schema import Schema
from discreet.schema.write import toml_number

COMPOSITIONS = ("random", "round-robin")


@register
@dataclass(frozen=True, kw_only=True)
class Buckets:
    """F'-privacy with buckets of several sizes; every parameter has the same name in the policy file."""

    tolerance: Tolerance
    sizes: str = "optimal"
    max_size: int = 50
    composition: str = "random"

    kind: ClassVar[str] = "buckets"

    def __post_init__(self) -> None:
        if not isinstance(self.tolerance, Tolerance):
            raise PolicyError("tolerance must be a Tolerance; say Tolerance(theta=8, floor='0.02')")
        if not isinstance(self.sizes, str) or self.sizes not in PLANNERS:
            raise PolicyError(f"sizes ({shown(self.sizes)}) must be one of {', '.join(PLANNERS)}")
        if not isinstance(self.max_size, int) or isinstance(self.max_size, bool) or not 1 <= self.max_size <= LARGEST:
            raise PolicyError(f"max_size ({shown(self.max_size)}) must be a whole number between 1 and {LARGEST}")
        if self.composition not in COMPOSITIONS:
            raise PolicyError(f"composition ({shown(self.composition)}) must be one of {', '.join(COMPOSITIONS)}")

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        known = ("tolerance", "sizes", "max_size", "composition")
        for name in section:
            if name not in known:
                complain((name,), f"{name} is not a parameter of buckets{did_you_mean(name, known)}")
        tolerance = _read_tolerance(section.get("tolerance"), schema, complain)
        rest = {name: value for name, value in section.items() if name in known[1:]}
        wrong = False
        for name, value in rest.items():
            try:
                cls(tolerance=Tolerance(floor=1), **{name: value})
            except PolicyError as error:
                complain((name,), str(error))
                wrong = True
        return cls(tolerance=tolerance, **rest) if tolerance and not wrong else None

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where a tolerance is for a value that the sensitive column cannot have."""
        domain = schema.domains[schema.sensitive]
        for value in self.tolerance.values:
            if value not in domain:
                hint = did_you_mean(value, domain) if len(domain) < 10_000 else ""
                raise PolicyError(f"tolerance of {shown(value)} must be for a value of {schema.sensitive}{hint}")

    def plan(self, counts: Mapping[object, int], progress: Progress | None = None) -> BucketPlan:
        """The plan for a table with these counts of sensitive values."""
        limits = self.tolerance.of(counts)
        return plan_buckets(counts, limits, sizes=self.sizes, max_size=self.max_size, progress=progress)

    def replan(self, counts: Mapping[object, int], classes: Classes) -> BucketPlan:
        """The plan with the classes of an earlier release of the same table."""
        span = (classes[0][0], self.max_size)
        return plan_of_classes(counts, self.tolerance.of(counts), classes, span)

    def guarantee(self, counts: Mapping[object, int]) -> FPrimePrivacy:
        """What a release of such a table promises."""
        limits = self.tolerance.of(counts)
        return FPrimePrivacy(tolerance=tuple((value, limit) for value, limit in limits.items() if limit))

    def as_toml(self) -> dict[str, Any]:
        return {
            "sizes": self.sizes,
            "max_size": self.max_size,
            "composition": self.composition,
            "tolerance": self._tolerance(toml_number),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "sizes": self.sizes,
            "max_size": self.max_size,
            "composition": self.composition,
            "tolerance": self._tolerance(str),
        }

    def _tolerance(self, write: Any) -> dict[str, Any]:
        values = {key_of(value): write(number) for value, number in self.tolerance.values.items()}
        return {"theta": write(self.tolerance.theta), "floor": write(self.tolerance.floor), "values": values}


def _read_tolerance(section: Any, schema: Schema, complain: Complain) -> Tolerance | None:
    """The tolerance of a policy: its keys are texts, so values of an integer domain are found by their digits."""
    key = ("tolerance",)
    if not isinstance(section, dict):
        complain(key, "[mechanism.tolerance] is missing; give theta and floor, or a tolerance for each value")
        return None
    for name in section:
        if name not in ("theta", "floor", "values"):
            complain(
                (*key, name),
                f"{name} is not a key of tolerance{did_you_mean(name, ('theta', 'floor', 'values'))}",
            )
    domain = schema.domains[schema.sensitive]
    named = {key_of(value): value for value in domain}
    given = section.get("values", {})
    if not isinstance(given, dict):
        complain((*key, "values"), "values must be a table, such as { HIV = 0.05 }")
        given = {}
    for name in given:
        if name not in named:
            complain(
                (*key, "values", name),
                f"{name} is not a value of {schema.sensitive}{did_you_mean(name, named)}",
            )
    parts = {"theta": section.get("theta", 0), "floor": section.get("floor", 0)}
    wrong = False
    checks = [
        *({name: part} for name, part in parts.items()),
        *({"values": {name: number}} for name, number in given.items()),
    ]
    for check in checks:
        try:
            Tolerance(**check)
        except PolicyError as error:
            complain((*key, *check, *check.get("values", {})), str(error))
            wrong = True
    if not wrong and not any(exact(name, part) for name, part in parts.items()) and len(given) < len(named):
        complain(key, "tolerance must be above 0 for every value; set theta or floor, or list every value")
        wrong = True
    if wrong or not set(given) <= set(named):
        return None
    return Tolerance(**parts, values={named[name]: number for name, number in given.items()})

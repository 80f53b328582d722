"""Buckets: publish quasi-identifiers and sensitive values in two tables joined by a bucket id only.

Paper: [WWFW] section 3; [W14] chapter 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import Infeasible, PolicyError
from discreet.ground.exact import Number, exact, toml_number
from discreet.ground.progress import Progress
from discreet.ground.shown import shown
from discreet.guarantee.fprime import FPrimePrivacy
from discreet.guarantee.tolerance import Tolerance
from discreet.mechanism.buckets.planning.caps import LARGEST
from discreet.mechanism.buckets.planning.compare import MAX_SIZES, THETAS, compare_sizes, sweep
from discreet.mechanism.buckets.planning.near import WindowPlanner
from discreet.mechanism.buckets.planning.plan import BucketPlan
from discreet.mechanism.buckets.planning.plan_buckets import plan_buckets
from discreet.mechanism.buckets.planning.planners import PLANNERS
from discreet.mechanism.buckets.planning.slack import DEFAULT, read_slack
from discreet.mechanism.buckets.planning.window_plans import BucketWindows
from discreet.mechanism.buckets.policy.assignment import SCHEMA as ASSIGNMENT
from discreet.mechanism.buckets.policy.assignment import check_assignment, stated_assignment, toml_assignment
from discreet.mechanism.buckets.policy.beside import SCHEMA as BESIDE
from discreet.mechanism.buckets.policy.beside import check_beside, stated_beside
from discreet.mechanism.buckets.policy.bucketing import COMPOSITION, Bucketing, read_composition
from discreet.mechanism.buckets.policy.classic import classic_notes
from discreet.mechanism.plan import Alternatives
from discreet.release.buckets.windows import Near
from discreet.schema.domain import key_of
from discreet.schema.json_schema import NUMBER
from discreet.schema.mechanisms import Complain, Mechanism
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema
from discreet.table.table import Table

_PARAMETERS = (
    "tolerance",
    "sizes",
    "min_size",
    "max_size",
    "slack",
    "composition",
    "assignment",
    "window",
    "known",
    "fakes",
)
_KEYS = ("theta", "floor", "ceiling", "values")  # of a tolerance
_BESIDE: dict[str, dict[str, Any]] = {  # what a parameter is tried with, to be judged by itself
    "min_size": {"max_size": LARGEST},
    "window": {"assignment": "near"},
    "known": {"max_size": LARGEST},
}


@dataclass(frozen=True, kw_only=True)
class Buckets(Bucketing):
    """F'-privacy with buckets of several sizes; every parameter has the same name in the policy file."""

    tolerance: Tolerance
    sizes: str = "optimal"
    min_size: int | None = None
    max_size: int = 50
    slack: Number = DEFAULT
    composition: str = "free"
    assignment: str = "random"
    window: int | None = None
    known: int = 0
    fakes: int = 0

    kind: ClassVar[str] = "buckets"
    blamed: ClassVar[str] = "tolerance"
    compared: ClassVar[tuple[str, ...]] = ("sizes", "theta", "max_size")
    explains: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.tolerance, Tolerance):
            raise PolicyError("tolerance must be a Tolerance; say Tolerance(theta=8, floor='0.02')", key=("tolerance",))
        if not isinstance(self.sizes, str) or self.sizes not in PLANNERS:
            raise PolicyError(f"sizes ({shown(self.sizes)}) must be one of {', '.join(PLANNERS)}", key=("sizes",))
        if type(self.max_size) is not int or not 1 <= self.max_size <= LARGEST:
            raise PolicyError(
                f"max_size ({shown(self.max_size)}) must be a whole number between 1 and {LARGEST}", key=("max_size",)
            )
        least = self.min_size
        if least is not None and (type(least) is not int or not 1 <= least <= LARGEST):
            raise PolicyError(
                f"min_size ({shown(least)}) must be a whole number between 1 and {LARGEST}", key=("min_size",)
            )
        if least is not None and least > self.max_size:
            raise PolicyError(
                f"min_size ({least}) must be at most max_size ({self.max_size}); lower it", key=("min_size",)
            )
        object.__setattr__(self, "slack", read_slack(self.slack))
        object.__setattr__(self, "composition", read_composition(self.composition))
        check_assignment(self.assignment, self.window, self.min_size or 1)
        check_beside(self.known, self.fakes, self.max_size, self.assignment)

    @classmethod
    def read(cls, section: Mapping[str, Any], schema: Schema, complain: Complain) -> Mechanism | None:
        for name in section:
            if name not in _PARAMETERS:
                complain((name,), f"{name} is not a parameter of buckets{did_you_mean(name, _PARAMETERS)}")
        tolerance = _read_tolerance(section.get("tolerance"), schema, complain)
        rest = {name: value for name, value in section.items() if name in _PARAMETERS[1:]}
        wrong = False
        for name, value in rest.items():
            both = {**_BESIDE.get(name, {}), name: value}
            try:
                cls(tolerance=Tolerance(floor=1), **both)
            except PolicyError as error:
                complain(error.key, str(error))
                wrong = True
        if wrong or not tolerance:
            return None
        try:
            return cls(tolerance=tolerance, **rest)
        except PolicyError as error:
            complain(error.key, str(error))
            return None

    def check(self, schema: Schema) -> None:
        """Raise PolicyError where a tolerance is for a value that the sensitive column cannot have."""
        domain = schema.domains[schema.sensitive]
        for value in self.tolerance.values:
            if value not in domain:
                hint = did_you_mean(value, domain) if len(domain) < 10_000 else ""
                raise PolicyError(
                    f"tolerance of {shown(value)} must be for a value of {schema.sensitive}{hint}",
                    key=("tolerance", "values", key_of(value)),
                )

    def plan_of(self, counts: Mapping[object, int], progress: Progress | None = None) -> BucketPlan:
        """The plan for a table with these counts of sensitive values."""
        limits = self.tolerance.of(counts)
        try:
            found = plan_buckets(
                counts,
                limits,
                self.sizes,
                self.min_size,
                self.max_size,
                progress=progress,
                slack=self.slack,
                known=self.known,
                fakes=self.fakes,
            )
            return replace(found, composition=self.composition)
        except Infeasible as error:
            named = [value for value in error.values if value in self.tolerance.values]
            if named and len(named) == len(error.values):
                error.key = ("tolerance", "values", key_of(named[0]))
            raise

    @property
    def undefended(self) -> Buckets | None:
        return replace(self, known=0, fakes=0) if self.known or self.fakes else None

    def notes(self, schema: Schema) -> tuple[str, ...]:
        return tuple(classic_notes(self.tolerance, len(schema.domains[schema.sensitive])))

    def window_planner(self, whole: BucketPlan) -> WindowPlanner:
        """The policy's planner, window by window."""
        return BucketWindows(whole=whole, sizes=self.sizes, slack=exact("slack", self.slack), defence=whole.defence)

    def alternatives(self, table: Table, over: str) -> Alternatives:
        """Every way to choose sizes side by side, or how the cost moves with theta or max_size."""
        counts = table.histogram
        if over == "sizes":
            limits = self.tolerance.of(counts)
            return compare_sizes(counts, limits, lambda sizes: replace(self, sizes=sizes).plan(table))
        if over == "theta":
            return sweep(over, THETAS, lambda theta: self._with_theta(theta).plan(table))
        sizes = sorted(size for size in {*MAX_SIZES, self.max_size} if size >= (self.min_size or 1))
        return sweep(over, sizes, lambda size: replace(self, max_size=size).plan(table))

    def _with_theta(self, theta: Fraction) -> Buckets:
        return replace(self, tolerance=replace(self.tolerance, theta=theta))

    def guarantee(self, counts: Mapping[object, int]) -> FPrimePrivacy:
        """What a release of such a table promises."""
        limits = self.tolerance.of(counts)
        tolerance = tuple((value, limit) for value, limit in limits.items() if limit)
        return FPrimePrivacy(tolerance=tolerance, known=self.known)

    def as_toml(self) -> dict[str, Any]:
        least = {} if self.min_size is None else {"min_size": self.min_size}
        return {
            "sizes": self.sizes,
            **least,
            "max_size": self.max_size,
            "slack": toml_number(exact("slack", self.slack)),
            "composition": self.composition,
            **toml_assignment(self.assignment, self.window),
            **stated_beside(self.known, self.fakes),
            "tolerance": self._tolerance(toml_number),
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "sizes": self.sizes,
            "min_size": self.min_size,
            "max_size": self.max_size,
            "slack": str(self.slack),
            "composition": self.composition,
            "tolerance": self._tolerance(str),
            **stated_assignment(self.assignment, self.window),
            **stated_beside(self.known, self.fakes),
        }

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        values = {"type": "object", "additionalProperties": NUMBER}
        size = {"type": "integer", "minimum": 1, "maximum": LARGEST}
        return {
            "required": ["tolerance"],
            "properties": {
                "sizes": {"description": "How many bucket sizes the plan may use.", "enum": list(PLANNERS)},
                "min_size": {"description": "The smallest bucket; by default the smallest that any value may enter."}
                | size,
                "max_size": {"description": "The largest bucket."} | size,
                "slack": {
                    "description": "The share of every cap that the plan leaves unused, at least: answers become more "
                    "exact, and buckets larger. 0 is the least loss; below 1.",
                }
                | NUMBER,
                "composition": COMPOSITION,
                **ASSIGNMENT,
                **BESIDE,
                "tolerance": {
                    "description": "How probable an inference of each value may become: min(ceiling, theta x share "
                    "+ floor), or as listed; the ceiling is 1 unless given.",
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"theta": NUMBER, "floor": NUMBER, "ceiling": NUMBER, "values": values},
                },
            },
        }

    def stated(self, near: Near | None = None) -> dict[str, Any]:
        """As a release states it: the ceiling too where it is 1, which a policy's digest does not count."""
        return {**super().stated(near), "tolerance": {**self._tolerance(str), "ceiling": str(self.tolerance.ceiling)}}

    def _tolerance(self, write: Any) -> dict[str, Any]:
        own = self.tolerance
        values = {key_of(value): write(number) for value, number in own.values.items()}
        ceiling = {} if own.ceiling == 1 else {"ceiling": write(own.ceiling)}
        return {"theta": write(own.theta), "floor": write(own.floor), **ceiling, "values": values}


def _read_tolerance(section: Any, schema: Schema, complain: Complain) -> Tolerance | None:
    """The tolerance of a policy: its keys are texts, so values of an integer domain are found by their digits."""
    key = ("tolerance",)
    if not isinstance(section, dict):
        complain(key, "[mechanism.tolerance] is missing; give theta and floor, or a tolerance for each value")
        return None
    for name in section:
        if name not in _KEYS:
            complain((*key, name), f"{name} is not a key of tolerance{did_you_mean(name, _KEYS)}")
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
    parts = {"theta": section.get("theta", 0), "floor": section.get("floor", 0), "ceiling": section.get("ceiling", 1)}
    wrong = False
    checks = [
        *({name: part} for name, part in parts.items()),
        *({"values": {name: number}} for name, number in given.items()),
    ]
    for check in checks:
        try:
            Tolerance(**check)
        except PolicyError as error:
            complain((*key, *error.key), str(error))
            wrong = True
    if not wrong and not any(exact(name, parts[name]) for name in ("theta", "floor")) and len(given) < len(named):
        complain(key, "tolerance must be above 0 for every value; set theta or floor, or list every value")
        wrong = True
    if wrong or not set(given) <= set(named):
        return None
    return Tolerance(**parts, values={named[name]: number for name, number in given.items()})

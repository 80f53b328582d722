"""What a bucket release states: two tables that share a bucket id, their sizes, and the rule of the tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from discreet.errors import ReleaseError
from discreet.ground.exact import exact_value, plain_number, stated
from discreet.guarantee.fprime import FPrimePrivacy, fprime_from_json
from discreet.release.buckets.windows import NEAR_NUMBERS, Near, Window, near_from_json, windows_from_json
from discreet.release.fields import Fields, field_of
from discreet.release.statement import Manifest, Statement, whole_numbers
from discreet.schema.domain import Decimals, domain_from_json, key_of

QIT = "data/qit.parquet"
ST = "data/st.parquet"
COMPOSITIONS = ("free", "even", "random", "round-robin")
_MOST_BESIDE = 50
_MOST_ROWS = 2**53 - 1  # as a COUNT
NUMBERS = ("rows", "classes", "loss")
LATER = {"unprotected": 2, "kept_slack": 3}  # numbers that releases state from a version of the words on


@dataclass(frozen=True, kw_only=True)
class StatedBuckets:
    """The parameters of buckets: the tolerance of a value is the one named for it, else the rule's.

    The rule is min(ceiling, theta x share + floor); where no ceiling is stated, as in the first releases, it is 1.
    Where no slack is stated, as in those, it is 0; their composition "random" is what is called "even" now. `near` is
    None where buckets are random. Of every bucket `known` others may be known, and it has `fakes` beside its people's
    values; where none are stated it is 0.
    """

    sizes: str
    min_size: int | None
    max_size: int
    composition: str
    theta: Fraction
    floor: Fraction
    values: Mapping[str, Fraction]  # by the text of the value
    ceiling: Fraction | None = None
    slack: Fraction | None = None
    near: Near | None = None
    known: int = 0
    fakes: int = 0

    kind: ClassVar[str] = "buckets"

    @property
    def asked_slack(self) -> Fraction:
        """The slack that the plan was to have."""
        return self.slack or Fraction(0)

    @property
    def span(self) -> tuple[int, int]:
        """The smallest and the largest bucket that there may be."""
        return self.min_size or 1, self.max_size

    def limit(self, value: object, count: int, rows: int) -> Fraction:
        """The tolerance of a value that occurs so often."""
        named = self.values.get(key_of(value))
        if named is not None:
            return named
        top = Fraction(1) if self.ceiling is None else self.ceiling
        return min(top, self.theta * Fraction(count, rows) + self.floor)

    def as_json(self) -> dict[str, Any]:
        values = {name: str(number) for name, number in self.values.items()}
        ceiling = {} if self.ceiling is None else {"ceiling": str(self.ceiling)}
        return {
            "kind": self.kind,
            "sizes": self.sizes,
            "min_size": self.min_size,
            "max_size": self.max_size,
            **({} if self.slack is None else {"slack": str(self.slack)}),
            "composition": self.composition,
            "tolerance": {"theta": str(self.theta), "floor": str(self.floor), "values": values, **ceiling},
            **({} if self.near is None else self.near.as_json()),
            **{name: number for name, number in (("known", self.known), ("fakes", self.fakes)) if number},
        }


@dataclass(frozen=True, kw_only=True)
class StatedAnatomy:
    """The parameter of Anatomy: the tolerance of every value is 1/l."""

    l: int  # noqa: E741 - the paper's name
    stated_composition: str | None = None  # the first releases state none
    near: Near | None = None  # None where buckets are random

    kind: ClassVar[str] = "anatomy"
    values: ClassVar[Mapping[str, Fraction]] = {}
    asked_slack: ClassVar[Fraction] = Fraction(0)
    known: ClassVar[int] = 0
    fakes: ClassVar[int] = 0

    @property
    def composition(self) -> str:
        """How values are spread over buckets."""
        return self.stated_composition or "even"

    @property
    def span(self) -> tuple[int, int]:
        """The smallest and the largest bucket that there may be."""
        return self.l, self.l + 1

    def limit(self, value: object, count: int, rows: int) -> Fraction:
        """The tolerance of a value, however often it occurs."""
        return Fraction(1, self.l)

    def as_json(self) -> dict[str, Any]:
        known = {} if self.stated_composition is None else {"composition": self.stated_composition}
        return {"kind": self.kind, "l": self.l, **known, **({} if self.near is None else self.near.as_json())}


@dataclass(frozen=True, kw_only=True)
class BucketNumbers:
    """How many people there are, in how many buckets of which size, and what that loses.

    `unprotected` has every value whose tolerance is 1, with how many people have it; `kept_slack` is what the plan
    kept of the slack that was asked for. Both are None where a release does not state them. Of a near release,
    `windows` are its windows in the order of the curve, and `refused_windows` the sizes that were tried in vain before
    it; both are None where buckets are random. `classes`, `loss` and `kept_slack`, the least that any window kept, are
    of the whole table. Of a release with fakes, `people` has for every value that occurs how many people with it are in
    the buckets of each of the `classes`, and `certainty` says what one who knows all others of a bucket, and these
    numbers, can believe at most, by the law of the draw.
    """

    rows: int
    classes: tuple[tuple[int, int], ...]
    loss: int
    unprotected: tuple[tuple[object, int], ...] | None = None
    kept_slack: Fraction | None = None
    windows: tuple[Window, ...] | None = None
    refused_windows: tuple[int, ...] | None = None
    people: tuple[tuple[object, tuple[int, ...]], ...] | None = None
    certainty: Fraction | None = None

    @property
    def slack_used(self) -> Fraction:
        """The slack that the plan has: none in releases that state none."""
        return self.kept_slack or Fraction(0)

    @property
    def buckets(self) -> int:
        return sum(buckets for _, buckets in self.classes)

    @property
    def alone(self) -> int:
        """How many people stand in a bucket of their own, so that their value can be read off."""
        return sum(buckets for size, buckets in self.classes if size == 1)

    def as_json(self) -> dict[str, Any]:
        classes = [{"size": size, "buckets": buckets} for size, buckets in self.classes]
        listed = [[plain_number(value), people] for value, people in self.unprotected or ()]
        known = {} if self.unprotected is None else {"unprotected": listed}
        slack = {} if self.kept_slack is None else {"kept_slack": str(self.kept_slack)}
        near: dict[str, Any] = {}
        if self.windows is not None:
            near = {
                "windows": [each.as_json() for each in self.windows],
                "refused_windows": list(self.refused_windows or ()),
            }
        beside: dict[str, Any] = {}
        if self.people is not None:
            people = [[plain_number(value), list(numbers)] for value, numbers in self.people]
            beside = {"people": people, "certainty": str(self.certainty)}
        return {"rows": self.rows, "classes": classes, "loss": self.loss, **known, **slack, **near, **beside}


StatedMechanism = StatedBuckets | StatedAnatomy
BucketStatement = Statement[StatedMechanism, FPrimePrivacy, BucketNumbers]
BucketManifest = Manifest[StatedMechanism, FPrimePrivacy, BucketNumbers]


def files_of(statement: BucketStatement) -> tuple[str, ...]:
    """The table of quasi-identifiers and the table of sensitive values."""
    return (QIT, ST)


def fields_of(statement: BucketStatement, path: str) -> Fields:
    """The columns of either table."""
    schema = statement.schema
    bucket = {"name": "BID", "type": "integer"}
    if path == QIT:
        return [*(field_of(schema, name) for name in schema.quasi_identifiers), bucket]
    return [bucket, field_of(schema, schema.sensitive), {"name": "COUNT", "type": "integer"}]


def further_numbers(mechanism: Mapping[str, Any]) -> tuple[str, ...]:
    """What a release with these parameters, as they stand, states beside what every one does."""
    near = NEAR_NUMBERS if "assignment" in mechanism else ()
    return (*near, "people", "certainty") if "fakes" in mechanism else near


def mechanism_from_json(data: Mapping[str, Any]) -> StatedMechanism:
    """The parameters that a release states; raises ReleaseError where they are not all there, or others are."""
    near, data = near_from_json(data)
    match data:
        case {
            "kind": "buckets",
            "sizes": ("optimal" | "multi" | "two" | "one") as sizes,
            "min_size": (int() | None) as least,
            "max_size": int(largest),
            "composition": str(composition),
            "tolerance": {"theta": theta, "floor": floor, "values": dict(named), **more},
            **rest,
        } if (
            composition in COMPOSITIONS
            and set(more) <= {"ceiling"}
            and set(rest) <= {"slack", "known", "fakes"}
            and bool not in (type(least), type(largest))
        ):
            return StatedBuckets(
                sizes=sizes,
                min_size=least,
                max_size=largest,
                composition=composition,
                theta=_fraction(theta),
                floor=_fraction(floor),
                values={name: _fraction(number) for name, number in named.items()},
                ceiling=_ceiling(more["ceiling"]) if more else None,
                slack=_slack(rest["slack"]) if "slack" in rest else None,
                near=near,
                **{name: _beside(name, rest[name]) for name in ("known", "fakes") if name in rest},
            )
        case {"kind": "anatomy", "l": int(diversity)} if diversity > 1 and set(data) <= {"kind", "l"}:
            return StatedAnatomy(l=diversity, near=near)
        case {"kind": "anatomy", "l": int(diversity), "composition": str(composition), **rest} if (
            composition in COMPOSITIONS and not rest and diversity > 1
        ):
            return StatedAnatomy(l=diversity, stated_composition=composition, near=near)
        case _:
            raise ReleaseError(
                "the mechanism must state its kind and its parameters and nothing else: sizes, min_size, max_size, "
                "slack, composition, tolerance (theta, floor, values, ceiling), known and fakes for buckets, l and "
                "composition for anatomy, and for near buckets assignment, window and window_declared"
            )


def guarantee_from_json(data: Any, mechanism: StatedMechanism) -> FPrimePrivacy:
    """The tolerances that a release states; raises PolicyError where they are none."""
    found = fprime_from_json(data)
    if found.known != mechanism.known:
        raise ReleaseError("known in the guarantee must be that of the mechanism")
    return found


def numbers_from_json(block: Mapping[str, Any]) -> BucketNumbers:
    """Rows, classes and loss; raises ReleaseError where they are no such numbers."""
    classes = block["classes"]
    if type(classes) is not list:
        raise ReleaseError("classes in the block 'discreet' must be a list")
    found = []
    for each in classes:
        match each:
            case {"size": int(size), "buckets": int(buckets), **rest} if not rest and size > 0 and buckets > 0:
                found.append((size, buckets))
            case _:
                raise ReleaseError("classes must be a list of {size, buckets}, both 1 or more")
    scale = _scale(block["schema"])
    known = _unprotected(block["unprotected"], scale) if "unprotected" in block else None
    kept = _slack(block["kept_slack"]) if "kept_slack" in block else None
    windows, refused = windows_from_json(block) if "windows" in block else (None, None)
    whole = whole_numbers(block, "rows", "loss")
    if whole["rows"] > _MOST_ROWS:
        raise ReleaseError(f"rows in the block 'discreet' must be at most {_MOST_ROWS}")
    people, certainty = _people(block, len(found), whole["rows"], scale) if "people" in block else (None, None)
    return BucketNumbers(
        classes=tuple(found),
        unprotected=known,
        kept_slack=kept,
        windows=windows,
        refused_windows=refused,
        people=people,
        certainty=certainty,
        **whole,
    )


def _beside(name: str, number: object) -> int:
    """How many others may be known, or how many fakes there are."""
    if type(number) is not int or not 1 <= number <= _MOST_BESIDE:
        raise ReleaseError(f"{name} must be a whole number between 1 and {_MOST_BESIDE}, or be left out")
    return number


def _scale(schema: Mapping[str, Any]) -> int:
    """How many digits after the point sensitive decimals have."""
    domain = schema["domains"][schema["sensitive"]]
    found = domain_from_json(domain) if "decimals" in domain else None
    return found.scale if isinstance(found, Decimals) else 0


def _value(value: object, scale: int) -> object:
    """A value as its domain writes it: JSON drops the last noughts of a decimal, but the words do not."""
    found = exact_value(value)
    if not isinstance(found, Decimal):
        return found
    written = Decimal(f"{found:.{scale}f}")
    return written if written == found else found


def _people(
    block: Mapping[str, Any], classes: int, rows: int, scale: int
) -> tuple[tuple[tuple[object, tuple[int, ...]], ...], Fraction]:
    """Numbers of people by value and class, and how certain one can be; raises ReleaseError where they are none."""
    found = []
    for pair in block["people"] if isinstance(block["people"], list) else [None]:
        match pair:
            case [(str() | int() | float() | None) as value, [*numbers]] if (
                type(value) is not bool
                and len(numbers) == classes
                and all(type(number) is int and 0 <= number <= rows for number in numbers)
                and any(numbers)
            ):
                found.append((_value(value, scale), tuple(numbers)))
            case _:
                raise ReleaseError(
                    "people must be a list of [value, [people in the buckets of each class]], of the rows"
                )
    certainty = stated(block["certainty"])
    if certainty is None or not 0 <= certainty <= 1:
        raise ReleaseError("certainty must be a fraction in digits, between 0 and 1")
    return tuple(found), certainty


def _unprotected(data: Any, scale: int) -> tuple[tuple[object, int], ...]:
    """Values and numbers of people; raises ReleaseError where they are none."""
    found = []
    for pair in data if isinstance(data, list) else [None]:
        match pair:
            case [(str() | int() | float() | None) as value, int(people)] if bool not in (type(value), type(people)):
                found.append((_value(value, scale), people))
            case _:
                raise ReleaseError("unprotected must be a list of [value, people]")
    return tuple(found)


def _slack(number: object) -> Fraction:
    """A slack as a release writes it: a share of a cap that is not all of it."""
    found = stated(number)
    if found is None or not 0 <= found < 1:
        raise ReleaseError("slack and kept_slack must be fractions in digits, at least 0 and below 1")
    return found


def _ceiling(number: object) -> Fraction:
    """A ceiling as a release writes it: a probability above 0."""
    found = _fraction(number)
    if not 0 < found <= 1:
        raise ReleaseError("ceiling must be above 0 and at most 1")
    return found


def _fraction(number: object) -> Fraction:
    """A fraction as a release writes it."""
    found = stated(number)
    if found is None:
        raise ReleaseError("theta, floor, ceiling and tolerances must be fractions in digits")
    return found

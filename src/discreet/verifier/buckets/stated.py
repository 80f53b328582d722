"""What a bucket release states, read once more from its block: every number, and none by default.

What a block must state depends on the version of its words alone: a ceiling and who is unprotected from version 2 on, a
slack and, of Anatomy too, a composition from version 3 on; before, buckets were composed evenly and had no slack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.errors import ReleaseError
from discreet.schema.domain import Decimals, key_of
from discreet.verifier.stated import cell, fraction, keys, listed, one_of, whole

if TYPE_CHECKING:
    from discreet.schema.domain import Domain
    from discreet.verifier.files import Files

QIT, ST = "data/qit.parquet", "data/st.parquet"
LARGEST, LARGEST_L, MOST_BESIDE = 200, 199, 50
_CEILING, _SLACK = 2, 3  # the versions of the words from which these are stated
_SIZES = {"one": 1, "two": 2, "multi": LARGEST, "optimal": LARGEST}
_OLD, _NEW = ("random", "round-robin"), ("free", "even", "round-robin")
_NEAR = ("assignment", "window", "window_declared")
NOTION = "F'-privacy"
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The tolerance of a value: the one named for it, by its text, else min(ceiling, theta x share + floor)."""

    theta: Fraction
    floor: Fraction
    ceiling: Fraction
    named: Mapping[str, Fraction]

    def gives(self, limit: Fraction, value: object, count: int, rows: int) -> bool:
        """Whether a limit is the tolerance of a value that so many of the rows have."""
        if (named := self.named.get(key_of(value))) is not None:
            return limit == named
        by_share = (limit - self.floor) * rows - self.theta * count  # 0 where theta x share + floor is the limit
        return limit <= self.ceiling and by_share <= 0 and (by_share == 0 or limit == self.ceiling)


@dataclass(frozen=True, kw_only=True)
class Window:
    """So many rows of the curve, in the buckets with the ids `first` to `last`."""

    rows: int
    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class Near:
    """The windows of a near release, of `window` rows each, which the policy `declared` or the rule gave."""

    window: int
    declared: bool
    windows: tuple[Window, ...]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """Everything that a bucket release states of its people, buckets and tolerances.

    `diversity` is the l of Anatomy, None for others. A plan has `most_sizes` sizes at most, from `least` to `largest`,
    and the best of any number where `any_sizes`. `tolerance` is what is promised of each value, where it is above 0.
    `unprotected` and `near` are None where a release states none; `people` of every value, in the buckets of each of
    the `classes`, and `certainty` where there are no fakes.
    """

    diversity: int | None
    any_sizes: bool
    most_sizes: int
    least: int
    largest: int
    composition: str
    rule: Rule
    slack: Fraction
    kept_slack: Fraction
    known: int
    fakes: int
    rows: int
    classes: tuple[tuple[int, int], ...]
    loss: int
    tolerance: tuple[tuple[object, Fraction], ...]
    unprotected: tuple[tuple[object, int], ...] | None
    near: Near | None
    people: tuple[tuple[object, tuple[int, ...]], ...] | None
    certainty: Fraction | None

    @property
    def buckets(self) -> int:
        return sum(buckets for _, buckets in self.classes)

    @cached_property
    def limits(self) -> Mapping[object, Fraction]:
        """The promised tolerances by value."""
        return dict(self.tolerance)


def stated(files: Files) -> Stated:
    """What the block says; raises ReleaseError where it is none that a bucket release states."""
    block, mechanism = files.block, files.block["mechanism"]
    own = _anatomy(mechanism, block["words"]) if mechanism["kind"] == "anatomy" else _buckets(mechanism, block["words"])
    guarantee = keys(block["guarantee"], "guarantee", "notion", "tolerance", *(("known",) if own["known"] else ()))
    one_of(guarantee["notion"], "notion", NOTION)
    if own["known"] and whole(guarantee["known"], "known", 1) != own["known"]:
        raise ReleaseError("known in the guarantee must be that of the mechanism")
    classes = tuple(_class(each) for each in listed(block["classes"], "classes"))
    domain = files.schema.domains[files.schema.sensitive]
    pairs = partial(_pairs, domain.scale if isinstance(domain, Decimals) else 0)
    beside = own["fakes"] > 0
    return Stated(
        **own,
        kept_slack=_share(block["kept_slack"], "kept_slack") if block["words"] >= _SLACK else Fraction(0),
        rows=whole(block["rows"], "rows", 1),
        classes=classes,
        loss=whole(block["loss"], "loss"),
        tolerance=tuple(pairs(guarantee["tolerance"], "tolerance", _limit)),
        unprotected=tuple(pairs(block["unprotected"], "unprotected", _number)) if block["words"] >= _CEILING else None,
        near=_near(mechanism, block) if "assignment" in mechanism else None,
        people=tuple(pairs(block["people"], "people", lambda found: _people(found, len(classes)))) if beside else None,
        certainty=fraction(block["certainty"], "certainty") if beside else None,
    )


def in_order(domain: Domain, named: Sequence[object]) -> bool:
    """Whether these are values of a domain, in its order, each once: 1.0 is not 1."""
    places: dict[object, tuple[int, object]] = {value: (place, type(value)) for place, value in enumerate(domain)}
    found = [places.get(value, (-1, None)) for value in named]
    ascending = all(one < two for (one, _), (two, _) in pairwise([(-1, None), *found]))
    return ascending and all(kind is type(value) for (_, kind), value in zip(found, named, strict=True))


def _pairs(scale: int, data: Any, name: str, read: Callable[[Any], R]) -> Iterator[tuple[object, R]]:
    """Values and what is said of each; decimals with all digits of their domain, for JSON drops noughts at the end."""
    for pair in listed(data, name):
        if len(listed(pair, name)) != 2:
            raise ReleaseError(f"{name} must be a list of pairs")
        value = cell(pair[0], name)
        written = Decimal(f"{value:.{scale}f}") if isinstance(value, Decimal) else value
        yield written if written == value else value, read(pair[1])


def _buckets(mechanism: Any, words: int) -> dict[str, Any]:
    """The parameters of buckets."""
    since = ("slack",) if words >= _SLACK else ()
    near = _NEAR if "assignment" in mechanism else ()
    beside = ("known",) if near else ("known", "fakes")  # a window is too small to hide fakes in
    plain = ("kind", "sizes", "min_size", "max_size", *since, "composition", "tolerance", *near)
    found = keys(mechanism, "mechanism", *plain, optional=beside)
    largest = whole(found["max_size"], "max_size", 1, LARGEST)
    known = whole(found["known"], "known", 1, min(MOST_BESIDE, largest - 1)) if "known" in found else 0
    return {
        "diversity": None,
        "any_sizes": found["sizes"] == "optimal",
        "most_sizes": _SIZES[one_of(found["sizes"], "sizes", *_SIZES)],
        "least": 1 if found["min_size"] is None else whole(found["min_size"], "min_size", 1, largest),
        "largest": largest,
        "composition": _composition(found["composition"], words),
        "rule": _rule(found["tolerance"], words),
        "slack": _share(found["slack"], "slack") if since else Fraction(0),
        "known": known,
        "fakes": whole(found["fakes"], "fakes", 1, MOST_BESIDE) if "fakes" in found else 0,
    }


def _anatomy(mechanism: Any, words: int) -> dict[str, Any]:
    """The parameters of Anatomy, whose tolerance is 1/l for every value."""
    since = ("composition",) if words >= _SLACK else ()
    found = keys(mechanism, "mechanism", "kind", "l", *since, *(_NEAR if "assignment" in mechanism else ()))
    number = whole(found["l"], "l", 2, LARGEST_L)
    return {
        "diversity": number,
        "any_sizes": False,
        "most_sizes": 2,
        "least": number,
        "largest": number + 1,
        "composition": _composition(found["composition"], words) if since else "even",
        "rule": Rule(theta=Fraction(0), floor=Fraction(1, number), ceiling=Fraction(1), named={}),
        "slack": Fraction(0),
        "known": 0,
        "fakes": 0,
    }


def _composition(data: Any, words: int) -> str:
    """How buckets are composed, by its name of today."""
    found = one_of(data, "composition", *(_NEW if words >= _SLACK else _OLD))
    return "even" if found == "random" else found


def _rule(data: Any, words: int) -> Rule:
    found = keys(data, "tolerance", "theta", "floor", "values", *(("ceiling",) if words >= _CEILING else ()))
    if type(found["values"]) is not dict:
        raise ReleaseError("values of a tolerance must be an object")
    floor = fraction(found["floor"], "floor")
    if floor > 1:
        raise ReleaseError("floor must be at most 1")
    return Rule(
        theta=fraction(found["theta"], "theta"),
        floor=floor,
        ceiling=_limit(found["ceiling"]) if words >= _CEILING else Fraction(1),
        named={name: _limit(number) for name, number in found["values"].items()},
    )


def _near(mechanism: Mapping[str, Any], block: Mapping[str, Any]) -> Near:
    """How rows were cut into windows; which windows were refused before, no file can show."""
    one_of(mechanism["assignment"], "assignment", "near")
    if type(mechanism["window_declared"]) is not bool:
        raise ReleaseError("window_declared must be true or false")
    refused = [whole(each, "refused_windows", 1) for each in listed(block["refused_windows"], "refused_windows")]
    if any(one >= two for one, two in pairwise(refused)):
        raise ReleaseError("refused_windows must be ascending, each number once")
    return Near(
        window=whole(mechanism["window"], "window", 1),
        declared=mechanism["window_declared"],
        windows=tuple(_window(each) for each in listed(block["windows"], "windows")),
    )


def _window(data: Any) -> Window:
    found = keys(data, "a window", "rows", "first", "last")
    first = whole(found["first"], "first", 1)
    return Window(rows=whole(found["rows"], "rows", 1), first=first, last=whole(found["last"], "last", first))


def _class(data: Any) -> tuple[int, int]:
    found = keys(data, "a class", "size", "buckets")
    return whole(found["size"], "size", 1, LARGEST), whole(found["buckets"], "buckets", 1)


def _limit(data: Any) -> Fraction:
    """A tolerance: a probability above 0."""
    found = fraction(data, "a tolerance")
    if not 0 < found <= 1:
        raise ReleaseError("a tolerance must be above 0 and at most 1")
    return found


def _share(data: Any, name: str) -> Fraction:
    """A part of a cap that is not all of it."""
    found = fraction(data, name)
    if found >= 1:
        raise ReleaseError(f"{name} must be below 1")
    return found


def _number(data: Any) -> int:
    return whole(data, "a number of people")


def _people(data: Any, classes: int) -> tuple[int, ...]:
    """How many people are in the buckets of each class: somebody, in some."""
    found = tuple(map(_number, listed(data, "people")))
    if len(found) != classes or not any(found):
        raise ReleaseError("people must have a number for each class, of values that somebody has")
    return found

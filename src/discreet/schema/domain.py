"""Domains: the public set of values that an attribute may take.

A domain is declared, never read off the data: which values occur is itself a fact about people.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from discreet.engine.encoding import Encoding, Grouping
from discreet.errors import PolicyError
from discreet.ground.shown import shown
from discreet.schema.dates import Dated
from discreet.schema.decimals import Stepped
from discreet.schema.paths import Paths, checked
from discreet.schema.twins import Alike, Lists, alike_in, check_distinct
from discreet.schema.valued import Valued


@dataclass(frozen=True, kw_only=True)
class Integers(Valued):
    """All whole numbers from `low` to `high`, both included; with `missing`, an empty cell is one more value.

    `paths`, if declared, lead from each number in order (as text) up to '*'; a missing cell has none but '*'.
    """

    low: int
    high: int
    paths: Paths = ()
    missing: bool = False

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must be [lowest, highest]; swap them")
        if max(abs(self.low), abs(self.high)) >= 2**53:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must lie within 2^53 of zero")
        if self.paths:
            object.__setattr__(self, "paths", checked(self.paths, range(self.low, self.high + 1)))

    def __contains__(self, value: object) -> bool:
        return self.missing if value is None else isinstance(value, int) and self.low <= value <= self.high

    @property
    def type(self) -> str:
        return "integer"

    @property
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""
        return Encoding(range(self.low, self.high + 1), self.missing)

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as they are written."""
        return tuple(map(str, range(self.low, self.high + 1)))

    def position(self, number: object) -> int:
        """How many values are below a whole number; raises PolicyError where it is none."""
        if type(number) is not int:
            raise PolicyError(f"bands ({shown(number)}) must be whole numbers")
        return min(max(number - self.low, 0), self.high - self.low + 1)

    @property
    def extent(self) -> str:
        """From where to where the values go."""
        return f"from {self.low} to {self.high}"

    def as_json(self) -> dict[str, Any]:
        return {"integers": [self.low, self.high], **self._rest_as_json()}


class Decimals(Stepped, Valued):
    """All whole multiples of a step from-to. `paths`, if declared, lead from each (as it is written) up to '*'."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.paths:
            object.__setattr__(self, "paths", checked(self.paths, self.texts))

    def as_json(self) -> dict[str, Any]:
        ends = [f"{self.low:f}", f"{self.high:f}"]
        return {"decimals": ends, "step": f"{self.step:f}", **self._rest_as_json()}


class Dates(Dated, Valued):
    """Every day, month or year from-to. `paths`, if declared, lead from each (as it is written) up to '*'."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.paths:
            object.__setattr__(self, "paths", checked(self.paths, self.texts))

    def as_json(self) -> dict[str, Any]:
        return {"dates": [self.low, self.high], "by": self.by, **self._rest_as_json()}


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The domain of a table's own cells, of which a level of the hierarchy is published."""

    domain: Domain
    level: int


@dataclass(frozen=True, kw_only=True)
class Listed(Valued):
    """The values in the order given, all whole numbers or all text; with `missing`, an empty cell is one more value.

    `paths`, if declared, lead from each value in order (as text) up to '*'; a missing cell has none but '*'. Where they
    are `ordered`, text is smaller or larger by its place in the list. Values of one list in `distinct` look alike, and
    are kept apart on purpose. `origin` is for a custodian: what these values are groups of.
    """

    values: tuple[int, ...] | tuple[str, ...]
    paths: Paths = ()
    missing: bool = False
    ordered: bool = False
    distinct: Lists = ()
    origin: Origin | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.values:
            raise PolicyError("values ([]) must not be empty; list every value that may occur")
        kinds = {type(value) for value in self.values}
        if kinds not in ({int}, {str}):
            raise PolicyError("values must be all text or all whole numbers; put quotes around all of them or none")
        if any(isinstance(value, int) and abs(value) >= 2**53 for value in self.values):
            raise PolicyError("values must lie within 2^53 of zero; write larger numbers as text, in quotes")
        if self.missing and "" in self.values:
            raise PolicyError(
                'values must not hold the empty text where missing = "category"; a file cannot tell them apart'
            )
        if len(set(self.values)) < len(self.values):
            twice, _ = Counter[int | str](self.values).most_common(1)[0]
            raise PolicyError(f"values must be distinct; {twice} is there twice")
        if self.ordered is not False and (self.ordered is not True or kinds != {str}):
            raise PolicyError("ordered must be true or false, and is for text: numbers have their own order")
        if self.distinct:
            object.__setattr__(self, "distinct", check_distinct(self.distinct, self.values, missing=self.missing))
        if self.paths:
            object.__setattr__(self, "paths", checked(self.paths, self.values, apart=self.distinct))

    @property
    def type(self) -> str:
        return "integer" if isinstance(self.values[0], int) else "text"

    @property
    def in_order(self) -> bool:
        return self.ordered or self.type == "integer"

    @property
    def by_place(self) -> bool:
        return self.type == "text"

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as they are written."""
        return tuple(map(str, self.values))

    @cached_property
    def _members(self) -> frozenset[int | str]:
        return frozenset(self.values)

    @cached_property
    def twins(self) -> tuple[Alike, ...]:
        """Values that look alike and are not said to be distinct; an empty cell looks like the empty text."""
        texts = [] if self.type == "integer" else [*self.texts, *([""] if self.missing else [])]
        return alike_in(texts, self.distinct)

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.missing
        return type(value) is type(self.values[0]) and value in self._members

    @property
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""
        return Encoding(self.values, self.missing)

    @property
    def given(self) -> Encoding:
        """The same values as they are read off a custodian's cells."""
        if self.origin is None:
            return self.encoding
        place = {value: code for code, value in enumerate(self.values)}
        groups = tuple(place[path[self.origin.level]] for path in self.origin.domain.paths)
        return replace(self.encoding, grouping=Grouping(self.origin.domain.given, groups))

    def as_json(self) -> dict[str, Any]:
        leaves = self.paths and self.type == "text"  # then the hierarchy says the values
        ordered = {"ordered": True} if self.ordered else {}
        values = {} if leaves else {"values": list(self.values)}
        distinct = {"distinct": list(map(list, self.distinct))} if self.distinct else {}
        return {**values, **ordered, **distinct, **self._rest_as_json()}


Domain = Integers | Decimals | Dates | Listed


def own_domain(domain: Domain) -> Domain:
    """The domain of a table's own cells: that of the hierarchy of which a level is published."""
    return domain.origin.domain if isinstance(domain, Listed) and domain.origin else domain


def key_of(value: object) -> str:
    """A value as a key of a TOML or JSON table: its text; the empty text is the missing cell."""
    return "" if value is None else f"{value:f}" if isinstance(value, Decimal) else str(value)


def domain_from_json(data: Any) -> Domain:
    """The domain that a release declares; raises PolicyError on anything else."""
    if not isinstance(data, dict) or any(data.get(flag, True) is not True for flag in ("missing", "ordered")):
        raise PolicyError("a domain must be one of integers, decimals, dates, values, hierarchy; what holds is true")
    missing, flags = "missing" in data, {"ordered": "ordered" in data, "distinct": data.get("distinct", ())}
    if "distinct" in data and not data["distinct"]:
        raise PolicyError("distinct must be lists of values")
    paths = _paths_from_json(data["hierarchy"]) if "hierarchy" in data else ()
    match {key: each for key, each in data.items() if key not in ("missing", "hierarchy")}:
        case {"integers": [int(low), int(high)], **rest} if not rest and bool not in (type(low), type(high)):
            return Integers(low=low, high=high, paths=paths, missing=missing)
        case {"decimals": [str(low), str(high)], "step": str(step), **rest} if not rest:
            return _as_stated(
                data,
                Decimals(low=_decimal(low), high=_decimal(high), step=_decimal(step), paths=paths, missing=missing),
            )
        case {"dates": [str(low), str(high)], "by": str(by), **rest} if not rest:
            return _as_stated(data, Dates(low=low, high=high, by=by, paths=paths, missing=missing))
        case {"values": [*values], **rest} if not set(rest) - set(flags):
            return Listed(values=tuple(values), paths=paths, missing=missing, **flags)
        case {**rest} if not set(rest) - set(flags) and paths:
            return Listed(values=tuple(path[0] for path in paths), paths=paths, missing=missing, **flags)
        case _:
            raise PolicyError("a domain must be one of integers, decimals, dates, values, hierarchy")


def _as_stated(data: dict[str, Any], domain: Domain) -> Domain:
    """A domain that is written in no other way."""
    if domain.as_json() != data:
        raise PolicyError("decimals and dates must be written as a release writes them")
    return domain


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise PolicyError("decimals and step must be decimals in digits") from None


def _paths_from_json(data: Any) -> Paths:
    if not isinstance(data, list) or not data or not all(map(_is_path, data)):
        raise PolicyError("hierarchy must be a list of lists of labels, one for each value")
    return tuple(map(tuple, data))


def _is_path(path: Any) -> bool:
    return isinstance(path, list) and len(path) > 0 and all(isinstance(label, str) for label in path)

"""Domains: the public set of values that an attribute may take.

A domain is declared, never read off the data: which values occur is itself a fact about people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.engine.encoding import Encoding
from discreet.errors import PolicyError
from discreet.schema.paths import Paths, checked

Value = int | str | None  # None is a missing cell, where the domain has it


@dataclass(frozen=True, kw_only=True)
class Integers:
    """All whole numbers from `low` to `high`, both included; with `missing`, an empty cell is one more value.

    `paths`, if declared, lead from each number in order (as text) up to '*'; a missing cell has none but '*'.
    """

    low: int
    high: int
    paths: Paths = ()
    missing: bool = False

    type = "integer"

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must be [lowest, highest]; swap them")
        if max(abs(self.low), abs(self.high)) >= 2**53:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must lie within 2^53 of zero")
        if self.paths:
            object.__setattr__(self, "paths", checked(self.paths, range(self.low, self.high + 1)))

    def __contains__(self, value: object) -> bool:
        return self.missing if value is None else isinstance(value, int) and self.low <= value <= self.high

    def __len__(self) -> int:
        return len(self.encoding)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.encoding)

    @property
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""
        return Encoding(range(self.low, self.high + 1), self.missing)

    def as_json(self) -> dict[str, Any]:
        return {"integers": [self.low, self.high], **_rest_as_json(self.paths, self.missing)}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The values in the order given, all whole numbers or all text; with `missing`, an empty cell is one more value.

    `paths`, if declared, lead from each value in order (as text) up to '*'; a missing cell has none but '*'.
    """

    values: tuple[int, ...] | tuple[str, ...]
    paths: Paths = ()
    missing: bool = False

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
        if self.paths:
            object.__setattr__(self, "paths", checked(self.paths, self.values))

    @property
    def type(self) -> str:
        return "integer" if isinstance(self.values[0], int) else "text"

    @cached_property
    def _members(self) -> frozenset[int | str]:
        return frozenset(self.values)

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.missing
        return type(value) is type(self.values[0]) and value in self._members

    def __len__(self) -> int:
        return len(self.encoding)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.encoding)

    @property
    def encoding(self) -> Encoding:
        """The values as an engine takes them."""
        return Encoding(self.values, self.missing)

    def as_json(self) -> dict[str, Any]:
        leaves = self.paths and self.type == "text"  # then the hierarchy says the values
        return {**({} if leaves else {"values": list(self.values)}), **_rest_as_json(self.paths, self.missing)}


Domain = Integers | Listed


def key_of(value: object) -> str:
    """A value as a key of a TOML or JSON table: its text; the empty text is the missing cell."""
    return "" if value is None else str(value)


def domain_from_json(data: Any) -> Domain:
    """The domain that a release declares; raises PolicyError on anything else."""
    if not isinstance(data, dict) or data.get("missing", True) is not True:
        raise PolicyError("a domain must be one of integers, values, hierarchy; missing is true or not there")
    missing = "missing" in data
    paths = _paths_from_json(data["hierarchy"]) if "hierarchy" in data else ()
    match {key: each for key, each in data.items() if key not in ("missing", "hierarchy")}:
        case {"integers": [int(low), int(high)], **rest} if not rest and bool not in (type(low), type(high)):
            return Integers(low=low, high=high, paths=paths, missing=missing)
        case {"values": [*values], **rest} if not rest:
            return Listed(values=tuple(values), paths=paths, missing=missing)
        case {**rest} if not rest and paths:
            return Listed(values=tuple(path[0] for path in paths), paths=paths, missing=missing)
        case _:
            raise PolicyError("a domain must be one of integers, values, hierarchy")


def _paths_from_json(data: Any) -> Paths:
    if not isinstance(data, list) or not data or not all(map(_is_path, data)):
        raise PolicyError("hierarchy must be a list of lists of labels, one for each value")
    return tuple(map(tuple, data))


def _is_path(path: Any) -> bool:
    return isinstance(path, list) and len(path) > 0 and all(isinstance(label, str) for label in path)


def _rest_as_json(paths: Paths, missing: bool) -> dict[str, Any]:
    """What a domain says besides its values."""
    hierarchy = {"hierarchy": [list(path) for path in paths]} if paths else {}
    return {**hierarchy, **({"missing": True} if missing else {})}

"""Domains: the public set of values that an attribute may take.

A domain is declared, never read off the data: which values occur is itself a fact about people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.errors import PolicyError

Value = int | str


@dataclass(frozen=True, kw_only=True)
class Integers:
    """All whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    type = "integer"

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must be [lowest, highest]; swap them")
        if max(abs(self.low), abs(self.high)) >= 2**53:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must lie within 2^53 of zero")

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    def __len__(self) -> int:
        return self.high - self.low + 1

    def __iter__(self) -> Iterator[Value]:
        return iter(range(self.low, self.high + 1))

    @property
    def encoding(self) -> range:
        """The values as an engine takes them."""
        return range(self.low, self.high + 1)

    def as_json(self) -> dict[str, Any]:
        return {"integers": [self.low, self.high]}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The values in the order given, all whole numbers or all text; `paths` are their ancestors up to '*', if
    declared.
    """

    values: tuple[Value, ...]
    paths: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if not self.values:
            raise PolicyError("values ([]) must not be empty; list every value that may occur")
        kinds = {type(value) for value in self.values}
        if kinds not in ({int}, {str}):
            raise PolicyError("values must be all text or all whole numbers; put quotes around all of them or none")
        if len(set(self.values)) < len(self.values):
            twice = next(value for value in self.values if self.values.count(value) > 1)
            raise PolicyError(f"values must be distinct; {twice} is there twice")

    @property
    def type(self) -> str:
        return "integer" if isinstance(self.values[0], int) else "text"

    @cached_property
    def codes(self) -> Mapping[Value, int]:
        return {value: code for code, value in enumerate(self.values)}

    def __contains__(self, value: object) -> bool:
        return type(value) is type(self.values[0]) and value in self.codes

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    @property
    def encoding(self) -> tuple[Value, ...]:
        """The values as an engine takes them."""
        return self.values

    def as_json(self) -> dict[str, Any]:
        if self.paths:
            return {"hierarchy": [list(path) for path in self.paths]}
        return {"values": list(self.values)}


Domain = Integers | Listed


def domain_from_json(data: Any) -> Domain:
    """The domain that a release declares; raises PolicyError on anything else."""
    match data:
        case {"integers": [int(low), int(high)], **rest} if not rest:
            return Integers(low=low, high=high)
        case {"values": [*values], **rest} if not rest:
            return Listed(values=tuple(values))
        case {"hierarchy": [*paths], **rest} if not rest and all(_is_path(path) for path in paths):
            return Listed(values=tuple(path[0] for path in paths), paths=tuple(map(tuple, paths)))
        case _:
            raise PolicyError("a domain must be one of integers, values, hierarchy")


def _is_path(path: Any) -> bool:
    return isinstance(path, list) and len(path) > 0 and all(isinstance(label, str) for label in path)

"""Domains: the public set of values that an attribute may take.

A domain is declared, never read off the data: which values occur is itself a fact about people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.engine.encoding import Encoding
from discreet.errors import PolicyError

Value = int | str | None  # None is a missing cell, where the domain has it


@dataclass(frozen=True, kw_only=True)
class Integers:
    """All whole numbers from `low` to `high`, both included; with `missing`, an empty cell is one more value."""

    low: int
    high: int
    missing: bool = False

    type = "integer"

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must be [lowest, highest]; swap them")
        if max(abs(self.low), abs(self.high)) >= 2**53:
            raise PolicyError(f"integers ([{self.low}, {self.high}]) must lie within 2^53 of zero")

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
        return {"integers": [self.low, self.high], **({"missing": True} if self.missing else {})}


@dataclass(frozen=True, kw_only=True)
class Listed:
    """The values in the order given, all whole numbers or all text; `paths` are their ancestors up to '*', if
    declared.
    """

    values: tuple[int, ...] | tuple[str, ...]
    paths: tuple[tuple[str, ...], ...] = ()
    missing: bool = False

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
        content = {"hierarchy": [list(path) for path in self.paths]} if self.paths else {"values": list(self.values)}
        return {**content, **({"missing": True} if self.missing else {})}


Domain = Integers | Listed


def key_of(value: object) -> str:
    """A value as a key of a TOML or JSON table: its text; the empty text is the missing cell."""
    return "" if value is None else str(value)


def domain_from_json(data: Any) -> Domain:
    """The domain that a release declares; raises PolicyError on anything else."""
    missing = isinstance(data, dict) and data.get("missing") is True
    match (
        {key: each for key, each in data.items() if key != "missing" or not missing} if isinstance(data, dict) else data
    ):
        case {"integers": [int(low), int(high)], **rest} if not rest:
            return Integers(low=low, high=high, missing=missing)
        case {"values": [*values], **rest} if not rest:
            return Listed(values=tuple(values), missing=missing)
        case {"hierarchy": [*paths], **rest} if not rest and all(_is_path(path) for path in paths):
            leaves = tuple(path[0] for path in paths)
            return Listed(values=leaves, paths=tuple(map(tuple, paths)), missing=missing)
        case _:
            raise PolicyError("a domain must be one of integers, values, hierarchy")


def _is_path(path: Any) -> bool:
    return isinstance(path, list) and len(path) > 0 and all(isinstance(label, str) for label in path)

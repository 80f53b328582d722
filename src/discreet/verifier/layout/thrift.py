"""Thrift's compact protocol, read strictly: known fields alone, in their order, and every number in its shortest form.

What a lenient reader skips is where something can hide: unknown fields, long forms of numbers, other orders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.errors import ReleaseError

_SHORT = 15  # steps between fields, and lengths of lists, that have a short form
_WIDEST = 10  # bytes of a number of 64 bits
_TRUE, _FALSE, _LIST, _STRUCT = 1, 2, 9, 12  # numbers of types; a field's header is its value where it is yes or no


@dataclass(frozen=True, eq=False)
class Plain:
    """A kind of field that holds one value: its number in the protocol, and of whole numbers the bits."""

    number: int
    bits: int = 0


BOOL, I16, I32, I64, BINARY = Plain(_TRUE), Plain(4, 16), Plain(5, 32), Plain(6, 64), Plain(8)


@dataclass(frozen=True, eq=False)
class ListOf:
    """A list of at most so many."""

    of: Kind
    most: int = 1 << 30


@dataclass(frozen=True, eq=False)
class Struct:
    """Fields by their number: name and kind; those that are `optional` may be missing."""

    fields: Mapping[int, tuple[str, Kind]]
    optional: frozenset[str] = frozenset()

    @cached_property
    def needed(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.fields.values()) - self.optional


Kind = Plain | ListOf | Struct


class Reader:
    """Bytes, read from a place on."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at = data, at

    def struct(self, kind: Struct) -> dict[str, Any]:
        """The fields of a struct, by name."""
        found: dict[str, Any] = {}
        number = 0
        while head := self._byte():
            step = head >> 4
            if not step:
                step = self._signed(16) - number
                if 0 < step <= _SHORT:
                    raise ReleaseError("a field is written in a longer form than it needs")
            if step <= 0:
                raise ReleaseError("fields are not in the order of their numbers")
            number += step
            if number not in kind.fields:
                raise ReleaseError(f"field {number} is none that it may have")
            name, own = kind.fields[number]
            found[name] = self._field(head & 15, own)
        if missing := kind.needed - found.keys():
            raise ReleaseError(f"it has no {sorted(missing)[0]}")
        return found

    def _field(self, stated: int, kind: Kind) -> Any:
        if kind is BOOL and stated in (_TRUE, _FALSE):
            return stated == _TRUE
        if stated != _number_of(kind):
            raise ReleaseError("a field is of another type")
        return self._value(kind)

    def _value(self, kind: Kind) -> Any:
        if isinstance(kind, Struct):
            return self.struct(kind)
        if isinstance(kind, ListOf):
            return self._list(kind)
        return self._binary() if kind is BINARY else self._signed(kind.bits)

    def _list(self, kind: ListOf) -> list[Any]:
        head = self._byte()
        length = head >> 4
        if length == _SHORT:
            length = self._unsigned()
            if length < _SHORT:
                raise ReleaseError("a list's length is written in a longer form than it needs")
        if head & 15 != _number_of(kind.of):
            raise ReleaseError("a list is of another type")
        if length > min(kind.most, len(self.data) - self.at):
            raise ReleaseError("a list is longer than it can be")
        return [self._value(kind.of) for _ in range(length)]

    def _binary(self) -> bytes:
        length = self._unsigned()
        if length > len(self.data) - self.at:
            raise ReleaseError("a text is longer than what holds it")
        self.at += length
        return self.data[self.at - length : self.at]

    def _unsigned(self) -> int:
        """A number in groups of seven bits, in as few as it needs."""
        value = 0
        for place in range(_WIDEST):
            each = self._byte()
            value |= (each & 127) << 7 * place
            if each < 128:
                if not each and place:
                    raise ReleaseError("a number is written in a longer form than it needs")
                return value
        raise ReleaseError("a number is longer than any")

    def _signed(self, bits: int) -> int:
        value = self._unsigned()
        if value >> bits:
            raise ReleaseError("a number is longer than its type")
        return (value >> 1) ^ -(value & 1)

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise ReleaseError("it ends in the middle")
        self.at += 1
        return self.data[self.at - 1]


def _number_of(kind: Kind) -> int:
    if isinstance(kind, Plain):
        return kind.number
    return _LIST if isinstance(kind, ListOf) else _STRUCT

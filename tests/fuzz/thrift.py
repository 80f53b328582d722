"""Thrift's compact protocol, in which Parquet's footers and page headers are written: read into values, and back.

A struct is a list of (field, type, value), a list (type, values); numbers keep their width only when they are written.
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
_INTEGERS = (I16, I32, I64)


class Malformed(Exception):
    """These bytes are no such value."""


def read_struct(data: bytes, at: int = 0) -> tuple[list[tuple[int, int, Any]], int]:
    """A struct, and where it ends."""
    fields, number = [], 0
    try:
        while (head := data[at]) != 0:
            at, kind, delta = at + 1, head & 15, head >> 4
            if delta:
                number += delta
            else:
                zigzag, at = _varint(data, at)
                number = (zigzag >> 1) ^ -(zigzag & 1)
            value, at = _read(data, at, kind, inside=False)
            fields.append((number, kind, value))
    except (IndexError, RecursionError):
        raise Malformed from None
    return fields, at + 1


def _read(data: bytes, at: int, kind: int, *, inside: bool) -> tuple[Any, int]:
    if kind in (TRUE, FALSE):
        return (data[at] == TRUE, at + 1) if inside else (kind == TRUE, at)
    if kind == BYTE:
        return data[at], at + 1
    if kind in _INTEGERS:
        found, at = _varint(data, at)
        return (found >> 1) ^ -(found & 1), at
    if kind == DOUBLE:
        return data[at : at + 8], at + 8
    if kind == BINARY:
        length, at = _varint(data, at)
        if at + length > len(data):
            raise Malformed
        return data[at : at + length], at + length
    if kind in (LIST, SET):
        size, of, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = _varint(data, at)
        if size > len(data):
            raise Malformed
        values = []
        for _ in range(size):
            value, at = _read(data, at, of, inside=True)
            values.append(value)
        return (of, values), at
    if kind == STRUCT:
        return read_struct(data, at)
    raise Malformed


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = shift = 0
    while True:
        found |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return found, at
        if shift > 70:
            raise Malformed


def write_struct(fields: list[tuple[int, int, Any]]) -> bytes:
    """The bytes of a struct."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        kind = (TRUE if value else FALSE) if kind in (TRUE, FALSE) else kind
        if 0 < number - last < 16:
            out.append((number - last) << 4 | kind)
        else:
            out.append(kind)
            out += _varied(_zigzag(number))
        if kind not in (TRUE, FALSE):
            out += _written(value, kind)
        last = number
    return bytes(out) + b"\0"


def _written(value: Any, kind: int) -> bytes:
    if kind in (TRUE, FALSE):
        return bytes((TRUE if value else FALSE,))
    if kind == BYTE:
        return bytes((value & 255,))
    if kind in _INTEGERS:
        return _varied(_zigzag(value))
    if kind == BINARY:
        return _varied(len(value)) + value
    if kind in (LIST, SET):
        of, values = value
        head = bytes((len(values) << 4 | of,)) if len(values) < 15 else bytes((0xF0 | of,)) + _varied(len(values))
        return head + b"".join(_written(each, of) for each in values)
    return write_struct(value) if kind == STRUCT else bytes(value)


def _zigzag(number: int) -> int:
    return (number << 1 ^ number >> 63) & (1 << 64) - 1


def _varied(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))

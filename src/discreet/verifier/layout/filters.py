"""Bloom filters: which they are follows from the values of a dictionary, every bit of them.

Releases of some versions have them; they say nothing that the dictionary does not say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np

from discreet.errors import ReleaseError
from discreet.verifier.layout.footer import FILTER
from discreet.verifier.layout.thrift import Reader

_BLOCK = 32  # bytes
MOST = 1 << 21  # bytes of one filter
_SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
_ALL = (1 << 64) - 1
_A, _B, _C = 11400714785074694791, 14029467366897019727, 1609587929392839161
_D, _E = 9650029242287828579, 2870177450012600261


def check_filter(data: bytes, values: Iterable[bytes], count: int) -> None:
    """A filter is exactly that of `count` values, of the size that so many call for."""
    reader = Reader(data)
    size = reader.struct(FILTER)["bytes"]
    if size & (size - 1) or not max(_BLOCK, count) <= size <= max(_BLOCK, 3 * count) or len(data) != reader.at + size:
        raise ReleaseError("the filter does not have the size of its dictionary")
    words = np.zeros((size // _BLOCK, len(_SALT)), dtype="<u4")
    for value in values:
        found = hashed(value)
        block, key = ((found >> 32) * len(words)) >> 32, found & 0xFFFFFFFF
        for place, salt in enumerate(_SALT):
            words[block, place] |= 1 << (key * salt & 0xFFFFFFFF) // (1 << 27)
    if words.tobytes() != data[reader.at :]:
        raise ReleaseError("the filter says something that its dictionary does not")


def hashed(data: bytes) -> int:
    """XXH64 with seed 0, which Parquet's filters take."""
    at, end = 0, len(data)
    if end >= 32:
        lanes = [(_A + _B) & _ALL, _B, 0, -_A & _ALL]
        while at + 32 <= end:
            lanes = [_round(lane, each) for lane, each in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
            at += 32
        found = sum(_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _ALL
        for lane in lanes:
            found = ((found ^ _round(0, lane)) * _A + _D) & _ALL
    else:
        found = _E
    found = (found + end) & _ALL
    while at + 8 <= end:
        found = (_turned(found ^ _round(0, int.from_bytes(data[at : at + 8], "little")), 27) * _A + _D) & _ALL
        at += 8
    if at + 4 <= end:
        found = (_turned(found ^ int.from_bytes(data[at : at + 4], "little") * _A & _ALL, 23) * _B + _C) & _ALL
        at += 4
    for each in data[at:]:
        found = _turned(found ^ each * _E & _ALL, 11) * _A & _ALL
    found = (found ^ found >> 33) * _B & _ALL
    found = (found ^ found >> 29) * _C & _ALL
    return found ^ found >> 32


def _round(lane: int, value: int) -> int:
    return _turned((lane + value * _B) & _ALL, 31) * _A & _ALL


def _turned(value: int, by: int) -> int:
    return (value << by | value >> 64 - by) & _ALL

"""Whole numbers as runs: the same number many times, or many numbers packed into few bits.

The same numbers can be cut into runs in many ways, which could say something. Each writer has one way of its own, and
that is the one that is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ReleaseError
from discreet.ground.arrays import Bools, Ints

WIDEST = 24  # bits of a number: a dictionary has fewer entries
_STEP = 8  # numbers are packed by so many
_DUCK_LEAST, _DUCK_PACKED = 4, 256  # DuckDB: the least repeated, and the most that are packed into one run
_ARROW_LEAST, _ARROW_PACKED = 8, 504
_MANY = 64  # repeated numbers in a row, after which more are expected
Small = NDArray[np.int32]
_CUT = "its runs are not cut as its writer cuts them"


class Runs(NamedTuple):
    """Numbers in their order, `counts` times each, and how many there are in all."""

    values: Small
    counts: Ints
    total: int

    @classmethod
    def none(cls) -> Runs:
        return cls(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64), 0)


class _Cut(NamedTuple):
    """The runs as they stand: which are repeated, for how many numbers each stands, where its numbers begin, and which
    numbers are packed.
    """

    repeated: Bools
    lengths: Ints
    starts: Ints
    packed: Bools
    values: Small


def read_runs(data: bytes, width: int, total: int, *, arrow: bool) -> Runs:
    """The numbers of `width` bits that fill `data`: exactly `total`, in runs as DuckDB cuts them, or Arrow."""
    if not 1 <= width <= WIDEST:
        raise ReleaseError("its numbers are wider than any")
    if not data and not total:
        return Runs.none()
    if (one := _one(data, width, total)) is not None:
        return one
    at, heads = _heads(data, width, total)
    repeated, lengths = (heads & 1) == 0, np.where(heads & 1, (heads >> 1) * _STEP, heads >> 1)
    surplus = int(lengths.sum()) - total
    if not len(heads) or not 0 <= surplus <= (0 if repeated[-1] else int(lengths[-1])):
        raise ReleaseError("its runs do not hold the numbers that it states")
    slots = np.where(repeated, 1, lengths)
    starts = np.concatenate([[0], np.cumsum(slots)[:-1]])
    packed = np.ones(int(slots.sum()), dtype=np.bool_)
    packed[starts[repeated]] = False
    values = np.empty(len(packed), dtype=np.int32)
    raw = np.frombuffer(data, dtype=np.uint8)
    values[~packed] = _wide(raw, at[repeated], width)
    values[packed] = _unpacked(_gathered(data, at[~repeated], lengths[~repeated] // _STEP * width), width)
    counts = np.ones(len(values), dtype=np.int64)
    counts[starts[repeated]] = lengths[repeated]
    whole = len(values) - surplus
    if surplus and (values[whole:] != _left(values, starts[~repeated], surplus, arrow=arrow)).any():
        raise ReleaseError("something stands behind its last number")
    cut = _Cut(repeated, lengths, starts, packed[:whole], values[:whole])
    (_check_arrow if arrow else _check_duck)(cut, surplus)
    return Runs(values[:whole], counts[:whole], total)


def _one(data: bytes, width: int, total: int) -> Runs | None:
    """One number repeated: what most levels are."""
    at, head = 0, 0
    for at, each in enumerate(data[:5], 1):
        head |= (each & 127) << 7 * (at - 1)
        if each < 128:
            break
    if head != 2 * total or not total or len(data) != at + (width + 7) // 8 or not data[at - 1]:
        return None
    value = int.from_bytes(data[at:], "little")
    if value >> width:
        raise ReleaseError("a repeated number is wider than its bits")
    return Runs(np.array([value], dtype=np.int32), np.array([total], dtype=np.int64), total)


def _heads(data: bytes, width: int, total: int) -> tuple[Ints, Ints]:
    """Where the content of each run begins, and the number before it, which says its kind and length."""
    size, at, end = (width + 7) // 8, 0, len(data)
    places: list[int] = []
    heads: list[int] = []
    found = [np.zeros((2, 0), dtype=np.int64)]
    repeated = 0  # runs of one short number each in a row, which are gone through all at once where they are many
    while at < end:
        head = data[at]
        at += 1
        if head > 127:
            head, at = _long(data, head, at)
        if head < 2 or len(places) > total:
            raise ReleaseError("its runs do not hold the numbers that it states")
        places.append(at)
        heads.append(head)
        at += (head >> 1) * width if head & 1 else size
        repeated = 0 if head & 1 else repeated + 1
        if repeated == _MANY:
            many = _alike(data, at, 1 + size)
            found += [np.array([places, heads], dtype=np.int64), many]
            places, heads, repeated, at = [], [], 0, at + many.shape[1] * (1 + size)
    if at != end:
        raise ReleaseError("its last run is longer than what holds it")
    whole = np.concatenate([*found, np.array([places, heads], dtype=np.int64)], axis=1)
    return whole[0], whole[1]


def _alike(data: bytes, at: int, stride: int) -> Ints:
    """The places and heads of repeated numbers from a place on, as long as each has the same size."""
    heads = np.frombuffer(data, dtype=np.uint8)[at : len(data) - stride + 1 : stride].astype(np.int64)
    other = np.flatnonzero((heads & 1 != 0) | (heads > 127) | (heads < 2))
    heads = heads[: other[0]] if len(other) else heads
    return np.stack([at + 1 + stride * np.arange(len(heads)), heads])


def _long(data: bytes, head: int, at: int) -> tuple[int, int]:
    head &= 127
    for shift in range(7, 35, 7):
        if at >= len(data):
            break
        each = data[at]
        at += 1
        head |= (each & 127) << shift
        if each < 128:
            if not each:
                raise ReleaseError("a number is written in a longer form than it needs")
            return head, at
    raise ReleaseError("a number is longer than any")


def _wide(raw: Any, at: Ints, width: int) -> Small:
    """Numbers of whole bytes at some places."""
    found = np.zeros(len(at), dtype=np.int32)
    for place in range((width + 7) // 8):
        found |= raw[at + place].astype(np.int32) << (8 * place)
    if (found >> width).any():
        raise ReleaseError("a repeated number is wider than its bits")
    return found


def _left(values: Small, packed: Ints, surplus: int, *, arrow: bool) -> Small | int:
    """What a writer leaves behind the last number: zeros, or DuckDB what it packed there before."""
    if arrow or len(packed) < 2:
        return 0
    end = packed[-2] + _DUCK_PACKED
    return values[end - surplus : end]


def _gathered(data: bytes, at: Ints, sizes: Ints) -> bytes:
    return b"".join([data[start : start + size] for start, size in zip(at.tolist(), sizes.tolist(), strict=True)])


def _unpacked(data: bytes, width: int) -> Small:
    """Numbers of `width` bits, eight of them in so many bytes."""
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, width).T.astype(np.int32)
    found = np.empty((len(rows[0]), _STEP), dtype=np.int32)
    for place in range(_STEP):
        first, shift = divmod(place * width, 8)
        number = rows[first] >> shift
        for column in range(first + 1, (place * width + width + 7) // 8):
            number |= rows[column] << (8 * (column - first) - shift)
        found[:, place] = number & ((1 << width) - 1)
    return found.reshape(-1)


def _check_maximal(cut: _Cut) -> None:
    """What follows a repeated number is another."""
    before = cut.starts[:-1][cut.repeated[:-1]]
    if (cut.values[before] == cut.values[before + 1]).any():
        raise ReleaseError(_CUT)


def _check_duck(cut: _Cut, surplus: int) -> None:
    """DuckDB repeats a number that comes four times or more, and packs 256 otherwise; before 1.2 it packed none."""
    _check_maximal(cut)
    packed = ~cut.repeated
    if not packed.any():
        return
    short = cut.repeated[:-1] & (cut.lengths[:-1] < _DUCK_LEAST)
    if short.any() or (cut.lengths[packed] != _DUCK_PACKED).any():
        raise ReleaseError(_CUT)
    end = len(cut.values)
    starts = cut.starts[packed]
    starts = starts[starts < end]  # DuckDB 1.3 writes the last one again where it was full
    alike = np.ones(len(starts), dtype=np.bool_)
    for place in range(1, _DUCK_LEAST):
        here = np.minimum(starts + place, end - 1)
        alike &= cut.values[here] == cut.values[starts]
    if alike.any():
        raise ReleaseError(_CUT)


def _check_arrow(cut: _Cut, surplus: int) -> None:
    """Arrow repeats a number that fills eight places or more, and packs up to 63 times eight otherwise."""
    _check_maximal(cut)
    packed, last = ~cut.repeated, len(cut.lengths) - 1
    short = cut.repeated & (cut.lengths < _ARROW_LEAST)
    full = cut.lengths == _ARROW_PACKED
    behind_open = np.concatenate([[False], packed[:-1] & ~full[:-1]])
    wrong = short[:-1].any() or bool(short[-1:].any() and behind_open[last])
    wrong = wrong or bool((packed & (cut.lengths > _ARROW_PACKED)).any()) or surplus >= _STEP
    wrong = wrong or bool((packed[1:] & behind_open[1:]).any())
    if wrong:
        raise ReleaseError(_CUT)
    values = cut.values[cut.packed]
    whole = len(values) // _STEP * _STEP  # the last eight may be fewer, and are packed even where they are alike
    eights = values[:whole].reshape(-1, _STEP)
    if (eights == eights[:, :1]).all(axis=1).any():
        raise ReleaseError(_CUT)
    if (
        surplus
        and packed[last]
        and len(values) > whole
        and (values[whole:] == values[whole]).all()
        and (cut.lengths[last] == _STEP)
    ):
        raise ReleaseError(_CUT)  # alone, they are repeated

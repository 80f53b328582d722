"""Whole numbers as runs: the same number many times, or many numbers packed into few bits.

The same numbers can be cut into runs in many ways, which could say something. Each writer has one way of its own, and
that is the one that is taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from discreet.errors import ReleaseError
from discreet.ground.arrays import Bools, Ints

WIDEST = 24  # bits of a number: a dictionary has fewer entries
_STEP = 8  # numbers are packed by so many
_DUCK_LEAST, _DUCK_PACKED = 4, 256  # DuckDB: the least repeated, and the most that are packed into one run
_ARROW_LEAST, _ARROW_PACKED = 8, 504
_CUT = "its runs are not cut as its writer cuts them"


class Runs(NamedTuple):
    """Numbers in their order, `counts` times each, and how many there are in all."""

    values: Ints
    counts: Ints
    total: int


class _Cut(NamedTuple):
    """The runs as they stand: which are repeated, for how many numbers each stands, and where its numbers begin."""

    repeated: Bools
    lengths: Ints
    starts: Ints
    values: Ints


def read_runs(data: bytes, width: int, total: int, *, arrow: bool) -> Runs:
    """The numbers of `width` bits that fill `data`: exactly `total`, in runs as DuckDB cuts them, or Arrow."""
    if not 1 <= width <= WIDEST:
        raise ReleaseError("its numbers are wider than any")
    if not data and not total:
        return Runs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
    at, heads = _heads(data, width)
    repeated, lengths = (heads & 1) == 0, np.where(heads & 1, (heads >> 1) * _STEP, heads >> 1)
    surplus = int(lengths.sum()) - total
    if not len(heads) or not 0 <= surplus <= (0 if repeated[-1] else int(lengths[-1])):
        raise ReleaseError("its runs do not hold the numbers that it states")
    slots = np.where(repeated, 1, lengths)
    starts = np.concatenate([[0], np.cumsum(slots)[:-1]])
    packed = np.ones(int(slots.sum()), dtype=np.bool_)
    packed[starts[repeated]] = False
    values = np.empty(len(packed), dtype=np.int64)
    raw = np.frombuffer(data, dtype=np.uint8)
    values[~packed] = _wide(raw, at[repeated], width)
    values[packed] = _unpacked(_gathered(data, at[~repeated], lengths[~repeated] // _STEP * width), width)
    counts = np.ones(len(values), dtype=np.int64)
    counts[starts[repeated]] = lengths[repeated]
    whole = len(values) - surplus
    if surplus and (values[whole:] != _left(values, starts[~repeated], surplus, arrow=arrow)).any():
        raise ReleaseError("something stands behind its last number")
    cut = _Cut(repeated, lengths, starts, values[:whole])
    (_check_arrow if arrow else _check_duck)(cut, surplus)
    return Runs(values[:whole], counts[:whole], total)


def _heads(data: bytes, width: int) -> tuple[Ints, Ints]:
    """Where the content of each run begins, and the number before it, which says its kind and length."""
    size, at, end = (width + 7) // 8, 0, len(data)
    places, heads = [], []
    while at < end:
        head = data[at]
        at += 1
        if head > 127:
            head, at = _long(data, head, at)
        if head < 2:
            raise ReleaseError("a run of it is empty")
        places.append(at)
        heads.append(head)
        at += (head >> 1) * width if head & 1 else size
    if at != end:
        raise ReleaseError("its last run is longer than what holds it")
    return np.array(places, dtype=np.int64), np.array(heads, dtype=np.int64)


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


def _wide(raw: Any, at: Ints, width: int) -> Ints:
    """Numbers of whole bytes at some places."""
    found = np.zeros(len(at), dtype=np.int64)
    for place in range((width + 7) // 8):
        found |= raw[at + place].astype(np.int64) << (8 * place)
    if (found >> width).any():
        raise ReleaseError("a repeated number is wider than its bits")
    return found


def _left(values: Ints, packed: Ints, surplus: int, *, arrow: bool) -> Ints | int:
    """What a writer leaves behind the last number: zeros, or DuckDB what it packed there before."""
    if arrow or len(packed) < 2:
        return 0
    end = packed[-2] + _DUCK_PACKED
    return values[end - surplus : end]


def _gathered(data: bytes, at: Ints, sizes: Ints) -> bytes:
    return b"".join([data[start : start + size] for start, size in zip(at.tolist(), sizes.tolist(), strict=True)])


def _unpacked(data: bytes, width: int) -> Ints:
    """Numbers of `width` bits, eight of them in so many bytes."""
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)
    found = np.zeros((len(rows), _STEP), dtype=np.int64)
    for place in range(_STEP):
        first, shift = divmod(place * width, 8)
        for column in range(first, (place * width + width + 7) // 8):
            found[:, place] |= rows[:, column].astype(np.int64) << (8 * (column - first))
        found[:, place] = found[:, place] >> shift & ((1 << width) - 1)
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
    inside = np.repeat(packed, np.where(cut.repeated, 1, cut.lengths))[: len(cut.values)]
    values = cut.values[inside]
    whole = len(values) // _STEP * _STEP  # the last eight may be fewer, and are packed even where they are alike
    eights = values[:whole].reshape(-1, _STEP)
    if (eights == eights[:, :1]).all(axis=1).any():
        raise ReleaseError(_CUT)
    if surplus and packed[last] and len(values) > whole and (values[whole:] == values[whole]).all() and (
        cut.lengths[last] == _STEP
    ):
        raise ReleaseError(_CUT)  # alone, they are repeated

"""Exponentials and softmax over rows of single precision, in loops that processors run on many numbers at once.

Numbers are padded to a multiple of LANES. Sums run in LANES lanes that are added up last: an order that is written down
here, so that it is the same everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.ground.compiled import compiled

Singles = NDArray[np.float32]
Small = NDArray[np.int32]
LANES = 16
NOWHERE = np.float32(-1e30)  # the log of a probability that is none
_LOWEST = np.float32(-87.0)  # e to this is the smallest that single precision holds well
_LOG2_E = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_TERMS = tuple(np.float32(1 / factorial) for factorial in (5040, 720, 120, 24, 6, 2))


def padded(number: int) -> int:
    """The next multiple of LANES."""
    return -(-number // LANES) * LANES


@compiled
def exponentials(z: Singles, bits: Small, number: int) -> None:
    """e^z in place for the first `number` of z, none above 0: e^z = 2^k e^r with k whole and |r| <= ln 2 / 2."""
    powers = bits.view(np.float32)
    for x in range(number):
        v = max(z[x], _LOWEST)
        k = np.floor(v * _LOG2_E + np.float32(0.5))
        r = (v - k * _LN2_HIGH) - k * _LN2_LOW
        bits[x] = (np.int32(k) + np.int32(127)) << np.int32(23)
        p = _TERMS[0] * r + _TERMS[1]
        p = p * r + _TERMS[2]
        p = p * r + _TERMS[3]
        p = p * r + _TERMS[4]
        p = p * r + _TERMS[5]
        z[x] = (p * r * r + r) + np.float32(1.0)
    for x in range(number):
        z[x] *= powers[x]


@compiled
def softmax(z: Singles, bits: Small, lanes: Singles) -> Any:
    """e^(z - top) in place, top the largest; gives top and the sum. The length of z is a multiple of LANES."""
    wide = len(z)
    for lane in range(LANES):
        lanes[lane] = z[lane]
    for start in range(LANES, wide, LANES):
        for lane in range(LANES):
            lanes[lane] = max(lanes[lane], z[start + lane])
    top = lanes[0]
    for lane in range(1, LANES):
        top = max(top, lanes[lane])
    for x in range(wide):
        z[x] -= top
    exponentials(z, bits, wide)
    for lane in range(LANES):
        lanes[lane] = np.float32(0.0)
    for start in range(0, wide, LANES):
        for lane in range(LANES):
            lanes[lane] += z[start + lane]
    total = np.float32(0.0)
    for lane in range(LANES):
        total += lanes[lane]
    return top, total


@compiled
def normalize(logs: Singles) -> None:
    """Logs of probabilities that add up to one, row by row; rows may have any length."""
    rows, values = logs.shape
    z = np.full(-(-values // LANES) * LANES, NOWHERE, dtype=np.float32)
    bits, lanes = np.empty(len(z), dtype=np.int32), np.empty(LANES, dtype=np.float32)
    for u in range(rows):
        row = logs[u]
        for x in range(values):
            z[x] = row[x]
        for x in range(values, len(z)):
            z[x] = NOWHERE
        top, total = softmax(z, bits, lanes)
        shift = top + np.log(total)
        for x in range(values):
            row[x] -= shift

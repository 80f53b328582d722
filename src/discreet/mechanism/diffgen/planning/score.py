"""Scores: how much a specialization tells of the class, from attribute x class counts.

Paper: [QSL] section IV-A; [MCFY].
Symbols: counts of a value's children x classes. "max": the sum over children of the largest class count, sensitivity 1,
    monotone. "information_gain": how much less uncertain the class is among the children, in bits, sensitivity
    log2 |classes|.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.ground.arrays import Floats

SCORES = ("information_gain", "max")


def uncertainty(counts: Floats) -> Floats:
    """Bits that the class of all records of a row takes: records times entropy, along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        bits = np.where(counts > 0, counts * np.log2(total / counts), 0.0)
    return np.asarray(bits.sum(axis=-1))


def largest(children: Floats) -> Floats:
    """Max: the sum over children (the last axis but one) of the largest class count."""
    return np.asarray(children.max(axis=-1).sum(axis=-1))


def gain(children: Floats) -> Floats:
    """Information gain times records: bits that knowing the child saves."""
    return np.asarray(uncertainty(children.sum(axis=-2)) - uncertainty(children).sum(axis=-1))


def halves(cells: Floats) -> Floats:
    """Both sides of every cut between neighbouring cells: cuts x 2 x classes."""
    left = np.cumsum(cells, axis=0)[:-1]
    return np.stack([left, cells.sum(axis=0) - left], axis=1)


def private_score(children: Floats, score: str) -> Floats:
    """The score as the exponential mechanism weighs it."""
    if score == "max":
        return largest(children)
    records = children.sum(axis=(-1, -2))
    return np.asarray(np.where(records > 0, gain(children) / np.maximum(records, 1), 0.0))


def sensitivity(score: str, classes: int) -> float:
    """How far one record moves a score at most."""
    return 1.0 if score == "max" else math.log2(classes)

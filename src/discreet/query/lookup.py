"""Predicates on one column that need no engine: lists, comparisons with whole numbers, IS NULL."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from discreet.engine.encoding import Encoding
from discreet.ground.arrays import Bools, Ints
from discreet.query.condition import Atom, Column

if TYPE_CHECKING:
    from discreet.query.decide import Decided

_SIGNS = {" < ": operator.lt, " <= ": operator.le, " > ": operator.gt, " >= ": operator.ge, " <> ": operator.ne}


def lookup(atom: Atom, encodings: Mapping[str, Encoding]) -> Callable[[], Decided] | None:
    """How to decide a predicate for each value of its column, in order; None where it takes an engine."""
    column, *rest = atom.parts
    if not isinstance(column, Column) or len(atom.columns) != 1:
        return None
    encoding = encodings[column.name]
    if atom.listed is not None:
        listed = atom.listed
        return lambda: _decided(_among(listed, encoding), encoding)
    if rest == [" IS NULL"]:
        return lambda: (np.arange(len(encoding)) == len(encoding.values), None)
    if encoding.kind == "text":
        return None
    units = 10**encoding.scale  # that the encoding's whole numbers count
    match rest:
        case [str(sign), str(limit)] if sign in _SIGNS and _whole(limit):
            return lambda: _decided(_SIGNS[sign](_numbers(encoding), int(limit) * units), encoding)
        case [" BETWEEN ", str(low), " AND ", str(high)] if _whole(low) and _whole(high):
            least, most = int(low) * units, int(high) * units
            return lambda: _decided((_numbers(encoding) >= least) & (_numbers(encoding) <= most), encoding)
    return None


def _whole(digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) < 10


def _numbers(encoding: Encoding) -> Ints:
    if isinstance(encoding.values, range):
        values = encoding.values
        return np.arange(values.start, values.stop, values.step, dtype=np.int64)
    return np.array(encoding.values, dtype=np.int64)


def _among(listed: frozenset[int | str | Decimal], encoding: Encoding) -> Bools:
    values = encoding.values
    if not isinstance(values, range):
        present = replace(encoding, missing=False)
        return np.fromiter((value in listed for value in present), dtype=np.bool_, count=len(values))
    scaled = (Decimal(each).scaleb(encoding.scale) for each in listed if not isinstance(each, str))
    true = np.zeros(len(values), dtype=np.bool_)
    true[[values.index(int(each)) for each in scaled if each == int(each) and int(each) in values]] = True
    return true


def _decided(true: Bools, encoding: Encoding) -> Decided:
    """Unknown where the value is missing."""
    if not encoding.missing:
        return true, None
    return np.append(true, False), np.append(~true, False)

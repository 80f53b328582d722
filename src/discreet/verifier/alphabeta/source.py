"""A public source of alpha-beta, read once more: how far the weight of a tuple may be from the average.

Paper: [RSH] section 4.4.2.
Symbols: w(t), the weight of a tuple, is the product over its attributes of the share of its value over the mean share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import ReleaseError
from discreet.schema.domain import Domain, Integers, key_of
from discreet.schema.schema import Schema
from discreet.verifier.stated import fraction

Parts = tuple[tuple[range, Fraction], ...]  # places in a domain, and the weight of each value there
EVEN = (Fraction(1), Fraction(1))
MOST_VALUES = 1_000_000  # of an attribute that has shares
MOST = 1 << 60  # whole numbers in the proportion of the shares add up to no more
_SPAN = re.compile(r"([0-9]+)-([0-9]+)")
_LONGEST = 40  # characters of a range


def source_of(source: Any, schema: Schema) -> dict[str, Parts]:
    """The weights of the values of each column that has shares, 1 on average over its domain.

    Raises ReleaseError where the source does not fit the domains.
    """
    if type(source) is not dict or not set(source) <= set(schema.columns):
        raise ReleaseError("source must have shares for published columns")
    found = {}
    for name, shares in source.items():
        if type(shares) is not dict or len(schema.domains[name]) > MOST_VALUES:
            raise ReleaseError(f"source of {name} must have shares, for at most {MOST_VALUES:,} values")
        found[name] = _weights(name, shares, schema.domains[name])
    return found


def extremes(source: Mapping[str, Parts]) -> tuple[Fraction, Fraction]:
    """The least and the largest weight of a tuple."""
    low, high = (
        math.prod((pick(weight for _, weight in parts) for parts in source.values()), start=Fraction(1))
        for pick in (min, max)
    )
    return low, high


def _weights(name: str, shares: Mapping[str, Any], domain: Domain) -> Parts:
    parts = sorted(_parts(name, shares, domain), key=lambda part: part[0].start)
    ends = [0, *(places.stop for places, _ in parts)]
    if [places.start for places, _ in parts] != ends[:-1] or ends[-1] != len(domain):
        raise ReleaseError(f"source of {name} must say the share of each value of its domain once")
    common, ratios = 1, [(places, share / parts[0][1]) for places, share in parts]
    for _, ratio in ratios:
        common = math.lcm(common, ratio.denominator)
        if common > MOST:  # before it grows: a stranger's shares may have nothing in common
            raise ReleaseError(f"source of {name} must have shares with fewer digits")
    total = sum(len(places) * int(ratio * common) for places, ratio in ratios)
    if total > MOST:
        raise ReleaseError(f"source of {name} must have shares with fewer digits")
    return tuple((places, ratio * common * len(domain) / total) for places, ratio in ratios)


def _parts(name: str, shares: Mapping[str, Any], domain: Domain) -> Iterator[tuple[range, Fraction]]:
    """The places in the domain that each stated share is for, and the share of each value there."""
    named = {key_of(value): place for place, value in enumerate(domain)}
    for key, stated in shares.items():
        places = range(named[key], named[key] + 1) if key in named else _span(key, domain)
        share = fraction(stated, f"source of {name}")
        if not places or not share:
            raise ReleaseError(f"source of {name} must have shares above 0, for values of its domain")
        yield places, share / len(places)


def _span(key: str, domain: Domain) -> range:
    """The places of a range of whole numbers such as 18-64, or none."""
    found = _SPAN.fullmatch(key) if len(key) < _LONGEST and isinstance(domain, Integers) else None
    if found is None or not isinstance(domain, Integers):
        return range(0)
    first, last = int(found[1]), int(found[2])
    inside = domain.low <= first <= last <= domain.high
    return range(first - domain.low, last - domain.low + 1) if inside else range(0)

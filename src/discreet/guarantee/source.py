"""A public source distribution: how common each value of an attribute is held to be, attribute by attribute.

Paper: [RSH] section 4.4.2.
Symbols: w(t), the weight of a tuple, is the product over its attributes of the number of values times the share of its
    value: 1 on average over the domain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.errors import PolicyError
from discreet.ground.exact import Number, exact
from discreet.ground.shown import shown
from discreet.schema.domain import Domain, Integers, key_of
from discreet.schema.nearest import did_you_mean
from discreet.schema.schema import Schema

MOST_VALUES = 1_000_000  # of an attribute whose values have shares of their own
MOST_WEIGHT = 1 << 60  # all weights of an attribute together, as whole numbers
Shares = Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Whole-number weights of the values of some attributes, in the order of their domains; other values are alike."""

    weights: Mapping[str, tuple[int, ...]]
    sizes: Mapping[str, int]  # of every attribute's domain

    @cached_property
    def scale(self) -> Fraction:
        """What makes the product of whole-number weights 1 on average."""
        return math.prod((Fraction(self.sizes[name], sum(each)) for name, each in self.weights.items()), start=_ONE)

    @cached_property
    def range(self) -> tuple[Fraction, Fraction]:
        """The least and the largest weight of a tuple."""
        low, high = (math.prod(pick(each) for each in self.weights.values()) for pick in (min, max))
        return low * self.scale, high * self.scale

    def heaviest(self, schema: Schema) -> str:
        """The most common value of each attribute that has shares, in words."""
        found = []
        for name, each in self.weights.items():
            value = list(schema.domains[name])[each.index(max(each))]
            found.append(f"{name} = {'missing' if value is None else shown(value)}")
        return ", ".join(found)


_ONE = Fraction(1)


def source_of(shares: Shares, schema: Schema) -> Source:
    """The source that a policy or a release states; raises PolicyError where it does not fit the domains.

    Shares are numbers above 0 for every value of the domain, by its text ('' is the missing cell); of whole numbers
    from-to also for ranges such as '18-64', which share theirs evenly.
    """
    weights = {}
    for name, each in shares.items():
        if name not in schema.columns:
            hint = did_you_mean(name, schema.columns)
            raise PolicyError(f"source ({shown(name)}) must name published columns{hint}", key=("source", name))
        domain = schema.domains[name]
        if len(domain) > MOST_VALUES:
            raise PolicyError(
                f"source of {name} must be over at most {MOST_VALUES:,} values; leave it out", key=("source", name)
            )
        weights[name] = _whole(name, _by_value(name, each, domain))
    return Source(weights=weights, sizes={name: len(schema.domains[name]) for name in schema.columns})


def _by_value(name: str, shares: Mapping[str, Number], domain: Domain) -> list[Fraction]:
    """The share of every value of the domain, in its order."""
    if not isinstance(shares, Mapping):
        raise PolicyError(
            f"source of {name} must be a table of values and their shares, such as {{ Flu = 0.6 }}",
            key=("source", name),
        )
    places = {key_of(value): place for place, value in enumerate(domain)}
    found: dict[int, Fraction] = {}
    for key, number in shares.items():
        where = ("source", name, str(key))
        share = exact(f"source of {name} for {shown(key)}", number, key=where)
        if share <= 0:
            raise PolicyError(
                f"source of {name} for {shown(key)} must be above 0; a value that cannot occur is no value", key=where
            )
        chosen = [places[str(key)]] if str(key) in places else _span(str(key), domain)
        if not chosen:
            raise PolicyError(
                f"source of {name} ({shown(key)}) must be a value of its domain{did_you_mean(key, places)}", key=where
            )
        if any(place in found for place in chosen):
            raise PolicyError(f"source of {name} ({shown(key)}) must say the share of each value once", key=where)
        found |= dict.fromkeys(chosen, share / len(chosen))
    if len(found) < len(places):
        first = next(key for key, place in places.items() if place not in found)
        raise PolicyError(
            f"source of {name} must have a share for every value; {shown(first)} has none", key=("source", name)
        )
    return [found[place] for place in range(len(places))]


def _span(key: str, domain: Domain) -> range:
    """The places of a range of whole numbers, or none."""
    low, dash, high = key.partition("-") if not key.startswith("-") else ("", "", "")
    if not (isinstance(domain, Integers) and dash and low.isascii() and high.isascii()):
        return range(0)
    if not (low.isdigit() and high.isdigit() and len(key) < 40):
        return range(0)
    first, last = int(low), int(high)
    if not domain.low <= first <= last <= domain.high:
        return range(0)
    return range(first - domain.low, last - domain.low + 1)


def _whole(name: str, shares: list[Fraction]) -> tuple[int, ...]:
    """The shares as whole numbers in the same proportion."""
    common = math.lcm(*(share.denominator for share in shares))
    found = [int(share * common) for share in shares]
    divisor = math.gcd(*found)
    if sum(found) // divisor > MOST_WEIGHT:
        raise PolicyError(f"source of {name} must have shares with fewer digits", key=("source", name))
    return tuple(each // divisor for each in found)

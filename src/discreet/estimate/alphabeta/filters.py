"""Counting with weights: tuples where the table is thin weigh less, because there nearly everything is noise.

A filter gives each value of each attribute a weight g, near 1 where the value is common and near 0 where it is rare; a
tuple weighs the product. With shares p of the values, a condition C has about

    m(C) = p(C) / pg(C) * (weight of the tuples that meet C, less the expected noise) / slope

tuples, where p(C) and pg(C) are the sums over the tuples of the domain of the products of p, and of p times g. It is
right where attributes are independent, and has less noise by far where values are rare.
Symbols: h the noise's own weights (a public source; else 1), J the plain count and all filters together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from discreet.estimate.alphabeta.law import Law
from discreet.ground.arrays import Floats, Ints

HALVES = (0.1, 0.6)  # how common a value must be to weigh one half, next to one of an average share; one a filter
MOST_VALUES = 4_096  # of an attribute that is filtered
_UNIT, _FINE = 1 << 12, 1 << 24


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Whole-number weights of the values of each attribute: shares p, noise h, and one g for each filter."""

    shares: tuple[Ints, ...]
    noise: tuple[Ints, ...]
    weights: tuple[tuple[Ints, ...], ...]  # a filter; an attribute

    @property
    def number(self) -> int:
        """J."""
        return 1 + len(self.weights)

    def factors(self, attribute: int) -> list[Floats]:
        """What a value multiplies a tuple's weight by, for each filter."""
        return [each[attribute] / _UNIT for each in self.weights]

    @cached_property
    def measures(self) -> list[tuple[tuple[Ints, ...], Fraction | int]]:
        """What is summed over the domain, by attribute, and what the sum is to be divided by: p, pg, h, hg and hgg."""
        size = len(self.shares)
        one, two = _UNIT**size, _UNIT ** (2 * size)
        whole = math.prod(int(each.sum()) for each in self.shares)
        found: list[tuple[tuple[Ints, ...], Fraction | int]] = [(self.shares, whole)]
        found += [(_times(self.shares, each), whole * one) for each in self.weights]
        even = math.prod((Fraction(int(each.sum()), len(each)) for each in self.noise), start=Fraction(1))
        found += [(self.noise, even)]
        found += [(_times(self.noise, each), even * one) for each in self.weights]
        pairs = combinations_with_replacement(self.weights, 2)
        found += [(_times(_times(self.noise, left), right), even * two) for left, right in pairs]
        return found

    @cached_property
    def parts(self) -> list[Floats]:
        """The same by attribute, a row a measure: their product over attributes is the measure."""
        size, found = len(self.shares), []
        for place in range(size):
            rows = []
            for number, (each, _) in enumerate(self.measures):
                divisor = float(self.shares[place].sum() if number < self.number else self.noise[place].mean())
                power = 0 if number in (0, self.number) else 1 if number < 2 * self.number else 2
                rows.append(each[place] / divisor / float(_UNIT) ** power)
            found.append(np.array(rows))
        return found

    def read(self, measured: Floats, seen: Floats, law: Law) -> Read:
        """What plain and filtered counts say; `measured` and `seen` have a row for each condition."""
        number = self.number
        share, kept = measured[:, :1], measured[:, 1:number]
        ratio = np.concatenate([np.ones_like(share), share / np.where(kept > 0, kept, 1.0)], axis=1)
        expected = law.rate * measured[:, number : 2 * number]
        both = np.empty((len(seen), number, number))
        both[:, 0, :] = both[:, :, 0] = measured[:, number : 2 * number]
        pairs = combinations_with_replacement(range(1, number), 2)
        for place, (one, two) in enumerate(pairs, start=2 * number):
            both[:, one, two] = both[:, two, one] = measured[:, place]
        noise = law.rate * law.thin * both - law.once * expected[:, :, None] * expected[:, None, :]
        return Read(
            values=(seen - expected) / law.slope * ratio,
            noise=noise / law.slope**2 * ratio[:, :, None] * ratio[:, None, :],
            share=share[:, 0],
        )


@dataclass(frozen=True, kw_only=True)
class Read:
    """For each condition: J values, the covariance of their noise, and the share of tuples that the model expects."""

    values: Floats
    noise: Floats
    share: Floats


def filters_of(shares: Sequence[Floats], noise: Sequence[Ints], halves: Sequence[float] = HALVES) -> Filters:
    """Filters by how common values are, next to how much noise falls on them."""
    return with_shares(Filters(shares=(), noise=tuple(noise), weights=tuple(_weights(shares, noise, halves))), shares)


def with_shares(filters: Filters, shares: Sequence[Floats]) -> Filters:
    """The same filters, with other shares."""
    whole = tuple(np.maximum(1, np.rint(each * len(each) * _FINE)).astype(np.int64) for each in shares)
    return Filters(shares=whole, noise=filters.noise, weights=filters.weights)


def _weights(shares: Sequence[Floats], noise: Sequence[Ints], halves: Sequence[float]) -> Iterator[tuple[Ints, ...]]:
    for half in halves:
        found = []
        for share, each in zip(shares, noise, strict=True):
            common = share / (each / each.sum())
            weight = common / (common + half) if len(share) <= MOST_VALUES else np.ones(len(share))
            found.append(np.maximum(1, np.rint(weight * _UNIT)).astype(np.int64))
        yield tuple(found)


def _times(one: Sequence[Ints], two: Sequence[Ints]) -> tuple[Ints, ...]:
    return tuple(left * right for left, right in zip(one, two, strict=True))

"""A certificate that no setting loses less than a bound, for a stranger to check in exact arithmetic.

Paper: the linear program of [W14] section 6.1, seen from its dual.
Symbols: y_i a price for each record of value i; phi_S(y) the price of the dearest bucket of size S, filled within the
    caps floor(f'_i (S - q)), where q others may be known, without a cap where f'_i is 1; b_S the number of buckets of
    size S.
The records of a valid setting fill its buckets, so sum_i o_i y_i <= sum_S b_S phi_S(y), whatever the prices are, and
    Loss = sum_S b_S (S - 1)^2 >= sum_i o_i y_i + sum_S b_S ((S - 1)^2 - phi_S(y)).
With low_S <= b_S <= high_S the last sum is least at one end or the other. That is one leaf. A tree of leaves covers all
settings: at each split either b_S <= k or b_S >= k + 1. What holds at every leaf holds everywhere.

This module shares no code with the planner: it needs the counts, the tolerances and integers.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.errors import CertificateError
from discreet.ground.exact import Number, exact

Box = dict[int, tuple[int, int]]


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """A price for each record of each value, in the order of the certificate's values: numerator / denominator."""

    prices: tuple[int, ...] = field(repr=False)
    denominator: int


@dataclass(frozen=True, kw_only=True)
class Split:
    """Settings with at most `buckets` buckets of a size, and those with more."""

    size: int
    buckets: int
    fewer: Leaf | Split = field(repr=False)
    more: Leaf | Split = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What proves that every valid setting with these sizes loses at least `bound`, with `known` others or more."""

    bound: int
    min_size: int
    max_size: int
    values: tuple[object, ...] = field(repr=False)
    tree: Leaf | Split = field(repr=False)
    known: int = 0

    @classmethod
    def of(
        cls,
        tree: Leaf | Split,
        counts: Mapping[object, int],
        tolerance: Mapping[object, Number],
        span: tuple[int, int],
        known: int = 0,
    ) -> Certificate:
        """The certificate of what a tree of prices proves for sizes from span[0] to span[1]."""
        blank = cls(bound=0, min_size=span[0], max_size=span[1], values=tuple(counts), tree=tree, known=known)
        return replace(blank, bound=blank._recomputed(counts, tolerance))

    def check(self, counts: Mapping[object, int], tolerance: Mapping[object, Number]) -> int:
        """Recompute the bound; raises CertificateError where the prices do not prove the one that is stated."""
        found = self._recomputed(counts, tolerance)
        if found != self.bound:
            raise CertificateError(f"the certificate states a bound of {self.bound}, but its prices prove {found}")
        return found

    def _recomputed(self, counts: Mapping[object, int], tolerance: Mapping[object, Number]) -> int:
        held = {value: int(count) for value, count in counts.items() if count}
        if set(held) != set(self.values) or len(self.values) != len(held):
            raise CertificateError("the certificate is for other values than those that occur")
        limits = [exact("tolerance", tolerance[value]) for value in self.values]
        rows = [held[value] for value in self.values]
        span = range(self.min_size, self.max_size + 1)
        sizes = [size for size in span if _can_be_filled(size, limits, self.known)]
        every = {size: (0, sum(rows) // size) for size in sizes}
        entering = _entering(limits, self.known)
        bounds = (_bound_of(leaf, box, rows, entering, self.known) for leaf, box in _leaves(self.tree, every))
        return max(0, min(bounds, default=0))

    @property
    def leaves(self) -> int:
        """How many parts the proof has; 1 is a proof without branching."""
        number, waiting = 0, [self.tree]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Split):
                waiting += (part.fewer, part.more)
            else:
                number += 1
        return number


def _can_be_filled(size: int, limits: list[Fraction], known: int) -> bool:
    left = size
    for limit in limits:
        left -= _cap(limit.numerator, limit.denominator, size, known)
        if left <= 0:
            return True
    return False


def _cap(top: int, bottom: int, size: int, known: int) -> int:
    return size if top == bottom else max(0, top * (size - known) // bottom)


def _leaves(tree: Leaf | Split, box: Box) -> Iterator[tuple[Leaf, Box]]:
    """Every leaf with the numbers of buckets that lead to it; an empty range leads nowhere."""
    waiting = [(tree, box)]
    while waiting:
        part, limits = waiting.pop()
        if isinstance(part, Leaf):
            yield part, limits
            continue
        low, high = limits.get(part.size, (0, 0))
        if low <= part.buckets:
            waiting.append((part.fewer, {**limits, part.size: (low, min(high, part.buckets))}))
        if part.buckets < high:
            waiting.append((part.more, {**limits, part.size: (max(low, part.buckets + 1), high)}))


def _entering(limits: list[Fraction], known: int) -> list[tuple[int, int, int, int]]:
    """For each value the smallest bucket that may hold it, its tolerance's two parts and its place; smallest last."""
    parts = ((limit.numerator, limit.denominator, i) for i, limit in enumerate(limits))
    found = ((1 if top == bottom else known - (-bottom // top), top, bottom, i) for top, bottom, i in parts)
    return sorted(found, reverse=True)


def _bound_of(leaf: Leaf, box: Box, rows: list[int], entering: list[tuple[int, int, int, int]], known: int) -> int:
    """The least loss that the leaf's prices allow within its box, rounded up."""
    if len(leaf.prices) != len(rows) or leaf.denominator <= 0:
        raise CertificateError("a leaf of the certificate must have one price for each value")
    total = sum(count * price for count, price in zip(rows, leaf.prices, strict=True))
    waiting = entering.copy()
    dearest: list[tuple[int, int, int]] = []  # of the values that may enter a size, the dearest first
    for size, (low, high) in sorted(box.items()):
        while waiting and waiting[-1][0] <= size:
            _, top, bottom, i = waiting.pop()
            insort(dearest, (-leaf.prices[i], top, bottom))
        left, price = size, 0
        for negative, top, bottom in dearest:
            taken = min(left, _cap(top, bottom, size, known))
            price -= taken * negative
            left -= taken
            if not left:
                break
        rest = (size - 1) ** 2 * leaf.denominator - price
        total += rest * (low if rest >= 0 else high)
    return -(-total // leaf.denominator)

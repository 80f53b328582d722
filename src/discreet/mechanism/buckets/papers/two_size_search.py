"""The papers' three searches for the best two sizes, in plain Python, for the reproduction; two_size.py needs none.

Paper: [WWFW] Algorithm 1, Lemmas 5 to 8; [W14] section 5.3, Programs 5.2 and 5.3.
Symbols: Gamma(S1, S2) all pairs (b1, b2) that fill the table, in the order of rising loss, indexed by k.
Departs: the papers start from Best_loss = ceil(|T| / M') (M' - 1)^2 and keep what is strictly below it, so they find
    nothing where only buckets of M' are valid. Here the search starts without a bound. A single size is a pair in which
    one number is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import gcd

from discreet.ground.arrays import Ints
from discreet.mechanism.buckets.planning.caps import Classes

Search = Callable[["Pairs", int | None], int | None]  # the first valid k whose loss is below the best so far


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Gamma(S1, S2) with what one needs to know whether a pair is valid."""

    sizes: tuple[int, int]
    first: tuple[int, int]
    steps: tuple[int, int]
    last: int
    caps: tuple[tuple[int, int], ...]
    counts: tuple[int, ...]

    def at(self, k: int) -> tuple[int, int]:
        return self.first[0] - k * self.steps[0], self.first[1] + k * self.steps[1]

    def loss(self, k: int) -> int:
        return sum(b * (s - 1) ** 2 for b, s in zip(self.at(k), self.sizes, strict=True))

    def last_below(self, best: int | None) -> int:
        """The last k whose loss is below the best so far.  # [WWFW] Eq. 11"""
        if best is None or self.last < 0:
            return self.last
        rise = self.loss(1) - self.loss(0)
        return min(self.last, (best - 1 - self.loss(0)) // rise)

    def fills(self, side: int, k: int) -> bool:
        """The fill constraint of one size.  # [WWFW] Eq. 4"""
        buckets = self.at(k)[side]
        wanted = self.sizes[side] * buckets
        for cap, count in zip(self.caps, self.counts, strict=True):
            wanted -= min(cap[side] * buckets, count)
            if wanted <= 0:
                return True
        return wanted <= 0

    def fits(self, i: int, k: int) -> bool:
        """The privacy constraint of one value.  # [WWFW] Eq. 3"""
        b1, b2 = self.at(k)
        return self.caps[i][0] * b1 + self.caps[i][1] * b2 >= self.counts[i]

    def valid(self, k: int) -> bool:
        return all(self.fits(i, k) for i in range(len(self.counts))) and self.fills(0, k) and self.fills(1, k)


def without_pruning(pairs: Pairs, best: int | None) -> int | None:
    """Look at one pair after the other."""
    return next((k for k in range(pairs.last + 1) if pairs.valid(k)), None)


def with_loss_pruning(pairs: Pairs, best: int | None) -> int | None:
    """Look at one pair after the other, as long as its loss is below the best so far.  # [W14] Program 5.2"""
    return next((k for k in range(pairs.last_below(best) + 1) if pairs.valid(k)), None)


def with_full_pruning(pairs: Pairs, best: int | None) -> int | None:
    """Narrow the list by binary search, constraint by constraint.  # [W14] Program 5.3"""
    low, high = 0, pairs.last_below(best)
    low = _first(lambda k: pairs.fills(0, k), low, high)  # [WWFW] Lemma 7: true from some pair on
    high = _last(lambda k: pairs.fills(1, k), low, high)  # and this one up to some pair
    for i, (cap_1, cap_2) in enumerate(pairs.caps):
        if low > high:
            return None

        def fits(k: int, i: int = i) -> bool:
            return pairs.fits(i, k)

        if cap_2 * pairs.steps[1] >= cap_1 * pairs.steps[0]:  # [WWFW] Lemma 8
            low = _first(fits, low, high)
        else:
            high = _last(fits, low, high)
    return low if low <= high else None


def search_two_sizes(caps: Ints, counts: Ints, sizes: Ints, search: Search = with_full_pruning) -> Classes | None:
    """The classes of least loss with at most two sizes, by one of the papers' searches."""
    best: tuple[int, Classes] | None = None
    for pairs in _all_pairs(caps, counts, sizes):
        k = search(pairs, best[0] if best else None)
        if k is not None and (best is None or pairs.loss(k) < best[0]):
            classes = tuple((size, b) for size, b in zip(pairs.sizes, pairs.at(k), strict=True) if b)
            best = (pairs.loss(k), classes)
    return best[1] if best else None


def _all_pairs(caps: Ints, counts: Ints, sizes: Ints) -> Iterator[Pairs]:
    rows, held, listed = int(counts.sum()), tuple(counts.tolist()), sizes.tolist()
    columns = caps.T.tolist()
    if len(listed) == 1:
        yield _pairs(rows, (listed[0], listed[0] + rows + 1), (columns[0], [0] * len(held)), held)
    for j, small in enumerate(listed):
        for k in range(j + 1, len(listed)):
            yield _pairs(rows, (small, listed[k]), (columns[j], columns[k]), held)


def _pairs(rows: int, sizes: tuple[int, int], caps: tuple[list[int], list[int]], counts: tuple[int, ...]) -> Pairs:
    common = gcd(*sizes)
    steps = sizes[1] // common, sizes[0] // common
    second = next((b for b in range(steps[1]) if (rows - b * sizes[1]) % sizes[0] == 0), -1)
    first = (rows - second * sizes[1]) // sizes[0]
    last = first // steps[0] if second >= 0 and first >= 0 else -1
    return Pairs(
        sizes=sizes,
        first=(first, second),
        steps=steps,
        last=last,
        caps=tuple(zip(*caps, strict=True)),
        counts=counts,
    )


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first k that holds, where none after it fails; high + 1 where none holds."""
    end = high + 1
    while low < end:
        middle = (low + end) // 2
        low, end = (low, middle) if holds(middle) else (middle + 1, end)
    return low


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last k that holds, where none before it fails; low - 1 where none holds."""
    return _first(lambda k: not holds(k), low, high) - 1

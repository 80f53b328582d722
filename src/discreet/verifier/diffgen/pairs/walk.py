"""The walk of a release of pairs: what each round may have chosen and what it cost, from what is published alone.

Everything is exact, and follows from the rules of the release format: shares from the noisy total, a round's share from
what is left, what it may choose from the people counted so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import isqrt, prod

from discreet.errors import ReleaseError
from discreet.verifier.diffgen.pairs.cliques import largest
from discreet.verifier.diffgen.pairs.found import Found, shape_of
from discreet.verifier.diffgen.pairs.groups import GROUPS
from discreet.verifier.diffgen.pairs.stated import Choice
from discreet.verifier.diffgen.stated import Parts

MOST_CLIQUE = 50_000
FOR_TOTAL = Fraction(1, 100)  # of epsilon


def parts_of(found: Found) -> Parts:
    """What every part cost, in order; raises ReleaseError where a round could not have come as it is stated."""
    return list(_walked(found))


def for_columns(x: Fraction) -> Fraction:
    """Of epsilon, for the columns' tables: 12 over the cube root of x, cut to thousandths; .001 to .85."""
    low, high = 1, 850
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 * x <= 12_000**3 else (low, middle - 1)
    return Fraction(low, 1000)


def for_choosing(x: Fraction) -> Fraction:
    """Of a round's share: .15 times the root of 15000 over x, cut to thousandths; .08 to .30."""
    return Fraction(min(300, max(80, isqrt(int(22_500 * 15_000 / x)))), 1000)


def rounds_of(x: Fraction) -> int:
    """Into how many rounds the rest is divided: the whole number nearest to the root of .00361 x; 3 to 20."""
    return min(20, max(3, (isqrt(int(Fraction(361, 25_000) * x)) + 1) // 2))


def weight(cells: int) -> int:
    """1000 times the fourth root of a column's cells, cut to a whole number."""
    return isqrt(isqrt(cells * 10**12))


def _walked(found: Found) -> Iterator[tuple[str, Fraction]]:
    epsilon, sizes = found.stated.spent.epsilon, [len(each) for each in found.taxonomies]
    x = max(Fraction(1), found.stated.total * epsilon)
    whole, weights = for_columns(x), [weight(size) for size in sizes]
    shares = [epsilon * whole * own / sum(weights) for own in weights]
    yield "total", epsilon * FOR_TOTAL
    yield from ((f"table of {name}", share) for name, share in zip(found.names, shares, strict=True))
    people = _People()
    people.see([found.stated.total], epsilon * FOR_TOTAL)
    for one, share in zip(found.ones, shares, strict=True):
        people.see(one.tolist(), share)
    left = epsilon * (1 - FOR_TOTAL - whole)
    each, choosing, over, before = left / rounds_of(x), for_choosing(x), False, list[Choice]()
    for number, (chosen, noisy) in enumerate(zip(found.stated.rounds, found.rounds, strict=True), start=1):
        offered = None if over else _share(left, each, choosing, people, sizes, before)
        if offered is None:
            raise ReleaseError(f"round {number} could not have come: nothing was left for it, or worth it")
        measuring = offered * (1 - choosing)
        yield f"choice of round {number}", offered - measuring
        if chosen is None or noisy is None:
            left -= offered - measuring
            each, over = 2 * offered, left <= offered
            continue
        if chosen in before or not _fits(chosen, people.cells(measuring), sizes, before):
            raise ReleaseError(f"round {number} must choose one of the tables that its epsilon was worth, or nothing")
        yield f"pair of round {number}", measuring
        people.see(noisy.ravel().tolist(), measuring)
        left, each = left - offered, offered
        before.append(chosen)
    if not over and _share(left, each, choosing, people, sizes, before) is not None:
        raise ReleaseError(f"rounds ({len(found.stated.rounds)}) must go on until epsilon is spent")
    if (found.again is not None) != (left > 0):
        raise ReleaseError("tables of columns must be measured again with what the rounds left, and only then")
    if left:
        yield "tables again", left


class _People:
    """How many people there are, by all noisy sums so far: each weighs what it cost, squared, over its cells."""

    def __init__(self) -> None:
        self._sum = self._weight = Fraction(0)

    def see(self, noisy: list[int], share: Fraction) -> None:
        weight = share * share / len(noisy)
        self._sum += weight * sum(noisy)
        self._weight += weight

    def cells(self, measuring: Fraction) -> int:
        """Of the largest table that is worth its noise: .7 over its share, a cell, at most a quarter of the people."""
        people = max(1, round(self._sum / self._weight))
        return min(MOST_CLIQUE, int(people * measuring * Fraction(10, 28)))


def _share(
    left: Fraction, each: Fraction, choosing: Fraction, people: _People, sizes: list[int], before: list[Choice]
) -> Fraction | None:
    """What the next round costs, its choice and its table: doubled until a table is worth it; None where none is."""
    while left:
        share = left if left < 2 * each else each
        if _any(people.cells(share * (1 - choosing)), sizes, before):
            return share
        if share == left:
            return None
        each *= 2
    return None


def _any(most: int, sizes: list[int], before: list[Choice]) -> bool:
    """Whether there is a table that a round may choose; none is smaller than that of the two narrowest columns."""
    places = [place for place, size in enumerate(sizes) if size > 1]
    narrowest = sorted(min(sizes[place], GROUPS) for place in places)[:2]
    return prod(narrowest) <= most and any(
        chosen not in before and _fits(chosen, most, sizes, before)
        for pair in combinations(places, 2)
        for chosen in (Choice(pair, (one, two)) for one, two in product((True, False), repeat=2))
    )


def _fits(chosen: Choice, most: int, sizes: list[int], before: list[Choice]) -> bool:
    """Whether a table has few enough cells, and a model with it and those before it needs no larger one than it may.

    Groups are for columns with more cells than groups; a column is as wide as it was measured at its finest.
    """
    one, two = shape_of(sizes, chosen)
    if one * two > most or any(
        sizes[place] < 2 or (coarse and sizes[place] <= GROUPS)
        for place, coarse in zip(chosen.places, chosen.grouped, strict=True)
    ):
        return False
    widths = {place: min(sizes[place], GROUPS) for each in (*before, chosen) for place in each.places}
    for each in (*before, chosen):
        widths |= {place: sizes[place] for place, coarse in zip(each.places, each.grouped, strict=True) if not coarse}
    return largest(widths, {each.places for each in (*before, chosen)}) <= MOST_CLIQUE
